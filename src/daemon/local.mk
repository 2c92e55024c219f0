# SPDX-License-Identifier: MIT
# Processes. Linked together with libserver.a and all that it needs.
noinst_LIBRARIES += src/daemon/libdaemon.a
src_daemon_libdaemon_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(LIBSECCOMP_CFLAGS) -DSYSCONFDIR='"$(sysconfdir)"'
src_daemon_libdaemon_a_SOURCES = \
	src/daemon/activation.c src/daemon/activation.h \
	src/daemon/affinity.c src/daemon/affinity.h \
	src/daemon/announce.c src/daemon/announce.h \
	src/daemon/attendant.c src/daemon/attendant.h \
	src/daemon/capabilities.c src/daemon/capabilities.h \
	src/daemon/children.c src/daemon/children.h \
	src/daemon/command_line.c src/daemon/command_line.h \
	src/daemon/complaints.c src/daemon/complaints.h \
	src/daemon/descriptors.c src/daemon/descriptors.h \
	src/daemon/error_log.c src/daemon/error_log.h \
	src/daemon/exit_code.h \
	src/daemon/generation.c src/daemon/generation.h \
	src/daemon/inherit.c src/daemon/inherit.h \
	src/daemon/liveness.c src/daemon/liveness.h \
	src/daemon/log_files.c src/daemon/log_files.h \
	src/daemon/master.c src/daemon/master.h src/daemon/master_state.h \
	src/daemon/notify.c src/daemon/notify.h \
	src/daemon/pid_file.c src/daemon/pid_file.h \
	src/daemon/predecessor.c src/daemon/predecessor.h \
	src/daemon/privileges.c src/daemon/privileges.h \
	src/daemon/respawn.c src/daemon/respawn.h \
	src/daemon/sandbox.c src/daemon/sandbox.h \
	src/daemon/service.c src/daemon/service.h \
	src/daemon/signals.c src/daemon/signals.h \
	src/daemon/site_check.c src/daemon/site_check.h \
	src/daemon/sockets.c src/daemon/sockets.h \
	src/daemon/steering.c src/daemon/steering.h \
	src/daemon/succession.c src/daemon/succession.h \
	src/daemon/takeover.c src/daemon/takeover.h \
	src/daemon/tcp_socket.c src/daemon/tcp_socket.h \
	src/daemon/unix_socket.c src/daemon/unix_socket.h \
	src/daemon/upgrade.c src/daemon/upgrade.h \
	src/daemon/worker_process.c src/daemon/worker_process.h
