#!/bin/bash
# Builds, tests and measures the cuda backend on this machine's GPU, and prints one table.
#
# Usage: tests/long/gpu.sh [BUILD_DIR]. To skip parts: GPU_SKIP="sanitizer bench" tests/long/gpu.sh. The most important parts
# come first, and no part starts after GPU_SECONDS (540, measured from the start). Exit status 1 if a row says FAIL. The logs
# of all parts are in BUILD_DIR/gpu; if $OUT is set, they and the table are copied there as they are written.
set -u
cd "$(dirname "$0")/../.."
build=${1:-build-gpu}
logs=$build/gpu
skip=" ${GPU_SKIP:-} "
seconds=${GPU_SECONDS:-540}
mkdir -p "$logs"
rows=()
bad=0

save() { # keeps partial results in case the time runs out
  printf '%s\n' "${rows[@]}" > "$logs/table.txt"
  [ -n "${OUT:-}" ] && mkdir -p "$OUT" && find "$logs" -maxdepth 1 -type f -size -1024k ! -name '*.db*' -exec cp -u {} "$OUT" \;
  return 0
}
row() {
  rows+=("$(printf '%-52s %-6s %s' "$1" "$2" "$3")")
  [ "$2" = FAIL ] && bad=1
  printf '%s\n' "${rows[-1]}"
  save
}
wanted() {
  [[ $skip == *" $1 "* ]] && return 1
  [ $SECONDS -lt "$seconds" ] && return 0
  row "$1" left "no time: $SECONDS of $seconds s are over"
  return 1
}
# why LOG: the lines that say what failed, or the last ones
why() { { grep -am 5 'FAILED\|error' "$1" || tail -n 5 "$1"; } | cut -c1-300 | sed 's/^/    /'; }
# check NAME COMMAND...: runs the command; its last line of output becomes the row's remark.
check() {
  local name=$1 log="$logs/${1//[^a-zA-Z0-9]/_}.txt" begin=$SECONDS status
  shift
  local left=$((seconds + 20 - SECONDS)) limit=${LIMIT:-60}
  [ $left -lt "$limit" ] && limit=$left
  if [ "$limit" -lt 3 ]; then row "$name" left "no time"; return; fi
  timeout "$limit" "$@" > "$log" 2>&1
  status=$?
  local last
  last=$(grep -v '^ *$' "$log" | tail -1 | cut -c1-110)
  if [ $status = "${EXPECT:-0}" ]; then row "$name" ok "$((SECONDS - begin)) s; $last"
  else row "$name" FAIL "status $status after $((SECONDS - begin)) s; $last"; why "$log"; fi
}

# cuDNN comes with the toolkit, or with PyTorch.
cudnn=$(python3 -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0])' 2> /dev/null)
[ -n "$cudnn" ] && export LD_LIBRARY_PATH=$cudnn/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} CMAKE_PREFIX_PATH=$cudnn${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}

if wanted build; then
  begin=$SECONDS
  if cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOSTIR_GUI=OFF -DHOSTIR_WERROR=OFF \
      -DHOSTIR_PCH=ON -DHOSTIR_UNITY=ON -DHOSTIR_BENCH=ON > "$logs/configure.txt" 2>&1 &&
     timeout 330 cmake --build "$build" --target hostir unit_cuda unit_conformance > "$logs/build.txt" 2>&1
  then row "build" ok "$((SECONDS - begin)) s"
  else row "build" FAIL "see $logs"; tail -30 "$logs/configure.txt" "$logs/build.txt" 2> /dev/null; fi
  timeout 60 cmake --build "$build" --target cuda_kernel_bench > "$logs/build_bench.txt" 2>&1
