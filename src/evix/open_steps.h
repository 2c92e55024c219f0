/* SPDX-License-Identifier: MIT */
#ifndef EVIX_OPEN_STEPS_H
#define EVIX_OPEN_STEPS_H

/*
 * openat2(2) for where there is none: kernels before 5.6, and sandboxes whose filter cannot look
 * into its arguments (systemd's RestrictSUIDSGID=, which DynamicUser= brings along).
 */

#include <evix/file.h>

/*
 * Walks the path component by component, each opened without following links; what a link says is
 * put into the path, and the walk begins anew. So no race with a rename can lead out of
 * `directory`: each step is taken from a descriptor, and ".." is never asked of the kernel.
 * Understands RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, creates nothing, and
 * gives the errors that the system call gives. A descriptor, or a negative errno.
 */
int evix__open_by_steps(int directory, const char *path, const struct evix_open_how *how);

#endif
