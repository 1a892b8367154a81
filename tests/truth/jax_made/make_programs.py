#!/usr/bin/env python3
"""Writes inputs and results of cases whose texts are written by hand: make_programs.py [FOLDER]. Needs numpy."""
import json
import math
import pathlib
import sys

import numpy as np

R = np.random.default_rng(3)


def f32(*dims):
    return R.standard_normal(dims).astype(np.float32)


def decode_until_end():
    """Greedy decoding until all rows gave the end token, at most 12 tokens: a loop bounded by a counter."""
    w, start = f32(7, 7), np.array([1, 3], np.int32)
    buffer, done, current, i = np.zeros((2, 12), np.int32), np.zeros(2, bool), start, 1
    buffer[:, 0] = start
    while i < 12 and not done.all():
        current = np.where(done, 0, np.argmax(w[current], axis=1)).astype(np.int32)
        buffer[:, i] = current
        done |= current == 0
        i += 1
    return [w, start], [np.int32(i), buffer]


def converge():
    """Newton's square root until the error is small: a loop without a bound."""
    x = np.array([2, 9, 50, 0.3], np.float32)
    y, passes = x, 0
    while np.abs(y * y - x).max() > np.float32(1e-3):
        y, passes = np.float32(0.5) * (x / y + y), passes + 1
    return [x], [np.int32(passes), y]


def manual_converge():
    """Power iteration with an all_gather per pass in a shard_map, until it converges, at most 12 passes."""
    a = f32(8, 8)
    a = ((a + a.T) / 2 + 4 * np.eye(8)).astype(np.float32)
    v, passes, change = np.ones(8, np.float32), 0, 1e9
    start = v
    while passes < 12 and change > np.float32(0.1):
        w = a @ v
        w = w / np.sqrt((w * w).sum())
        change, v, passes = np.abs(w - v).max(), w, passes + 1
    return [a, start], [np.int32(passes), v]


def lexsort():
    """A sort by two keys."""
    a, b, x = R.integers(0, 3, 9).astype(np.int32), R.integers(0, 3, 9).astype(np.uint8), f32(9)
    order = np.lexsort((b, a))
    return [a, b, x], [a[order], b[order], x[order]]


def sort_abs():
    """A sort with a comparator that is not a comparison of its arguments."""
    x, places = f32(3, 7), np.tile(np.arange(7, dtype=np.int32), (3, 1))
    order = np.argsort(np.abs(x), 1, kind="stable")
    return [x, places], [np.take_along_axis(x, order, 1), order.astype(np.int32)]


def pool_grad_padding():
    """The gradient of max pooling with padding, where some elements are -inf as well."""
    x, dy = f32(4, 4, 4), f32(4, 2, 2)
    x[0, 0], x[1] = -np.inf, -np.inf
    out = np.zeros_like(x)
    for b, i, j in np.ndindex(4, 2, 2):
        window = [(p, q) for p in range(2 * i - 1, 2 * i + 2) for q in range(2 * j - 1, 2 * j + 2)
                  if 0 <= p < 4 and 0 <= q < 4]
        best = max(window, key=lambda at: x[b][at])  # the first of equal ones
        out[b][best] += dy[b, i, j]
    return [x, dy], [out]


def narrow_integers():
    """Weights of 4 bits, two in a byte."""
    x, packed = f32(4, 8), (np.arange(24) * 7).astype(np.uint8).reshape(8, 3)
    nibbles = np.stack([packed & 15, packed >> 4], -1).reshape(8, 6).astype(np.int32)
    return [x, packed], [x @ np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.float32)]


def written_sizes():
    """Operations whose sizes are constant operands."""
    x = f32(5, 6)
    return [x, np.array([3, 0], np.int32)], [
        x[1:4, 0:4:2], x.reshape(6, 5), np.broadcast_to(x, (4, 5, 6)), np.pad(x, ((2, 0), (0, 0)), constant_values=1),
        np.tile(np.arange(3, dtype=np.int32), (4, 1)), x[[3, 0]]]


def scatter_pairs():
    """A scatter of two tensors at once; one index is out of bounds."""
    x, k = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.int32)
    at, dx, dk = np.array([4, 1, 9], np.int32), np.array([40, 10, 1], np.float32), np.array([-4, -1, 1], np.int32)
    y, n = x.copy(), k.copy()
    y[at[:2]], n[at[:2]] = dx[:2], dk[:2]
    return [x, k, at, dx, dk], [y, n]


