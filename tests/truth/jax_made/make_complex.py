#!/usr/bin/env python3
"""Writes the cases of this folder with collectives of complex values, as make_jax.py does: make_complex.py FOLDER [CASE...]."""
import sys

import jax
import jax.numpy as jnp
import make_jax
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from make_jax import manual, mesh, normal

make_jax.CASES.clear()
case = make_jax.case


def placed(x, over, *axes):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*axes)))


@case
def complex_transpose_fft():
    """A Fourier transform of two dimensions: rows, an all-to-all of complex values, columns, and back."""
    m = mesh(x=4)

    def f(x, k):
        z = jnp.fft.fft(placed(jnp.fft.fft(placed(x, m, "x"), axis=1), m, None, "x"), axis=0) * k
        return placed(jnp.fft.ifft(placed(jnp.fft.ifft(z, axis=0), m, "x"), axis=1).real, m, "x")
    return m, f, (normal(8, 16), normal(8, 16)), (P("x"), P(None, "x"))


@case
def complex_gathers():
    """Complex values made of cut parts, used whole by products and transforms."""
    m = mesh(x=4)

    def f(a, b, w):
        z = lax.complex(a, b)
        y = placed(z * jnp.exp(1j * a), m)
        u = placed(jnp.fft.fft(z, axis=1), m)
        v = jnp.einsum("ij,jk->ik", y, placed(w + 1j * w, m))
        return (y @ u.T).real, (v * v).imag
    return m, f, (normal(8, 8), normal(8, 8), normal(8, 8)), (P("x"), P("x"), P("x"))


@case
def complex_manual():
    """Every collective of a shard_map on complex values."""
    m = mesh(x=4)

    def f(a, b):
        z = lax.complex(a, b)
        g = lax.all_gather(z, "x", tiled=True)
        s = lax.psum(z * 2, "x")
        t = lax.all_to_all(z * 1j, "x", 0, 1, tiled=True)
        p = lax.ppermute(z + 1, "x", [(i, (i + 1) % 4) for i in range(4)])
        r = lax.psum_scatter(z * 3j, "x", tiled=True)
        o = (g @ s.T.reshape(8, 4)).sum() + (t @ t.T).sum() + (p * s).sum() + r.sum()
        return lax.psum(o.real, "x"), p.imag
    return m, manual(f, m, (P("x"), P("x")), (P(), P("x"))), (normal(16, 8), normal(16, 8)), (P("x"), P("x"))


@case
def complex_product_grad():
    """The gradient of a complex network, tensor parallel."""
    m = mesh(x=4)

    def f(x, wr, wi, vr, vi):
        def loss(wr, wi, vr, vi):
            h = x @ lax.complex(wr, wi)
            h = h * jnp.abs(h)
            return jnp.mean(jnp.abs(h @ lax.complex(vr, vi)) ** 2)
        return jax.value_and_grad(loss, (0, 1, 2, 3))(wr, wi, vr, vi)
    return (m, f, (normal(4, 8), normal(8, 8), normal(8, 8), normal(8, 4), normal(8, 4)),
            (P(), P(None, "x"), P(None, "x"), P("x"), P("x")))


@case
def complex_loop():
    """A loop whose state is complex and gathered in each pass."""
    m = mesh(x=4)

    def f(a, b):
        def step(i, z):
            y = placed(z, m)
            return placed((y @ y) * 0.1 + z, m, "x")
        z = lax.fori_loop(0, 3, step, placed(lax.complex(a, b), m, "x"))
        return z.real, z.imag
    return m, f, (normal(8, 8), normal(8, 8)), (P("x"), P("x"))


if __name__ == "__main__":
    sys.exit(make_jax.main())
