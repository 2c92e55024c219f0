dnl SPDX-License-Identifier: MIT
dnl EVIX_SWITCHES: the --enable switches of a developer's build.
AC_DEFUN([EVIX_SWITCHES], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
    [], [enable_werror=no])
AC_ARG_ENABLE([asan],
    [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer and UBSan])],
    [], [enable_asan=no])
AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers], [link the fuzz targets with libFuzzer (needs clang)])],
    [], [enable_fuzzers=no])
AC_ARG_WITH([liburing],
    [AS_HELP_STRING([--without-liburing], [build without the io_uring backend])],
    [], [with_liburing=check])
AC_ARG_WITH([llhttp-sources],
    [AS_HELP_STRING([--with-llhttp-sources=DIR],
        [compile llhttp from DIR @<:@pkg-config's, else from /usr/share/llhttp@:>@])],
    [], [with_llhttp_sources=])
AM_CONDITIONAL([FUZZERS], [test "x$enable_fuzzers" = xyes])
])
