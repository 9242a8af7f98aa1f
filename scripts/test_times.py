"""The table of what `make test` spent its time on.

    test_times.py --yardstick            seconds of a fixed piece of work on this machine
    test_times.py ROWS YARDSTICK BEFORE  prints the table, and writes it over ROWS

ROWS has a line for each part: name, seconds, `building` or `testing`. The last column of the table is
the part's time divided by the yardstick's, so that tables of two machines compare. BEFORE is such a
table of an earlier run, kept in the repository: parts that take 1.5 times as long as there are named.
"""

import hashlib
import pathlib
import sys
import time


def yardstick():
    """Two million SHA-256 in a chain, the better of two runs."""
    def once():
        begun = time.perf_counter()
        digest = b""
        for _ in range(2_000_000):
            digest = hashlib.sha256(digest).digest()
        return time.perf_counter() - begun
    return min(once(), once())


def ratios(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]] if path.exists() else []
    return {row[0]: float(row[3]) for row in rows}


def main():
    if sys.argv[1] == "--yardstick":
        print(f"{yardstick():.2f}")
        return
    rows, measure, before = pathlib.Path(sys.argv[1]), float(sys.argv[2]), pathlib.Path(sys.argv[3])
    table = ["part\tseconds\tof which building\ttimes the yardstick"]
    built = 0.0
    known = ratios(before)
    grown = []
    for line in rows.read_text().splitlines():
        name, seconds, kind = line.split("\t")
        # The seed is another one each day.
        name, seconds = name.split(", seed ")[0], float(seconds)
        building = seconds if kind == "building" else 0.0
        built += building
        ratio = seconds / measure
        if name == "all":
            building = built
        table.append(f"{name}\t{seconds:.0f}\t{building:.0f}\t{ratio:.1f}")
        # Seconds that hardly count may double.
        if name in known and ratio > 1.5 * known[name] and ratio - known[name] > 10:
            grown.append(f"{name}: {ratio / known[name]:.1f} times as long as in {before}")
    rows.write_text("\n".join(table) + "\n")
    width = max(len(line.split("\t")[0]) for line in table)
    for line in table:
        name, *numbers = line.split("\t")
        print(name.ljust(width), *(number.rjust(20) for number in numbers))
    print(f"The yardstick took {measure:.2f} s. Parts run side by side, so they add up to more than all.")
    print(*grown, sep="\n")


main()
