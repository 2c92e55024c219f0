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

EVIX_OPTIONAL([libsystemd], [LIBSYSTEMD], [libsystemd >= 232],
    [Define to tell systemd about the service, and to take sockets from it.])
AM_CONDITIONAL([LIBSYSTEMD], [test "x$have_libsystemd" = xyes])
EVIX_OPTIONAL([libseccomp], [LIBSECCOMP], [libseccomp >= 2.4],
    [Define to confine workers to the system calls that they need.])

EVIX_OPTIONAL([libcrypt], [LIBCRYPT], [libcrypt >= 4.1],
    [Define to check the passwords of locations that ask for them.])

PKG_CHECK_MODULES([CHECK], [check >= 0.11], [have_check=yes], [have_check=no])
AM_CONDITIONAL([CHECK], [test "x$have_check" = xyes])
AM_PATH_PYTHON([3.7], [], [PYTHON=:])
])

dnl EVIX_OPTIONAL(NAME, VARIABLE, MODULE, ABOUT): a library that is used where it is found; it is an
dnl error to ask for it with --with-NAME where it is not. Debian's package is NAME-dev.
AC_DEFUN([EVIX_OPTIONAL], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [build without $1])], [], [with_$1=check])
AS_IF([test "x$with_$1" = xno], [have_$1=no],
    [PKG_CHECK_MODULES([$2], [$3], [have_$1=yes], [have_$1=no])])
AS_IF([test "x$with_$1" = xyes && test "x$have_$1" = xno],
    [AC_MSG_ERROR([$3 is missing: install $1-dev (Debian) or $1-devel, or use --without-$1])])
AS_IF([test "x$have_$1" = xyes], [AC_DEFINE([HAVE_$2], [1], [$4])])
])

dnl EVIX_LLHTTP: the sources that were asked for; else the library where pkg-config knows it; else
dnl the sources that Debian's node-llhttp ships. Sources are compiled in strict mode.
AC_DEFUN([EVIX_LLHTTP], [
AS_IF([test -n "$with_llhttp_sources"], [llhttp_from=sources],
    [with_llhttp_sources=/usr/share/llhttp
    PKG_CHECK_MODULES([LLHTTP], [libllhttp], [llhttp_from=pkg-config], [llhttp_from=sources])])
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
      libsystemd   $have_libsystemd (notification, socket activation)
      libseccomp   $have_libseccomp (the filter of workers)
      libcrypt     $have_libcrypt (passwords, for auth)
      Check        $have_check (unit tests)
      Python       $PYTHON (tests of the daemon)
      units        ${systemdsystemunitdir:-not installed}
      sanitizers   $enable_asan
      warnings     errors: $enable_werror
])
])
