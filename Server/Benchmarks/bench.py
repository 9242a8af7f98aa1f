#!/usr/bin/env python3
"""`make bench`: one table of the performance goals with the figures this machine reaches.

Everything runs on loopback: a reference receiver, `tollgate` on SQLite and on PostgreSQL, a load
generator. Nothing is compared across runs; every ratio is between figures of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmark import corpus, figures, goals, google_play, machine, population, reads, unknown_chains
from benchmark.certificates import make_chain
from benchmark.collector import Collector
from benchmark.corpus import CorpusWriter
from benchmark.fill import THROUGH_THE_FRONT_DOOR, bulk, fill
from benchmark.google_api import QUOTA_PER_MINUTE
from benchmark.load import LoadFailed, LoadGenerator
from benchmark.notifications import RENEWALS_OF_TEN
from benchmark.ocsp_responder import OCSPResponder
from benchmark.postgres import Postgres, PostgresMissing
from benchmark.servers import Reference, Server, ServerFailed, Tollgate, reference_environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PARTS = ("signatures", "reference", "sqlite", "postgres", "figures", "worlds", "google-play", "steady", "access",
         "traces")
# Only where it is asked for: `steady` takes ten minutes, `access` fills a million customers with their
# journals for about an hour, and `traces` has no goal.
ON_DEMAND = {"steady", "access", "traces"}
SIZES = ("small", "large", "huge")


@dataclass
class Plan:
    """How much is measured. `full` ends within half an hour, `quick` within ten minutes (without the
    build)."""

    seconds: float  # of one measurement
    rounds: int  # of the measurements at 64 connections
    small: int
    large: int
    fill_seconds: int  # for the large population; what is reached by then counts
    notifications: int  # that one measurement may use up
    reference_seconds: float
    reference_rounds: int  # the best of them counts
    signature_rounds: int
    purchases: int  # in Google Play; a quota allows 3,000 reads a minute, and each hint takes two
    hint_seconds: int  # of 10,000 hints a minute
    access: int  # customers whose access is checked
    idle_seconds: int  # over which a server that nobody asks is watched
    worlds: int  # simulated ones, of 50 people and 2 years, with all faults
    huge: int = 0  # customers of a third population
    huge_fill_seconds: int = 36_000
    settle_seconds: int = 60  # for what is left to do when nobody asks
    starts: int = 3  # of a server on a filled database
    steady_seconds: int = 600
    steady_each: int = 300  # notifications a second: a larger stream would not fit onto small disks
    access_messages: int = 12  # of each, in the journal
    access_fill_seconds: int = 10_800

    @property
    def stream(self) -> int:
        """Distinct notifications for the small database: three connection counts and a warm-up."""
        return self.notifications * (self.rounds + 2) + 1_000

    @property
    def stream_large(self) -> int:
        return self.notifications * self.rounds + 1_000


FULL = Plan(seconds=4, rounds=3, small=10_000, large=1_000_000, fill_seconds=600, notifications=10_000,
            reference_seconds=5, reference_rounds=2, signature_rounds=7, purchases=1_200, hint_seconds=60,
            access=1_000_000, idle_seconds=30, worlds=4)
QUICK = Plan(seconds=2, rounds=1, small=10_000, large=100_000, fill_seconds=30, notifications=9_000,
             reference_seconds=3, reference_rounds=1, signature_rounds=3, purchases=300, hint_seconds=15,
             access=20_000, idle_seconds=10, worlds=1, steady_seconds=30)


class Bench:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.plan = QUICK if arguments.quick else FULL
        self.plan.small = arguments.small or self.plan.small
        self.plan.large = arguments.large or self.plan.large
        self.plan.access = arguments.access or self.plan.access
        self.plan.huge = arguments.huge or self.plan.huge
        self.only = set(arguments.only or set(PARTS) - ON_DEMAND)
        self.directory = Path(arguments.directory or ROOT / ".build" / "bench").resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.load = LoadGenerator(self.directory)
        self.calibration = machine.Calibration(self.directory)
        self.run_started_ms = time.time_ns() // 1_000_000
        self.results: dict = {"small": self.plan.small, "large": self.plan.large, "quick": arguments.quick,
                              "python": sys.version.split()[0]}
        self.began = time.monotonic()

    # MARK: - The whole run

    def run(self) -> None:
        program, signature_program = self.programs()
        self.began = time.monotonic()
        self.results["others_busy"] = round(machine.others_busy(), 3)
        responder = OCSPResponder()
        try:
            self.prepare(responder)
            if "signatures" in self.only:
                self.part("signatures", lambda: self.signatures(signature_program))
            if "reference" in self.only:
                self.part("reference", self.reference)
            if "sqlite" in self.only:
                self.part("sqlite", lambda: self.tollgate("sqlite", program))
            if "postgres" in self.only:
                self.part("postgres", lambda: self.tollgate("postgres", program))
            if "figures" in self.only:
                self.part("figures", lambda: self.figures(program))
            if "worlds" in self.only:
                self.part("worlds", lambda: self.worlds(program))
            if "google-play" in self.only:
                self.part("google-play", lambda: self.google_play(program))
            if "steady" in self.only:
                self.part("steady", lambda: self.steady(program))
            if "access" in self.only:
                self.part("access", lambda: self.access(program))
            if "traces" in self.only:
                self.part("traces", lambda: self.traces(program))
        finally:
            responder.close()
            if not self.arguments.keep:
                for file in self.directory.glob("*.corpus"):
                    file.unlink()
        self.calibration.sample()
        self.results["machine"] = self.calibration.summary()
        self.results["seconds"] = round(time.monotonic() - self.began, 1)

    def part(self, name: str, work) -> None:
        """One part that fails leaves its figures out; the others are still worth having."""
        self.say(f"{name} …")
        self.calibration.sample()
        try:
            work()
        except (LoadFailed, ServerFailed, PostgresMissing, RuntimeError, subprocess.SubprocessError) as error:
            self.results.setdefault("problems", []).append(f"{name}: {error}")
            self.say(f"{name} failed: {error}")

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.began:6.1f} s] {text}", file=sys.stderr, flush=True)

    # MARK: - What is measured with

    def programs(self) -> tuple[Path | None, Path | None]:
        """Release builds of the server and of the signature benchmark, in one scratch directory."""
        if self.arguments.tollgate:
            given = Path(self.arguments.tollgate).resolve()
            return given, given.parent / "SignatureBenchmark"
        if not self.only - {"reference"}:
            return None, None
        scratch = ROOT / ".build-release"
        command = ["swift", "build", "-c", "release", "--package-path", str(ROOT / "Server"),
                   "--scratch-path", str(scratch)]
        for product in ("tollgate", "SignatureBenchmark", "FillDatabase"):
            self.say(f"release build of {product} …")
            subprocess.run([*command, "--product", product], check=True, stdout=sys.stderr)
        found = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True)
        binaries = Path(found.stdout.strip())
        return binaries / "tollgate", binaries / "SignatureBenchmark"

    def prepare(self, responder: OCSPResponder) -> None:
        """The chain and every signed body; nothing is signed while something is measured."""
        self.chain = chain = make_chain(responder.url)
        responder.serve(chain)
        self.root = self.directory / "root.der"
        self.root.write_bytes(chain.root.der)
        self.first_purchases = self.directory / "first-purchases.corpus"
        self.stream = self.directory / "notifications-small.corpus"
        self.stream_large = self.directory / "notifications-large.corpus"
        self.stripe = self.directory / "stripe.corpus"
        self.say(f"signing {self.plan.stream:,} notifications …")
        front_door = [self.plan.small]
        if self.plan.large <= THROUGH_THE_FRONT_DOOR and not self.arguments.small_only:
            front_door.append(self.plan.large)
        with CorpusWriter(chain, self.run_started_ms) as writer:
            writer.first_purchases(self.first_purchases, max(front_door))
            writer.stream(self.stream, self.plan.stream, self.plan.small)
        body = corpus.bodies(self.stream, 1)[0][1]
        self.results["notification_bytes"] = len(body)
        self.sync()

    def sync(self) -> None:
        """Lets the disk finish what earlier parts wrote."""
        os.sync()

    # MARK: - Signatures on one core

    def signatures(self, program: Path) -> None:
        corpus.write_stripe_events(self.stripe, 2_000, int(time.time()))
        seconds = 1 if self.arguments.quick else 3
        done = subprocess.run(
            [sys.executable, "-m", "benchmark.reference_library", str(self.stream), str(self.stripe),
             str(seconds)],
            cwd=HERE, env=os.environ | reference_environment(self.root, ""), check=True,
            capture_output=True, text=True)
        self.results["reference_library"] = json.loads(done.stdout)
        if not program.exists():
            raise RuntimeError(f"{program.name} is not built")
        done = subprocess.run(
            [str(program), "--notifications", str(self.stream), "--stripe-events", str(self.stripe),
             "--root", str(self.root), "--rounds", str(self.plan.signature_rounds)],
            check=True, capture_output=True, text=True)
        self.results["signatures"] = json.loads(done.stdout)

    # MARK: - Servers

    def reference(self) -> None:
        directory = self.fresh("reference")
        server = Reference(self.root, directory)
        try:
            sample = fill(server, self.plan.small, self.load, self.first_purchases, directory,
                          self.run_started_ms)
            found = self.results["reference"] = {"customers": self.plan.small}
            self.warm_up(server, sample, directory, self.stream, self.plan.small)
            rounds = self.plan.reference_rounds
            found["reads"] = self.reads(server, (1, 64, 256), {64: rounds, 256: rounds})
            others = reads.with_reference(server, self.plan.small, self.load, directory)
            for name, route in others.items():
                found[name] = {
                    count: self.measured(server, rounds, connections=count, seconds=self.plan.seconds,
                                         **route)
                    for count in (64, 256)}
            found["ingest"] = self.ingest(
                server, self.stream, (64, 1, 256), self.plan.reference_seconds, {64: rounds, 256: rounds})
            found["memory"] = machine.memory_mib(server.pids())
            found["stripe"] = self.stripe_ingest(server)
        finally:
            server.stop()

    def tollgate(self, database: str, program: Path) -> None:
        postgres = Postgres() if database == "postgres" else None
        try:
            for size in SIZES:
                customers = getattr(self.plan, size)
                if customers and (size == "small" or not self.arguments.small_only):
                    self.tollgate_at(database, size, customers, program, postgres)
        finally:
            if postgres:
                postgres.stop()

    def tollgate_at(self, database: str, size: str, customers: int, program: Path,
                    postgres: Postgres | None) -> None:
        directory = self.fresh(f"{database}-{size}")
        url = (postgres.create_database(f"tollgate_{size}") if postgres
               else f"sqlite:{directory / 'tollgate.sqlite'}")
        self.say(f"{database}: filling with {customers:,} customers …")
        began = time.monotonic()
        sample = None
        if customers > THROUGH_THE_FRONT_DOOR and not self.arguments.stand_in:
            customers, sample = bulk(
                program.parent / "FillDatabase", url, HERE / "catalog.yaml", customers,
                self.plan.huge_fill_seconds if size == "huge" else self.plan.fill_seconds,
                self.run_started_ms)
        if size != "small":
            self.results.setdefault(f"{size}_reached", {})[database] = customers
            with CorpusWriter(self.chain, self.run_started_ms) as writer:
                writer.stream(self.stream_large, self.plan.stream_large, customers)
        server = self.start(program, url, directory, postgres)
        try:
            if sample is None:
                sample = fill(server, customers, self.load, self.first_purchases, directory,
                              self.run_started_ms)
            self.sync()
            found = self.results.setdefault(database, {})[size] = {
                "customers": customers, "fill_seconds": round(time.monotonic() - began, 1)}
            found["starts_ms"] = starts = []
            for _ in range(self.plan.starts):
                server.stop()
                began = time.monotonic()
                server = self.start(program, url, directory, postgres)
                server.get(server.user_target(0))
                starts.append(round(1000 * (time.monotonic() - began), 1))
            if size == "small":
                found["idle"] = self.idle(server)
            self.say(f"{database}, {customers:,} customers: measuring …")
            stream = self.stream if size == "small" else self.stream_large
            self.warm_up(server, sample, directory, stream, customers)
            if size == "small":
                others = reads.with_reference(server, customers, self.load, directory)
                if not self.arguments.stand_in:
                    others |= reads.of_tollgate(
                        server, customers, self.load, directory, others["user_reads"]["corpus"])
                found |= self.reads_beside_empty(server, others)
                found["ingest"] = self.ingest(server, stream, (64, 1, 256), self.plan.seconds,
                                              {64: self.plan.rounds})
            else:
                found["reads"] = self.reads(server, (64,), {64: self.plan.rounds})
                found["ingest"] = self.ingest(server, stream, (64,), self.plan.seconds,
                                              {64: self.plan.rounds})
            found["memory"] = machine.memory_mib(server.pids())
            if database == "sqlite" and size == "small":
                found["flood"] = self.flood(server, directory)
            if postgres:
                found["database_memory"] = machine.memory_mib(server.database_pids())
            if size == "small":
                found["stripe"] = self.stripe_ingest(server)
        finally:
            server.stop()
            if not self.arguments.keep:
                shutil.rmtree(directory, ignore_errors=True)

    def idle(self, server: Server) -> dict:
        """What a server takes that nobody asks, once it has done what was left to do."""
        deadline = time.monotonic() + self.plan.settle_seconds
        while machine.busy(server.pids(), 2) > 0.01 and time.monotonic() < deadline:
            pass
        return {"cores": machine.busy(server.pids(), self.plan.idle_seconds),
                "memory": machine.memory_mib(server.pids())}

    def flood(self, server: Server, directory: Path) -> dict:
        """Resident memory before and after 3,000 notifications under chains that nobody has seen
        before: each is refused, and nothing of any may stay."""
        file = directory / "strangers.corpus"
        corpus.write(file, (
            corpus.record(body) for body in unknown_chains.bodies(3_500, self.run_started_ms)))

        def send(start: int, count: int) -> dict:
            return self.load.run(
                server.port, method="POST", target="/webhooks/app_store", corpus=file, connections=8,
                start=start, count=count, accept_refusals=True)

        send(0, 500)  # what is needed once: buffers, pages of the program
        before = machine.memory_mib(server.pids())["resident"]
        done = send(500, 3_000)
        taken = sum(n for status, n in done["statuses"].items() if status.startswith("2"))
        if taken or done["requests"] < 3_000:
            raise RuntimeError(f"strangers were let in, or not all were heard: {done['statuses']}")
        after = machine.memory_mib(server.pids())["resident"]
        return {"before": before, "after": after, "statuses": done["statuses"],
                "sent": round(file.stat().st_size / (1 << 20), 1)}

    def figures(self, program: Path) -> None:
        """Ingest while the server makes the figures of reports behind it, and while it does not, in
        turns. Who holds their lease keeps it from making them."""
        directory = self.fresh("figures")
        file = directory / "tollgate.sqlite"
        server = self.start(program, f"sqlite:{file}", directory, None)
        try:
            sample = fill(server, self.plan.small, self.load, self.first_purchases, directory,
                          self.run_started_ms)
            self.sync()
            self.warm_up(server, sample, directory, self.stream, self.plan.small)
            turns: dict = {"without": [], "with": []}
            for _ in range(self.plan.rounds):
                for name in turns:
                    figures.hold_back(file, name == "without")
                    result = self.measured(
                        server, 1, method="POST", target="/webhooks/app_store", corpus=self.stream,
                        connections=64, seconds=self.plan.seconds / 2, count=self.plan.notifications // 2,
                        start=self.next_notification)
                    self.next_notification = result["next"]
                    turns[name].append(result)
            self.results["figures"] = {name: _median_of(found) for name, found in turns.items()}
        finally:
            server.stop()

    def steady(self, program: Path) -> None:
        """Notifications for ten minutes, a burst of them each second over 64 connections: the slowest of
        all, with whatever the server does beside them now and then."""
        directory = self.fresh("steady")
        seconds, each = self.plan.steady_seconds, self.plan.steady_each
        stream = directory / "steady.corpus"
        self.say(f"steady: signing {seconds * each:,} notifications …")
        with CorpusWriter(self.chain, self.run_started_ms) as writer:
            writer.stream(stream, seconds * each + 1_000, self.plan.small)
        server = self.start(program, f"sqlite:{directory / 'tollgate.sqlite'}", directory, None)
        try:
            sample = fill(server, self.plan.small, self.load, self.first_purchases, directory,
                          self.run_started_ms)
            self.sync()
            self.warm_up(server, sample, directory, stream, self.plan.small)
            found = []
            began = time.monotonic()
            for second in range(seconds):
                time.sleep(max(0.0, began + second - time.monotonic()))
                found.append(self.load.run(
                    server.port, method="POST", target="/webhooks/app_store", corpus=stream, connections=64,
                    start=self.next_notification, count=each))
                self.next_notification = found[-1]["next"]
            latencies = [result["latency_ms"] for result in found]
            self.results["steady"] = {
                "seconds": round(time.monotonic() - began, 1), "notifications": seconds * each,
                "p99_ms": statistics.median(latency["p99"] for latency in latencies),
                "max_ms": max(latency["max"] for latency in latencies)}
        finally:
            server.stop()
            if not self.arguments.keep:
                shutil.rmtree(directory, ignore_errors=True)

    def worlds(self, program: Path) -> None:
        """How fast simulated worlds are lived through, comparisons and kills included."""
        directory = self.fresh("worlds")
        people, years = 50, 2
        done = subprocess.run(
            [str(program), "simulate", "--worlds", str(self.plan.worlds), "--customers", str(people),
             "--years", str(years), "--no-shrink", "--json"],
            cwd=directory, check=True, capture_output=True, text=True)
        worlds = json.loads(done.stdout)
        months = len(worlds) * people * years * 12
        self.results["worlds"] = {
            "worlds": len(worlds), "people": people, "months": months,
            "seconds": round(sum(world["seconds"] for world in worlds), 1)}

    def traces(self, program: Path) -> None:
        """Reads and ingest of one database, in turns: without traces, with a tenth of them, and with all."""
        directory = self.fresh("traces")
        file = directory / "tollgate.sqlite"
        collector = Collector()
        settings = {"none": {}, "a tenth": collector.environment(0.1), "all": collector.environment(1)}
        turns: dict = {name: {"reads": [], "ingest": []} for name in settings}
        sample: list[str] = []
        try:
            for _ in range(self.plan.rounds):
                for name, environment in settings.items():
                    server = Tollgate(
                        program, f"sqlite:{file}", self.root, directory, environment=environment)
                    try:
                        if not sample:
                            sample = fill(server, self.plan.small, self.load, self.first_purchases, directory,
                                          self.run_started_ms)
                            self.sync()
                            self.warm_up(server, sample, directory, self.stream, self.plan.small)
                        figures.hold_back(file, True)
                        for what, found in self.traced(server).items():
                            turns[name][what].append(found)
                    finally:
                        server.stop()
        finally:
            collector.close()
        self.results["traces"] = {
            name: {what: _median_of(found) for what, found in whats.items()} for name, whats in turns.items()}
        self.results["traces"]["all"]["sent_bytes"] = collector.bytes

    def traced(self, server: Server) -> dict[str, dict]:
        """One turn: the caches of a server that has just started are filled first."""
        post = {"method": "POST", "target": "/webhooks/app_store", "corpus": self.stream, "connections": 64}
        get = {"corpus": self.targets, "connections": 64, "headers": server.headers}
        self.next_notification = self.load.run(
            server.port, start=self.next_notification, count=300, **post)["next"]
        self.load.run(server.port, count=2_000, **get)
        reads = self.measured(server, 1, seconds=self.plan.seconds / 2, repeat=True, **get)
        ingest = self.measured(
            server, 1, seconds=self.plan.seconds / 2, count=self.plan.notifications // 3,
            start=self.next_notification, **post)
        self.next_notification = ingest["next"]
        return {"reads": reads, "ingest": ingest}

    def google_play(self, program: Path) -> None:
        """The CPU of a read of Google Play's beside that of an App Store notification, and 10,000 hints a
        minute, with an API that answers in 50 ms."""
        directory = self.fresh("google-play")
        google = google_play.GooglePlay(directory, self.run_started_ms)
        server = None
        try:
            server = Tollgate(program, f"sqlite:{directory / 'tollgate.sqlite'}", self.root, directory,
                              environment=google.environment())
            sample = fill(server, self.plan.small, self.load, self.first_purchases, directory,
                          self.run_started_ms)
            self.sync()
            self.warm_up(server, sample, directory, self.stream, self.plan.small)
            # The figures of reports are made behind both; they are measured by the part `figures`.
            figures.hold_back(directory / "tollgate.sqlite", True)
            found = self.results["google_play"] = {"purchases": self.plan.purchases}
            found["notification"] = self.ingest(
                server, self.stream, (64,), self.plan.seconds, {64: self.plan.rounds})[64]
            found["read"] = self.google_play_reads(server, google, directory)
            found["read_alone"] = self.google_play_reads_alone(
                server, google, directory, found["read"]["idle_cores"])
            found["paced"] = self.paced_notifications(server, found["read"]["idle_cores"])
            found["hints"] = self.google_play_hints(server, google, directory)
        finally:
            if server:
                server.stop()
            google.stop()

    def google_play_reads(self, server: Server, google: google_play.GooglePlay, directory: Path) -> dict:
        """Hints about renewals of purchases that are known: each leads to a read of the purchase and one
        of its order, which are journalled and applied, and to a second look at the purchase."""
        purchases = self.plan.purchases
        self.push_hints(server, google, directory, purchases, google_play.PURCHASED, 0)
        self.check_google_play(server)
        # Until the quotas are full again; what the server does when nothing is left to do is no read.
        time.sleep(40)
        idle = machine.cpu_seconds(server.pids())
        time.sleep(20)
        idle = (machine.cpu_seconds(server.pids()) - idle) / 20
        google.renew(1)
        self.say(f"google-play: {purchases:,} renewals …")
        began, cpu = time.monotonic(), machine.cpu_seconds(server.pids())
        made = self.push_hints(
            server, google, directory, purchases, google_play.RENEWED, purchases)
        seconds = time.monotonic() - began
        cpu = machine.cpu_seconds(server.pids()) - cpu - idle * seconds
        return {"cpu_us": 1e6 * cpu / (2 * purchases), "idle_cores": idle, "calls": made,
                "journalled": 2 * purchases, "seconds": seconds}

    def google_play_reads_alone(self, server: Server, google: google_play.GooglePlay, directory: Path,
                                idle: float) -> dict:
        """The same without the hints and second looks: Google's API is away while the hints come in, and
        what it is asked first when it is back is asked late enough to be the last word."""
        purchases = self.plan.purchases
        time.sleep(40)  # Until the quotas are full again.
        google.renew(2)
        google.close(True)
        self.say(f"google-play: {purchases:,} hints, and then their reads …")
        before = google.counts()
        self.load_hints(server, google, directory, purchases, google_play.RENEWED, 2 * purchases)
        time.sleep(google_play.SECOND_LOOK_SECONDS + 2)
        google.close(False)
        began, cpu = time.monotonic(), machine.cpu_seconds(server.pids())
        made = google.settle(purchases, before)
        seconds = time.monotonic() - began
        cpu = machine.cpu_seconds(server.pids()) - cpu - idle * seconds
        return {"cpu_us": 1e6 * cpu / (2 * purchases), "calls": made,
                "seconds": seconds}

    def paced_notifications(self, server: Server, idle: float) -> dict:
        """App Store notifications at the pace of Google's quota, as reads are: commits are shared by few."""
        seconds, each = self.plan.hint_seconds, QUOTA_PER_MINUTE // 60
        self.say(f"google-play: {seconds * each:,} notifications, {each} a second …")
        began, cpu = time.monotonic(), machine.cpu_seconds(server.pids())
        for second in range(seconds):
            time.sleep(max(0.0, began + second - time.monotonic()))
            self.next_notification = self.load.run(
                server.port, method="POST", target="/webhooks/app_store", corpus=self.stream, connections=8,
                start=self.next_notification, count=each)["next"]
        elapsed = time.monotonic() - began
        cpu = machine.cpu_seconds(server.pids()) - cpu - idle * elapsed
        return {"cpu_us": 1e6 * cpu / (seconds * each)}

    def push_hints(self, server: Server, google: google_play.GooglePlay, directory: Path, purchases: int,
                   kind: int, first: int) -> dict:
        before = google.counts()
        self.load_hints(server, google, directory, purchases, kind, first)
        return google.settle(purchases, before)

    def load_hints(self, server: Server, google: google_play.GooglePlay, directory: Path, purchases: int,
                   kind: int, first: int) -> None:
        file = directory / "hints.corpus"
        google_play.write_hints(file, range(purchases), kind, first)
        self.load.run(server.port, method="POST", target="/webhooks/google_play", corpus=file,
                      connections=8, headers=google.headers)

    def check_google_play(self, server: Server) -> None:
        """What was read must show: these are purchases of production, the App Store's of a sandbox."""
        for customer in (0, self.plan.purchases - 1):
            found = server.get(f"/v1/customers/{server.customer_id(customer)}/entitlements"
                               "?environment=production")["data"]
            if [entitlement["lookup_key"] for entitlement in found] != [population.LOOKUP_KEY]:
                raise RuntimeError(f"customer {customer} has bought in Google Play, the answer is {found}")

    def google_play_hints(self, server: Server, google: google_play.GooglePlay, directory: Path) -> dict:
        """Hints about purchases that nobody knows yet, at a steady pace."""
        seconds, each = self.plan.hint_seconds, 170
        self.say(f"google-play: {seconds * each:,} hints …")
        file = directory / "steady.corpus"
        first = self.plan.purchases
        google_play.write_hints(file, range(first, first + seconds * each), google_play.PURCHASED, 1_000_000)
        before, cpu = google.counts(), machine.cpu_seconds(server.pids())
        began = time.monotonic()
        found = []
        for second in range(seconds):
            time.sleep(max(0.0, began + second - time.monotonic()))
            found.append(self.load.run(
                server.port, method="POST", target="/webhooks/google_play", corpus=file, connections=8,
                start=second * each, count=each, headers=google.headers))
        # The last second is one, too.
        time.sleep(max(0.0, began + seconds - time.monotonic()))
        elapsed = time.monotonic() - began
        counts = google.counts()
        return {
            "per_minute": 60 * sum(result["requests"] for result in found) / elapsed,
            "p99_ms": statistics.median(result["latency_ms"]["p99"] for result in found),
            "max_ms": max(result["latency_ms"]["max"] for result in found),
            "cores": (machine.cpu_seconds(server.pids()) - cpu) / elapsed,
            "reads_per_minute": 60 * (counts["subscriptions"] - before["subscriptions"]) / elapsed,
            "refused": counts["refused"] - before["refused"],
        }

    def access(self, program: Path) -> None:
        """`tollgate check-access` over the journals of all customers, on SQLite. Behind the server's
        back one of them is answered with nothing: exactly that one must be found, and everybody
        judged, or the time says nothing."""
        directory = self.fresh("access")
        url = f"sqlite:{directory / 'tollgate.sqlite'}"
        self.say(f"access: filling with {self.plan.access:,} customers …")
        began = time.monotonic()
        customers, _ = bulk(
            program.parent / "FillDatabase", url, HERE / "catalog.yaml", self.plan.access,
            self.plan.access_fill_seconds, self.run_started_ms, self.plan.access_messages)
        filled = time.monotonic() - began
        database = sqlite3.connect(directory / "tollgate.sqlite")
        with database:
            database.execute("UPDATE customer SET answer = x'' WHERE key = (SELECT min(key) FROM customer)")
        database.close()
        self.sync()
        self.say(f"access: checking {customers:,} customers …")
        with open(directory / "check.json", "wb") as output:
            began = time.monotonic()
            process = subprocess.Popen(
                [str(program), "check-access", "--at", str(self.run_started_ms), "--json"],
                env=os.environ | {"TOLLGATE_DATABASE": url}, stdout=output, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        report = json.loads((directory / "check.json").read_text() or "{}").get("report") or {}
        found = [finding["kind"] for finding in report.get("findings", [])]
        if process.returncode != 1 or found != ["locked_out"] or report["unjudged"] \
                or report["purchases"] < customers:
            raise RuntimeError(f"check-access ended with {process.returncode} and found {found}")
        self.results["access"] = {
            "customers": customers, "rows": report["rows"], "seconds": round(seconds, 1),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "peak_mib": round(usage.ru_maxrss / 1024), "fill_seconds": round(filled)}
        if not self.arguments.keep:
            shutil.rmtree(directory, ignore_errors=True)

    def start(self, program: Path, url: str, directory: Path, postgres: Postgres | None) -> Server:
        if self.arguments.stand_in:
            return Reference(self.root, directory)
        return Tollgate(program, url, self.root, directory, postgres)

    def fresh(self, name: str) -> Path:
        directory = self.directory / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory

    # MARK: - Measurements over HTTP

    def warm_up(self, server: Server, sample: list[str], directory: Path, stream: Path,
                customers: int) -> None:
        """Fills the chain caches of every worker and the servers' statement caches."""
        self.targets = directory / "targets.corpus"
        corpus.write(self.targets, (
            corpus.record(target=f"/v1/customers/{customer}/entitlements".encode()) for customer in sample))
        result = self.load.run(server.port, method="POST", target="/webhooks/app_store", corpus=stream,
                               connections=64, count=400)
        self.next_notification = result["next"]
        self.load.run(server.port, corpus=self.targets, connections=64, count=2_000, headers=server.headers)
        self.check_answers(server, customers)

    def check_answers(self, server: Server, customers: int) -> None:
        """Figures of a server that answers wrongly are worth nothing: the renewals of the warm-up
        must show in their customers' entitlements."""
        for sequence in range(RENEWALS_OF_TEN):
            customer = population.shuffled(sequence, customers)
            renewed = population.period_start(customer, 1, self.run_started_ms) + population.MONTH_MS
            found = server.get(f"/v1/customers/{server.customer_id(customer)}/entitlements"
                               f"?at={renewed - population.HOUR_MS}")["data"]
            if not any(e["lookup_key"] == population.LOOKUP_KEY and e["until"] >= renewed for e in found):
                raise RuntimeError(f"customer {customer} has renewed until {renewed}, the answer is {found}")

    def measured(self, server: Server, rounds: int, **request) -> dict:
        """Medians over the rounds of one measurement; CPU is that of the server and its database."""
        found = []
        for _ in range(rounds):
            before = machine.cpu_seconds(server.pids())
            database_before = machine.cpu_seconds(server.database_pids())
            result = self.load.run(server.port, **request)
            database_cpu = machine.cpu_seconds(server.database_pids()) - database_before
            cpu = machine.cpu_seconds(server.pids()) - before + database_cpu
            found.append(result | {
                "cpu_us": 1e6 * cpu / result["requests"],
                "database_cpu_us": 1e6 * database_cpu / result["requests"]})
            if request.get("method") == "POST":
                request["start"] = result["next"]
        speeds = [result["per_second"] for result in found]
        return {
            "per_second": statistics.median(speeds), "slowest": min(speeds), "fastest": max(speeds),
            "rounds": rounds, "requests": sum(result["requests"] for result in found),
            "cpu_us": statistics.median(result["cpu_us"] for result in found),
            "database_cpu_us": statistics.median(result["database_cpu_us"] for result in found),
            "p50_ms": statistics.median(result["latency_ms"]["p50"] for result in found),
            "p99_ms": statistics.median(result["latency_ms"]["p99"] for result in found),
            "max_ms": max(result["latency_ms"]["max"] for result in found),
            "client_cpu_us": 1e6 * sum(r["client_cpu_seconds"] for r in found) / sum(
                r["requests"] for r in found),
            "next": found[-1]["next"],
        }

    def reads(self, server: Server, connections: tuple, rounds: dict) -> dict:
        return {
            count: self.measured(
                server, rounds.get(count, 1), corpus=self.targets, connections=count,
                seconds=self.plan.seconds, repeat=True, headers=server.headers)
            for count in connections}

    def reads_beside_empty(self, server: Server, others: dict[str, dict]) -> dict[str, dict]:
        """All routes in turn, so that a slower minute of the machine slows them all."""
        routes = {
            "empty": {"target": "/healthz"},
            "reads": {"corpus": self.targets, "repeat": True, "headers": server.headers}} | others
        turns: dict[str, list[dict]] = {name: [] for name in routes}
        for _ in range(self.plan.rounds):
            for name, route in routes.items():
                turns[name].append(self.measured(
                    server, 1, connections=64, seconds=self.plan.seconds / 2, **route))
        found = {name: {64: _median_of(turn)} for name, turn in turns.items()}
        found["reads"] |= self.reads(server, (1, 256), {})
        found["reads"] = dict(sorted(found["reads"].items()))
        return found

    def ingest(self, server: Server, stream: Path, connections: tuple, seconds: float,
               rounds: dict) -> dict:
        found = {}
        for count in connections:
            found[count] = self.measured(
                server, rounds.get(count, 1), method="POST", target="/webhooks/app_store", corpus=stream,
                connections=count, seconds=seconds, count=self.plan.notifications, start=self.next_notification)
            self.next_notification = found[count]["next"]
        return dict(sorted(found.items()))

    def stripe_ingest(self, server: Server) -> dict:
        corpus.write_stripe_events(self.stripe, 6_000, int(time.time()))
        return {64: self.measured(
            server, 1, method="POST", target="/webhooks/stripe", corpus=self.stripe, connections=64,
            seconds=min(self.plan.seconds, 3))}


def _median_of(found: list[dict]) -> dict:
    """One measurement out of several: medians, and the slowest and fastest of all."""
    merged = {key: statistics.median(result[key] for result in found) for key in found[0]}
    return merged | {
        "rounds": len(found), "slowest": min(result["slowest"] for result in found),
        "fastest": max(result["fastest"] for result in found),
        "max_ms": max(result["max_ms"] for result in found)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round each, at most ten minutes")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part only (repeatable)")
    parser.add_argument("--small-only", action="store_true", help="leave out the large population")
    parser.add_argument("--small", type=int, metavar="N", help="customers of the small population")
    parser.add_argument("--large", type=int, metavar="N", help="customers of the large population")
    parser.add_argument("--huge", type=int, metavar="N",
                        help="customers of a third population, as 10000000 (it takes hours)")
    parser.add_argument("--access", type=int, metavar="N", help="customers of the part access")
    parser.add_argument("--tollgate", metavar="PROGRAM", help="measure this release build instead of building")
    parser.add_argument("--directory", help="where corpora and databases go (default .build/bench)")
    parser.add_argument("--output", help="the JSON file of results (default output/bench.json)")
    parser.add_argument("--stand-in", action="store_true",
                        help="put the reference receiver in Tollgate's place, to try the benchmark itself")
    parser.add_argument("--keep", action="store_true", help="keep the corpora (about 2 GB) afterwards")
    parser.add_argument("--require", choices=("half", "least", "aim"),
                        help="exit 1 unless every measured goal reaches this much")
    arguments = parser.parse_args()
    # Ends the servers that were started, as an interrupt from the keyboard does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = Bench(arguments)
    bench.run()

    found = goals.goals(bench.results)
    results = bench.results | {"goals": [goal.as_json() for goal in found]}
    output = Path(arguments.output or ROOT / "output" / "bench.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=2) + "\n")
    noise = results["machine"]
    print(goals.table(found), "\n")
    if one_core := goals.rates(results):
        print(one_core, "\n")
    print(goals.details(results), "\n")
    if traces := goals.traces(results):
        print(traces, "\n")
    for database in ("sqlite", "postgres"):
        for place in results.get(database, {}).values():
            print(f"{database}, {place['customers']:,} customers: filled in {place['fill_seconds']} s")
    print(f"Machine: {noise['cores']} cores; the same work took {noise['work_ms_fastest']} to "
          f"{noise['work_ms_slowest']} ms over {noise['work_samples']} samples (spread "
          f"{noise['work_spread_percent']} % of the median); a flush {noise['flush_ms_median']} ms "
          f"(p99 {noise['flush_ms_p99']} ms); others used {100 * results['others_busy']:.0f} % of the "
          f"cores at the start. Load generator and server share the cores.")
    if results["others_busy"] > 0.2 or noise["work_spread_percent"] > 30:
        print("THE MACHINE WAS NOT QUIET: these figures show that the benchmark runs, and little else.")
    for problem in results.get("problems", []):
        print(f"Not measured: {problem}")
    print(f"{results['seconds']:.0f} s; {output}")
    return _exit_status(found, arguments.require, bool(results.get("problems")))


def _exit_status(found: list, require: str | None, problems: bool) -> int:
    if require is None:
        return 0
    passing = {
        "half": {"half reached", "reached", "aim reached"},
        "least": {"reached", "aim reached"}, "aim": {"aim reached"}}[require]
    measured = [goal for goal in found if goal.reached is not None]
    return 1 if problems or any(goal.verdict() not in passing for goal in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
