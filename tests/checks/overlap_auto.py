#!/usr/bin/env python3
"""`--overlap auto` is never predicted to be slower than `none`, `collectives` or `ring`, for every fusion of the gallery.

Usage: overlap_auto.py HOSTIR. Prints what failed and a count; exit status 1 if anything did.
"""
import concurrent.futures
import glob
import re
import subprocess
import sys

HOSTIR = sys.argv[1]
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# Sizes at which collectives take long enough to be cut.
LARGE = {
    "tests/programs/tp_mlp.hir": ["B=4", "S=2048", "H=8192", "F=32768"],
    "tests/programs/overlap.hir": ["S=8192", "H=8192", "F=32768"],
    "tests/programs/fsdp_tp.hir": ["N=8192", "H=2048", "F=8192"],
    "tests/programs/gpt_layers.hir": ["L=4", "B=8", "S=1024", "E=2048", "F=8192", "V=32768"],
}


def cases():
    for file in sorted(glob.glob("tests/programs/*.hir")):
        with open(file, encoding="utf-8") as text:
            names = re.findall(r"^(?:fusion|gradient) @(\w+)", text.read(), re.MULTILINE)
        for name in names:
            yield file, name, []
            if file in LARGE:
                yield file, name, LARGE[file]


def time_ns(case, overlap):
    """The simulated time; None if the program does not run with example inputs."""
    file, name, sizes = case
    words = [word for size in sizes for word in ("--size", size)]
    done = subprocess.run([HOSTIR, "run", file, f"@{name}", *words, "--shapes-only", "--example-inputs", "--machine", "h200x8",
                           "--overlap", overlap], capture_output=True, text=True, timeout=300)
    found = re.search(r"([\d.]+) (ns|us|ms|s) of simulated time", done.stdout)
    return float(found[1]) * UNITS[found[2]] if done.returncode == 0 and found else None


def check(case):
    times = {overlap: time_ns(case, overlap) for overlap in ("none", "collectives", "ring", "auto")}
    return case, times


def main():
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, times in pool.map(check, cases()):
            if times["none"] is None:
                continue
            best = min(t for t in times.values() if t is not None)
            # Times are printed with four digits.
            if times["auto"] is not None and times["auto"] <= best * 1.0005:
                passed += 1
            else:
                failed += 1
                print(f"FAILED: {case}: {times}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
