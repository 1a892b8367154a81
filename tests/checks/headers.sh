#!/usr/bin/env bash
# Compiles headers alone, with clang and without precompiled headers, which hide a missing include. Needs a build folder
# that is configured, for what CMake generates.
#   tests/checks/headers.sh BUILD            headers that changed since $BASE (HEAD~1)
#   tests/checks/headers.sh BUILD --all      every header: 25 minutes on 2 cores
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$1
base=${BASE:-HEAD~1}
if [ "${2:-}" = --all ]; then
  list=$(git ls-files -co --exclude-standard '*.h')
elif git rev-parse -q --verify "$base^{commit}" >/dev/null; then
  # A header that only moved, with its includes, needs no check: a line of another kind must have changed.
  list=$(git diff --diff-filter=d -M --name-only -G '^ *(#include|[^/ #])' "$base" -- '*.h'
    git ls-files -o --exclude-standard '*.h')
else
  echo "skipped: there is no commit $base to compare with"
  exit 0
fi
# Those of other compilers, of C, and of the tests are compiled by their own builds.
list=$(grep -vE '^tests/|^hostir/api/c/hostir\.h|^traces/nccl_plugin/' <<<"$list" | xargs -r ls -d 2>/dev/null | sort -u)
check() {
  errors=$(clang++ -std=c++20 -fsyntax-only -x c++ -Wno-pragma-once-outside-header -I. -I"$1/kernels/cpu/generated" -I"$1/kernels/common/generated" \
    -isystem /usr/include/imgui -DIMGUI_DEFINE_MATH_OPERATORS "$2" 2>&1) && echo ok ||
    { echo "FAILED: $2"; grep -m 5 'error: ' <<<"$errors"; }
}
export -f check
[ -z "$list" ] && { echo "skipped: no header changed since $base"; exit 0; }
result=$(xargs -r -P 2 -I{} bash -c 'check "$1" "$2"' sh "$build" {} <<<"$list")
grep -v '^ok$' <<<"$result"
passed=$(grep -c '^ok$' <<<"$result")
failed=$(grep -c '^FAILED' <<<"$result")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