fi
hostir=$build/bin/hostir
[ -x "$hostir" ] || { printf '%s\n' "${rows[@]}"; exit 1; }
mlp="tests/programs/tp_mlp.hir"
both() { # NAME SECONDS COMMAND: beside what comes next; collect() takes its row
  local log="$logs/${1//[^a-zA-Z0-9]/_}.txt"
  (begin=$SECONDS; timeout "$2" "${@:3}" > "$log" 2>&1; echo "$? $((SECONDS - begin))" > "$log.status") &
  beside+=("$1|$log|$!")
}
collect() {
  local entry name log pid status took
  for entry in "${beside[@]}"; do
    IFS='|' read -r name log pid <<< "$entry"
    wait "$pid"
    read -r status took < "$log.status"
    [ "$status" = 0 ] && row "$name" ok "$took s; $(grep -v '^ *$' "$log" | tail -1 | cut -c1-110)"
    [ "$status" = 0 ] && continue
    row "$name" FAIL "status $status after $took s; $(grep -v '^ *$' "$log" | tail -1 | cut -c1-110)"
    why "$log"
  done
  beside=()
}
beside=()
# One process for all files took more than three times as long as one process per eight files.
scripts_in_parts='find tests/scripts -name "*.hir" | sort | xargs -P 10 -n 8 "$0" test --backend cuda > "$1" 2>&1
  grep -v "^[0-9]* passed, 0 failed$" "$1"
  awk "/^[0-9]+ passed, [0-9]+ failed$/ { passed += \$1; failed += \$3 }
    END { print passed + 0 \" passed, \" failed + 0 \" failed\"; exit failed > 0 || passed == 0 }" "$1"'

faults() { # RANKS
  timeout 150 bash tests/long/gpu_faults.sh "$hostir" "$logs" "$1" > "$logs/faults_$1.txt" 2>&1
  while IFS='|' read -r name result remark; do row "$1 ranks, $name" "$result" "$remark"; done < <(grep '|' "$logs/faults_$1.txt")
}

# Way a and the times need one device. Ways b and c get them all, below.
all_devices=${CUDA_VISIBLE_DEVICES:-}
export CUDA_VISIBLE_DEVICES=${all_devices:-0}
CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES%%,*}

# With several devices, what needs them comes first: ways b and c with a device for every rank, measured alone on the machine.
devices=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU')
[ -n "$all_devices" ] && devices=$(tr ',' '\n' <<< "$all_devices" | wc -l)
every_device=${all_devices:-$(seq -s, 0 $((devices - 1)))}
first_devices() { cut -d, -f1-"$1" <<< "$every_device"; }
port=29500
way_c() { # RANKS STARTER WHAT ARGUMENTS...
  local n=$1 starter=$2 what=$3 command
  shift 3
  port=$((port + 10))
  case $starter in
  launch) command=("$hostir" launch -n "$n" "$@") ;;
  torchrun) command=(torchrun --master-port $port --nproc-per-node "$n" --no-python "$hostir" "$@") ;;
  mpirun) command=(env MASTER_PORT=$port mpirun --allow-run-as-root --oversubscribe -np "$n" "$hostir" "$@") ;;
  esac
  [ "$starter" = launch ] || command -v "$starter" > /dev/null || return
  check "way c, $n devices, $starter, $what" "${command[@]}"
}
# One after the other: NCCL's kernels wait for each other, so jobs that share GPUs take turns of milliseconds.
if [ "$devices" -gt 1 ] && wanted several; then
  one_device=$CUDA_VISIBLE_DEVICES
  for n in $(seq 2 "$devices"); do
    wanted "ways b and c on $n devices" || continue
    CUDA_VISIBLE_DEVICES=$(first_devices "$n")
    run=(run $mlp --mesh tp="$n" --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5 --timeout 30)
    check "way b, $n devices, tp_mlp" "$hostir" "${run[@]}"
    for starter in torchrun mpirun; do way_c "$n" $starter tp_mlp "${run[@]}"; done
    for pair in f32:launch bf16:torchrun i32:mpirun; do
      type=${pair%:*}
      tests/long/gpu_collectives.py "$n" "$type" > "$logs/devices_${n}_$type.hir"
      run=(run "$logs/devices_${n}_$type.hir" --backend cuda --example-inputs --reference sim --rtol 2e-2 --atol 1e-2 --timeout 30)
      check "way b, $n devices, every collective, $type" "$hostir" "${run[@]}"
      way_c "$n" "${pair#*:}" "every collective, $type" "${run[@]}"
    done
  done
  CUDA_VISIBLE_DEVICES=$every_device
  wanted faults && faults "$devices"
  LIMIT=100 check "transformer blocks, predicted and measured" python3 tests/long/gpu_block.py "$hostir"
  cat "$logs/transformer_blocks__predicted_and_measured.txt"
  if python3 -c 'import torch' 2> /dev/null; then
    LIMIT=170 check "bench on $devices devices, beside PyTorch" env GPU_BENCH_SECONDS=150 python3 tests/long/gpu_bench.py "$hostir" --several "$devices"
    cat "$logs/bench_on_${devices}_devices__beside_PyTorch.txt"
  fi
  if wanted "way b, conformance"; then
    left=$((seconds + 20 - SECONDS))
    for shard in 0 1 2 3; do
      both "way b, $devices devices, conformance, quarter $shard" $left env GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=$shard \
        "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_*-*/cuda_on_host*'
    done
    collect
  fi
  CUDA_VISIBLE_DEVICES=$one_device
fi

# These check values, which do not depend on the GPU's load, so they run in parallel.
if wanted kernels; then
  for shard in 0 1 2 3 4 5 6 7; do
    both "generated kernels against the reference, eighth $shard" 200 env GTEST_TOTAL_SHARDS=8 GTEST_SHARD_INDEX=$shard "$build/bin/unit_cuda" --gtest_brief=1
  done
