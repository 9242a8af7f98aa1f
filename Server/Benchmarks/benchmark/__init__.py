"""Measures Tollgate beside a reference receiver, on loopback only. Started by `scripts/bench.sh`."""
