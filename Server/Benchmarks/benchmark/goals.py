"""The goals, the figures reached and the table that shows both."""

import statistics
from dataclasses import dataclass

from .google_api import QUOTA_PER_MINUTE


@dataclass
class Goal:
    """A limit: reached at `least`, hoped for at `aim`. `smaller` tells which side is better."""

    name: str
    least: float
    aim: float
    smaller: bool = False
    unit: str = ""
    reached: float | None = None
    note: str = ""

    def verdict(self) -> str:
        if self.reached is None:
            return "not measured"
        if self._meets(self.aim):
            return "aim reached"
        if self._meets(self.least):
            return "reached"
        half = self.least * 2 if self.smaller else self.least / 2
        return "half reached" if self._meets(half) else "MISSED"

    def _meets(self, limit: float) -> bool:
        return self.reached <= limit if self.smaller else self.reached >= limit

    def as_json(self) -> dict:
        return {
            "goal": self.name, "at_least": self.least, "aim": self.aim, "unit": self.unit,
            "smaller_is_better": self.smaller, "reached": self.reached, "note": self.note,
            "verdict": self.verdict()}


def goals(run: dict) -> list[Goal]:
    """The goals with what this run measured; what was not measured stays empty."""
    return [*_of_database(run, "sqlite"), *_of_database(run, "postgres"), *_of_both(run),
            *_of_google_play(run.get("google_play") or {}), *_kept(run)]


def _of_database(run: dict, database: str) -> list[Goal]:
    """Ingest, reads, memory and growth on one database."""
    place = _of(run, database, "small")
    mark = "" if database == "sqlite" else "PostgreSQL: "
    cpu, raw = _at(place.get("ingest"), 64, "cpu_us"), (run.get("signatures") or {}).get("raw_p256_per_second")
    ingest, theirs = _best(place.get("ingest")), _best((run.get("reference") or {}).get("ingest"), "fastest")
    found = [
        Goal(f"{mark}processor per notification / one P-256 verification", 5, 4.2, smaller=True, unit="×",
             reached=cpu * raw / 1e6 if cpu and raw else None, note=_rates(cpu, 1e6 / raw if raw else None, "µs")),
        Goal(f"{mark}durable ingest / reference at its best", 20, 30, unit="×",
             reached=_ratio(ingest, theirs), note=_rates(ingest, theirs)),
        Goal(f"{mark}ingest p99 at 64 connections", 20, 10, smaller=True, unit="ms",
             reached=_at(place.get("ingest"), 64, "p99_ms"))]
    if database == "sqlite":
        steady = run.get("steady") or {}
        found.append(Goal("slowest ingest in ten minutes", 100, 50, smaller=True, unit="ms",
                          reached=steady.get("max_ms"), note=_steady(steady)))
    found += _of_reads(place, run.get("reference") or {}, mark)
    idle, large = place.get("idle") or {}, _of(run, database, "large")
    for name, limits, memory in (
            ("idle", (45, 35), idle.get("memory")), ("under full load", (70, 50), place.get("memory")),
            (f"with {_size(run, database, 'large')} customers", (80, 60), large.get("memory"))):
        found.append(Goal(f"{mark}resident memory, {name}", *limits, smaller=True, unit="MiB",
                          reached=(memory or {}).get("resident"), note=_memory(memory)))
    found.append(Goal(f"{mark}processor of an idle server", 0.1, 0.1, smaller=True, unit="%",
                      reached=None if not idle else 100 * idle["cores"]))
    for size in ("large", "huge"):
        for what, name in (("reads", "read"), ("ingest", "ingest")):
            grown, cpu = (_at(at.get(what), 64, "cpu_us") for at in (_of(run, database, size), place))
            found.append(Goal(
                f"{mark}processor per {name}, {_size(run, database, 'small')} → "
                f"{_size(run, database, size)} customers",
                1.15, 1.05, smaller=True, unit="×", reached=_ratio(grown, cpu), note=_rates(grown, cpu, "µs")))
    starts = large.get("starts_ms")
    found.append(Goal(f"{mark}cold start to first answer with {_size(run, database, 'large')} customers", 250, 100,
                      smaller=True, unit="ms", reached=statistics.median(starts) if starts else None))
    return found


# How entitlements are asked for beside the reference, and what each is called.
READS = {"reads": "by our id", "user_reads": "by the app's user id",
         "session_reads": "by a session, signed"}
# How else they are asked for (`reads.py`); these have no goals.
OTHER_READS = ("polls", "misses", "collectors", "new_connections")


