"""Commands as somebody sees them who runs them on a terminal."""

import contextlib
import os
import pty
import re
import subprocess

from guide import TOLLGATE


def on_a_terminal(world, *arguments):
    """A command's exit code, its answer, and what it writes to standard error, a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [TOLLGATE, *arguments], cwd=world.directory, env=world.environment,
        stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    # A terminal whose other side is closed ends in an error, not in nothing.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    said, _ = process.communicate(timeout=60)
    return process.returncode, said.decode(), shown.decode()


def shows_how_far_it_is(shown):
    """Whether it is one line that is written over, and left before what follows."""
    steps = [part.strip() for part in shown.split("\r") if part.strip()]
    assert steps and all(re.fullmatch(r".+: \d+( of \d+ \[#*-*\](, .+ left)?)?", step) for step in steps), shown
    assert shown.startswith("\r") and shown.endswith("\n") and shown.count("\n") == 1, repr(shown)
    return True
