dnl SPDX-License-Identifier: MIT
dnl EVIX_TRY_CFLAGS(VARIABLE, FLAGS): adds each flag that the compiler knows to VARIABLE.
AC_DEFUN([EVIX_TRY_CFLAGS], [
for evix_flag in m4_normalize([$2]); do
    AC_MSG_CHECKING([whether $CC accepts $evix_flag])
    evix_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $evix_flag"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int evix_probe(void); int evix_probe(void) { return 0; }]])],
        [AC_MSG_RESULT([yes]); $1="$$1 $evix_flag"], [AC_MSG_RESULT([no])])
    CFLAGS=$evix_saved_cflags
done
])

dnl EVIX_WARNINGS: WARN_CFLAGS, and STRICT_CFLAGS for the rooms that hold to -Wconversion.
AC_DEFUN([EVIX_WARNINGS], [
EVIX_TRY_CFLAGS([WARN_CFLAGS], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wwrite-strings -Wcast-align -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough])
EVIX_TRY_CFLAGS([STRICT_CFLAGS], [-Wconversion -Wno-sign-conversion])
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
AC_SUBST([STRICT_CFLAGS])
])

dnl EVIX_HARDENING: position-independent, fortified, stack-protected, full RELRO.
AC_DEFUN([EVIX_HARDENING], [
EVIX_TRY_CFLAGS([HARDEN_CFLAGS], [-fstack-protector-strong -fstack-clash-protection -fPIE])
AS_IF([test "x$enable_asan" = xno],
    [AS_CASE([" $CFLAGS $CPPFLAGS "],
        [*" -O0 "*|*_FORTIFY_SOURCE*], [],
        [HARDEN_CPPFLAGS="-D_FORTIFY_SOURCE=2"])])
HARDEN_LDFLAGS="-pie -Wl,-z,relro -Wl,-z,now"
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_CPPFLAGS])
AC_SUBST([HARDEN_LDFLAGS])
])

dnl EVIX_SANITIZERS: SAN_CFLAGS, for everything, the link included.
AC_DEFUN([EVIX_SANITIZERS], [
AS_IF([test "x$enable_asan" = xyes],
    [SAN_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"])
AS_IF([test "x$enable_fuzzers" = xyes], [SAN_CFLAGS="$SAN_CFLAGS -fsanitize=fuzzer-no-link"])
AC_SUBST([SAN_CFLAGS])
AM_CONDITIONAL([ASAN], [test "x$enable_asan" = xyes])
])