def _of_reads(place: dict, reference: dict, mark: str) -> list[Goal]:
    """Each way to ask, beside the reference receiver and beside our own empty route."""
    found = []
    empty = _at(place.get("empty"), 64, "per_second")
    for what, name in READS.items():
        best, theirs = _best(place.get(what)), _best(reference.get(what), "fastest")
        ours = _at(place.get(what), 64, "per_second")
        found += [
            Goal(f"{mark}entitlement reads {name} / reference", 5, 8, unit="×", reached=_ratio(best, theirs),
                 note=_rates(best, theirs)),
            Goal(f"{mark}entitlement reads {name} / own empty route", 0.8, 0.9, reached=_ratio(ours, empty),
                 note=_rates(ours, empty))]
    return found


def _of_both(run: dict) -> list[Goal]:
    """The databases side by side, reports behind ingest, and simulated worlds."""
    postgres, sqlite = (_best(_of(run, name, "small").get("ingest")) for name in ("postgres", "sqlite"))
    with_figures, without = (
        (run.get("figures") or {}).get(name, {}).get("per_second") for name in ("with", "without"))
    worlds = run.get("worlds") or {}
    return [
        Goal("PostgreSQL ingest / SQLite ingest", 0.7, 0.9, reached=_ratio(postgres, sqlite),
             note=_rates(postgres, sqlite)),
        Goal("ingest while reports are derived / without", 0.95, 0.98, reached=_ratio(with_figures, without),
             note=_rates(with_figures, without)),
        Goal("worlds: subscriber-months a second", 200_000, 1_000_000,
             reached=_ratio(worlds.get("months"), worlds.get("seconds")), note=_worlds(worlds))]


def _of_google_play(google: dict) -> list[Goal]:
    """Reads and hints of Google Play."""
    read, notification = google.get("read") or {}, google.get("notification") or {}
    alone, paced = google.get("read_alone") or {}, google.get("paced") or {}
    hints = google.get("hints") or {}
    return [
        # At the quota's pace a commit is shared by few, whatever store it is about.
        Goal("CPU per read of Google Play / per notification, both at the pace of Google's quota", 1.5, 1.2,
             smaller=True, unit="×", reached=_ratio(alone.get("cpu_us"), paced.get("cpu_us")),
             note=_rates(alone.get("cpu_us"), paced.get("cpu_us"), "µs")),
        Goal("the same, the read's hint and second look in it", 1.5, 1.2, smaller=True, unit="×",
             reached=_ratio(read.get("cpu_us"), paced.get("cpu_us")),
             note=_rates(read.get("cpu_us"), paced.get("cpu_us"), "µs")),
        Goal("the same, beside notifications of 64 connections", 1.5, 1.2, smaller=True, unit="×",
             reached=_ratio(read.get("cpu_us"), notification.get("cpu_us")),
             note=_rates(read.get("cpu_us"), notification.get("cpu_us"), "µs")),
        Goal("hints taken a minute, Google's API at 50 ms", 10_000, 10_000, reached=hints.get("per_minute"),
             note=_hints(hints)),
        Goal("purchases read in that minute / Google's quota", 0.9, 1,
             reached=_ratio(hints.get("reads_per_minute"), QUOTA_PER_MINUTE),
             note=_rates(hints.get("reads_per_minute"), QUOTA_PER_MINUTE)),
    ]


def _kept(run: dict) -> list[Goal]:
    """Goals of docs/attacks.md and docs/operations.md."""
    flood = _of(run, "sqlite", "small").get("flood")
    found = [
        # Their certificates alone are 7 MiB: with less than that they were not kept.
        Goal("memory under a flood of 3,000 unknown chains", 4, 2, smaller=True, unit="MiB",
             reached=_growth(flood), note=_flood(flood))]
    if access := run.get("access"):
        found.append(Goal(
            "check-access, for a million customers", 10, 5, smaller=True, unit="min",
            reached=access["seconds"] / 60 * 1_000_000 / access["customers"],
            note=f"{access['customers']:,} customers, {access['rows']:,} rows: {access['seconds']:,.0f} s, "
                 f"{access['cpu_seconds']:,.0f} s of the cores, {access['peak_mib']:,} MiB"))
    return found


def table(found: list[Goal]) -> str:
    rows = [("figure", "at least", "aim", "reached", "", "")]
    for goal in found:
        rows.append((goal.name, _limit(goal, goal.least), _limit(goal, goal.aim),
                     _number(goal.reached, goal.unit), goal.verdict(), goal.note))
    return _columns(rows)


def rates(run: dict) -> str:
    """What one core does without HTTP and database."""
    signatures, library = run.get("signatures") or {}, run.get("reference_library") or {}
    rows = [("on one core", "per second", "µs each")]
    for name, rate in (
        ("raw P-256 verification", signatures.get("raw_p256_per_second")),
        ("notification, Tollgate", signatures.get("notifications_per_second")),
        ("notification, Apple's Python library", library.get("notifications_per_second")),
        ("Stripe event, Tollgate", signatures.get("stripe_events_per_second")),
        ("Stripe event, construct_event", library.get("stripe_events_per_second")),
    ):
        if rate:
            rows.append((name, f"{rate:,.0f}", f"{1e6 / rate:,.1f}"))
    if signatures.get("new_chain_us"):
        rows.append(("an unknown chain of certificates", "", f"{signatures['new_chain_us']:,.0f}"))
    return _columns(rows) if len(rows) > 1 else ""


