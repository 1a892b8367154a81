#!/usr/bin/env python3
"""Predicted and measured time of a forward step of transformer blocks, tensor and sequence parallel, in bf16, on 1, 2, 4, 8 GPUs.

Usage: gpu_block.py HOSTIR [MACHINE]. Measures this computer first (`machines calibrate`), unless MACHINE, a file that it wrote, is given.
The machine's collectives are the built-in ones. The goal is an error of at most 5 %.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
# (hidden, tokens, layers)
SIZES = [(4096, 4096, 12), (8192, 4096, 6)]


def output(*command, timeout=120):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout)


def milliseconds(text, before="", after=""):
    """The time between two patterns, or None."""
    found = re.search(before + r"([0-9.e+-]+) (ns|us|ms|s)" + after, text)
    return float(found[1]) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[found[2]] if found else None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    hostir = sys.argv[1]
    devices = len(output("nvidia-smi", "-L").stdout.strip().splitlines())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if len(sys.argv) > 2:
            machine = pathlib.Path(sys.argv[2]).read_text()
        else:
            machine = output(hostir, *"machines calibrate --backend cuda --name here".split()).stdout
            print(*[line for line in machine.splitlines() if "geometric" in line], sep="\n", flush=True)
        machine_name = re.search(r"^machine @?(\w+)", machine, re.MULTILINE)[1]
        print(f"{'devices':>7} {'hidden':>7} {'tokens':>7} {'layers':>7} {'measured':>10} {'predicted':>10} {'error':>8}")
        for hidden, tokens, layers in SIZES:
            for ranks in [n for n in (1, 2, 4, 8) if n <= devices]:
                text = folder / "block.hir"
                text.write_text(machine + output(
                    sys.executable, ROOT / "tests/bench/long_fusion.py", "--layers", layers, "--batch", 1, "--sequence", tokens,
                    "--hidden", hidden, "--features", 4 * hidden, "--heads", hidden // 128, "--dp", 1, "--tp", ranks,
                    "--dtype", "bf16").stdout)
                predicted = output(hostir, "run", text, "--shapes-only", "--machine", machine_name)
                measured = output(hostir, "bench", text, "--backend", "cuda", "--runs", 12,
                                  "--devices", ",".join(map(str, range(ranks))))
                expected, took = milliseconds(predicted.stdout, after=" of simulated time"), milliseconds(measured.stdout, before="median ")
                if expected is None or took is None:
                    print(f"{ranks:7} {hidden:7} {tokens:7} {layers:7} {took} {expected} "
                          f"{(predicted.stderr + measured.stderr).strip()[-200:]}", flush=True)
                    continue
                print(f"{ranks:7} {hidden:7} {tokens:7} {layers:7} {took:7.3f} ms {expected:7.3f} ms {100 * (expected / took - 1):6.1f} %",
                      flush=True)


if __name__ == "__main__":
    main()
