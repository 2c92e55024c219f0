dnl SPDX-License-Identifier: MIT
dnl EVIX_SYSTEMD: where the unit goes. systemd's own folder is asked from pkg-config; without an
dnl answer, or with --without-systemdsystemunitdir, no unit is installed.
AC_DEFUN([EVIX_SYSTEMD], [
AC_ARG_WITH([systemdsystemunitdir],
    [AS_HELP_STRING([--with-systemdsystemunitdir=DIR],
        [install the unit to DIR, or not at all with "no" @<:@systemd's own@:>@])],
    [], [with_systemdsystemunitdir=check])
AS_CASE([$with_systemdsystemunitdir],
    [check|yes],
        [systemdsystemunitdir=`$PKG_CONFIG --variable=systemdsystemunitdir systemd 2>/dev/null`
        AS_IF([test -z "$systemdsystemunitdir" && test "x$with_systemdsystemunitdir" = xyes],
            [AC_MSG_ERROR([pkg-config does not know systemd's folder: name it])])],
    [no], [systemdsystemunitdir=],
    [systemdsystemunitdir=$with_systemdsystemunitdir])
AC_SUBST([systemdsystemunitdir])
AM_CONDITIONAL([SYSTEMD_UNIT], [test -n "$systemdsystemunitdir"])
])
