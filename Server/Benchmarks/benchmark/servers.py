"""The two servers under measurement: Tollgate and the reference receiver."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from . import machine, population
from .postgres import Postgres, free_port
from .stripe_events import WEBHOOK_SECRET

HERE = Path(__file__).resolve().parent.parent
SECRET_KEY = "sk_test_benchmark_3f9c1a7e5b2d8046f1e7c0a9"
PUBLISHABLE_KEY = "pk_test_benchmark_84d0c5a60b1f3e8d79246e1b"


class ServerFailed(Exception):
    """The server did not start or stopped by itself."""


class Server:
    """A server process with its children, on a port of its own."""

    name = "server"

    def __init__(self, command: list[str], environment: dict, log: Path, ready: str = "/healthz",
                 helper: Postgres | None = None, cwd: Path | None = None):
        self.log = log
        self.helper = helper
        began = time.monotonic()
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                command, env=os.environ | environment, stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, start_new_session=True, cwd=cwd)
        self._wait(ready, began)

    def _wait(self, path: str, began: float) -> None:
        while time.monotonic() - began < 60:
            if self._process.poll() is not None:
                raise ServerFailed(f"{self.name} stopped at once:\n{self.tail()}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.002)
        self.stop()
        raise ServerFailed(f"{self.name} did not answer {path} within a minute:\n{self.tail()}")

    def tail(self, size: int = 2000) -> str:
        return self.log.read_text(errors="replace")[-size:]

    def get(self, path: str) -> dict:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=self.headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def pids(self) -> list[int]:
        return machine.family(self._process.pid)

    def database_pids(self) -> list[int]:
        return machine.family(self.helper.pid) if self.helper else []

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)  # its own session, started above
                self._process.wait()


class Tollgate(Server):
    """`tollgate serve`, configured only by what CONTRACT.md fixes."""

    def __init__(self, program: Path, database: str, root: Path, directory: Path,
                 helper: Postgres | None = None, environment: dict | None = None):
        self.name = "tollgate"
        self.port = free_port()
        self.database = database
        self.program = program
        super().__init__(
            [str(program), "serve", "--listen", f"127.0.0.1:{self.port}", "--database", database,
             "--catalog", str(HERE / "catalog.yaml")],
            {
                "TOLLGATE_SECRET_KEY": SECRET_KEY,
                "TOLLGATE_PUBLISHABLE_KEY": PUBLISHABLE_KEY,
                "TOLLGATE_APP_STORE_ROOTS": str(root),
                "TOLLGATE_APP_STORE_BUNDLE_ID": population.BUNDLE_ID,
                "TOLLGATE_APP_STORE_ENVIRONMENT": "Sandbox",
                # Without Stripe's secret key the server never calls out: only loopback traffic here.
                "TOLLGATE_STRIPE_SECRET_KEY": "",
                "TOLLGATE_STRIPE_WEBHOOK_SECRETS": WEBHOOK_SECRET,
            } | (environment or {}),
            directory / "tollgate.log", helper=helper, cwd=directory)

    @property
    def headers(self) -> dict:
        return {"Authorization": f"Bearer {SECRET_KEY}"}

    def customer_id(self, customer: int) -> str:
        return population.app_user_id(customer)

    def user_target(self, customer: int) -> str:
        """Where a backend asks by its own user id."""
        return f"/v1/customers/{population.app_user_id(customer)}/entitlements"


class Reference(Server):
    """FastAPI under uvicorn with four workers; see `reference_receiver.py`."""

    def __init__(self, root: Path, directory: Path, workers: int = 4):
        self.name = "reference"
        self.port = free_port()
        self.database = str(directory / "reference.sqlite")
        super().__init__(
            [sys.executable, "-m", "uvicorn", "--factory", "benchmark.reference_receiver:make_app",
             "--host", "127.0.0.1", "--port", str(self.port), "--workers", str(workers),
             "--no-access-log", "--log-level", "warning"],
            reference_environment(root, self.database),
            directory / "reference.log", cwd=HERE)
        deadline = time.monotonic() + 30  # all workers must be up before anything is measured
        while len(self.pids()) < workers + 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)

    @property
    def headers(self) -> dict:
        return {}

    def customer_id(self, customer: int) -> str:
        return population.app_account_token(customer)

    def user_target(self, customer: int) -> str:
        return f"/v1/users/{population.app_user_id(customer)}/entitlements"


def reference_environment(root: Path, database: str) -> dict:
    return {
        "REFERENCE_ROOT": str(root),
        "REFERENCE_BUNDLE_ID": population.BUNDLE_ID,
        "REFERENCE_DATABASE": database,
        "REFERENCE_STRIPE_SECRET": WEBHOOK_SECRET,
    }
