/* SPDX-License-Identifier: MIT */
/*
 * Finds the user that workers run as, and becomes that user, without any power of root's.
 * Which system calls that user may make is not decided here: sandbox.c does.
 * master.c looks up, children.c drops in a new worker.
 */

#include "daemon/privileges.h"

#include "daemon/capabilities.h"
#include "log/log.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int find_user(const struct config *config, struct passwd *entry, char *memory, size_t size)
{
    struct passwd *found = NULL;
    int error = getpwnam_r(config->user, entry, memory, size, &found);
    if (found != NULL)
        return 0;
    if (error == 0)
        log_event(LOG_LEVEL_ERROR, "there is no user \"%s\" on this host", config->user);
    else
        log_event(LOG_LEVEL_ERROR, "cannot look up the user \"%s\": %s", config->user,
                  strerror(error));
    return error == 0 ? -EINVAL : -error;
}

/* Without `group`, the user's own stays in *gid. */
static int find_group(const struct config *config, gid_t *gid, char *memory, size_t size)
{
    struct group entry, *found = NULL;
    if (config->group[0] == '\0')
        return 0;
    int error = getgrnam_r(config->group, &entry, memory, size, &found);
    if (found != NULL) {
        *gid = found->gr_gid;
        return 0;
    }
    if (error == 0)
        log_event(LOG_LEVEL_ERROR, "there is no group \"%s\" on this host", config->group);
    else
        log_event(LOG_LEVEL_ERROR, "cannot look up the group \"%s\": %s", config->group,
                  strerror(error));
    return error == 0 ? -EINVAL : -error;
}

/* Asked for here and not after the fork, where a worker would read /etc/group each time. */
static int find_supplementary(struct privileges *privileges, const char *user)
{
    int count = 32;
    for (;;) {
        gid_t *groups = reallocarray(privileges->groups, (size_t)count, sizeof(*groups));
        if (groups == NULL)
            return -ENOMEM;
        privileges->groups = groups;
        int room = count;
        if (getgrouplist(user, privileges->gid, groups, &count) >= 0) {
            privileges->group_count = count;
            return 0;
        }
        if (count <= room) /* it did not say how many there are */
            count = room * 2;
    }
}

int privileges_init(struct privileges *privileges, const struct config *config)
{
    *privileges = (struct privileges){0};
    if (config->user[0] == '\0')
        return 0;

    size_t size = 65536; /* a group can have a long list of members */
    char *memory = malloc(size);
    if (memory == NULL)
        return -ENOMEM;
    struct passwd user;
    gid_t gid = 0;
    int error = find_user(config, &user, memory, size);
    if (error < 0)
        goto free_memory;
    privileges->uid = user.pw_uid;
    gid = user.pw_gid;
    error = find_group(config, &gid, memory, size);
    if (error < 0)
        goto free_memory;
    privileges->gid = gid;
    if (geteuid() != 0) {
        if (geteuid() != privileges->uid)
            log_event(LOG_LEVEL_WARNING, "not started as root: the user \"%s\" is not taken on",
                      config->user);
        goto free_memory;
    }
    error = find_supplementary(privileges, config->user);
    if (error == 0)
        privileges->is_dropped = true;

free_memory:
    free(memory);
    return error;
}

void privileges_warn_of_root(const struct privileges *privileges)
{
    if (geteuid() == 0 && !privileges->is_dropped)
        log_event(LOG_LEVEL_WARNING, "workers run as root; set user = \"NAME\" in a configuration "
                                     "file, or start evixd as another user");
}

void privileges_fini(struct privileges *privileges)
{
    free(privileges->groups);
    *privileges = (struct privileges){0};
}

static int become_user(const struct privileges *privileges, const char **step)
{
    *step = "setting the groups";
    if (setgroups((size_t)privileges->group_count, privileges->groups) != 0)
        return -errno;
    *step = "setting the group";
    if (setresgid(privileges->gid, privileges->gid, privileges->gid) != 0)
        return -errno;
    *step = "setting the user";
    if (setresuid(privileges->uid, privileges->uid, privileges->uid) != 0)
        return -errno;
    return 0;
}

int privileges_drop(const struct privileges *privileges)
{
    const char *step = "setting no_new_privs";
    int error = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        error = -errno;
    if (error == 0) {
        step = "bounding the capabilities";
        error = capabilities_bound();
    }
    if (error == 0 && privileges->is_dropped)
        error = become_user(privileges, &step);
    if (error == 0) {
        step = "emptying the capabilities";
        error = capabilities_drop(geteuid() == 0);
    }
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot give up privileges: %s: %s", step, strerror(-error));
    return error;
}
