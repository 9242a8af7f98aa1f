"""Starts the load generator (`load/load.c`, compiled here) and reads what it measured."""

import json
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "load" / "load.c"


class LoadFailed(Exception):
    """The load generator could not do its work, or the server refused what it should accept."""


class LoadGenerator:
    def __init__(self, directory: Path):
        self._program = directory / "load"
        if not self._program.exists() or self._program.stat().st_mtime < SOURCE.stat().st_mtime:
            subprocess.run(
                ["cc", "-O2", "-Wall", "-Wextra", "-o", str(self._program), str(SOURCE)], check=True)

    def run(
        self, port: int, *, connections: int, method: str = "GET", target: str = "/",
        corpus: Path | None = None, start: int = 0, count: int | None = None,
        seconds: float | None = None, headers: dict | None = None, repeat: bool = False,
        responses: Path | None = None, accept_refusals: bool = False, fresh: bool = False, status: str = "2",
    ) -> dict:
        """One measurement. Every answer must have a status that begins with `status`. With `fresh`, each
        request opens a connection of its own."""
        command = [
            str(self._program), "--port", str(port), "--connections", str(connections),
            "--method", method, "--target", target, "--from", str(start)]
        if corpus:
            command += ["--corpus", str(corpus)]
        if count is not None:
            command += ["--count", str(count)]
        if seconds is not None:
            command += ["--seconds", str(seconds)]
        if repeat:
            command += ["--repeat"]
        if fresh:
            command += ["--fresh"]
        if responses:
            command += ["--responses", str(responses)]
        if method != "GET":
            headers = {"Content-Type": "application/json"} | (headers or {})
        for name, value in (headers or {}).items():
            command += ["--header", f"{name}: {value}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise LoadFailed(f"{method} {target}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        refused = sum(n for code, n in result["statuses"].items() if not code.startswith(status))
        if not accept_refusals and (refused or result["failures"] or not result["requests"]):
            raise LoadFailed(
                f"{method} {target}: statuses {result['statuses']}, {result['failures']} failures, "
                f"first refusal: {result['first_refusal']}")
        return result
