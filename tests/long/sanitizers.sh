#!/usr/bin/env bash
# Runs every unit test and script under AddressSanitizer with UndefinedBehaviorSanitizer, under ThreadSanitizer, and
# with kernels for AVX2. This includes what tests/run_all.sh skips to save time: the window; unit tests of folders
# without threads and scripts of the compiler under ThreadSanitizer; scripts that compute little with AVX2.
#
# Usage: tests/long/sanitizers.sh [asan|tsan|avx2]...   Exit status 1 if anything failed; logs are in the build folder.
set -uo pipefail
cd "$(dirname "$0")/../.."
bad=0
# everything NAME BUILD_FOLDER
everything() {
  local name=$1 folder=$2 unit
  for unit in "$folder"/bin/unit_*; do
    case $unit in *.log) continue ;; esac
    if "$unit" --gtest_brief=1 >"$unit.log" 2>&1; then echo "$name ${unit##*/} ok"
    else echo "$name ${unit##*/} FAILED, see $unit.log"; bad=1; fi
  done
  "$folder/bin/hostir" test tests/programs tests/scripts -j 2 >"$folder/scripts-$name.log" 2>&1 || bad=1
  echo "$name scripts: $(tail -n 1 "$folder/scripts-$name.log")"
}
for kind in ${*:-asan tsan avx2}; do
  if [ "$kind" = avx2 ]; then
    cmake --preset ci && cmake --build --preset ci || exit 1
    (export DNNL_MAX_CPU_ISA=AVX2 HOSTIR_MAX_CPU_ISA=AVX2; everything avx2 build-ci; exit $bad) || bad=1
    continue
  fi
  cmake --preset "$kind" -DHOSTIR_GUI=ON && cmake --build --preset "$kind" || exit 1
  # libgomp is not instrumented for ThreadSanitizer and its barriers look like races, so oneDNN gets one thread.
  (if [ "$kind" = tsan ]; then export OMP_NUM_THREADS=1 TSAN_OPTIONS="suppressions=$PWD/tests/checks/tsan.supp history_size=4"; fi
    everything "$kind" "build-$kind"; exit $bad) || bad=1
done
exit $bad
