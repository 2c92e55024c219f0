/* SPDX-License-Identifier: MIT */
/*
 * Which status an error of the system becomes, and in which words the log has it.
 * It looks at nothing on the disk.
 * Called by fetch.c, fill.c and root.c, and by the server for listings.
 */

#include "files/refusal.h"

#include <errno.h>
#include <stddef.h>

static const struct refusal refusals[] = {
    {404, -ENOENT, "there is no such file", false},
    {404, -ENOTDIR, "the path goes on behind a file's name", false},
    {404, -ELOOP, "a symbolic link that may not be followed, or a loop", false},
    {404, -EXDEV, "a symbolic link leads out of the root", false},
    {404, -ENAMETOOLONG, "a name is longer than any can be", false},
    /* What may not be opened may not be watched either, and its mode can be changed by another
     * name for it. */
    {404, -ENXIO, "not a regular file", true},
    {404, -ENODEV, "not a regular file", true},
    {404, -EOPNOTSUPP, "not a regular file", true},
    {403, -EACCES, "no permission to read it", true},
    {403, -EPERM, "no permission to read it", true},
    {503, -EMFILE, "out of file descriptors", false},
    {503, -ENFILE, "out of file descriptors", false},
    {503, -ENOMEM, "out of memory", false},
};

struct refusal refusal_of(int error)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (refusals[i].error == error)
            return refusals[i];
    return (struct refusal){500, error, "it could not be read", false};
}

struct refusal refusal_of_root(int error)
{
    struct refusal refusal = refusal_of(error);

    if (refusal.status == 404 && error != -ENOENT && error != -ENOTDIR)
        refusal.status = 500;
    refusal.reason = "the root directory can't be opened";
    return refusal;
}
