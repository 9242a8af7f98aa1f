"""Measures how long reports take where two years of many transactions lie: by month over all of
them, by week over one year, by day over ninety days.

    measure_reports.py [TRANSACTIONS…]      1000000 and 10000000 unless given

The sums that a server would have made of so many transactions are put into a database by the day,
the month and everything else that they are kept apart by; then `tollgate report` is asked for
every report, by each step, filtered and grouped. The executable is found by the environment
variable TOLLGATE_BIN; a release build is what people run.
"""

import contextlib
import datetime
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from tollgate_world import BINARY, ROOT, Server, postgres

DAYS = 730
KEYS = ["measure", "day", "store", "product", "country", "currency", "offer", "detail", "extra"]
SUMS = ["items", "units", "amount"]
COLUMNS = ["environment", "measure", "grain", "day", *KEYS[2:7], "app", *KEYS[7:], *SUMS]
COUNTRIES, CURRENCIES = 175, 45
#: product: price in thousandths, days of a period (0: no plan), its code, months of it, how many
#: leave after each period, share of all customers
PRODUCTS = [
    ("pro_monthly", 9_990, 30, 1_000_001, 1, 0.20, 0.45),
    ("pro_yearly", 79_990, 365, 1_000_012, 12, 0.60, 0.20),
    ("pro_weekly", 2_990, 7, 7, 0, 0.25, 0.10),
    ("coins_100", 1_990, 0, 0, 0, 0.50, 0.15),
    ("coins_550", 8_990, 0, 0, 0, 0.50, 0.10),
]
AGES = np.array([0, 1, 3, 7, 14, 30, 60, 90, 180, 365, 730])
#: How far back people look by each step; a table of every day of years is as slow as it is long.
SPAN = {"day": 90, "week": 365, "month": DAYS}
#: What people ask for: report, step, more.
QUESTIONS = [
    *((name, by, ()) for name in (
        "overview", "sales", "revenue", "subscriptions", "mrr", "mrr-movement", "churn", "refunds",
        "events", "coins", "trials", "retention", "ltv") for by in ("day", "week", "month")),
    ("sales", "month", ("--group", "store,country")),
    ("sales", "day", ("--country", "JP")),
    ("mrr", "month", ("--group", "country")),
    ("mrr", "day", ("--store", "stripe", "--product", "pro_monthly")),
]


