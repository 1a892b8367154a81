#!/usr/bin/env python3
"""MLP forward (linear, tanh-gelu, linear) in bf16, this project and PyTorch measured in one run, on one GPU and on several.

Usage: gpu_bench.py HOSTIR [--several [N]] [--only TEXT]. Without PyTorch, only our times are measured. Prints microseconds per forward pass.
Ours is the wall time of many passes in a loop, with everything included. --several: only the part on several devices, and
all_reduce between them, of f32; with N only on N devices and a few sizes. --only TEXT: on several devices,
only what has TEXT in its name, for example `all_reduce`, `overlap` or `H=16384`.
       gpu_bench.py HOSTIR --loop: beside a hand-written loop of the same library calls (tests/bench/cuda_loop.cu, built
with nvcc), without and with a log; and what a launch costs the host beside a raw driver call.
GPU_BENCH_SECONDS (160): no measurement starts later than this; the rest is named and left out.
       gpu_bench.py --program HIDDEN TOKENS ITERATIONS [RANKS] prints the program.
       torchrun --nproc-per-node N gpu_bench.py --torch: PyTorch on N devices, which the first form starts.
"""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    torch = None

SIZES = [(1024, 128), (4096, 1), (4096, 128), (4096, 2048), (8192, 2048), (8192, 16384)]
# (hidden, tokens, iterations) on several devices
SEVERAL_SIZES = [(1024, 128, 4000), (4096, 1, 2000), (4096, 128, 2000), (4096, 2048, 400), (8192, 2048, 100), (8192, 16384, 20)]
FEW_SIZES = [(4096, 128), (8192, 2048)]
LARGE_SIZE = (16384, 16384, 10)  # on four or more
COMPILED_SIZE = (8192, 2048)  # by torch.compile on several devices, which takes it half a minute
# (hidden, tokens, layers) of a chain of MLPs, as fusions, with each --overlap
OVERLAPPED = [(8192, 2048, 10), (16384, 16384, 2)]
LOOP_SIZES = [(1024, 128), (4096, 1), (4096, 128), (4096, 2048)]
# The operands decide how much power a product takes, and so its clock: everybody gets the same ones.
INPUTS = sum((["--input", f"{name}=normal({seed}, 0, {deviation})"] for seed, (name, deviation) in
              enumerate([("x", 1), ("w1", 0.02), ("b1", 1), ("w2", 0.02), ("b2", 1)], 1)), [])
# (bytes, iterations) of an all_reduce
REDUCED = [(1 << 10, 2000), (1 << 20, 2000), (1 << 24, 500), (1 << 30, 200)]


STARTED = time.monotonic()
SECONDS = float(os.environ.get("GPU_BENCH_SECONDS", "160"))


def wanted_devices():
    """N of `--several N`, or None."""
    at = sys.argv.index("--several") + 1 if "--several" in sys.argv else len(sys.argv)
    return int(sys.argv[at]) if at < len(sys.argv) and sys.argv[at].isdigit() else None


def is_wanted(what):
    return "--only" not in sys.argv or sys.argv[sys.argv.index("--only") + 1] in what


def several_sizes(ranks):
    if wanted_devices():
        return [size for size in SEVERAL_SIZES if size[:2] in FEW_SIZES] + ([LARGE_SIZE] if ranks >= 4 else [])
    return SEVERAL_SIZES + ([LARGE_SIZE] if ranks >= 4 else [])


def is_late(what):
    """True, with a line that says so, if there is no time left to measure `what`."""
    spent = time.monotonic() - STARTED
    if spent > SECONDS:
        print(f"{what}: left out, {spent:.0f} of {SECONDS:.0f} s are over", flush=True)
    return spent > SECONDS


