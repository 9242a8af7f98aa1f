"""A PostgreSQL cluster of the benchmark's own, with the defaults a package installs."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


class PostgresMissing(Exception):
    """No PostgreSQL server programs on this machine."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Postgres:
    """Started on loopback in a new directory, removed with it at the end. As root it runs as the
    user `postgres`, because the server refuses to run as root."""

    def __init__(self):
        programs = self._programs()
        # /var/tmp is on a disk even where /tmp is in memory; a flush must cost what it costs.
        self._directory = Path(tempfile.mkdtemp(prefix="tollgate-bench-", dir="/var/tmp"))
        self._prefix = []
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self._directory, account.pw_uid, account.pw_gid)
            self._prefix = ["runuser", "-u", "postgres", "--"]
        self.port = free_port()
        self._control = str(programs / "pg_ctl")
        data = str(self._directory / "data")
        self._call(str(programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                   "--locale=C.UTF-8", "--no-sync")
        self._call(self._control, "-D", data, "-w", "-l", str(self._directory / "log"), "-o",
                   f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self._directory}", "start")
        self.pid = int((self._directory / "data" / "postmaster.pid").read_text().splitlines()[0])
        self._programs_directory = programs

    def create_database(self, name: str) -> str:
        """A new empty database; its URL."""
        self.execute("postgres", f'CREATE DATABASE "{name}"')
        return f"postgres://postgres@127.0.0.1:{self.port}/{name}"

    def execute(self, database: str, sql: str) -> str:
        done = subprocess.run(
            [str(self._programs_directory / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
             "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", database, "-f", "-"],
            input=sql, text=True, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"psql: {done.stderr.strip()}")
        return done.stdout

    def stop(self) -> None:
        try:
            self._call(self._control, "-D", str(self._directory / "data"), "-m", "fast", "stop")
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _call(self, *command: str) -> None:
        done = subprocess.run(
            [*self._prefix, *command], cwd="/", stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE if "initdb" in command[0] else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if "initdb" in command[0] else subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"{Path(command[0]).name} failed: {done.stdout or ''}")

    @staticmethod
    def _programs() -> Path:
        candidates = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
        found = shutil.which("pg_ctl")
        if found:
            candidates.append(str(Path(found).resolve().parent))
        for candidate in candidates:
            if (Path(candidate) / "initdb").exists() and (Path(candidate) / "pg_ctl").exists():
                return Path(candidate)
        raise PostgresMissing("no initdb and pg_ctl found")
