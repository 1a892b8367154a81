#!/usr/bin/env python3
"""Writes cases of this folder whose arguments are placed before the call: make_placed.py FOLDER [CASE...].

Needs jax 0.11, equinox and optax; runs on 8 CPU devices. generic.mlir is the generic form of stablehlo.mlir.
compiled.hlo and generic.mlir are kept where they are small and show something.
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
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
CASES = {}
numbers = np.random.RandomState(0)


def normal(*shape, scale=1.0):
    return (scale * numbers.normal(size=shape)).astype(np.float32)


def ints(high, *shape):
    return numbers.randint(0, high, shape).astype(np.int32)


def mesh(**axes):
    count = math.prod(axes.values())
    return Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))


def case(make):
    CASES[make.__name__] = make
    return make


def put(m, x, *spec):
    return jax.device_put(x, NamedSharding(m, P(*spec)))


def cut(m, x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(m, P(*spec)))


def manual(f, over, inputs, outputs, **options):
    return jax.shard_map(f, mesh=over, in_specs=inputs, out_specs=outputs, **options)


def whole(m, tree):
    return jax.tree.map(lambda x: put(m, x), tree)


@case
def newton_schulz_while():
    """A collective in a loop of unknown length: power iteration with psum until the change is small, inside shard_map."""
    m = mesh(x=4)

    def f(a):
        def body(c):
            v, _, n = c
            w = lax.psum(a.T @ (a @ v), "x")
            w = w / jnp.linalg.norm(w)
            return w, jnp.linalg.norm(w - v), n + 1
        v0 = jnp.ones(6) / np.sqrt(6.)
        return lax.while_loop(lambda c: (c[1] > 1e-4) & (c[2] < 200), body, (v0, jnp.float32(1), 0))
    return manual(f, m, P("x"), P(), check_vma=False), (put(m, normal(8, 6), "x"),), {"atol": 1e-3}


@case
def eqx_mlp():
    """An equinox MLP under vmap, filter_value_and_grad, optax rmsprop."""
    import equinox as eqx
    import optax
    m = mesh(dp=8)
    net = eqx.nn.MLP(6, 3, 16, 2, key=jax.random.PRNGKey(0))
    params, static = eqx.partition(net, eqx.is_array)
    tx = optax.rmsprop(1e-2)

    def step(params, state, x, y):
        def loss(p):
            return jnp.mean((jax.vmap(eqx.combine(p, static))(x) - y) ** 2)
        value, g = eqx.filter_value_and_grad(loss)(params)
        u, state = tx.update(g, state)
        return eqx.apply_updates(params, u), state, value
    return step, (whole(m, params), whole(m, tx.init(params)), put(m, normal(16, 6), "dp"), put(m, normal(16, 3), "dp")), {}


@case
def megatron_custom_vjp():
    """Megatron's f and g as custom_vjp inside shard_map, with vocabulary-parallel cross-entropy."""
    m = mesh(tp=4)

    @jax.custom_vjp
    def enter(x):
        return x
    enter.defvjp(lambda x: (x, None), lambda _, g: (lax.psum(g, "tp"),))

    @jax.custom_vjp
    def leave(x):
        return lax.psum(x, "tp")
    leave.defvjp(lambda x: (lax.psum(x, "tp"), None), lambda _, g: (g,))

    def loss(w, v, head, x, y):
        h = leave(jax.nn.relu(enter(x) @ w) @ v)
        logits = enter(h) @ head
        top = lax.stop_gradient(lax.pmax(lax.stop_gradient(logits.max(-1)), "tp"))
        total = leave(jnp.exp(logits - top[:, None]).sum(-1))
        n = logits.shape[-1]
        local = y - lax.axis_index("tp") * n
        mine = (local >= 0) & (local < n)
        picked = jnp.take_along_axis(logits, jnp.clip(local, 0, n - 1)[:, None], 1)[:, 0]
        picked = leave(jnp.where(mine, picked, 0.0))
        return jnp.mean(jnp.log(total) + top - picked)

    def f(w, v, head, x, y):
        value, g = jax.value_and_grad(loss, (0, 1, 2))(w, v, head, x, y)
        return value, jax.tree.map(lambda a, b: a - .1 * b, (w, v, head), g)
    specs = (P(None, "tp"), P("tp"), P(None, "tp"), P(), P())
    g = manual(f, m, specs, (P(), specs[:3]), check_vma=False)
    args = (normal(8, 16), normal(16, 8), normal(8, 32), normal(6, 8), ints(32, 6))
    return g, tuple(put(m, a, *s) for a, s in zip(args, specs)), {}


@case
def explicit_sharding():
    """A mesh with explicit axes: types carry shardings, reshard, out_sharding of products."""
    from jax.sharding import AxisType
    m = jax.make_mesh((2, 2), ("dp", "tp"), axis_types=(AxisType.Explicit,) * 2)
    jax.set_mesh(m)

    def f(x, w, v):
        h = jax.nn.gelu(x @ w)
        y = jnp.einsum("bf,fd->bd", h, v, out_sharding=P("dp", None))
        z = jax.sharding.reshard(y, P("dp", "tp"))
        return y, z * 2, jnp.sum(z, 0), z.T
    return f, (put(m, normal(4, 8), "dp"), put(m, normal(8, 16), None, "tp"), put(m, normal(16, 8), "tp")), {"extra": True}