fi
if wanted conformance; then
  both "conformance on the GPU" 150 "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_*-*/cuda_on_host*'
  both "conformance, the device without a GPU" 150 "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_on_host*'
fi
if wanted programs; then
  both "way a, tests/programs" 150 "$hostir" test tests/programs --backend cuda -j 4
  both "way a, tests/scripts" 200 bash -c "$scripts_in_parts" "$hostir" "$logs/scripts.txt"
fi
collect
if wanted programs; then
  for n in 2 3 4 8; do
    both "way a, $n ranks, tp_mlp against sim" 60 "$hostir" run $mlp --mesh tp=$n --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5
    both "way a, $n ranks, tp_mlp against unsharded" 60 "$hostir" run $mlp --mesh tp=$n --backend cuda --check-unsharded --rtol 1e-4 --atol 1e-5 -q
  done
  collect
fi

# The numbers that PyTorch and JAX gave.
if wanted truth; then
  cat > "$logs/hostir_cuda" << END
#!/bin/sh
case "\$1 \$*" in
*--shapes-only*) exec "$PWD/$hostir" "\$@" ;;
run* | test*) exec "$PWD/$hostir" "\$@" --backend cuda ;;
*) exec "$PWD/$hostir" "\$@" ;;
esac
END
  chmod +x "$logs/hostir_cuda"
  both "PyTorch's recorded numbers, way a" 240 tests/checks/truth.sh "$logs/hostir_cuda"
  both "JAX's recorded programs, way a" 240 python3 tests/checks/jax_cases.py "$logs/hostir_cuda" tests/truth/jax
  collect
fi

# Graphs, CUPTI, the dtypes that few programs use.
property() { # FILE NAME: of a log
  python3 -c 'import sqlite3,sys; print(*[r[0] for r in sqlite3.connect(sys.argv[1]).execute("SELECT value FROM property WHERE key = ?", sys.argv[2:])])' "$1" "$2"
}
loop="$logs/loop.hir"
if wanted graphs; then
  for n in 1 4; do
    tests/long/gpu_bench.py --program 256 64 10 $n > "$logs/loop_$n.hir"
    both "graphs, $n ranks on one GPU, MLP in a loop against sim" 60 "$hostir" run "$logs/loop_$n.hir" --backend cuda --graphs --example-inputs --reference sim
  done
  both "graphs, tests/programs" 150 "$hostir" test tests/programs --backend cuda --graphs -j 4
  collect
fi
if wanted cupti; then
  tests/long/gpu_bench.py --program 1024 128 50 > "$loop"
  HOSTIR_CUDA_CUPTI=1 check "log of the MLP in a loop" "$hostir" run "$loop" --backend cuda --example-inputs -q --trace "$logs/cupti.db"
  row "times in that log" "$([[ $(property "$logs/cupti.db" times) == CUPTI* ]] && echo ok || echo FAIL)" "$(property "$logs/cupti.db" times)"
  HOSTIR_CUDA_TIMES=exact check "log of the MLP in a loop, with CUDA events" "$hostir" run "$loop" --backend cuda --example-inputs -q --trace "$logs/events.db"
  check "CUPTI's times and those of events, per kernel" python3 tests/long/gpu_times.py "$logs/cupti.db" "$logs/events.db"
  tests/long/gpu_bench.py --program 1024 128 2000 > "$loop"
  HOSTIR_CUDA_CUPTI=1 check "log of a longer loop" "$hostir" run "$loop" --backend cuda --example-inputs -q --trace "$logs/cupti_long.db"
  check "log of a longer loop, with sampled times" "$hostir" run "$loop" --backend cuda --example-inputs -q --trace "$logs/sampled.db"
  check "CUPTI's times and sampled ones, per kernel" python3 tests/long/gpu_times.py "$logs/cupti_long.db" "$logs/sampled.db"
fi
if wanted dtypes; then
  check "narrow and unsigned dtypes" "$hostir" test tests/scripts/ops/narrow_dtypes.hir --backend cuda
fi
if wanted calibrate; then
  LIMIT=120 check "machines calibrate" sh -c "'$hostir' machines calibrate --backend cuda --name here > '$logs/machine.hir' && grep '^// geometric' '$logs/machine.hir'"
fi

# Measurements run alone on the GPU. The bench beside PyTorch sees all devices.
if wanted bench && [ -x "$build/bin/cuda_kernel_bench" ]; then
  LIMIT=60 check "bench of kernels, products searched" "$build/bin/cuda_kernel_bench" search
  cat "$logs/bench_of_kernels__products_searched.txt"