def details(run: dict) -> str:
    """Every measurement over HTTP, one row each."""
    rows = [("server", "customers", "what", "connections", "per second", "p50 ms", "p99 ms", "max ms",
             "CPU µs/op", "of it database", "rounds from-to")]
    places = [("reference", run.get("reference") or {})] + [
        (f"tollgate {database}", run.get(database, {}).get(size) or {})
        for database in ("sqlite", "postgres") for size in ("small", "large", "huge")]
    for name, place in places:
        for what in ("empty", *READS, *OTHER_READS, "ingest", "stripe"):
            for connections, found in (place.get(what) or {}).items():
                rows.append((
                    name, f"{place['customers']:,}", what, str(connections),
                    f"{found['per_second']:,.0f}", f"{found['p50_ms']:.2f}", f"{found['p99_ms']:.2f}",
                    f"{found['max_ms']:.1f}", f"{found['cpu_us']:.1f}",
                    f"{found['database_cpu_us']:.1f}" if found["database_cpu_us"] else "",
                    f"{found['slowest']:,.0f}-{found['fastest']:,.0f}" if found["rounds"] > 1 else ""))
        if place.get("memory"):
            memory = place["memory"]
            rows.append((name, f"{place['customers']:,}", "memory MiB", "",
                         f"{memory['share']:.0f}", "", "", "", "", "",
                         f"resident {memory['resident']:.0f}, peak {memory['peak']:.0f}"))
    return _columns(rows)


def traces(run: dict) -> str:
    """The cost of traces, beside a server that has none."""
    found = run.get("traces")
    if not found:
        return ""
    rows = [("traces", "what", "per second", "p99 ms", "CPU µs/op", "beside none")]
    for name, place in found.items():
        for what in ("reads", "ingest"):
            measured, none = place[what], found["none"][what]
            rows.append((
                name, what, f"{measured['per_second']:,.0f}", f"{measured['p99_ms']:.2f}",
                f"{measured['cpu_us']:.1f}", f"{measured['cpu_us'] / none['cpu_us']:.2f}×"))
    return _columns(rows)


def _of(run, database, size):
    return (run.get(database) or {}).get(size) or {}


def _size(run, database, size):
    """How many customers there were, or should have been: "10 thousand"."""
    count = run.get(f"{size}_reached", {}).get(database) or run.get(size) or {"huge": 10_000_000}.get(size, 0)
    for unit, name in ((1_000_000, "million"), (1_000, "thousand")):
        if count >= unit:
            return f"{count / unit:,.3g} {name}"
    return f"{count:,}"


def _best(measured, what="per_second"):
    return max((found[what] for found in measured.values()), default=None) if measured else None


def _at(measured, connections, what):
    found = (measured or {}).get(connections)
    return found[what] if found else None


def _memory(memory):
    return f"peak {memory['peak']:.0f} MiB, share {memory['share']:.0f} MiB" if memory else ""


def _steady(steady):
    return (f"{steady['notifications']:,} notifications in {steady['seconds']:,.0f} s, median p99 of a second's "
            f"{steady['p99_ms']:.1f} ms" if steady else "--only steady")


def _worlds(worlds):
    return (f"{worlds['worlds']} worlds of {worlds['people']} people, {worlds['seconds']:,.0f} s" if worlds else "")


def _growth(flood):
    return max(0.0, flood["after"] - flood["before"]) if flood else None


def _flood(flood):
    return f"resident {flood['before']:.1f} → {flood['after']:.1f} MiB, {flood['sent']:.0f} MiB sent" if flood else ""


def _hints(hints):
    return (f"p99 {hints['p99_ms']:.1f} ms, {hints['cores']:.2f} cores, {hints['refused']:,.0f} reads beyond the quota"
            if hints else "")


def _ratio(ours, theirs):
    return None if ours is None or not theirs else ours / theirs


def _rates(ours, theirs, unit="/s"):
    if ours is None or theirs is None:
        return ""
    return f"{_plain(ours)} beside {_plain(theirs)}{'' if unit == '/s' else ' '}{unit}"


def _plain(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _number(value, unit):
    if value is None:
        return "–"
    text = f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{text} {unit}".replace(" ×", "×").strip()


def _limit(goal, value):
    return ("≤ " if goal.smaller else "≥ ") + _number(value, goal.unit)


def _columns(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
