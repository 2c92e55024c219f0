# SPDX-License-Identifier: MIT
# The unit names the folders that make was told to install to, so it is made by make.
EXTRA_DIST += systemd/evixd.service.in
CLEANFILES += systemd/evixd.service
AM_DISTCHECK_CONFIGURE_FLAGS = --with-systemdsystemunitdir='$$dc_install_base/lib/systemd/system'

if SYSTEMD_UNIT
systemdsystemunit_DATA = systemd/evixd.service
endif

systemd/evixd.service: systemd/evixd.service.in Makefile
	@$(MKDIR_P) systemd
	$(AM_V_GEN)sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		$(srcdir)/systemd/evixd.service.in >$@.tmp && mv $@.tmp $@
