"""Keys that `tollgate serve` takes: as long and as varied as random ones, and the same in each run."""

import hashlib


def key(kind: str, name: str) -> str:
    """For example `sk_test_…` of the server of one test; kind is `sk` or `pk`."""
    return f"{kind}_test_" + hashlib.sha256(f"{kind} {name}".encode()).hexdigest()[:40]
