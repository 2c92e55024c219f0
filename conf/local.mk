# SPDX-License-Identifier: MIT
# Installed once: the administrator's file is never overwritten, and only removed as it came.
EXTRA_DIST += conf/evixd.conf conf/minimal.conf conf/www

install-data-local: install-evixd-conf $(systemd_install)
uninstall-local: uninstall-evixd-conf $(systemd_uninstall)
.PHONY: install-evixd-conf uninstall-evixd-conf
install-evixd-conf:
	@$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/evixd'
	@test -e '$(DESTDIR)$(sysconfdir)/evixd/evixd.conf' || \
	    $(INSTALL_DATA) '$(srcdir)/conf/evixd.conf' '$(DESTDIR)$(sysconfdir)/evixd/evixd.conf'
uninstall-evixd-conf:
	@if cmp -s '$(srcdir)/conf/evixd.conf' '$(DESTDIR)$(sysconfdir)/evixd/evixd.conf'; then \
	    rm -f '$(DESTDIR)$(sysconfdir)/evixd/evixd.conf'; fi
