#!/usr/bin/env bash
# Runs every unit test and script under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer. This
# includes what tests/run_all.sh skips to save time: the window, and folders without threads under ThreadSanitizer.
#
# Usage: tests/long/sanitizers.sh [asan|tsan]...   Exit status 1 if anything failed; logs are in build-PRESET.
set -uo pipefail
cd "$(dirname "$0")/../.."
bad=0
for preset in ${*:-asan tsan}; do
  cmake --preset "$preset" -DHOSTIR_GUI=ON && cmake --build --preset "$preset" || exit 1
  if [ "$preset" = tsan ]; then
    # libgomp is not instrumented for ThreadSanitizer and its barriers look like races, so oneDNN gets one thread.
    export OMP_NUM_THREADS=1 TSAN_OPTIONS="suppressions=$PWD/tests/checks/tsan.supp history_size=4"
  fi
  for unit in build-"$preset"/bin/unit_*; do
    [ -x "$unit" ] || continue
    if "$unit" --gtest_brief=1 >"$unit.log" 2>&1; then echo "$preset ${unit##*/} ok"
    else echo "$preset ${unit##*/} FAILED, see $unit.log"; bad=1; fi
  done
  build-"$preset"/bin/hostir test tests/programs tests/scripts -j 2 >"build-$preset/scripts.log" 2>&1 || bad=1
  echo "$preset scripts: $(tail -n 1 "build-$preset/scripts.log")"
done
exit $bad
