# SPDX-License-Identifier: MIT
"""Names the machine and the versions, so that a table can be read later and elsewhere."""

import os
import platform
import re
import subprocess

VERSIONS = {
    "evixd": (["evixd", "-V"], r"evixd (\S+)"),
    "nginx": (["nginx", "-v"], r"nginx/(\S+)"),
    "lighttpd": (["lighttpd", "-v"], r"lighttpd/(\S+)"),
    "h2o": (["h2o", "-v"], r"version (\S+)"),
    "apache": (["apache2", "-v"], r"Apache/(\S+)"),
    "caddy": (["caddy", "version"], r"v?(\d\S+)"),
    "wrk": (["wrk", "-v"], r"wrk (?:debian/)?(\S+)"),
    "oha": (["oha", "--version"], r"oha (\S+)"),
    "python3": (["python3", "--version"], r"Python (\S+)"),
}


def cpu_name():
    with open("/proc/cpuinfo") as file:
        match = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.MULTILINE)
    return match[1] if match else platform.machine()


def version(command, pattern):
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, output.stdout + output.stderr)
    return match[1] if match else None


def system():
    try:
        with open("/etc/os-release") as file:
            return re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.MULTILINE)[1]
    except (OSError, TypeError):
        return platform.system()


def describe(evixd, names):
    """Facts of this machine, and the versions of the programs named."""
    versions = {}
    for name in names:
        command, pattern = VERSIONS[name]
        found = version([evixd, "-V"] if name == "evixd" else command, pattern)
        if found:
            versions[name] = found
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s*(\d+)", file.read())[1]) / 2**20
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "memory_gib": round(memory),
            "kernel": platform.release(), "system": system(), "load": os.getloadavg()[0],
            "versions": versions}


def sentence(facts):
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    return (f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB; "
            f"{facts['system']}, Linux {facts['kernel']}; {versions}. "
            f"Load average at the start: {facts['load']:.1f}.")
