#!/usr/bin/env bash
# Imports JAX programs (tests/truth/jax) as StableHLO and scheduled HLO, runs them on all ranks and compares the results
# with JAX's. They must need no more collectives than XLA's version. `jax.sh HOSTIR`.
set -u
cd "$(dirname "$0")/../.."
exec python3 tests/checks/jax_cases.py "$1" tests/truth/jax tests/truth/jax_made
