"""What the machine does beside us: processes' CPU and memory, and how steady its speed is."""

import hashlib
import os
import statistics
import tempfile
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        parent = int(stat.rsplit(")", 1)[1].split()[1])
        children.setdefault(parent, []).append(int(entry))
    found, queue = [], [pid]
    while queue:
        current = queue.pop()
        found.append(current)
        queue.extend(children.get(current, []))
    return found


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes and of the children they waited for."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / TICK


def busy(pids: list[int], seconds: float) -> float:
    """Cores that these processes use, over so many seconds: to the nanosecond, for servers that rest."""
    before = _scheduled_seconds(pids)
    began = time.monotonic()
    time.sleep(seconds)
    return (_scheduled_seconds(pids) - before) / (time.monotonic() - began)


def _scheduled_seconds(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(file.read_text().split()[0])
            except OSError:
                continue
    return total / 1e9


def memory_mib(pids: list[int]) -> dict:
    """Resident memory now and at its highest, and the proportional share (pages that several
    processes share count once), which is what the comparison uses."""
    resident = peak = share = 0
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            resident += _kilobytes(status, "VmRSS:")
            peak += _kilobytes(status, "VmHWM:")
            share += _kilobytes(Path(f"/proc/{pid}/smaps_rollup").read_text(), "Pss:")
        except OSError:
            continue
    return {
        "resident": round(resident / 1024, 1), "peak": round(peak / 1024, 1),
        "share": round(share / 1024, 1)}


def _kilobytes(text: str, name: str) -> int:
    for line in text.splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


class Calibration:
    """A fixed piece of work, repeated through the run: its spread is the machine's noise."""

    def __init__(self, directory: Path):
        self._directory = directory
        self.work_ms: list[float] = []
        self.flush_ms: list[float] = []

    def sample(self, times: int = 3) -> None:
        for _ in range(times):
            began = time.perf_counter()
            hashlib.pbkdf2_hmac("sha256", b"tollgate", b"benchmark", 120_000)
            self.work_ms.append((time.perf_counter() - began) * 1000)
        with tempfile.TemporaryFile(dir=self._directory) as file:
            for _ in range(20):
                file.write(b"\0" * 4096)
                file.flush()
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                self.flush_ms.append((time.perf_counter() - began) * 1000)

    def summary(self) -> dict:
        work, flush = sorted(self.work_ms), sorted(self.flush_ms)
        return {
            "cores": os.cpu_count(),
            "load_average": os.getloadavg()[0],
            "work_ms_median": round(statistics.median(work), 2),
            "work_ms_fastest": round(work[0], 2),
            "work_ms_slowest": round(work[-1], 2),
            "work_spread_percent": round(100 * (work[-1] - work[0]) / statistics.median(work), 1),
            "work_samples": len(work),
            "flush_ms_median": round(statistics.median(flush), 3),
            "flush_ms_p99": round(flush[int(len(flush) * 0.99)], 3),
        }


def others_busy(seconds: float = 0.5) -> float:
    """Share of all cores that somebody uses while the benchmark itself is idle, 0 to 1."""
    def reading():
        fields = [int(f) for f in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]
    total, idle = reading()
    time.sleep(seconds)
    total_after, idle_after = reading()
    elapsed = total_after - total
    return 0.0 if elapsed == 0 else 1 - (idle_after - idle) / elapsed