def country(number):
    """Two letters; Japan is the third."""
    return ["US", "DE", "JP"][number] if number < 3 else (
        chr(75 + number // 26) + chr(65 + number % 26))


def currency(number):
    return ["USD", "EUR", "JPY"][number] if number < 3 else f"X{country(number)}"


def sums(transactions, seed=1):
    """What so many transactions add to the sums of their days; days from 0."""
    chance = np.random.default_rng(seed)
    count = transactions * 10 // 27
    begin = chance.integers(0, DAYS, count)
    where = 1 / np.arange(1, COUNTRIES + 1)
    land = chance.choice(COUNTRIES, count, p=where / where.sum())
    kind = chance.choice(len(PRODUCTS), count, p=[p[6] for p in PRODUCTS])
    of = {name: np.array([p[index] for p in PRODUCTS])[kind] for index, name in (
        (1, "price"), (2, "length"), (3, "code"), (4, "months"), (5, "leaving"))}
    store = (chance.random(count) < 0.2).astype(int)
    plan = of["length"] > 0
    tries = plan & (chance.random(count) < 0.3)
    periods = chance.geometric(of["leaving"])
    # Who tries and does not stay pays for nothing.
    periods[tries & (chance.random(count) < 0.5)] = 0
    first = begin + np.where(tries, 7, 0)
    found = []

    def add(measure, who, day, offer=0, detail=0, extra=0, items=1, units=0, amount=0):
        frame = pd.DataFrame({
            "measure": measure, "day": day, "store": store[who], "product": kind[who],
            "country": land[who], "currency": land[who] % CURRENCIES, "offer": offer,
            "detail": detail, "extra": extra, "items": items, "units": units, "amount": amount})
        frame = frame[(frame.day >= 0) & (frame.day < DAYS)]
        found.append(frame.groupby(KEYS, sort=False, as_index=False)[SUMS].sum())

    everybody = np.arange(count)
    who = np.repeat(everybody, periods)
    number = np.arange(len(who)) - np.repeat(np.cumsum(periods) - periods, periods)
    step = np.where(of["length"] > 0, of["length"], 11)[who]
    day = first[who] + number * step
    there = day < DAYS
    who, number, day = who[there], number[there], day[there]
    price = of["price"][who]
    late = ((number * of["length"][who] >= 365) & (store[who] == 0)).astype(int)
    add(1, who, day, detail=late, units=1, amount=price)
    back = chance.random(len(who)) < 0.02
    after = chance.integers(1, 20, back.sum())
    for measure, at in ((2, day[back] + after), (3, day[back])):
        add(measure, who[back], at, detail=late[back], units=1, amount=price[back])

    payers = plan & (periods > 0)
    worth = np.where(of["months"] == 0, 4, 1) * of["price"]
    parts = np.maximum(of["months"], 1)
    last = first + periods * of["length"]
    # A month's worth of a year is kept in twelfths.
    add(10, everybody[payers], first[payers], detail=parts[payers], amount=worth[payers])
    add(13, everybody[payers], last[payers], detail=parts[payers], items=-1,
        amount=-worth[payers])
    trying = everybody[tries]
    add(15, trying, begin[tries], offer=1)
    add(15, trying, begin[tries] + 7, offer=1, items=-1)
    add(20, trying, begin[tries], offer=1)
    add(21, everybody[tries & payers], begin[tries & payers], offer=1)

    own = plan[who]
    add(30, who[own], first[who[own]], detail=number[own], extra=of["code"][who[own]])
    add(30, everybody[payers], first[payers], detail=-1, extra=of["code"][payers])
    add(40, everybody, begin)
    paid = periods > 0
    add(41, everybody[paid], begin[paid], detail=np.where(tries[paid], 7, 0))
    age = np.minimum(np.searchsorted(AGES, day - begin[who]), len(AGES) - 1)
    add(42, who, begin[who], detail=AGES[age], amount=price)
    sold = ~own
    add(50, who[sold], day[sold], units=np.where(kind[who[sold]] == 3, 100, 550))
    for event, people, at in (
            (1, everybody[payers & ~tries], first), (2, trying, begin),
            (6, everybody[tries & payers], first), (12, everybody[payers], last)):
        add(60, people, at[people], detail=event)
    again = own & (number > 0)
    add(60, who[again], day[again], detail=7)
    made = pd.concat(found, ignore_index=True)
    # Numbers of people and of coins stand in no currency.
    made.loc[made.measure.isin([40, 41, 50]), "currency"] = CURRENCIES
    # What two lines have added is one sum.
    made = made.groupby(KEYS, sort=True, as_index=False)[SUMS].sum()
    return made[(made[SUMS] != 0).any(axis=1)], int(there.sum())


#: What only counts, and is added up over all currencies where little is told apart.
COUNTED = [15, 16, 17, 18, 20, 21, 22, 30, 40, 41, 50, 51, 52, 60]
#: What stores leave of differs: they are told apart even in totals.
BY_STORE = [1, 2]


def rollups(days, today):
    """Every grain, in the database's words; the last day is the one before `today`."""
    base = today - datetime.timedelta(days=DAYS) - datetime.date(1970, 1, 1)
    days = days.assign(day=days.day + base.days)

    def added(frame):
        return frame.groupby(KEYS, sort=True, as_index=False)[SUMS].sum()

    def by_month(frame):
        stamps = pd.to_datetime(frame.day, unit="D").dt.to_period("M").dt.start_time
        return added(frame.assign(day=(stamps - pd.Timestamp(0)).dt.days))

    def by_week(frame):
        return added(frame.assign(day=frame.day - (frame.day + 3) % 7))

    everywhere = added(days.assign(country=-1, offer=0, currency=np.where(
        days.measure.isin(COUNTED), CURRENCIES, days.currency)))
    total = added(everywhere.assign(product=-1, store=np.where(
        everywhere.measure.isin(BY_STORE), everywhere.store, -1)))
    grains = [days, by_month(days), everywhere, by_month(everywhere), by_week(everywhere), total,
              by_week(total), by_month(total)]
    for grain, frame in enumerate(grains):
        words = frame.assign(
            environment=1, grain=grain,
            # The last one stands for all of them.
            store=np.array(["app_store", "stripe", ""])[frame.store],
            product=np.array([*(p[0] for p in PRODUCTS), ""])[frame["product"]],
            country=np.array([*(country(n) for n in range(COUNTRIES)), ""])[frame.country],
            currency=np.array([*(currency(n) for n in range(CURRENCIES)), ""])[frame.currency],
            offer=np.array(["", "trial"])[frame.offer], app="")
        words = words[(words[SUMS] != 0).any(axis=1)]
        yield words[COLUMNS]


def fill(location, transactions):
    """Puts the sums into a new database; says how many transactions and rows."""
    Server(location).stop()
    days, count = sums(transactions)
    rows = 0
    for frame in rollups(days, datetime.datetime.now(datetime.timezone.utc).date()):
        rows += len(frame)
        if location.startswith("sqlite:"):
            with contextlib.closing(sqlite3.connect(location[len("sqlite:"):])) as database:
                marks = ", ".join("?" * len(COLUMNS))
                with database:
                    database.executemany(
                        f"INSERT INTO rollup ({', '.join(COLUMNS)}) VALUES ({marks})",
                        frame.astype(object).itertuples(index=False, name=None))
        else:
            psql(location, f"COPY rollup ({', '.join(COLUMNS)}) FROM STDIN CSV NULL '-'",
                 frame.to_csv(index=False, header=False))
    if not location.startswith("sqlite:"):
        psql(location, "VACUUM ANALYZE rollup")
    return count, rows


def psql(location, sql, text=None):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    program = str(found[-1] / "psql") if found else "psql"
    subprocess.run([program, location, "-qc", sql], input=text, text=True, check=True)


def ask(location, name, by, more=()):
    """One report; the seconds that the whole command took, its own seconds of a
    processor, which a busy machine hardly changes, and its rows."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [BINARY, "report", name, "--from", str(today - datetime.timedelta(days=SPAN[by])),
         "--to", str(today), "--by", by, "--environment", "production", "--format", "json",
         "--database", location, *more],
        capture_output=True, text=True, env=environment | {
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml")})
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return seconds, processor, json.loads(done.stdout)["rows"]


def measure(location, rounds=3):
    """Of every question the seconds it took, the best of some: others are busy here, too."""
    return {
        question: min(ask(location, *question)[0] for _ in range(rounds))
        for question in QUESTIONS}


@contextlib.contextmanager
def sqlite(folder):
    yield f"sqlite:{folder}/figures.sqlite"


def main():
    sizes = [int(text) for text in sys.argv[1:]] or [1_000_000, 10_000_000]
    print("| database | transactions | sums kept | median | slowest | which |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    is_slow = False
    for size in sizes:
        for database in (sqlite, postgres):
            with tempfile.TemporaryDirectory() as folder, database(folder) as location:
                count, rows = fill(location, size)
                times = measure(location)
                slowest = max(times, key=times.get)
                is_slow = is_slow or times[slowest] >= 1
                name, by, more = slowest
                print(f"| {database.__name__} | {count:,} | {rows:,} "
                      f"| {statistics.median(times.values()) * 1000:.0f} ms "
                      f"| {times[slowest] * 1000:.0f} ms | `{' '.join([name, '--by', by, *more])}` |",
                      flush=True)
                if os.environ.get("TOLLGATE_EVERY_QUESTION"):
                    for (name, by, more), seconds in times.items():
                        print(f"  {seconds:.3f} {name} {by} {' '.join(more)}", flush=True)
    sys.exit("a report took a second or more" if is_slow else 0)


if __name__ == "__main__":
    main()
