#!/usr/bin/env bash
# The README's first command: installs the dependencies, builds, and runs the tensor-parallel MLP on four
# simulated ranks with a log.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
cmake --preset release -DHOSTIR_TESTS=OFF >/dev/null
cmake --build --preset release
mkdir -p build-release/runs
exec build-release/bin/hostir run tests/programs/tp_mlp.hir --mesh tp=4 \
  --input 'x=normal(1, 2x64x512xf32)' --input 'w1=normal(2, 0, 0.03, 2048x512xf32)' --input 'b1=normal(3, 2048xf32)' \
  --input 'w2=normal(4, 0, 0.03, 512x2048xf32)' --input 'b2=normal(5, 512xf32)' \
  --shards --check-unsharded --trace build-release/runs/tp_mlp.db
