#!/usr/bin/env bash
# JAX's programs (tests/truth/jax): StableHLO and scheduled HLO are imported, run on all ranks, and equal what JAX
# computed; the collectives are those that XLA compiled, or fewer. `jax.sh HOSTIR`.
set -u
cd "$(dirname "$0")/../.."
exec python3 tests/checks/jax_cases.py "$1" tests/truth/jax tests/truth/jax_made