def program(hidden, tokens, iterations, ranks=1, inner=0):
    inner = inner or 4 * hidden
    x, g = f"{tokens}x{hidden}xbf16", f"{tokens}x{inner}xbf16"
    w1, w2 = f"{inner}x{hidden}xbf16", f"{hidden}x{inner}xbf16"
    return f"""mesh @m = <tp={ranks}>
kernel @up(%x: tensor<{x}>, %w: tensor<{w1}>, %b: tensor<{inner}xbf16>) -> (%y: tensor<{g}>) {{
  %h = linear %x, %w, %b
  %y = gelu %h {{approximate = tanh}}
  return %y
}}
kernel @down(%x: tensor<{g}>, %w: tensor<{w2}>, %b: tensor<{hidden}xbf16>) -> (%y: tensor<{x}>) {{
  %y = linear %x, %w, %b
  return %y
}}
kernel @down_part(%x: tensor<{g}>, %w: tensor<{w2}>) -> (%y: tensor<{x}>) {{
  %y = linear %x, %w
  return %y
}}
host @mlp on @m (%x: tensor<{x}>, %w1: shard<{w1}, @m, [{{tp}}, {{}}]>, %b1: shard<{inner}xbf16, @m, [{{tp}}]>,
                 %w2: shard<{w2}, @m, [{{}}, {{tp}}]>, %b2: tensor<{hidden}xbf16>)
    -> (%out: tensor<{x}>) {{
  %c = comm over {{tp}}
  %s = stream "compute"
  %g = alloc on %s : shard<{g}, @m, [{{}}, {{tp}}]>
  %y = alloc on %s : tensor<{x}>
  %p = alloc on %s : shard<{x}, @m, [{{}}, {{}}], unreduced={{tp}}>
  for %i in 0..{iterations} {{
    launch @up ro(%x, %w1, %b1) wo(%g) on %s
""" + ("    launch @down ro(%g, %w2, %b2) wo(%y) on %s\n" if ranks == 1 else
       "    launch @down_part ro(%g, %w2) wo(%p) on %s\n    all_reduce sum %c ro(%p) wo(%y) on %s\n") + """  }
  free %p on %s
  free %g on %s
  return %y
}
"""


def all_reduce_program(size_bytes, iterations, ranks):
    return f"""mesh @m = <r={ranks}>
host @f on @m (inout %x: tensor<{size_bytes // 4}xf32>) -> (%x: tensor<{size_bytes // 4}xf32>) {{
  %c = comm over {{r}}
  %s = stream "s"
  for %i in 0..{iterations} {{
    all_reduce sum %c rw(%x) on %s
  }}
  return %x
}}
"""


def chain(hidden, tokens, layers, ranks, inner, independent=False):
    """A fusion: MLPs one after the other, all with the same weights, each with an all_reduce if there are several ranks.
    Independent ranks each have rows of their own and whole weights, and do not communicate."""
    rows, w1, b1, w2 = ("{tp}", "[{}, {}]", "[{}]", "[{}, {}]") if independent else ("{}", "[{tp}, {}]", "[{tp}]", "[{}, {tp}]")
    x = f"tensor<{tokens}x{hidden}xbf16>"
    body, last = "", "x"
    for i in range(layers):
        body += (f"  %h{i} = linear %{last}, %w1, %b1\n  %g{i} = gelu %h{i} {{approximate = tanh}}\n"
                 f"  %y{i} = linear %g{i}, %w2 : {x} <@m, [{rows}, {{}}]>\n")
        last = f"y{i}"
    return f"""mesh @m = <tp={ranks}>
fusion @mlp(%x: {x} <@m, [{rows}, {{}}]>, %w1: tensor<{inner}x{hidden}xbf16> <@m, {w1}>, %b1: tensor<{inner}xbf16> <@m, {b1}>,
            %w2: tensor<{hidden}x{inner}xbf16> <@m, {w2}>) -> (%{last}: {x} <@m, [{rows}, {{}}]>) {{
{body}  return %{last}
}}
"""


def ours(hostir, text, iterations, options=(), timed_products=False):
    """Microseconds per iteration, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mlp.hir"
        path.write_text(text)
        environment = dict(os.environ, **({"HOSTIR_CUDA_TIMED_PRODUCTS": "1"} if timed_products else {}))
        try:
            runs = "10" if "fusion @mlp" in text else "3" if iterations >= 500 else "2"
            inputs = INPUTS if "host @mlp" in text else ()
            out = subprocess.run([hostir, "bench", str(path), "--backend", "cuda", "--runs", runs, *inputs, *options],
                                 capture_output=True, text=True, timeout=60, env=environment)
        except subprocess.TimeoutExpired:
            return "more than 60 s"
    found = re.search(r"min ([0-9.e+-]+)", out.stdout)
    if not found:
        return out.stderr.strip().splitlines()[-1][:60] if out.stderr.strip() else "no answer"
    return float(found.group(1)) * 1e3 / iterations


def timed(call, seconds=0.3, repeats=None):
    """Microseconds per call. Ranks that meet in it need the same `repeats`."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    repeats = repeats or max(5, int(seconds / max(1e-6, time.perf_counter() - begin)))
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / repeats * 1e6


