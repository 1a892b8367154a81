#!/usr/bin/env bash
# The README's first command: installs the dependencies, builds, and runs the tensor-parallel MLP on four
# simulated ranks with a log.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
cmake --preset release -DHOSTIR_TESTS=OFF >/dev/null
cmake --build --preset release
mkdir -p build-release/runs
build-release/bin/hostir run tests/programs/tp_mlp.hir --mesh tp=4 \
  --input 'x=normal(1, 2x64x512xf32)' --input 'w1=normal(2, 0, 0.03, 2048x512xf32)' --input 'b1=normal(3, 2048xf32)' \
  --input 'w2=normal(4, 0, 0.03, 512x2048xf32)' --input 'b2=normal(5, 512xf32)' \
  --shards --check-unsharded --trace build-release/runs/tp_mlp.db
cat <<END

The command is $PWD/build-release/bin/hostir, the log of this run $PWD/build-release/runs/tp_mlp.db. To go on:
  export PATH="$PWD/build-release/bin:\$PATH"
  hostir gui build-release/runs/tp_mlp.db             the run in a window; hostir debug .. in the terminal
  hostir lower tests/programs/tp_mlp.hir --to host    the host IR that ran
  hostir test tests/programs                          the gallery, which is also a test
Guides: hostir/text/GUIDE.md is about the language, hostir/script/GUIDE.md about tests.
END
