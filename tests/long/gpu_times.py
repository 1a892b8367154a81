#!/usr/bin/env python3
"""Compares the durations of kernels in two logs of one program, one with CUPTI's times and one with those of CUDA events.

Usage: gpu_times.py CUPTI.db EVENTS.db. Prints the median duration per launch instruction in both, and fails if an event's
is shorter than CUPTI's by more than 2 us: an event lies outside of the kernel that it follows.
"""
import sqlite3
import statistics
import sys


def durations(path):
    out = {}
    query = """SELECT i.address, e.finish_ns - e.start_ns FROM event e JOIN instruction i ON i.id = e.instruction
               WHERE i.kernel IS NOT NULL AND e.finish_ns IS NOT NULL"""
    for address, took in sqlite3.connect(path).execute(query):
        out.setdefault(address, []).append(took)
    return {address: statistics.median(took) for address, took in out.items()}


measured, events = durations(sys.argv[1]), durations(sys.argv[2])
bad = not measured
for address, took in sorted(measured.items()):
    bad = bad or events[address] < took - 2000
    print(f"{address}: CUPTI {took / 1e3:.2f} us, events {events[address] / 1e3:.2f} us")
sys.exit(bad)
