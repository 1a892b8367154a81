#!/usr/bin/env python3
"""Writes the cases of this folder that JAX 0.11 itself printed, compiled and computed: make_jax.py FOLDER [CASE...].

Needs jax; runs on 8 CPU devices. compiled.hlo is kept where it is small.
`more_collectives` in case.json is added by hand.
"""
import json
import math
import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
CASES = {}
numbers = np.random.RandomState(0)


def normal(*shape):
    return numbers.normal(size=shape).astype(np.float32)


def mesh(**axes):
    count = math.prod(axes.values())
    return Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))


def case(make):
    CASES[make.__name__] = make
    return make


def manual(f, over, inputs, outputs, **options):
    return jax.shard_map(f, mesh=over, in_specs=inputs, out_specs=outputs, **options)


@case
def partial_pipeline():
    """Two stages over dp by ppermute inside a shard_map over dp alone; tp stays with the partitioner."""
    m = mesh(dp=2, tp=2)

    def stages(w, x):
        for _ in range(2):
            x = lax.ppermute(jnp.tanh(x @ w[0]), "dp", [(0, 1), (1, 0)])
        return lax.psum(x, "dp") / 2
    f = manual(stages, m, (P("dp"), P()), P(), axis_names={"dp"}, check_vma=False)
    return m, f, (normal(2, 4, 4), normal(4, 4)), (P("dp", None, "tp"), P())


@case
def partial_axis_index():
    """The device number along the one manual axis."""
    m = mesh(dp=2, tp=2)
    f = manual(lambda x: x * (1.0 + lax.axis_index("dp")), m, P("dp"), P("dp"), axis_names={"dp"})
    return m, f, (normal(4, 6),), (P("dp", "tp"),)


@case
def manual_fsdp_grad():
    """The gradient of a shard_map: two manual computations, with values that go from one to the other."""
    m = mesh(x=4)

    def loss(w, x):
        return lax.pmean(jnp.mean((x @ lax.all_gather(w, "x", tiled=True)) ** 2), "x")
    f = jax.value_and_grad(lambda w, x: manual(loss, m, (P("x"), P("x")), P())(w, x))
    return m, f, (normal(8, 4), normal(4, 8)), (P("x"), P("x"))


@case
def manual_beside():
    """Operations before and after a shard_map."""
    m = mesh(x=4)
    product = manual(lambda x, w: lax.psum(x @ w, "x"), m, (P(None, "x"), P("x")), P())
    return m, lambda x, w: jnp.sum(product(jnp.sin(x), w * 2) ** 2, 1), (normal(4, 8), normal(8, 3)), (P(), P())


@case
def bit_patterns():
    """Floats as integers of the same and of half the size, and back."""
    def f(x):
        bits = lax.bitcast_convert_type(x, jnp.uint32)
        short = lax.bitcast_convert_type(x, jnp.uint16)
        return (lax.bitcast_convert_type(x, jnp.int32),
                lax.bitcast_convert_type(bits & jnp.uint32(0xFFFF0000), jnp.float32),
                lax.bitcast_convert_type(short, jnp.float32))
    return mesh(x=4), f, (normal(4, 6),), (P("x"),)


@case
def windows():
    """Pooling: the maximum of windows that do not overlap, the sum of windows that do, with padding."""
    def f(x):
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
                lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"))
    return mesh(x=4), f, (normal(4, 4, 4, 2),), (P("x"),)


@case
def constraints_sp():
    """Sequence-parallel by constraints. XLA cuts the all-reduced result by a table of offsets that the device looks up."""
    m = mesh(dp=2, tp=2)

    def sp(x, w, v):
        x = lax.with_sharding_constraint(x, NamedSharding(m, P("dp", "tp")))
        h = lax.with_sharding_constraint(jax.nn.silu(x @ w), NamedSharding(m, P("dp", None, "tp")))
        return lax.with_sharding_constraint(h @ v, NamedSharding(m, P("dp", "tp")))
    return m, sp, (normal(2, 4, 6), normal(6, 8), normal(8, 6)), (P("dp", "tp"), P(None, "tp"), P("tp"))


@case
def pm_fsdp():
    """The gradient of FSDP inside a shard_map over dp alone, with the weight also cut over tp by the partitioner."""
    m = mesh(dp=2, tp=2)

    def loss(w, x):
        f = manual(lambda w, x: jnp.mean((x @ lax.all_gather(w, "dp", tiled=True)) ** 2, keepdims=True)[0], m,
                   (P("dp"), P("dp")), P("dp"), axis_names={"dp"})
        return jnp.sum(f(w, x))
    return m, jax.grad(loss), (normal(8, 4), normal(4, 8)), (P("dp", "tp"), P("dp"))


@case
def pool_grad():
    """The gradient of max pooling: select_and_scatter, which XLA rewrites to a reduce-window of five operands."""
    def f(x):
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)
    return mesh(x=4), jax.grad(f), (normal(4, 4, 4, 2),), (P("x"),)


