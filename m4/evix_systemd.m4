dnl SPDX-License-Identifier: MIT
dnl EVIX_SYSTEMD: where the units go. systemd's own folder is asked from pkg-config; it is below the
dnl prefix if that is neither /usr nor /usr/local, so that nothing lands beside it. Without an
dnl answer, or with --without-systemdsystemunitdir, neither units nor what belongs to them is
dnl installed. Users and temporary files are described in folders beside the units'.
AC_DEFUN([EVIX_SYSTEMD], [
AC_ARG_WITH([systemdsystemunitdir],
    [AS_HELP_STRING([--with-systemdsystemunitdir=DIR],
        [install the units to DIR, or not at all with "no"; sysusers.d and tmpfiles.d are beside
        systemd/system @<:@systemd's own with the prefixes /usr and /usr/local, else
        PREFIX/lib/systemd/system@:>@])],
    [], [with_systemdsystemunitdir=check])
AS_CASE([$with_systemdsystemunitdir],
    [check|yes],
        [systemdsystemunitdir=`$PKG_CONFIG --variable=systemdsystemunitdir systemd 2>/dev/null`
        AS_IF([test -z "$systemdsystemunitdir" && test "x$with_systemdsystemunitdir" = xyes],
            [AC_MSG_ERROR([pkg-config does not know systemd's folder: name it])])
        AS_CASE([$systemdsystemunitdir,$prefix],
            [[,*|*,NONE|*,/usr|*,/usr/local]], [],
            [systemdsystemunitdir='${prefix}/lib/systemd/system'])],
    [no], [systemdsystemunitdir=],
    [systemdsystemunitdir=$with_systemdsystemunitdir])
AC_SUBST([systemdsystemunitdir])
AC_SUBST([sysusersdir], ["${systemdsystemunitdir%/systemd/system}/sysusers.d"])
AC_SUBST([tmpfilesdir], ["${systemdsystemunitdir%/systemd/system}/tmpfiles.d"])
AM_CONDITIONAL([SYSTEMD_UNIT], [test -n "$systemdsystemunitdir"])
])
