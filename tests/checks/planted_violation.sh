#!/usr/bin/env bash
# Plants a layer violation in a copy and expects the layer check to name it.
set -eu
root=$(cd "${1:-.}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/hostir/ir" "$copy/hostir/support" "$copy/hostir/cli"
printf '#include "interp/core/code/code.h"\n' > "$copy/hostir/ir/planted.cpp"
printf '#include "hostir/ir/mesh.h"\n' > "$copy/hostir/support/planted.cpp"
printf '#include "interp/sim/sim_backend.h"\n' > "$copy/hostir/cli/planted.cpp"
if out=$(python3 "$root/tests/checks/layers.py" "$copy"); then
  echo "the layer check passed over a planted violation"; exit 1
fi
[ "$(grep -c 'may not include' <<<"$out")" = 3 ] || { echo "$out"; exit 1; }
echo "planted violations: found"
