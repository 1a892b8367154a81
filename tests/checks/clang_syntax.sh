#!/usr/bin/env bash
# Compiles everything as the sanitizer builds do, with clang and a library at once, but only as far as errors are found: what
# clang 14 cannot parse, and names that two files of a library use for different things. Prints the errors of each library.
#   tests/checks/clang_syntax.sh [NAME...]    the libraries and tests whose path contains a name, or all, with the window
set -uo pipefail
cd "$(dirname "$0")/../.."
build=build-clang-syntax
cmake --preset asan -B $build -DHOSTIR_GUI=ON >/dev/null || exit 1
names=$(IFS='|'; echo "$*")
ninja -C $build -t targets all | grep -Eo '^[^:]*cmake_pch[^:]*\.pch' | xargs ninja -C $build >/dev/null || exit 1
passed=0
failed=0
while read -r object; do
  command=$(ninja -C $build -t commands "$object" | grep -v '^ninja: ' | tail -n 1 | sed 's| -MD .*-o [^ ]* -c | -fsyntax-only -c |')
  if errors=$(cd $build && eval "$command" 2>&1); then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $object"; grep -E 'error: |note: previous' <<<"$errors" | head -n 20
  fi
done < <(ninja -C $build -t targets all | grep -Eo '^[^:]*unity_[^:]*\.o' | grep -E "$names")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