def threefry_kernel():
    """Threefry as a custom call."""
    key, x, y = [np.full(3, k, np.uint32) for k in (7, 9)], np.arange(3, dtype=np.uint32), np.arange(3, 6, dtype=np.uint32)
    keys = [*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
    a, b = x + keys[0], y + keys[1]
    for group in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            a = a + b
            b = ((b << np.uint32(by)) | (b >> np.uint32(32 - by))) ^ a
        a, b = a + keys[(group + 1) % 3], b + keys[(group + 2) % 3] + np.uint32(group + 1)
    return [*key, x, y], [a, b]


def reducers():
    """Reductions by exclusive or."""
    x, p = R.integers(0, 2**32, (5, 6), dtype=np.uint32), R.integers(0, 2, (5, 6)).astype(bool)
    return [x, p], [np.bitwise_xor.reduce(x, 1), np.logical_xor.reduce(p, 1), ~np.logical_xor.reduce(p, 0)]


def region_constants():
    """A reducer that takes its number out of a vector."""
    x = f32(6, 5)
    return [x, np.float32(1)], [np.minimum(np.maximum(x.max(1), 0), 2)]


def tuples():
    """Tuples, an optimization barrier, and a reduction of precision."""
    x = f32(5, 6)
    bits = x.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return [x, x + 1], [x + 1, rounded.view(np.float32)]


def named_computation():
    """Shardy's operations as they are after partitioning, and a named computation."""
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    return [x], [-x]


def batched_slices():
    """dynamic_slice and dynamic_update_slice under vmap."""
    x, at, update = f32(4, 6, 3), np.array([0, 5, 2, 9], np.int32), f32(4, 2, 3)
    starts = np.clip(at, 0, 4)
    y = x.copy()
    for b, start in enumerate(starts):
        y[b, start:start + 2] = update[b]
    return [x, at, update], [np.stack([x[b, s:s + 2] for b, s in enumerate(starts)]), y]


def lower_triangle(*dims):
    return (np.tril(f32(*dims)) + 4 * np.eye(dims[-1])).astype(np.float32)


def linear_algebra():
    """cholesky and triangular_solve, as operations with a batch and as the calls of LAPACK that JAX writes on CPU."""
    x, b, l = f32(4, 5, 5), f32(4, 5, 2), lower_triangle(5, 5)
    spd = x @ x.transpose(0, 2, 1) + 5 * np.eye(5, dtype=np.float32)
    factor = np.linalg.cholesky(spd)
    bad = spd[0] - 30 * np.diag([0, 0, 1, 0, 0]).astype(np.float32)
    solved = np.linalg.solve(factor.transpose(0, 2, 1), b)
    right = b[0].T @ np.linalg.inv(l.T)
    unit = np.linalg.solve(np.tril(l, -1) + np.eye(5), b[1])
    upper = factor.transpose(0, 2, 1)
    out = [factor, solved, np.linalg.cholesky(spd[0]), np.int32(0), np.int32(3), right, unit, upper]
    return [spd, b, l, bad], [o.astype(np.float32) if o.dtype == np.float64 else o for o in out]


def ragged_dot():
    """chlo.ragged_dot: groups of rows, a contracted dimension in groups, and both with a batch; rows behind the last group."""
    x, w, sizes = f32(8, 4), f32(3, 4, 6), np.array([3, 0, 4], np.int32)
    y, u, v = f32(8, 6), f32(2, 8, 4), f32(3, 2, 4, 5)
    ends = np.cumsum(sizes)
    rows, grouped, batched = np.zeros((8, 6)), np.zeros((3, 4, 6)), np.zeros((2, 8, 5))
    for g, (end, size) in enumerate(zip(ends, sizes)):
        part = slice(end - size, end)
        rows[part], grouped[g] = x[part] @ w[g], x[part].T @ y[part]
        batched[:, part] = u[:, part] @ v[g]
    return [x, w, sizes, y, u, v], [a.astype(np.float32) for a in (rows, grouped, batched)]


def older_names():
    """Calls of mhlo.*, which jax.export prints for operations that an older StableHLO lacks, and tokens of a print."""
    x = np.array([-0.9, -0.25, 0.1, 0.5], np.float32)
    return [x], [np.arcsin(x), np.sinh(x), np.array([math.erf(v) for v in x], np.float32), np.isinf(x)]


def manual_algebra():
    """ragged_dot with sizes that differ between devices, and cholesky as an operation and as LAPACK's, in a mapped shard_map."""
    x, w, sizes = f32(8, 16), f32(3, 4, 8), np.array([3, 0, 4, 1, 5, 2, 0, 0, 8, 2, 2, 2], np.int32)
    rows, grouped = np.zeros((8, 8), np.float32), np.zeros((3, 4, 8), np.float32)
    solved, factors = np.zeros((3, 8, 4), np.float32), np.zeros((4, 16), np.float32)
    for d in range(4):
        a, b, end = 2 * x[:, 4 * d:4 * d + 4], w[:, :, 2 * d:2 * d + 2], 0
        for g, size in enumerate(sizes[3 * d:3 * d + 3]):
            part, end = slice(end, end + size), end + size
            rows[part, 2 * d:2 * d + 2] = a[part] @ b[g]
            grouped[g, :, 2 * d:2 * d + 2] = a[part].T @ a[part, :2]
            solved[g, 2 * d:2 * d + 2] = np.linalg.solve(np.linalg.cholesky(b[g].T @ b[g]), b[g].T)
        factors[:, 4 * d:4 * d + 4] = np.linalg.cholesky(a.T @ a)
    return [x, w, sizes], [rows, grouped, solved, factors]


def lapack_calls():
    """Scheduled HLO with LAPACK's cholesky and triangular solve, and a triangular-solve."""
    a, b = f32(4, 4), f32(4, 8)
    a = a @ a.T + 4 * np.eye(4, dtype=np.float32)
    factor = np.linalg.cholesky(a)
    return [a, b], [factor, np.linalg.solve(factor, b), np.int32(0), np.linalg.solve(factor.T, b)]


def sort_total_order():
    """Scheduled HLO with a descending sort whose comparator orders floats by their bits, as XLA writes it."""
    x = R.integers(-3, 4, (8, 6)).astype(np.float32) / 2
    y = np.arange(48, dtype=np.int32).reshape(8, 6)
    order = np.argsort(-x, axis=1, kind="stable")
    return [x, y], [np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1)]


