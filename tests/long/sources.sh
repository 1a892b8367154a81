#!/usr/bin/env bash
# What CI has no time for in the sources: every header alone, clang-tidy on what changed since $BASE, 30 s of each fuzzer.
#   BASE=COMMIT tests/long/sources.sh    needs build-ci; 45 minutes on 2 cores, of which the headers take 25
set -uo pipefail
cd "$(dirname "$0")/../.."
: "${BASE:?say since which commit, as in BASE=HEAD~20}"
export BASE
failed=0
for part in "tests/checks/headers.sh build-ci --all" "tests/checks/tidy.sh build-tidy" "tests/fuzz/run.sh 30"; do
  echo "== $part"
  $part || failed=$((failed + 1))
done
exit "$failed"
