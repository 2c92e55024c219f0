dnl SPDX-License-Identifier: MIT
dnl EVIX_DEPENDENCIES: finds the libraries that DESIGN's table names; fails early, with the name
dnl of the package, where a needed one is missing.
AC_DEFUN([EVIX_DEPENDENCIES], [
EVIX_LLHTTP
PKG_CHECK_MODULES([LIBCONFIG], [libconfig >= 1.5], [],
    [AC_MSG_ERROR([libconfig is missing: install libconfig-dev (Debian) or libconfig-devel])])

AS_IF([test "x$with_liburing" = xno], [have_liburing=no],
    [PKG_CHECK_MODULES([LIBURING], [liburing >= 2.3], [have_liburing=yes], [have_liburing=no])])
AS_IF([test "x$with_liburing" = xyes && test "x$have_liburing" = xno],
    [AC_MSG_ERROR([liburing 2.3 is missing: install liburing-dev, or use --without-liburing])])
AS_IF([test "x$have_liburing" = xyes],
    [EVIX_PC_REQUIRES=liburing
    AC_DEFINE([HAVE_LIBURING], [1], [Define to build the io_uring backend.])])
AC_SUBST([EVIX_PC_REQUIRES])
AM_CONDITIONAL([LIBURING], [test "x$have_liburing" = xyes])

PKG_CHECK_MODULES([CHECK], [check >= 0.11], [have_check=yes], [have_check=no])
AM_CONDITIONAL([CHECK], [test "x$have_check" = xyes])
AM_PATH_PYTHON([3.7], [], [PYTHON=:])
])

dnl EVIX_LLHTTP: the library where pkg-config knows it, else the sources that Debian's
dnl node-llhttp ships, compiled into the build in strict mode.
AC_DEFUN([EVIX_LLHTTP], [
PKG_CHECK_MODULES([LLHTTP], [libllhttp], [llhttp_from=pkg-config], [llhttp_from=sources])
LLHTTP_SOURCE_DIR=
AS_IF([test "$llhttp_from" = sources],
    [AC_MSG_CHECKING([for the sources of llhttp])
    AS_IF([test -r "$with_llhttp_sources/llhttp.c"],
        [AC_MSG_RESULT([$with_llhttp_sources])],
        [AC_MSG_RESULT([no])
        AC_MSG_ERROR([llhttp is missing: install libllhttp-dev, llhttp-devel or node-llhttp (Debian 12)])])
    LLHTTP_SOURCE_DIR=$with_llhttp_sources
    for evix_dir in "$with_llhttp_sources" "$with_llhttp_sources/../include/llhttp"; do
        AS_IF([test -z "$LLHTTP_CFLAGS" && test -r "$evix_dir/llhttp.h"],
            [LLHTTP_CFLAGS="-I$evix_dir"])
    done
    LLHTTP_CFLAGS="$LLHTTP_CFLAGS -DLLHTTP_STRICT_MODE=1"])
AC_SUBST([LLHTTP_SOURCE_DIR])
AM_CONDITIONAL([LLHTTP_SOURCES], [test "$llhttp_from" = sources])
])

dnl EVIX_SUMMARY: what was found and what is left out, in one table.
AC_DEFUN([EVIX_SUMMARY], [
AC_MSG_NOTICE([
    evixd $PACKAGE_VERSION
      prefix       $prefix
      llhttp       $llhttp_from $LLHTTP_SOURCE_DIR
      liburing     $have_liburing (the io_uring backend)
      Check        $have_check (unit tests)
      Python       $PYTHON (tests of the daemon)
      unit         ${systemdsystemunitdir:-not installed}
      sanitizers   $enable_asan
      warnings     errors: $enable_werror
])
])
