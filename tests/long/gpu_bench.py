#!/usr/bin/env python3
"""MLP forward (linear, tanh-gelu, linear) in bf16: on one GPU this project and PyTorch, measured in one run; on several
devices this project alone.

Usage: gpu_bench.py HOSTIR. Without PyTorch, only our times are measured. Prints microseconds per forward pass. Ours is
the wall time of many passes in a loop, with everything included.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    torch = None

hostir = sys.argv[1]
sizes = [(1024, 128), (4096, 1), (4096, 128), (4096, 2048), (8192, 2048), (8192, 16384)]


def ours(hidden, tokens, iterations, ranks=1, options=(), timed_products=False):
    inner = 4 * hidden
    x, g = f"{tokens}x{hidden}xbf16", f"{tokens}x{inner}xbf16"
    w1, w2 = f"{inner}x{hidden}xbf16", f"{hidden}x{inner}xbf16"
    reduce = ("    %d = all_reduce sum %c rw(%y -> [{}, {}]) on %s\n" if ranks > 1 else "    %d = launch @bias ro(%b2) rw(%y) on %s\n")
    second = "tensor<" + x + ">" if ranks == 1 else f"shard<{x}, @m, [{{}}, {{}}], unreduced={{tp}}>"
    text = f"""mesh @m = <tp={ranks}>
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
                 %w2: shard<{w2}, @m, [{{}}, {{tp}}]>, %b2: tensor<{hidden}xbf16>) -> () {{
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
  free %y on %s
  return
}
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mlp.hir"
        path.write_text(text)
        environment = dict(os.environ, **({"HOSTIR_CUDA_TIMED_PRODUCTS": "1"} if timed_products else {}))
        out = subprocess.run([hostir, "bench", str(path), "--backend", "cuda", "--runs", "3", *options], capture_output=True, text=True,
                             timeout=60, env=environment)
    found = re.search(r"min ([0-9.e+-]+)", out.stdout)
    if not found:
        return out.stderr.strip().splitlines()[-1][:60] if out.stderr.strip() else "no answer"
    return float(found.group(1)) * 1e3 / iterations


def timed(call, seconds=0.3):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    repeats = max(5, int(seconds / max(1e-6, time.perf_counter() - begin)))
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
        return hand, timed(graph.replay)


print(f"{'MLP bf16, us per forward':28} {'torch':>9} {'graph':>9} {'hostir':>9} {'searched':>9} {'to best':>8}")
for hidden, tokens in sizes:
    hand, graph = torchs(hidden, tokens) if torch else (float("inf"), float("inf"))
    iterations = 2000 if tokens <= 128 else 100 if hidden < 8192 else 20
    mine = ours(hidden, tokens, iterations)
    searched = ours(hidden, tokens, iterations, timed_products=True)
    if isinstance(mine, str) or isinstance(searched, str):
        print(f"H={hidden} T={tokens}: {mine} {searched}")
        continue
    best = min(mine, searched)
    print(f"H={hidden:<5} T={tokens:<18} {hand:9.1f} {graph:9.1f} {mine:9.1f} {searched:9.1f} {best / min(hand, graph):8.2f}", flush=True)
mine = ours(4096, 2048, 50, 4)
print(f"way a, 4 ranks, H=4096 T=2048: {mine if isinstance(mine, str) else f'{mine:.1f} us per forward of all ranks'}")
devices = torch.cuda.device_count() if torch else 1
for ranks in [n for n in (2, 4, 8) if n <= devices]:
    for hidden, tokens, iterations in [(4096, 1, 500), (4096, 128, 500), (4096, 2048, 100), (8192, 2048, 50), (16384, 16384, 5)]:
        mine = ours(hidden, tokens, iterations, ranks, ("--devices", ",".join(map(str, range(ranks)))))
        print(f"way b, {ranks} devices, H={hidden} T={tokens}: {mine if isinstance(mine, str) else f'{mine:.1f} us per forward'}", flush=True)
