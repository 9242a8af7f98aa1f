"""Walking a guide of docs/ command by command, as somebody who follows it does."""

import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))


def plain_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}


def section(file, title):
    """The shell blocks of a section of a guide."""
    text = (ROOT / "docs" / file).read_text()
    part = text.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```sh\n(.*?)```", part, re.S)


class Shell:
    """A shell that keeps what is exported. The guide's ports are `ports` of this machine."""

    def __init__(self, directory, ports):
        self.ports = ports
        binary = directory / "bin"
        binary.mkdir()
        (binary / "tollgate").symlink_to(TOLLGATE)
        environment = plain_environment()
        environment["PATH"] = f"{binary}:{environment['PATH']}"
        self.process = subprocess.Popen(
            ["bash"], cwd=directory, env=environment, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=1)

    def local(self, commands):
        for port, here in self.ports.items():
            commands = commands.replace(f":{port}", f":{here}")
        return commands.replace("T=Server/.build/debug/tollgate", f"T={TOLLGATE}")

    def run(self, commands, timeout=60):
        """What was said, by whatever runs by then too, and the exit code of the last command."""
        mark = f"--- done {time.monotonic_ns()} "
        self.process.stdin.write(f"{self.local(commands)}\ncode=$?; echo; echo '{mark}'$code\n")
        self.process.stdin.flush()
        said = ""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            line = self.process.stdout.readline()
            assert line, "the shell ended: " + said
            if line.startswith(mark):
                return said, int(line.removeprefix(mark))
            said += line
        raise AssertionError("it takes too long: " + said)

    def end(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            # An interactive shell may keep a signal to itself.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=30)
        self.process.stdin.close()
        self.process.stdout.close()


def answering(url, timeout=30):
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise AssertionError(f"nothing answers at {url}")
