"""Ports for servers that a test starts by itself."""

import itertools
import os
import socket

# Below those that the system gives to connections by itself (32768 and up), since one of those may
# be taken between the question and the use; and apart for tests that run beside each other.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_PORTS = itertools.cycle(range(12_000 + 2_000 * _WORKER, 14_000 + 2_000 * _WORKER))


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on, and that no other test is given."""
    for port in itertools.islice(_PORTS, 2_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
