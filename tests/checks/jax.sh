#!/usr/bin/env bash
# Imports JAX programs (tests/truth/jax) as StableHLO and scheduled HLO, runs them on all ranks and compares the results
# with JAX's. They must need no more collectives than XLA's version. Then the texts of module_texts.py. `jax.sh HOSTIR`.
set -u
cd "$(dirname "$0")/../.."
python3 tests/checks/jax_cases.py "$1" tests/truth/jax tests/truth/jax_made
status=$?
python3 tests/checks/module_texts.py "$1" || status=1
exit $status