@case
def conv1d():
    """A convolution over a sharded batch."""
    def f(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"))
    return mesh(x=4), f, (normal(4, 6, 3), normal(3, 3, 2)), (P("x"), P())


@case
def cumulative():
    """Running sums, products, extremes and log-sum-exps; the reducer of the last is not a single operation."""
    def f(x):
        return (jnp.cumsum(x, 1), jnp.cumprod(x, 1), lax.cummax(x, 1), lax.cummin(x, 1), lax.cumlogsumexp(x, 1),
                lax.cumsum(x, 1, reverse=True), jnp.cumsum(x), jnp.diff(x, axis=1))
    return mesh(x=4), f, (normal(4, 5),), (P("x"),)


@case
def rng_bit_gen():
    """Philox bits."""
    key = np.array([1, 2, 3, 4], np.uint32)
    return mesh(x=4), lambda k: lax.rng_bit_generator(k, (4, 6)), (key,), (P(),)


@case
def random_normal():
    """Threefry bits, made uniform through their exponent, then normal by the inverse of erf."""
    key = np.array([0, 42], np.uint32)
    return mesh(x=4), lambda k, x: x + jax.random.normal(k, (4, 6)), (key, normal(4, 6)), (P(), P("x"))


@case
def combined_gradients():
    """Data parallel: XLA combines the loss and both gradients into one all-reduce of three tensors."""
    m = mesh(x=4)

    def local(w, x, y):
        def loss_of(w):
            return jnp.mean((jax.nn.relu(x @ w[0]) @ w[1] - y) ** 2)
        loss, gradient = jax.value_and_grad(loss_of)(w)
        return lax.pmean(loss, "x"), jax.tree.map(lambda g: lax.pmean(g, "x"), gradient)

    def step(w, x, y):
        loss, gradient = manual(local, m, (P(), P("x"), P("x")), (P(), P()), check_vma=False)(w, x, y)
        return loss, jax.tree.map(lambda a, b: a - .1 * b, w, gradient)
    return m, step, ((normal(6, 8), normal(8, 2)), normal(8, 6), normal(8, 2)), ((P(), P()), P("x"), P("x"))


@case
def result_shapes():
    """compiled.hlo does not say how a reshaped result is cut; the shape of the expected value does."""
    def f(x, y):
        return x.reshape(8, 2, 3) + 1, x @ y
    return mesh(a=2, b=4), f, (normal(16, 3), normal(3, 8)), (P(("a", "b")), P(None, "b"))


@case
def cumulatives_cut():
    """Running sums, products and maxima along the cut dimension. out1.npy is the product: XLA's partitioner fills the \
halo of the cumprod with 0 and gives zeros."""
    def f(x):
        return jnp.cumsum(x, 0), jnp.cumprod(x, 0), lax.cummax(x, 0), jnp.cumsum(x[::-1], 0)[::-1]
    return mesh(dp=4), f, (normal(8, 3),), (P("dp"),)


def pool(x, init, combine, *widths, stride=1, padding="VALID"):
    return lax.reduce_window(x, init, combine, (1, *widths, 1), (1, stride, 1), padding)


@case
def max_pooling_grad():
    """Max pooling along a cut dimension, windows that end where parts do, and its gradient."""
    f = jax.grad(lambda x: (pool(x, -jnp.inf, lax.max, 2, stride=2) ** 2).sum())
    return mesh(s=4), f, (normal(2, 16, 4),), (P(None, "s"),), P(None, "s")


@case
def sum_pooling():
    """Sums of three neighbours along a cut dimension."""
    return (mesh(s=4), lambda x: pool(x, 0.0, lax.add, 3, padding="SAME"), (normal(2, 16, 4),), (P(None, "s"),),
            P(None, "s"))


@case
def roll_on_grid():
    """jnp.roll along one of two cut dimensions."""
    return mesh(a=2, b=2), lambda x: jnp.roll(x, 1, 0), (normal(8, 12),), (P("a", "b"),), P("a", "b")


@case
def roll_far():
    """jnp.roll by more than a part."""
    return mesh(s=4), lambda x: jnp.roll(x, 3, 0), (normal(8, 12),), (P("s"),), P("s")


@case
def laplace():
    """Neighbours in a plane by four rolls."""
    def f(x):
        return (jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1)) - 4 * x
    return mesh(a=2, b=2), f, (normal(8, 12),), (P("a", "b"),), P("a", "b")


@case
def cumsum_cut():
    """A running sum along the cut dimension, small."""
    return mesh(t=4), lambda x: jnp.cumsum(x, 1), (normal(4, 16),), (P(None, "t"),), P(None, "t")


# Results that XLA computes wrongly, from the inputs: by case, then by result. compiled.hlo of these cases is not kept.
RIGHT = {"cumulatives_cut": {1: lambda x: np.cumprod(x, 0)}}


def write(folder, arrays, prefix):
    for i, x in enumerate(arrays):
        x = np.asarray(x)
        np.save(folder / f"{prefix}{i}.npy", x.astype(np.float32) if x.dtype.kind == "V" else x)


def main():
    for name in sys.argv[2:] or CASES:
        numbers.seed(0)
        m, f, args, specs, *results = CASES[name]()
        shardings, *results = jax.tree.map(lambda s: NamedSharding(m, s), (specs, *results),
                                           is_leaf=lambda s: isinstance(s, P))
        placed = jax.device_put(args, shardings)
        options = {"out_shardings": results[0]} if results else {}
        lowered = jax.jit(f, in_shardings=shardings, **options).lower(*placed)
        compiled = lowered.compile()
        folder = pathlib.Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stablehlo.mlir").write_text(lowered.as_text())
        if name not in RIGHT:
            (folder / "compiled.hlo").write_text(compiled.as_text())
        write(folder, jax.tree.leaves(args), "in")
        results = jax.tree.leaves(compiled(*placed))
        for i, right in RIGHT.get(name, {}).items():
            results[i] = right(*args)
        write(folder, results, "out")
        counts = {c: len(re.findall(rf" = .* {c}(?:-start)?\(", compiled.as_text())) for c in COLLECTIVES}
        described = {"jax": jax.__version__, "mesh": dict(m.shape), "note": CASES[name].__doc__,
                     "compiled_collectives": counts}
        (folder / "case.json").write_text(json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    main()
