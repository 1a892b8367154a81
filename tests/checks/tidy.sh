#!/usr/bin/env bash
# clang-tidy (.clang-tidy) on the sources that changed since $BASE (HEAD~1); a warning fails.
#   tests/checks/tidy.sh BUILD [FILE...]     BUILD has a compile_commands.json; it is made if it is not there
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$1
files=("${@:2}")
if [ ${#files[@]} = 0 ]; then
  mapfile -t files < <(git diff --diff-filter=d -M --name-only -G '^ *[^/ #]' "${BASE:-HEAD~1}" -- '*.cpp'
    git ls-files -o --exclude-standard '*.cpp')
fi
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 0; }
[ ${#files[@]} = 0 ] && { echo "skipped: no source changed"; exit 0; }
# A compilation of each file on its own: unity builds list none of them.
[ -f "$build/compile_commands.json" ] || cmake --preset dev -B "$build" -DCMAKE_CXX_COMPILER=clang++ >/dev/null || exit 1
passed=0
failed=0
while read -r file result; do
  if [ "$result" = ok ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $file"; cat "$build/tidy/${file//\//_}.txt"
  fi
done < <(mkdir -p "$build/tidy"; printf '%s\n' "${files[@]}" | xargs -P 2 -I{} bash -c '
  log="$1/tidy/${2//\//_}.txt"
  clang-tidy -p "$1" --quiet --warnings-as-errors="*" "$2" >"$log" 2>/dev/null && echo "$2 ok" || echo "$2 bad"' sh "$build" {})
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
