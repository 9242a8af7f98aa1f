"""Keeps a server from making the figures of reports, to see what they cost those who write."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

HOUR_MS = 3_600_000


def hold_back(database: Path, is_held: bool) -> None:
    """Takes the lease under which servers make figures, or gives it back."""
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        connection.execute("DELETE FROM lease WHERE name = 'figures'")
        if is_held:
            connection.execute(
                "INSERT INTO lease (name, holder, until) VALUES ('figures', 'bench', ?)",
                (time.time_ns() // 1_000_000 + HOUR_MS,))
