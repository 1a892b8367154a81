#!/usr/bin/env python3
"""Compares the durations of kernels in two logs of one program, one with CUPTI's times and one with those of CUDA events.

Usage: gpu_times.py CUPTI.db EVENTS.db. Prints the median duration per launch instruction in both, and the time from the
first launch's start to the last one's end, per launch. Fails if an instruction is missing in one log, or if an event's
duration is shorter than CUPTI's by more than 2 us: an event lies outside of the kernel that it follows.
"""
import sqlite3
import statistics
import sys


def durations(path):
    """Median nanoseconds per launch instruction in a loop, and nanoseconds per launch from the first to the last."""
    rows = list(sqlite3.connect(path).execute(
        """SELECT i.address, e.start_ns, e.finish_ns FROM event e JOIN instruction i ON i.id = e.instruction
           WHERE i.kernel IS NOT NULL AND e.finish_ns IS NOT NULL"""))
    if not rows:
        sys.exit(f"{path}: no launch was timed")
    of = {}
    for address, start, finish in rows:
        of.setdefault(address, []).append(finish - start)
    whole = max(row[2] for row in rows) - min(row[1] for row in rows)
    return {address: statistics.median(took) for address, took in of.items()}, whole / len(rows)


measured, per_launch = durations(sys.argv[1])
events, per_launch_events = durations(sys.argv[2])
bad = measured.keys() != events.keys()
for address in sorted(measured.keys() | events.keys()):
    if address not in measured or address not in events:
        print(f"{address}: only in {sys.argv[1 if address in measured else 2]}")
        continue
    bad = bad or events[address] < measured[address] - 2000
    print(f"{address}: CUPTI {measured[address] / 1e3:.2f} us, events {events[address] / 1e3:.2f} us")
print(f"per launch, from the first to the last: CUPTI {per_launch / 1e3:.2f} us, events {per_launch_events / 1e3:.2f} us, "
      f"{(per_launch / per_launch_events - 1) * 100:+.1f} %")
sys.exit(bad)