def zeta_polygamma():
    """zeta and polygamma, summed term by term with the integral and a half of the next term for the rest."""
    x = np.array([2, 1.5, 3.25, 4, 7, 1.125, 1, 0.5], np.float32)
    q = np.array([1, 0.3, 2.5, 11, 0.75, 30, 2, 3], np.float32)
    n = np.array([0, 1, 2, 3, 4, 5, 0, 1], np.float32)

    def zeta(a, b):
        terms = np.arange(100000) + b
        last = b + 100000
        return (terms ** -a).sum() + last ** (1 - a) / (a - 1) + last ** -a / 2
    zetas = [zeta(float(a), float(b)) if a > 1 else math.inf if a == 1 else math.nan for a, b in zip(x, q)]

    def digamma(a):
        return sum(1 / (k + 1) - 1 / (k + a) for k in range(200000)) - np.euler_gamma - (1 - a) / 200000
    values = [digamma(float(b)) if k == 0 else (-1) ** (int(k) + 1) * math.factorial(int(k)) * zeta(k + 1.0, float(b))
              for k, b in zip(n, q)]
    return [x, q, n], [np.array(zetas, np.float32), np.array(values, np.float32)]


def widened_reducers():
    """A scatter and a reduction of bfloat16 whose regions add in float32 and round, as XLA writes them."""
    x, rows = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[2], [0], [2]], np.int32)
    updates = np.arange(9, dtype=np.float32).reshape(3, 3) - 4
    y = x.copy()
    np.add.at(y, rows[:, 0], updates)
    return [x, rows, updates], [y, y.sum(1)]


CASES = [decode_until_end, converge, manual_converge, lexsort, sort_abs, pool_grad_padding, narrow_integers, written_sizes,
         scatter_pairs, threefry_kernel, reducers, region_constants, tuples, named_computation, batched_slices,
         linear_algebra, ragged_dot, older_names, manual_algebra,
         lapack_calls, sort_total_order, zeta_polygamma, widened_reducers]

if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for make in CASES:
        inputs, outputs = make()
        folder = root / make.__name__
        for name, values in (("in", inputs), ("out", outputs)):
            for i, value in enumerate(values):
                np.save(folder / f"{name}{i}.npy", np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value))
        (folder / "case.json").write_text(json.dumps({"note": make.__doc__, "atol": 1e-4}, indent=1) + "\n")