@case
def greedy_decode():
    """Greedy decoding in a while_loop until every row has the end token or the length is reached, with a cache per layer."""
    m = mesh(dp=2, tp=2)

    def f(embed, w, head, prompt):
        b = prompt.shape[0]

        def body(state):
            i, tokens, h, done = state
            x = embed[lax.dynamic_index_in_dim(tokens, i, 1, keepdims=False)]
            h = jnp.tanh(h @ w + x)
            new = jnp.argmax(h @ head, -1).astype(jnp.int32)
            new = jnp.where(done, 0, new)
            return i + 1, lax.dynamic_update_index_in_dim(tokens, new, i + 1, 1), h, done | (new == 3)
        tokens = jnp.zeros((b, 12), jnp.int32).at[:, 0].set(prompt)
        state = (0, tokens, jnp.zeros((b, 16)), jnp.zeros(b, bool))
        return lax.while_loop(lambda s: (s[0] < 11) & ~jnp.all(s[3]), body, state)
    return f, (put(m, normal(8, 16), None, "tp"), put(m, normal(16, 16, scale=.4), None, "tp"),
               put(m, normal(16, 8), "tp"), put(m, ints(8, 4), "dp")), {}


@case
def linear_algebra_qr():
    """QR, solve (LU), inverse, slogdet: custom calls on every platform."""
    m = mesh(x=4)

    def f(a, b):
        q, r = jnp.linalg.qr(a)
        return q, r, jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.slogdet(a)
    return f, (put(m, normal(8, 8), "x"), put(m, normal(8), "x")), {"atol": 1e-2}


@case
def gspmd_partitioner():
    """The older partitioner's text: mhlo.sharding instead of sdy."""
    jax.config.update("jax_use_shardy_partitioner", False)
    m = mesh(dp=2, tp=2)

    def f(x, w, v):
        h = cut(m, jax.nn.gelu(x @ w), "dp", "tp")
        g = manual(lambda h, v: lax.psum(h @ v, "tp"), m, (P("dp", "tp"), P("tp")), P("dp"))
        return g(h, v), jnp.mean(h)
    return f, (put(m, normal(4, 8), "dp"), put(m, normal(8, 16), None, "tp"), put(m, normal(16, 8), "tp")), {}


@case
def batched_solvers():
    """Factors and solutions of a batch that is cut: vmapped gathers and scatters stay local."""
    m = mesh(dp=4)

    def f(x):
        s = x @ x.swapaxes(1, 2) + 4 * jnp.eye(4)
        c = jnp.linalg.cholesky(s)
        y = jax.scipy.linalg.solve_triangular(c, x, lower=True)
        return c, y, jnp.linalg.slogdet(s)[1], jnp.linalg.inv(s), jnp.linalg.det(s)
    return f, (put(m, normal(4, 4, 4), "dp"),), {"atol": 1e-3}


@case
def tied_adamw():
    """One AdamW step of a small GPT with tied embeddings, clipped by the global norm; layer norm before products cut
    over tp."""
    m, d = mesh(dp=2, tp=2), 8
    p = {"e": put(m, 0.3 * normal(12, d), "tp"), "pos": put(m, normal(6, d)), "g": put(m, normal(d)), "b": put(m, normal(d)),
         "a": put(m, 0.3 * normal(d, 4 * d), None, "tp"), "ab": put(m, normal(4 * d), "tp"),
         "c": put(m, 0.3 * normal(4 * d, d), "tp")}

    def norm(x, g, b):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * g + b

    def loss(p, t):
        x = jnp.take(p["e"], t[:, :-1], axis=0) + p["pos"]
        x = x + jax.nn.gelu(norm(x, p["g"], p["b"]) @ p["a"] + p["ab"]) @ p["c"]
        logits = x @ p["e"].T
        label = jnp.take_along_axis(logits, t[:, 1:, None], -1)[..., 0]
        return jnp.mean(jax.scipy.special.logsumexp(logits, -1) - label)

    def step(p, first, second, t):
        cost, g = jax.value_and_grad(loss)(p, t)
        size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        g = jax.tree.map(lambda x: x * jnp.minimum(1, 1 / size), g)
        first = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, g)
        second = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, second, g)
        new = jax.tree.map(lambda p, a, b: p - 0.01 * (a / 0.1 / (jnp.sqrt(b / 0.001) + 1e-8) + 0.1 * p), p, first, second)
        return cost, new, first, second
    zeros = jax.tree.map(jnp.zeros_like, p)
    return step, (p, zeros, zeros, put(m, ints(12, 4, 7), "dp")), {"atol": 1e-4}


