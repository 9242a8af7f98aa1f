"""The file of requests that the load generator posts, each once and in order.

"TGCORP1\\n", u64 count, then per record u32 target, head and body length (little endian) and these
three strings. See `load/load.c` and `Sources/SignatureBenchmark`.
"""

import multiprocessing
import os
import struct
from pathlib import Path
from typing import Iterable

from .notifications import NotificationSigner
from .stripe_events import event_body, signature_header

MAGIC = b"TGCORP1\n"
CHUNK = 250


def record(body: bytes = b"", target: bytes = b"", head: bytes = b"") -> bytes:
    return struct.pack("<III", len(target), len(head), len(body)) + target + head + body


def write(path: Path, records: Iterable[bytes]) -> int:
    """Writes the file and returns the number of records."""
    count = 0
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<Q", 0))
        for item in records:
            file.write(item)
            count += 1
        file.seek(len(MAGIC))
        file.write(struct.pack("<Q", count))
    return count


def bodies(path: Path, limit: int) -> list[tuple[bytes, bytes]]:
    """Head and body of the first `limit` records."""
    found = []
    with open(path, "rb") as file:
        (count,) = struct.unpack("<Q", file.read(len(MAGIC) + 8)[len(MAGIC):])
        for _ in range(min(limit, count)):
            target, head, body = struct.unpack("<III", file.read(12))
            file.read(target)
            found.append((file.read(head), file.read(body)))
    return found


_signer: NotificationSigner


def _prepare(leaf_key_pem: bytes, protected_header: bytes, run_started_ms: int) -> None:
    global _signer
    _signer = NotificationSigner(leaf_key_pem, protected_header, run_started_ms)


def _fill_chunk(bounds: tuple[int, int]) -> bytes:
    return b"".join(record(_signer.first_purchase(i)) for i in range(*bounds))


def _stream_chunk(bounds: tuple[int, int, int]) -> bytes:
    start, end, customers = bounds
    return b"".join(record(_signer.notification(i, customers)) for i in range(start, end))


class CorpusWriter:
    """Signs in one process per core; 20,000 notifications (60,000 signatures) take a few seconds."""

    def __init__(self, chain, run_started_ms: int):
        self._pool = multiprocessing.get_context("spawn").Pool(
            os.cpu_count(), _prepare,
            (chain.leaf_key_pem(), chain.protected_header(), run_started_ms))

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self._pool.close()
        self._pool.join()

    def first_purchases(self, path: Path, count: int) -> None:
        self._write(path, count, _fill_chunk, [
            (i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)])

    def stream(self, path: Path, count: int, customers: int) -> None:
        self._write(path, count, _stream_chunk, [
            (i, min(i + CHUNK, count), customers) for i in range(0, count, CHUNK)])

    def _write(self, path: Path, count: int, work, chunks) -> None:
        with open(path, "wb") as file:
            file.write(MAGIC + struct.pack("<Q", count))
            for chunk in self._pool.imap(work, chunks):
                file.write(chunk)


def write_stripe_events(path: Path, count: int, timestamp: int, first: int = 0) -> None:
    """Signed now: Stripe's tolerance is five minutes."""
    def records():
        for sequence in range(first, first + count):
            body = event_body(sequence, timestamp)
            yield record(body, head=f"Stripe-Signature: {signature_header(body, timestamp)}\r\n".encode())
    write(path, records())
