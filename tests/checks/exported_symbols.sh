#!/usr/bin/env bash
# libhostir.so exports the functions of its header and nothing else. `exported_symbols.sh BUILD`.
set -eu
cd "$(dirname "$0")/../.."
library=$(find "$1" -name libhostir.so | head -n 1)
[ -n "$library" ] || { echo "$1 holds no libhostir.so"; exit 1; }
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -oE '\bhostir_[a-z_]+\(' hostir/api/c/hostir.h | tr -d '(' | sort -u)
declared=$(for name in $declared; do grep -qE "^HOSTIR_API .*\b$name\(" hostir/api/c/hostir.h && echo "$name"; done)
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "< in hostir.h only, > in $library only"
  exit 1
fi
echo "exported symbols: $(wc -l <<<"$exported"), all of hostir.h"