fi
if wanted bench && python3 -c 'import torch' 2> /dev/null; then
  check "PyTorch's kernels" python3 tests/bench/cuda_kernels.py
  cat "$logs/PyTorch_s_kernels.txt"
  LIMIT=180 check "bench, beside PyTorch" python3 tests/long/gpu_bench.py "$hostir"
  cat "$logs/bench__beside_PyTorch.txt"
  LIMIT=120 check "bench, beside a hand-written loop" python3 tests/long/gpu_bench.py "$hostir" --loop
  cat "$logs/bench__beside_a_hand_written_loop.txt"
elif wanted bench; then
  LIMIT=90 check "bench, no PyTorch here" python3 tests/long/gpu_bench.py "$hostir"
  cat "$logs/bench__no_PyTorch_here.txt"
fi

if wanted nccl; then
  for n in 2 4; do
    check "way c, $n ranks, tp_mlp against sim" "$hostir" launch -n $n run $mlp --mesh tp=$n --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5 --timeout 40
    for type in f32 bf16 i32; do
      tests/long/gpu_collectives.py $n $type > "$logs/collectives_${n}_$type.hir"
      both "way a, $n ranks, every collective, $type" 60 "$hostir" run "$logs/collectives_${n}_$type.hir" --backend cuda --example-inputs --reference sim
    done
    collect
    for type in f32 bf16 i32; do
      check "way c, $n ranks, every collective, $type" "$hostir" launch -n $n run "$logs/collectives_${n}_$type.hir" --backend cuda --example-inputs --reference sim --rtol 2e-2 --atol 1e-2 --timeout 40
    done
  done
fi

# sanitize_kernels TOOL: all of unit_cuda under compute-sanitizer, in 16 processes. cuDNN's kernels order their accesses to shared
# memory by barriers that racecheck does not know, so their hazards are not counted.
sanitize_kernels() {
  local tool=$1 begin=$SECONDS shard log bad=0 hazards=0 not_ours=0 left=$((seconds + 20 - SECONDS))
  [ "$left" -lt 60 ] && { row "compute-sanitizer $tool, all of unit_cuda" left "no time"; return; }
  for shard in $(seq 0 15); do
    log="$logs/${tool}_$shard.txt"
    (GTEST_TOTAL_SHARDS=16 GTEST_SHARD_INDEX=$shard timeout "$left" compute-sanitizer --tool "$tool" --print-limit 100000 --error-exitcode 9 \
      "$build/bin/unit_cuda" --gtest_brief=1 > "$log" 2>&1; echo $? > "$log.status") &
  done
  wait
  for log in "$logs/$tool"_{0..15}.txt; do
    case "$tool $(cat "$log.status")" in
    *\ 0) ;;
    racecheck\ 9) # every report has one line with both accesses
      hazards=$((hazards + $(grep -c 'Race reported' "$log")))
      not_ours=$((not_ours + $(grep 'Race reported' "$log" | grep -c 'cudnn_generated')))
      grep -q 'FAILED  ' "$log" && bad=$((bad + 1)) ;;
    *) bad=$((bad + 1)) ;;
    esac
  done
  [ $hazards -gt $not_ours ] && bad=$((bad + 1))
  row "compute-sanitizer $tool, all of unit_cuda" "$([ $bad = 0 ] && echo ok || echo FAIL)" \
    "$((SECONDS - begin)) s; 16 processes, $bad failed; $((hazards - not_ours)) hazards, and $not_ours inside cuDNN's kernels"
}

if wanted sanitizer && command -v compute-sanitizer > /dev/null; then
  tests/long/gpu_bench.py --program 256 64 10 4 > "$logs/loop_4.hir"
  tests/long/gpu_collectives.py 4 bf16 > "$logs/collectives_4_bf16.hir"
  check "compute-sanitizer memcheck, 4 ranks" compute-sanitizer --tool memcheck --error-exitcode 9 "$hostir" run $mlp --mesh tp=4 --backend cuda --example-inputs -q
  sanitize_kernels memcheck
  sanitize_kernels racecheck
  check "compute-sanitizer memcheck, narrow dtypes" compute-sanitizer --tool memcheck --error-exitcode 9 "$hostir" test tests/scripts/ops/narrow_dtypes.hir --backend cuda
  check "compute-sanitizer memcheck, graphs" compute-sanitizer --tool memcheck --error-exitcode 9 "$hostir" run "$logs/loop_4.hir" --backend cuda --graphs --example-inputs -q
  check "compute-sanitizer memcheck, collectives" compute-sanitizer --tool memcheck --error-exitcode 9 "$hostir" run "$logs/collectives_4_bf16.hir" --backend cuda --example-inputs -q
fi

wanted faults && faults 2

printf '\n%-52s %-6s %s\n' what result remark
printf '%s\n' "${rows[@]}"
save
exit $bad
