#!/usr/bin/env bash
# The README's second command: everything that must pass before a change is merged. Prints one line per step,
# keeps logs under build-test/, and ends with `N passed, N failed`, after the steps that were skipped and why.
set -uo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh --dev || { echo "0 passed, 1 failed"; exit 1; }
out=build-test
mkdir -p "$out"
rm -f "$out"/*.count "$out"/*.skipped

# step NAME COMMAND...: runs the command, keeps its output, prints a line, and the end of the output if it failed. Keeps
# how many tests passed and failed: as the output says, else the step is one test. A step that cannot run here ends with
# a line `skipped: WHY` and counts as none.
step() {
  local name=$1 log="$out/$1.log" begin=$SECONDS status=ok counts skipped good=0 bad=0 lines
  shift
  "$@" >"$log" 2>&1 || status=FAILED
  counts=$(tail -n 3 "$log" | grep -Eo '^[0-9]+ passed, [0-9]+ failed' | tail -n 1)
  skipped=$(tail -n 1 "$log" | grep '^skipped: ')
  if [ "$status" = ok ] && [ -n "$skipped" ]; then
    status=-
    echo "$name $skipped" >"$out/$name.skipped"
  elif [ -n "$counts" ]; then read -r good _ bad _ <<<"$counts"; elif [ "$status" = ok ]; then good=1; fi
  [ "$status" = ok ] && [ "$good" = 0 ] && status=FAILED  # a step that tests nothing
  [ "$status" = FAILED ] && [ "$bad" = 0 ] && bad=1
  echo "$good $bad" >"$out/$name.count"
  lines=$(printf '%-28s %-6s %4ds  %s' "$name" "$status" $((SECONDS - begin)) "$counts$skipped")
  [ "$status" = FAILED ] && lines+=$'\n'$(tail -n 40 "$log")
  printf '%s\n' "$lines"  # at once, because another step may end at the same time
}

# beside NAME COMMAND...: a step for one core. Two run at a time, or one while the sanitizer builds are compiled.
# wait_for_steps waits for the last of them.
beside_ids=()
beside() {
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  step "$@" &
  beside_ids+=($!)
}
wait_for_steps() { wait "${beside_ids[@]}"; }

# finish: prints the steps that were skipped and how many tests passed and failed, and fails if any did.
finish() {
  find "$out" -maxdepth 1 -name '*.skipped' -exec cat {} +
  cat "$out"/*.count | awk '{ passed += $1; failed += $2 } END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 }'
}

# unit PRESET [FOLDER...]: runs the unit tests of these folders, or all. Each binary runs in two
# halves, two at a time. The last line has the totals.
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
  cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
}

# What each sanitizer covers: AddressSanitizer the unit tests of parsers, the compiler, kernels and buffers, and the scripts;
# ThreadSanitizer the unit tests of folders with threads, and scripts that run on several ranks. Neither runs whole models
# and rings, which do at length what other scripts do briefly. With AVX2 run the scripts that compute. tests/long/sanitizers.sh runs
# everything under everything.
memory=(core cpu cuda device import io ir modules ops passes pipeline script session sim text traces)
threaded=(cpu cuda device session sim traces)
small=($(ls tests/programs/*.hir | grep -vE '/(gpt_.*|block_training|moe|fsdp_tp|overlap|dp_training|pipeline)\.hir'))
most=("${small[@]}" $(ls -d tests/scripts/*/ | grep -v passes/) $(ls tests/scripts/passes/*.hir | grep -v rings))
ranks=("${small[@]}" tests/scripts/{collectives,faults,stuck})
kernels=(tests/programs tests/scripts/ops)
# Slow unit tests that a sanitizer learns nothing from: searches that compare costs, long counts,
# texts that `hostir test` round-trips, and `inside` for whole programs, which is also tested with
# small functions.
unmemory='-MatmulChoice.*:ShardyPrograms.*:Redistribute.*:SampledTimes.*:Import.NestedCountingIsBounded:RoundTrip.EveryScript*'
unmemory+=':RoundTrip.PrintedPlaces*:Verifier.AcceptsWhatItHasVerified:LogPoints.TheNewestLines*:Visits.AnyWalk*:Inside.*InEveryExampleProgram'
unthreaded='-Inside.*:RandomWalk.*:SampledTimes.*:EventPacking.*:Damage*:StoredTimeline.SaysWhatTheEventsSay'

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

hostir=build-ci/bin/hostir
step layers python3 tests/checks/layers.py
step planted-violation tests/checks/planted_violation.sh
step source-rules python3 tests/checks/source_rules.py
step format tests/checks/format.sh
step build configure_and_build ci
if [ ! -x $hostir ]; then
  # Everything below needs the build, and would only bury what the compiler said.
  grep -E -A 3 '^FAILED: |error: |Error|Killed' "$out/build.log" | cut -c1-400 | head -n 60
  echo "build failed: no other step was run; the whole output is $out/build.log"
  finish
  exit 1
fi
rm -f "$out"/behind-*
set -m  # its own process group, so that it can be stopped as a whole
build_behind &
set +m
trap "kill -- -$! 2>/dev/null" EXIT
step unit unit ci
step scripts $hostir test tests/programs tests/scripts -j 2 --junit "$out/scripts.xml"
# These two start displays, and measure what a window does at rest.
step interactive-window tests/checks/interactive_window.sh $hostir
step golden-pictures tests/checks/golden_pictures.sh $hostir
step random-host python3 tests/long/random_host_programs.py $hostir --seeds 0:60
step pipelines tests/checks/pipelines.py $hostir
step training-steps tests/checks/training_steps.py $hostir
step overlap-auto tests/checks/overlap_auto.py $hostir
beside random-fusions tests/long/random_fusions.py $hostir --seeds 0:400
beside dumps tests/checks/dumps.py $hostir
beside random-loops tests/long/random_loops.py $hostir --seeds 0:60
beside random-overlaps tests/long/random_overlaps.py $hostir --seeds 0:120
beside damaged-logs tests/checks/damaged_logs.py $hostir 120
beside truth tests/checks/truth.sh $hostir
beside jax tests/checks/jax.sh $hostir
beside proofs tests/long/random_proofs.py $hostir --seeds 0:20 --mistakes 2
beside replays tests/checks/replay_all.sh $hostir
beside killed-logs tests/checks/killed_logs.sh $hostir 8
beside command tests/checks/command.sh $hostir
beside dump-files tests/checks/dump_files.py $hostir
beside profiles tests/checks/profiles.py $hostir
beside nccl-reports tests/checks/nccl_reports.py $hostir
beside refusals tests/checks/refusals.sh $hostir
beside nccl-plugin tests/checks/nccl_plugin.py build-ci
beside python-module tests/checks/python_module.py build-ci/hostir/api/c/libhostir.so
beside remote tests/checks/remote.py $hostir
beside exports tests/checks/exports.py $hostir
beside chrome-trace tests/checks/chrome_trace.py $hostir
beside report tests/checks/report.py $hostir
beside debug-transcripts tests/scripts/debug/check.sh $hostir
beside guides tests/checks/guides.py $hostir
beside headers tests/checks/headers.sh build-ci
beside line-editing tests/checks/line_editing.py $hostir
beside serve tests/checks/serve.py $hostir
beside dap tests/checks/dap.py $hostir
beside generated tests/checks/generated.sh $hostir
beside exported-symbols tests/checks/exported_symbols.sh build-ci
beside c-abi build-ci/bin/c_abi_test
wait_for_steps
step scripts-avx2 env DNNL_MAX_CPU_ISA=AVX2 HOSTIR_MAX_CPU_ISA=AVX2 $hostir test "${kernels[@]}" -j 2
step build-asan built_behind asan
GTEST_FILTER=$unmemory step unit-asan unit asan "${memory[@]}"
step scripts-asan build-asan/bin/hostir test "${most[@]}" -j 2
# libgomp is not instrumented for ThreadSanitizer and its barriers look like races, so oneDNN gets one thread.
export OMP_NUM_THREADS=1 TSAN_OPTIONS="suppressions=$PWD/tests/checks/tsan.supp history_size=4"
step build-tsan built_behind tsan
GTEST_FILTER=$unthreaded step unit-tsan unit tsan "${threaded[@]}"
step scripts-tsan build-tsan/bin/hostir test "${ranks[@]}" -j 2
finish