def torchs(hidden, tokens):
    make = dict(device="cuda", dtype=torch.bfloat16)
    x = torch.randn(tokens, hidden, **make)
    w1, w2 = torch.randn(4 * hidden, hidden, **make) * 0.02, torch.randn(hidden, 4 * hidden, **make) * 0.02
    b1, b2 = torch.randn(4 * hidden, **make), torch.randn(hidden, **make)
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu

    def forward():
        return linear(gelu(linear(x, w1, b1), approximate="tanh"), w2, b2)

    with torch.no_grad():
        hand = timed(forward)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            forward()
        replayed = timed(graph.replay)
        torch._dynamo.reset()  # each size is compiled for itself
        return hand, replayed, timed(torch.compile(forward, dynamic=False))


def copy_bytes_per_us():
    """Bytes read and written per microsecond by a copy of 128 MiB."""
    x = torch.empty(1 << 27, device="cuda", dtype=torch.uint8)
    y = torch.empty_like(x)
    return 2 * x.numel() / timed(lambda: y.copy_(x))


def torch_on_several():
    """One rank of N: hand-written tensor parallelism and all_reduce, and their CUDA graphs. Rank 0 prints the times."""
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu
    make = dict(device="cuda", dtype=torch.bfloat16)

    def measure(what, call, repeats):
        if not is_wanted(what):
            return
        with torch.no_grad():
            hand = timed(call, repeats=repeats)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                call()
            replayed = timed(graph.replay, repeats=repeats)
            compiled = ""
            if what == f"H={COMPILED_SIZE[0]} T={COMPILED_SIZE[1]}":
                compiled = f", compiled {timed(torch.compile(call, dynamic=False), repeats=repeats):.1f} us"
        if rank == 0:
            print(f"PyTorch, {ranks} devices, {what}: {hand:.1f} us, graph {replayed:.1f} us{compiled}", flush=True)

    for hidden, tokens, iterations in several_sizes(ranks):
        if not is_wanted(f"H={hidden} T={tokens}"):
            continue
        inner = 4 * hidden // ranks
        x = torch.randn(tokens, hidden, **make)
        w1, w2 = torch.randn(inner, hidden, **make) * 0.02, torch.randn(hidden, inner, **make) * 0.02
        b1 = torch.randn(inner, **make)

        def forward():
            y = linear(gelu(linear(x, w1, b1), approximate="tanh"), w2)
            torch.distributed.all_reduce(y)
            return y

        measure(f"H={hidden} T={tokens}", forward, iterations)
    for size_bytes, iterations in REDUCED:
        reduced = torch.zeros(size_bytes // 4, device="cuda")
        measure(f"all_reduce {size_bytes} B", lambda: torch.distributed.all_reduce(reduced), iterations)
    sys.stdout.flush()
    os._exit(0)  # the process group cannot be destroyed while a graph holds its communicator


def text_of(time_us):
    return time_us if isinstance(time_us, str) else f"{time_us:.1f} us"


def on_several(hostir):
    devices = torch.cuda.device_count() if torch else 1
    for ranks in [n for n in (2, 4, 8) if n <= devices and wanted_devices() in (None, n)]:
        if is_late(f"{ranks} devices"):
            return
        place = ("--devices", ",".join(map(str, range(ranks))))
        programs = [(f"H={h} T={t}", program(h, t, n, ranks), n) for h, t, n in several_sizes(ranks)]
        programs += [(f"all_reduce {size} B", all_reduce_program(size, n, ranks), n) for size, n in REDUCED]
        programs = [each for each in programs if is_wanted(each[0])]
        if programs:
            subprocess.run(["torchrun", "--nproc-per-node", str(ranks), __file__, "--torch", *sys.argv[2:]], timeout=90)
            # For seconds after PyTorch's processes have ended, short kernels take twice as long.
            ours(hostir, all_reduce_program(1 << 20, 50_000, ranks), 50_000, place + ("--input", f"x=full(1.0, {1 << 18}xf32)"))
        for what, text, iterations in programs:
            if is_late(f"way b, {ranks} devices, {what}"):
                continue
            given = place
            if "all_reduce" in what:
                given += ("--input", f"x=full(1.0, {int(what.split()[1]) // 4}xf32)")
            times = [text_of(ours(hostir, text, iterations, given + more)) for more in ((), ("--graphs",))]
            searched = ""
            if "all_reduce" in what:
                searched = ", by copies " + text_of(ours(hostir, text, iterations, given + ("--transport", "copies")))
            if "H=" in what and not wanted_devices():
                searched = ", searched " + text_of(ours(hostir, text, iterations, given + ("--graphs",), timed_products=True))
            print(f"way b, {ranks} devices, {what}: {times[0]}, graphs {times[1]}{searched}", flush=True)
        overlapped(hostir, ranks, place)


def overlapped(hostir, ranks, place):
    for hidden, tokens, layers in OVERLAPPED:
        what = f"overlap, {ranks} devices, H={hidden} T={tokens}"
        if ranks < 4 and hidden > 8192 or not is_wanted(what) or is_late(what):
            continue
        local = ours(hostir, chain(hidden, tokens, layers, 1, 4 * hidden // ranks), layers, ("--devices", "0"))
        # Each device does the same without communication: the slowest of them sets the pace.
        alone = ours(hostir, chain(hidden, tokens * ranks, layers, ranks, 4 * hidden // ranks, independent=True), layers, place)
        print(f"chain of MLPs, {ranks} devices, H={hidden} T={tokens}, us each: local part {text_of(local)}, on all devices at "
              f"the same time {text_of(alone)}", flush=True)
        text = chain(hidden, tokens, layers, ranks, 4 * hidden)
        for overlap, transport in (("none", "nccl"), ("none", "copies"), ("collectives", "nccl"), ("collectives", "copies"),
                                   ("ring", "auto")):
            took = ours(hostir, text, layers, place + ("--overlap", overlap, "--transport", transport))
            ratio = "" if isinstance(took, str) or isinstance(local, str) else f", {took / local:.3f} times the local part"
            print(f"  --overlap {overlap} --transport {transport}: {text_of(took)}{ratio}", flush=True)


def on_one(hostir):
    print(f"{'MLP bf16, us per forward':28} {'torch':>9} {'graph':>9} {'compiled':>9} {'hostir':>9} {'graphs':>9} {'searched':>9} {'to best':>8}")
    for hidden, tokens in SIZES:
        if is_late(f"H={hidden} T={tokens}"):
            continue
        hand, graph, compiled = torchs(hidden, tokens) if torch else [float("inf")] * 3
        iterations = max(12, min(4000, int(300_000 / graph))) if torch else 100  # as long as PyTorch's
        text = program(hidden, tokens, iterations)
        mine = ours(hostir, text, iterations)
        captured = ours(hostir, text, iterations, ("--graphs",))
        searched = ours(hostir, text, iterations, ("--graphs",), timed_products=True)
        if any(isinstance(t, str) for t in (mine, searched, captured)):
            print(f"H={hidden} T={tokens}: {mine} {searched} {captured}")
            continue
        best = min(mine, searched, captured)
        print(f"H={hidden:<5} T={tokens:<18} {hand:9.1f} {graph:9.1f} {compiled:9.1f} {mine:9.1f} {captured:9.1f} "
              f"{searched:9.1f} {best / min(hand, graph, compiled):8.2f}", flush=True)
    if is_late("way a, 4 ranks, H=4096 T=2048"):
        return
    hidden, tokens, ranks = 4096, 2048, 4
    together = ours(hostir, program(hidden, tokens, 50, ranks), 50)
    alone = ours(hostir, program(hidden, tokens, 200, 1, 4 * hidden // ranks), 200)  # the kernels of one rank
    line = f"way a, {ranks} ranks, H={hidden} T={tokens}: {text_of(together)} per forward of all ranks"
    if torch and not any(isinstance(t, str) for t in (together, alone)):
        moved = 2 * ranks * tokens * hidden * 2 / copy_bytes_per_us()  # each rank's sum is read and its result written
        line += (f"; {ranks} x {alone:.1f} us of kernels and {moved:.1f} us of copying: "
                 f"{together / (ranks * alone + moved):.3f} times these")
    print(line)


def launch_program(iterations):
    """Short kernels: the host is the bottleneck."""
    return f"""mesh @m = <r=1>
kernel @add_one(%x: tensor<256xf32>) -> (%y: tensor<256xf32>) {{
  %one = constant {{value = 1.0}} : tensor<256xf32>
  %y = add %x, %one
  return %y
}}
host @f on @m (%x: tensor<256xf32>) -> (%y: tensor<256xf32>) {{
  %s = stream "s"
  %y = alloc on %s : tensor<256xf32>
  for %i in 0..{iterations} {{
    launch @add_one ro(%x) wo(%y) on %s
  }}
  return %y
}}
"""


def logged(hostir, text, iterations, options=()):
    """Microseconds per iteration according to the log, the least of three runs, as `ours` takes it: from the end of the
    iteration a tenth in to that of the last one. The first iterations load kernels, which the other measurements leave out too."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mlp.hir"
        path.write_text(text)
        inputs = INPUTS if "host @mlp" in text else ("--example-inputs",)
        for run in range(3):
            log = pathlib.Path(folder) / f"log{run}.db"
            out = subprocess.run([hostir, "run", str(path), "--backend", "cuda", *inputs, "-q", "--trace", str(log), *options],
                                 capture_output=True, text=True, timeout=60)
            if not log.exists():
                return out.stderr.strip()[-60:]
            ends = sqlite3.connect(log).execute(
                """SELECT finish_ns FROM event WHERE rank = 0 AND instruction =
                   (SELECT MAX(instruction) FROM (SELECT instruction FROM event WHERE rank = 0 AND finish_ns IS NOT NULL
                    GROUP BY instruction HAVING COUNT(*) >= ?)) ORDER BY finish_ns""", (iterations,)).fetchall()
            first = iterations // 10
            times.append((ends[-1][0] - ends[first][0]) / (len(ends) - 1 - first) / 1e3)
    return min(times)


def beside_a_loop(hostir):
    with tempfile.TemporaryDirectory() as folder:
        loop = pathlib.Path(folder) / "cuda_loop"
        source = pathlib.Path(__file__).parent.parent / "bench/cuda_loop.cu"
        compiles = subprocess.Popen(["nvcc", "-O2", "-std=c++20", "-arch=native", source, "-lcublasLt", "-lnccl", "-lcuda",
                                     "-o", loop])
        ours(hostir, program(256, 64, 10), 10)  # meanwhile: loads the libraries
        if compiles.wait() != 0:
            sys.exit(f"nvcc cannot compile {source}")

        def written(*arguments):
            out = subprocess.run([loop, *map(str, arguments)], capture_output=True, text=True, timeout=60)
            return [float(x) for x in re.findall(r"[0-9.]+", out.stdout)] or out.stdout + out.stderr
        raw, mine = written("launch", 20000)[0], ours(hostir, launch_program(20000), 20000)
        with_log = logged(hostir, launch_program(20000), 20000)
        print(f"a launch costs the host {raw:.2f} us as a raw driver call, hostir {text_of(mine)}, with a log {text_of(with_log)}",
              flush=True)
        devices = min(2, torch.cuda.device_count() if torch else 1)
        print(f"{'us per pass':30} {'loop':>8} {'hostir':>8} {'ratio':>6} {'logged':>8} {'ratio':>6} {'graph':>8} {'hostir':>8} {'ratio':>6}")
        for ranks in sorted({1, devices}):
            place = ("--devices", ",".join(map(str, range(ranks))))
            for hidden, tokens in LOOP_SIZES:
                if is_late(f"{ranks} devices, H={hidden} T={tokens}"):
                    continue
                passes = 10000 if hidden <= 1024 else 3000 if tokens <= 128 else 300  # 0.2 s
                plain, graph = written("mlp", hidden, tokens, passes, ranks)
                text = program(hidden, tokens, passes, ranks)
                mine, captured = ours(hostir, text, passes, place), ours(hostir, text, passes, place + ("--graphs",))
                with_log = logged(hostir, text, passes, place)
                try:
                    print(f"{f'{ranks} devices, H={hidden} T={tokens}':30} {plain:8.1f} {mine:8.1f} {mine / plain:6.3f} "
                          f"{with_log:8.1f} {with_log / mine:6.3f} {graph:8.1f} {captured:8.1f} {captured / graph:6.3f}",
                          flush=True)
                except (TypeError, ValueError):
                    print(ranks, hidden, tokens, plain, mine, with_log, captured)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--program":
        print(program(*map(int, sys.argv[2:])))
    elif sys.argv[1] == "--torch":
        torch_on_several()
    elif "--loop" in sys.argv:
        beside_a_loop(sys.argv[1])
    else:
        if "--several" not in sys.argv:
            on_one(sys.argv[1])
        on_several(sys.argv[1])


if __name__ == "__main__":
    main()
