#!/usr/bin/env python3
"""Changes one operator at a time and says which changes no test notices.

usage: mutants.py [core|app_store|stripe|ledger|stripe_reads|google_play …]
                  [--only TEXT] [--again] [--afresh] [--limit SECONDS]
       mutants.py --named

All changes are compiled at once, in a copy under output/mutants, and an environment variable turns
one on (see rewrite.swift). A change is noticed if a test fails, the process ends or hangs. Those
that nobody notices stand in survivors.tsv beside this file, each with the reason why it changes
nothing that anybody could see. It fails if less than 90 % are noticed, a survivor is not named, or
what is named was noticed or is no change of today's code.

Each verdict is written to output/mutants/PART.tsv as soon as it is known, and each survivor that is
not named to output/mutants/PART.survivors.tsv, in the columns of survivors.tsv, with an empty reason.
A run that was broken off goes on where it was, unless a Swift file or this tool has changed since;
--afresh begins anew all the same.

--only takes the places whose file or code contains TEXT, --again those that the last run of all
did not notice and that are not named; both say what noticed each, and write nothing. --named only
says, at once, whether the lines that survivors.tsv names are still there.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "output/mutants"
NOTICED_AT_LEAST = 0.9
FLAGS = "-Xswiftc -O -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2".split()

PARTS = {
    # The module that is changed, and where the files of it are that are changed; the test targets
    # that judge. `all` chooses the tests that are asked, and `quick` those of them that are asked
    # first, with `quickly` in the environment: about what these do not notice, all are asked.
    "core": {  # with what each store's record gives: Purchase/AppStore, GooglePlay, Own and Stripe
        "package": ".",
        "module": "TollgateCore",
        "folder": "Sources/TollgateCore",
        "files": ["**/*.swift"],
        "tests": ["TollgateCoreTests"],
        "quick": ["--skip", "InvariantTests|OrderTests|LawTests|TidyTests|convergence"],
    },
    "app_store": {
        "package": "Server",
        "module": "AppStoreConnector",
        "folder": "Server/Sources/AppStoreConnector",
        "files": ["Messages/AppStoreTranslator*.swift", "Receipts/AppStoreReceiptTranslator.swift"],
        "tests": ["IntakeTests"],
    },
    "stripe": {
        "package": "Server",
        "module": "StripeConnector",
        "folder": "Server/Sources/StripeConnector",
        "files": [
            "Messages/StripeHints.swift", "Messages/StripePaymentTime.swift",
            "Messages/StripeStatements.swift", "Messages/StripeTranslator*.swift",
        ],
        "tests": ["IntakeTests"],
    },
    "ledger": {
        "package": "Server",
        "module": "Storage",
        "folder": "Server/Sources/Storage",
        "files": [
            "Record/Batch+Applying.swift", "Record/CoinTransfers.swift",
            "Record/CustomerState.swift", "Record/HoldingChanges.swift",
        ],
        "tests": ["RecordTests"],
        "quick": ["--skip", "PowerCutTests|RaceTests|ServersTests|InterruptionTests"],
        "quickly": {"TOLLGATE_TEST_BACKENDS": "sqlite"},
    },
    # Reads ask Stripe over HTTP, so they are judged where the server does.
    "stripe_reads": {
        "package": "Server",
        "module": "StripeConnector",
        "folder": "Server/Sources/StripeConnector",
        "files": ["Reads/StripeReads*.swift"],
        "tests": ["TollgateServerTests"],
        "all": ["--filter", r"(Stripe\w*|Checkout\w*|Recurring|Portal\w*|Liveness|UnreadableAnswer)Tests"],
        "quickly": {"TOLLGATE_TEST_BACKENDS": "sqlite"},
    },
    # Google Play's stories judge first, then its tests over HTTP too.
    "google_play": {
        "package": "Server",
        "module": "GooglePlayConnector",
        "folder": "Server/Sources/GooglePlayConnector",
        "files": ["Messages/GooglePlayTranslator.swift"],
        "tests": ["ScenarioTests", "TollgateServerTests"],
        "all": ["--filter", r"everyScenarioHoldsAsItHappens|Play\w*Tests"],
        "environment": {"TOLLGATE_SCENARIO_FOLDERS": "google-play,both"},
        "quick": ["--filter", "everyScenarioHoldsAsItHappens"],
        "quickly": {"TOLLGATE_TEST_BACKENDS": "sqlite"},
    },
}


def changed_files(part):
    folder = ROOT / PARTS[part]["folder"]
    files = [path for pattern in PARTS[part]["files"] for path in folder.glob(pattern)]
    return sorted(str(path.relative_to(ROOT)) for path in files)


def tree_of(part):
    """The copy in which a part is compiled; no other module is changed there at the same time."""
    return OUT / f"tree-{part}"


def copy_tree(part):
    """Brings the copy up to date; the files that are changed are written by rewrite.swift."""
    tree = tree_of(part)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    wanted = {name for name in names.decode().split("\0") if name and (ROOT / name).is_file()}
    wanted |= {"Server/Package.resolved"} if (ROOT / "Server/Package.resolved").exists() else set()
    for name in sorted(wanted.difference(changed_files(part))):
        source, target = ROOT / name, tree / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for folder in ("Sources", "Tests", "Server/Sources", "Server/Tests", "Sandbox/Sources", "Shared/Sources"):
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in wanted:
                path.unlink()


def rewriter():
    """The tool that rewrites, compiled against the parser that the compiler brings."""
    tool = OUT / "rewrite"
    if not tool.exists() or tool.stat().st_mtime < (HERE / "rewrite.swift").stat().st_mtime:
        host = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent / "lib/swift/host"
        libraries = ["SwiftSyntax", "SwiftParser", "SwiftOperators", "SwiftDiagnostics"]
        subprocess.run(
            ["swiftc", "-O", "-I", host, "-L", host, "-Xlinker", "-rpath", "-Xlinker", host]
            + [f"-l{name}" for name in libraries]
            + ["-o", tool, HERE / "rewrite.swift"],
            check=True,
        )
    return tool


def write(part, refused):
    """Writes the files anew; returns the places that can be changed.

    refused: how often the compiler has refused a place: once, and the change is written out."""
    module, folder = PARTS[part]["module"], PARTS[part]["folder"]
    lists = [",".join(str(id) for id, times in refused.items() if times == n) for n in (1, 2)]
    command = [rewriter(), module, *lists, ROOT, tree_of(part), *changed_files(part)]
    support = (HERE / "Mutant.swift").read_text().replace("MODULE", module)
    target = tree_of(part) / folder / f"Mutant_{module}.swift"
    if not target.exists() or target.read_text() != support:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(support)
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def build(part):
    package, tests = PARTS[part]["package"], ",".join(PARTS[part]["tests"])
    name = "BillingSDK" if package == "." else package
    command = ["swift", "build", "--package-path", tree_of(part) / package, *FLAGS]
    command += ["--product", f"{name}PackageTests"]
    environment = {**os.environ, "TOLLGATE_TEST_TARGET": tests}
    result = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return result, tree_of(part) / package / f".build/debug/{name}PackageTests.xctest"


def culprits(output):
    """The numbers nearest to what the compiler says is wrong."""
    found = set()
    for path, line, column in re.findall(r"^(/[^:\n]+):(\d+):(\d+): error:", output, re.M):
        text = pathlib.Path(path).read_text().split("\n")[int(line) - 1]
        calls = [(abs(m.start() - int(column)), int(m[1])) for m in re.finditer(r"Mutant_\w+\.\w+\((\d+)", text)]
        if calls:
            found.add(min(calls)[1])
    return found


def compile_all(part):
    """Compiles all changes at once, without those that the compiler does not take."""
    refused = {}
    while True:
        sites = write(part, refused)
        begun = time.time()
        result, bundle = build(part)
        skipped = sum(times == 2 for times in refused.values())
        print(
            f"{part}: {len(sites)} changes, {skipped} that do not compile, "
            f"{time.time() - begun:.0f} s of compiler",
            flush=True,
        )
        if result.returncode == 0:
            return sites, bundle
        found = [id for id in culprits(result.stdout) if refused.get(id, 0) < 2]
        if not found:
            sys.exit(result.stdout[-4000:])
        for id in found:
            refused[id] = refused.get(id, 0) + 1


def run(bundle, environment, limit, *choice):
    """Runs the tests until one fails: returns what noticed the change, or None."""
    process = subprocess.Popen(
        [bundle, "--testing-library", "swift-testing", *choice],
        env={**os.environ, "TOLLGATE_ORDERS": "1000", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        cwd=ROOT,
    )
    late = threading.Event()

    def stop():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, stop)
    timer.start()
    failed = None
    try:
        for line in process.stdout:
            issue = re.search(r"Test (.*?)(?: with .*)? recorded an issue", line)
            if issue:
                failed = issue[1]
                break
    finally:
        timer.cancel()
        if process.poll() is None and failed:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
    if late.is_set():
        return "hangs"
    return failed or (f"ends with {process.returncode}" if process.returncode else None)


def traced(bundle, sites, part, limit):
    """Which places are reached, and where the change could make a difference."""
    trace = OUT / "trace"
    trace.write_bytes(bytes(sites[-1]["id"] + 1))
    begun = time.time()
    chosen = {**PARTS[part].get("environment", {}), "TOLLGATE_MUTANT_TRACE": str(trace)}
    noticed = run(bundle, chosen, limit, *PARTS[part].get("all", []))
    if noticed:
        sys.exit(f"without any change the tests fail: {noticed}")
    return trace.read_bytes(), time.time() - begun


def named():
    """The survivors that are known, by place and change."""
    known = {}
    path = HERE / "survivors.tsv"
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            file, code, change, reason = line.split("\t")
            known[(file, code, change)] = reason
    return known


def gone():
    """The named survivors whose line is in no file any more."""
    for file, code, change in named():
        path = ROOT / file
        lines = path.read_text().splitlines() if path.exists() else []
        if code not in map(str.strip, lines):
            yield f"survivors.tsv names a line that is not in {file} any more: {code}"


def fingerprint():
    """Of every file on which a verdict may depend."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    command += ["--", "*.swift", "Server/Scenarios", str(HERE / "mutants.py")]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    digest = hashlib.sha256()
    for name in sorted(filter(None, names.decode().split("\0"))):
        if (ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return digest.hexdigest()


def verdicts(part, mark=None):
    """What is written of the last run of all, by place: `mark` only if it was of these files."""
    path = OUT / f"{part}.tsv"
    lines = path.read_text().splitlines() if path.exists() else []
    if mark and lines[:1] != [f"# {mark}"]:
        return {}
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    # The last line is cut off where the run was ended while it was written.
    return {(row[1].split(":")[0], row[4], row[2]): row[3] for row in rows if len(row) == 5}


def verdict_of(part, bundle, site, trace, limit):
    """What noticed a change, or that it survived."""
    why = {0: "never reached", 1: "makes no difference"}.get(trace[site["id"]])
    if why:
        return f"SURVIVED ({why})"
    everything, quick = PARTS[part].get("all", []), PARTS[part].get("quick")
    quickly = PARTS[part].get("quickly", {})
    chosen = {**PARTS[part].get("environment", {}), "TOLLGATE_MUTANT": str(site["id"])}
    noticed = None
    if quick or quickly:
        noticed = run(bundle, {**chosen, **quickly}, limit, *(quick or everything))
    noticed = noticed or run(bundle, chosen, limit, *everything)
    return noticed or "SURVIVED (no test fails)"


def numbered(sites):
    """Of several equal changes in a line, and of equal lines in a file, each gets its number."""
    counts = {}
    for site in sites:
        key = (site["file"], site["code"], site["change"])
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > 1:
            site["change"] += f" #{counts[key]}"


def judge(part, options):
    copy_tree(part)
    sites, bundle = compile_all(part)
    numbered(sites)
    trace, seconds = traced(bundle, sites, part, options.limit * 10)
    print(f"{part}: without any change the tests take {seconds:.1f} s", flush=True)
    limit = max(options.limit, 5 * seconds)
    key_of = lambda site: (site["file"], site["code"], site["change"])
    known, noticed, wrong = named(), 0, []
    places = [s for s in sites if not options.only or options.only in s["file"] + " " + s["code"]]
    if options.again:
        last = {key for key, result in verdicts(part).items() if result.startswith("SURVIVED")}
        last = last.difference(known)
        places = [s for s in places if key_of(s) in last]
    is_whole = not options.only and not options.again
    mark = fingerprint()
    done = verdicts(part, mark) if is_whole and not options.afresh else {}
    if done:
        print(f"{part}: {len(done)} verdicts stand from the run before", flush=True)
    rows = survivors = None
    if is_whole:
        # Written anew from what stands, so that no half line is left in it.
        rows = open(OUT / f"{part}.tsv", "w", buffering=1)
        rows.write(f"# {mark}\n")
        survivors = open(OUT / f"{part}.survivors.tsv", "w", buffering=1)
    # What stands first: a run that is ended now loses none of it.
    for site in sorted(places, key=lambda site: key_of(site) not in done):
        key = key_of(site)
        result = done.get(key) or verdict_of(part, bundle, site, trace, limit)
        is_noticed = not result.startswith("SURVIVED")
        noticed += is_noticed
        place = f"{site['file']}:{site['line']}:{site['column']}"
        if rows:
            result = result.replace("\t", " ")
            fields = [str(site["id"]), place, site["change"], result, site["code"]]
            rows.write("\t".join(fields) + "\n")
        if not is_noticed and key not in known:
            wrong.append(f"survives, and is not named: {key}")
            if survivors:
                survivors.write("\t".join([*key, ""]) + "\n")
        if is_noticed and key in known:
            wrong.append(f"named as a survivor, and noticed by {result}: {key}")
        if not is_whole or not is_noticed:
            print(f"{place}: {site['change']}: {result}: {site['code']}", flush=True)
    there = {key_of(site) for site in sites}
    files = set(changed_files(part))
    for key in known:
        if key not in there and (key[0] in files or not (ROOT / key[0]).exists()):
            wrong.append(f"named as a survivor, and there is no such change: {key}")
    for line in wrong:
        print(line, flush=True)
    share = noticed / max(1, len(places))
    print(
        f"{part}: {noticed} of {len(places)} changes noticed ({100 * share:.1f} %), "
        f"{len(places) - noticed} survive, {len(wrong)} mistakes in survivors.tsv",
        flush=True,
    )
    return share >= NOTICED_AT_LEAST and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--only")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--afresh", action="store_true")
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--limit", type=float, default=60, help="seconds for the tests of one change")
    options = parser.parse_args()
    if options.named:
        sys.exit("\n".join(gone()) or 0)
    parts = options.parts or list(PARTS)
    OUT.mkdir(parents=True, exist_ok=True)
    sys.exit(0 if all([judge(part, options) for part in parts]) else 1)


if __name__ == "__main__":
    main()
