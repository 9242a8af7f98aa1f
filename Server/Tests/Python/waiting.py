"""Waiting for what a server does in its own time."""

import time
import urllib.error


def until(holds, otherwise="it never holds", seconds=60):
    """Asks again until the answer is a true one, and returns it."""
    end, reason = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            if found := holds():
                return found
        except urllib.error.URLError as error:
            reason = error
        time.sleep(0.05)
    raise AssertionError(otherwise) from reason
