# SPDX-License-Identifier: MIT
# The unit names the folders that make was told to install to, so it is made by make.
EXTRA_DIST += systemd/evixd.service.in systemd/evixd.socket systemd/evixd.sysusers \
	systemd/evixd.tmpfiles systemd/evixd.logrotate systemd/dynamic-user.conf
CLEANFILES += systemd/evixd.service

if LIBSYSTEMD
service_type = notify
watchdog = WatchdogSec=30
else
service_type = exec
watchdog = \# WatchdogSec= needs an evixd that was built with libsystemd
endif

if SYSTEMD_UNIT
systemdsystemunit_DATA = systemd/evixd.service systemd/evixd.socket
dist_doc_DATA = systemd/dynamic-user.conf
systemd_install = install-systemd
systemd_uninstall = uninstall-systemd
endif

systemd/evixd.service: systemd/evixd.service.in Makefile
	@$(MKDIR_P) systemd
	$(AM_V_GEN)sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		-e 's|@service_type[@]|$(service_type)|' -e 's|@watchdog[@]|$(watchdog)|' \
		$(srcdir)/systemd/evixd.service.in >$@.tmp && mv $@.tmp $@

# These are named alike where they land, so automake cannot install them.
.PHONY: install-systemd uninstall-systemd
install-systemd:
	@$(MKDIR_P) '$(DESTDIR)$(sysusersdir)' '$(DESTDIR)$(tmpfilesdir)' \
	    '$(DESTDIR)$(sysconfdir)/logrotate.d'
	$(INSTALL_DATA) '$(srcdir)/systemd/evixd.sysusers' '$(DESTDIR)$(sysusersdir)/evixd.conf'
	$(INSTALL_DATA) '$(srcdir)/systemd/evixd.tmpfiles' '$(DESTDIR)$(tmpfilesdir)/evixd.conf'
	@test -e '$(DESTDIR)$(sysconfdir)/logrotate.d/evixd' || $(INSTALL_DATA) \
	    '$(srcdir)/systemd/evixd.logrotate' '$(DESTDIR)$(sysconfdir)/logrotate.d/evixd'
uninstall-systemd:
	rm -f '$(DESTDIR)$(sysusersdir)/evixd.conf' '$(DESTDIR)$(tmpfilesdir)/evixd.conf'
	@if cmp -s '$(srcdir)/systemd/evixd.logrotate' \
	    '$(DESTDIR)$(sysconfdir)/logrotate.d/evixd'; then \
	    rm -f '$(DESTDIR)$(sysconfdir)/logrotate.d/evixd'; fi
