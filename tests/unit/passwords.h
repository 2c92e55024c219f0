/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PASSWORDS_H
#define TESTS_PASSWORDS_H

/* Hashes of "secret", as cheap as each kind can be. */
#define HASH_BCRYPT "$2y$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."
#define HASH_SHA512                                                                                \
    "$6$rounds=1000$k2XAnEHBqQ1Ct2aM$"                                                             \
    "Kusx4StgTAJKgtQ8A1Ud4OEtpvLZ/2wzq/Tix/qeeqdrvuTHgR6KFuCyOP4TNp5lvuV.tmBxpDTp10bqrWJyv1"
#define HASH_SHA256 "$5$rounds=1000$k2XAnEHBqQ1Ct2aM$jgOl0V/Vic8BJZ4wBDLE5hPwrxO8FWvvQqq4b1wm6k0"
#define HASH_YESCRYPT                                                                              \
    "$y$j75$k2XAnEHBqQ1Ct2aMXFKNaR4Odd4$Nm1HRpDGDG5PHOkGK3UIY4ow09GeL70FApOU7n7ISc5"

/* Of "pässwörd €", of nothing, and of "a:b:c". */
#define HASH_UTF8   "$2y$04$XkTiW0HfMRe1LhSyKxGvK.0KTGPLxQTdV2T5pxIhk/fP2Uyx4IORK"
#define HASH_EMPTY  "$2y$04$XkTiW0HfMRe1LhSyKxGvK.XJsMw4jXT8AowUs1nzVEc1w/YAYy58e"
#define HASH_COLONS "$2y$04$XkTiW0HfMRe1LhSyKxGvK.eIV0D3efDKzxYGSeigg1mbzxqFr9mOW"

/* Not taken. */
#define HASH_APR1 "$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/"
#define HASH_MD5  "$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1"

#endif
