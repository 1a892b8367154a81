#!/usr/bin/env python3
"""JAX's time for a forward pass of the tensor-parallel MLP on the CPU, beside `hostir bench` on `sim`, in one run.

Usage: jax_mlp.py HOSTIR [RANKS]. Run it under `taskset -c 0,1` for two cores. Needs jax. Prints milliseconds per pass of all
ranks: the minimum of many, of each in turn.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

RANKS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={RANKS}"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

PROGRAMS = pathlib.Path(__file__).parents[1] / "programs"
SIZES = [(512, 64, 60), (2048, 256, 12)]  # hidden, tokens, passes


def theirs(hidden, tokens, passes, dtype):
    mesh = jax.make_mesh((RANKS,), ("tp",), axis_types=(jax.sharding.AxisType.Auto,))

    def placed(shape, *axes):
        return jax.device_put(jnp.ones(shape, dtype) * 0.01, NamedSharding(mesh, PartitionSpec(*axes)))

    inner = 4 * hidden
    operands = (placed((1, tokens, hidden)), placed((inner, hidden), "tp"), placed((inner,), "tp"),
                placed((hidden, inner), None, "tp"), placed((hidden,)))

    def mlp(x, w1, b1, w2, b2):
        return jax.nn.gelu(x @ w1.T + b1, approximate=True) @ w2.T + b2

    step = jax.jit(mlp, out_shardings=NamedSharding(mesh, PartitionSpec()))
    step(*operands).block_until_ready()
    best = 1e30
    for _ in range(passes):
        begin = time.perf_counter()
        step(*operands).block_until_ready()
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def ours(hostir, hidden, tokens, passes, program):
    sizes = dict(B=1, S=tokens, H=hidden, F=4 * hidden)
    options = [o for name, n in sizes.items() for o in ("--size", f"{name}={n}")]
    done = subprocess.run([hostir, "bench", PROGRAMS / program, "--mesh", f"tp={RANKS}", "--runs", str(passes), *options],
                          capture_output=True, text=True)
    found = re.search(r"min ([0-9.e+-]+)", done.stdout)
    return float(found.group(1)) if found else done.stdout + done.stderr


def main():
    print(f"{'ms per forward pass':32} {'JAX':>9} {'hostir':>9} {'ratio':>6}")
    for dtype, program in ((jnp.float32, "tp_mlp.hir"), (jnp.bfloat16, "tp_mlp_bf16.hir")):
        for hidden, tokens, passes in SIZES:
            pairs = [(theirs(hidden, tokens, passes, dtype), ours(sys.argv[1], hidden, tokens, passes, program)) for _ in range(2)]
            if any(isinstance(mine, str) for _, mine in pairs):
                print(pairs)
                continue
            jax_ms, mine = min(p[0] for p in pairs), min(p[1] for p in pairs)
            print(f"{f'{RANKS} ranks, H={hidden} T={tokens}, {jnp.dtype(dtype).name}':32} {jax_ms:9.2f} {mine:9.2f} {mine / jax_ms:6.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
