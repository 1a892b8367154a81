#!/usr/bin/env bash
# The README's second command: everything that must pass before a change is merged. Prints one line per step,
# keeps logs under build-test/, and ends with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh --dev || { echo "0 passed, 1 failed"; exit 1; }
out=build-test
mkdir -p "$out"
passed=0
failed=0

# step NAME COMMAND...: runs the command, keeps its output, and adds up its tests if the output has a count.
step() {
  local name=$1; shift
  local log="$out/$name.log" begin=$SECONDS
  if "$@" >"$log" 2>&1; then local status=ok; else local status=FAILED; fi
  local counts
  counts=$(tail -n 3 "$log" | grep -Eo '^[0-9]+ passed, [0-9]+ failed' | tail -n 1)
  if [ -n "$counts" ]; then
    passed=$((passed + ${counts%% passed*}))
    local bad=${counts##*, }; failed=$((failed + ${bad%% failed}))
    [ "$status" = FAILED ] && [ "${bad%% failed}" = 0 ] && failed=$((failed + 1))
  elif [ "$status" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-28s %-6s %4ds  %s\n' "$name" "$status" $((SECONDS - begin)) "$counts"
  [ "$status" = FAILED ] && tail -n 40 "$log"
  return 0
}

# unit PRESET [FOLDER...]: runs the unit tests of these folders, or all, in halves, two at a time; ends with their sum.
unit() {
  local preset=$1 total=0 bad=0 blame= part status ran broke
  local logs="$out/unit-$preset"
  shift
  rm -rf "$logs"
  mkdir -p "$logs"
  find "build-$preset/bin" -name 'unit_*' -type f -perm -u+x -printf '%s 0 %p\n%s 1 %p\n' | sort -rn | cut -d' ' -f2- |
    { [ $# = 0 ] && cat || grep -E "/unit_($(IFS='|'; echo "$*"))\$"; } |
    GTEST_TOTAL_SHARDS=2 xargs -P 2 -L 1 sh -c 'part="$1/${3##*/}.$2"
      export TEST_TMPDIR=$(mktemp -d)  # two parts of a binary may use the same file names
      GTEST_SHARD_INDEX=$2 "$3" --gtest_brief=1 >"$part.log" 2>&1; echo $? >"$part.status"
      rm -rf "$TEST_TMPDIR"' sh "$logs"
  for part in "$logs"/*.log; do
    [ -f "$part" ] || continue
    echo "== $(basename "$part" .log)"
    cat "$part"
    status=$(cat "${part%.log}.status")
    ran=$(grep -Eo '^\[==========\] [0-9]+ test' "$part" | grep -Eo '[0-9]+' | tail -n 1)
    broke=$(grep -Eo '^ *[0-9]+ FAILED TEST' "$part" | grep -Eo '[0-9]+' | tail -n 1)
    ran=${ran:-0}; broke=${broke:-0}
    [ "$status" != 0 ] && [ "$broke" = 0 ] && broke=1
    total=$((total + ran - broke)); bad=$((bad + broke))
    [ "$status" = 0 ] || blame+="== $(basename "$part" .log): status $status"$'\n'$(grep -B 8 '^\[  FAILED  \].*ms)$' "$part" | tail -n 15)$'\n'
  done
  printf '%s' "$blame"  # last, where `step` shows it
  echo "$total passed, $bad failed"
  [ "$bad" = 0 ] && [ "$total" -gt 0 ]
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
}

# What each sanitizer covers: AddressSanitizer the parsers, the compiler, kernels and buffers, ThreadSanitizer the folders
# with threads. Both run all scripts. tests/long/sanitizers.sh runs all unit tests.
memory=(core cpu cuda device import io ir modules ops passes pipeline script session sim text traces)
threaded=(cpu cuda device session sim traces)

# Compiles the sanitizer builds while the plain build is checked, because many checks wait for the disk.
build_behind() {
  configure_and_build asan hostir "${memory[@]/#/unit_}" >"$out/behind-asan.log" 2>&1
  echo $? >"$out/behind-asan.status"
  configure_and_build tsan hostir "${threaded[@]/#/unit_}" >"$out/behind-tsan.log" 2>&1
  echo $? >"$out/behind-tsan.status"
}
built_behind() {
  while [ ! -f "$out/behind-$1.status" ]; do sleep 1; done
  cat "$out/behind-$1.log"
  return "$(cat "$out/behind-$1.status")"
}

step layers python3 tests/checks/layers.py
step planted-violation tests/checks/planted_violation.sh
step source-rules python3 tests/checks/source_rules.py
step format tests/checks/format.sh
step build configure_and_build ci
if [ ! -x build-ci/bin/hostir ]; then
  # Everything below needs the build, and would only bury what the compiler said.
  grep -E -A 3 '^FAILED: |error: |Error|Killed' "$out/build.log" | cut -c1-400 | head -n 60
  echo "build failed: no other step was run; the whole output is $out/build.log"
  echo "$passed passed, $failed failed"
  exit 1
fi
rm -f "$out"/behind-*
set -m  # its own process group, so that it can be stopped as a whole
build_behind &
set +m
trap "kill -- -$! 2>/dev/null" EXIT
step unit unit ci
step scripts build-ci/bin/hostir test tests/programs tests/scripts -j 2 --junit "$out/scripts.xml"
step generated tests/checks/generated.sh build-ci/bin/hostir
step command tests/checks/command.sh build-ci/bin/hostir
step refusals tests/checks/refusals.sh build-ci/bin/hostir
step guides tests/checks/guides.py build-ci/bin/hostir
step serve tests/checks/serve.py build-ci/bin/hostir
step dap tests/checks/dap.py build-ci/bin/hostir
step remote tests/checks/remote.py build-ci/bin/hostir
step c-abi build-ci/bin/c_abi_test
step python-module tests/checks/python_module.py build-ci/hostir/api/c/libhostir.so
step nccl-plugin tests/checks/nccl_plugin.py build-ci
step exported-symbols tests/checks/exported_symbols.sh build-ci
step truth tests/checks/truth.sh build-ci/bin/hostir
step jax tests/checks/jax.sh build-ci/bin/hostir
step dumps tests/checks/dumps.py build-ci/bin/hostir
step line-editing tests/checks/line_editing.py build-ci/bin/hostir
step pipelines tests/checks/pipelines.py build-ci/bin/hostir
step proofs tests/long/random_proofs.py build-ci/bin/hostir --seeds 0:20 --mistakes 2
step report tests/checks/report.py build-ci/bin/hostir
step profiles tests/checks/profiles.py build-ci/bin/hostir
step debug-transcripts tests/scripts/debug/check.sh build-ci/bin/hostir
step golden-pictures tests/checks/golden_pictures.sh build-ci/bin/hostir
step interactive-window tests/checks/interactive_window.sh build-ci/bin/hostir
step replays tests/checks/replay_all.sh build-ci/bin/hostir
step killed-logs tests/checks/killed_logs.sh build-ci/bin/hostir 8
step damaged-logs tests/checks/damaged_logs.py build-ci/bin/hostir 120
step exports tests/checks/exports.py build-ci/bin/hostir
step chrome-trace tests/checks/chrome_trace.py build-ci/bin/hostir
step random-fusions tests/long/random_fusions.py build-ci/bin/hostir --seeds 0:400
step random-overlaps tests/long/random_overlaps.py build-ci/bin/hostir --seeds 0:120
step random-host python3 tests/long/random_host_programs.py build-ci/bin/hostir --seeds 0:60
step scripts-avx2 env DNNL_MAX_CPU_ISA=AVX2 HOSTIR_MAX_CPU_ISA=AVX2 build-ci/bin/hostir test tests/programs tests/scripts -j 2
step build-asan built_behind asan
step unit-asan unit asan "${memory[@]}"
step scripts-asan build-asan/bin/hostir test tests/programs tests/scripts -j 2
# libgomp is not instrumented for ThreadSanitizer and its barriers look like races, so oneDNN gets one thread.
export OMP_NUM_THREADS=1 TSAN_OPTIONS="suppressions=$PWD/tests/checks/tsan.supp history_size=4"
step build-tsan built_behind tsan
step unit-tsan unit tsan "${threaded[@]}"
step scripts-tsan build-tsan/bin/hostir test tests/programs tests/scripts -j 2
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