@case
def stage_grad():
    """Gradient of a pipeline whose stages are manual over pp only, and cut over tp by the compiler."""
    m, n = mesh(pp=2, tp=2), 3

    def stages(w, xs):
        w, stage = w[0], lax.axis_index("pp")

        def body(carry, t):
            state, out = carry
            y = jnp.tanh(jnp.where(stage == 0, xs[jnp.clip(t, 0, n - 1)], state) @ w)
            done = lax.dynamic_update_index_in_dim(out, y, jnp.clip(t - 1, 0, n - 1), 0)
            out = jnp.where((stage == 1) & (t >= 1), done, out)
            return (lax.ppermute(y, "pp", [(0, 1), (1, 0)]), out), None
        start = [lax.pcast(jnp.zeros_like(x), ("pp",), to="varying") for x in (xs[0], xs)]
        (_, out), _ = lax.scan(body, tuple(start), jnp.arange(n + 1))
        return lax.psum(jnp.where(stage == 1, out, 0), "pp")
    g = jax.shard_map(stages, mesh=m, in_specs=(P("pp"), P()), out_specs=P(), axis_names={"pp"})
    return jax.grad(lambda w, x: jnp.mean(g(w, x) ** 2)), (put(m, normal(2, 8, 8, scale=1 / 3), "pp", None, "tp"),
                                                           put(m, normal(3, 4, 8))), {"atol": 1e-4}


@case
def cut_twice():
    """A result that is resharded by a transpose and a reshape: all_to_all of slices, then a permute of its axes."""
    m = mesh(a=2, b=2, c=2)

    def f(x, w):
        y = cut(m, x @ w, "a", None, "b")
        z = cut(m, jnp.swapaxes(y, 1, 2), "c", ("a", "b"), None)
        return cut(m, z.sum(2), None, "a"), cut(m, z.reshape(4, -1), ("a", "c"), None)
    return f, (put(m, normal(4, 4, 8), "a", None, None), put(m, normal(8, 8), None, "b")), {}


@case
def ring_attention():
    """Causal attention over a sharded sequence; a loop passes keys and values around a ring."""
    m, n = mesh(x=4), 4
    spec = P(None, "x", None)

    def f(q, k, v):
        rank, length = lax.axis_index("x"), q.shape[1]

        def body(step, carry):
            k, v, out, top, total = carry
            scores = jnp.einsum("bqd,bkd->bqk", q, k) / np.sqrt(8)
            owner = (rank - step) % n
            seen = (rank * length + jnp.arange(length))[:, None] >= (owner * length + jnp.arange(length))[None]
            scores = jnp.where(seen, scores, -1e30)
            new_top = jnp.maximum(top, scores.max(-1))
            weights, shrink = jnp.exp(scores - new_top[..., None]), jnp.exp(top - new_top)
            out = out * shrink[..., None] + jnp.einsum("bqk,bkd->bqd", weights, v)
            k, v = (lax.ppermute(t, "x", [(r, (r + 1) % n) for r in range(n)]) for t in (k, v))
            return k, v, out, new_top, total * shrink + weights.sum(-1)
        none = q * 0
        carry = lax.fori_loop(0, n, body, (k, v, none, none[..., 0] - 1e30, none[..., 0]))
        return carry[2] / carry[4][..., None]
    args = tuple(put(m, normal(2, 16, 8), *spec) for _ in range(3))
    return manual(f, m, (spec,) * 3, spec), args, {}


@case
def decode_cache():
    """One step of decoding: a key and a value enter the cache at a position, then masked attention."""
    m = mesh(dp=2, tp=2)

    def f(keys, values, q, position):
        keys = lax.dynamic_update_slice(keys, q[:, None], (0, position, 0, 0))
        values = values.at[:, position].set(q)
        scores = jnp.einsum("bhd,bthd->bht", q, keys) / 2.0
        scores = jnp.where(jnp.arange(8)[None, None] <= position, scores, -jnp.inf)
        return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores, -1), values), keys, values
    cache = [put(m, normal(2, 8, 4, 4), "dp", None, "tp", None) for _ in range(2)]
    return f, (*cache, put(m, normal(2, 4, 4), "dp", "tp", None), put(m, np.int32(5))), {}


def main():
    for name in sys.argv[2:] or CASES:
        numbers.seed(0)
        f, args, options = CASES[name]()
        lowered = jax.jit(f).lower(*args)
        compiled = lowered.compile()
        folder = pathlib.Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stablehlo.mlir").write_text(lowered.as_text())
        (folder / "compiled.hlo").write_text(compiled.as_text())
        (folder / "generic.mlir").write_text(lowered.compiler_ir().operation.get_asm(print_generic_op_form=True))
        for prefix, arrays in (("in", jax.tree.leaves(args)), ("out", jax.tree.leaves(compiled(*args)))):
            for i, x in enumerate(arrays):
                np.save(folder / f"{prefix}{i}.npy", np.asarray(x))
        counts = {c: len(re.findall(rf" = .* {c}(?:-start)?\(", compiled.as_text())) for c in COLLECTIVES}
        described = {"jax": jax.__version__, "note": CASES[name].__doc__, "compiled_collectives": counts}
        if "atol" in options:
            described["atol"] = options["atol"]
        (folder / "case.json").write_text(json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    main()
