# SPDX-License-Identifier: MIT
"""The stateful fuzzer of the daemon, whose front is tests/http/fuzz_daemon.py.

site.py makes what is served (of the contents of pool.py) and the configurations, orders.py changes
files and gives orders to the daemon, journal.py passes on to the clients when that was. client.py is
a client's process, which sends and reads by pump.py; its requests, and what their answers may be, are
in answers.py, files.py, services.py and malformed.py. ledger.py holds the access log against what the
clients have seen.
"""
