"""The table that `make bench` prints, from figures that were made up."""

import pathlib
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "Benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from benchmark import goals  # noqa: E402


def measured(per_second, cpu_us=100.0):
    return {64: {"per_second": per_second, "fastest": per_second, "cpu_us": cpu_us, "p99_ms": 15.0}}


RUN = {
    "small": 10_000,
    "large": 1_000_000,
    "large_reached": {"sqlite": 1_000_000, "postgres": 400_000},
    "signatures": {"raw_p256_per_second": 25_000},
    "reference": {"ingest": measured(250), "reads": measured(5_000), "user_reads": measured(5_000)},
    "sqlite": {
        "small": {
            "ingest": measured(6_000, cpu_us=180), "empty": measured(50_000), "reads": measured(45_000),
            "user_reads": measured(36_000),
            "memory": {"resident": 71, "peak": 80, "share": 60},
            "idle": {"cores": 0.0005, "memory": {"resident": 30, "peak": 40, "share": 28}},
        },
        "large": {"ingest": measured(5_000, cpu_us=198), "starts_ms": [90, 400, 95]},
    },
    "postgres": {"small": {"ingest": measured(3_000)}},
    "worlds": {"worlds": 2, "people": 50, "months": 2_400, "seconds": 12},
}


def found():
    return {goal.name: (goal.reached, goal.verdict()) for goal in goals.goals(RUN)}


def test_each_figure_is_compared_with_its_limit_and_its_aim():
    assert {name: result for name, result in found().items() if result[0] is not None} == {
        "processor per notification / one P-256 verification": (4.5, "reached"),
        "durable ingest / reference at its best": (24, "reached"),
        "ingest p99 at 64 connections": (15, "reached"),
        "entitlement reads by our id / reference": (9, "aim reached"),
        "entitlement reads by our id / own empty route": (0.9, "aim reached"),
        "entitlement reads by the app's user id / reference": (7.2, "reached"),
        "entitlement reads by the app's user id / own empty route": (0.72, "half reached"),
        "resident memory, idle": (30, "aim reached"),
        "resident memory, under full load": (71, "half reached"),
        "processor of an idle server": (0.05, "aim reached"),
        "processor per ingest, 10 thousand → 1 million customers": (1.1, "reached"),
        "cold start to first answer with 1 million customers": (95, "aim reached"),
        "PostgreSQL: processor per notification / one P-256 verification": (2.5, "aim reached"),
        "PostgreSQL: durable ingest / reference at its best": (12, "half reached"),
        "PostgreSQL: ingest p99 at 64 connections": (15, "reached"),
        "PostgreSQL ingest / SQLite ingest": (0.5, "half reached"),
        "worlds: subscriber-months a second": (200, "MISSED"),
    }


def test_what_was_not_measured_says_so():
    results = found()
    for name in (
        "slowest ingest in ten minutes",
        "entitlement reads by a session, signed / own empty route",
        "processor per read, 10 thousand → 10 million customers",
        "PostgreSQL: cold start to first answer with 400 thousand customers",
        "ingest while reports are derived / without",
    ):
        assert results[name] == (None, "not measured")
