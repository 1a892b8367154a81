#!/bin/bash
# Builds, tests and measures the cuda backend on the GPU of this computer, and prints one table.
#
# Usage: tests/long/gpu.sh [BUILD_DIR]. Parts can be left out: GPU_SKIP="sanitizer bench" tests/long/gpu.sh
# Exit status 1 if a row says FAIL. Logs of every part lie in BUILD_DIR/gpu.
set -u
cd "$(dirname "$0")/../.."
build=${1:-build-gpu}
logs=$build/gpu
skip=" ${GPU_SKIP:-} "
mkdir -p "$logs"
rows=()
bad=0

row() { rows+=("$(printf '%-52s %-6s %s' "$1" "$2" "$3")"); [ "$2" = FAIL ] && bad=1; return 0; }
wanted() { [[ $skip != *" $1 "* ]]; }
# check NAME COMMAND...: the last line that the command prints is the row's remark.
check() {
  local name=$1 log="$logs/${1//[^a-zA-Z0-9]/_}.txt" begin=$SECONDS status
  shift
  timeout "${LIMIT:-120}" "$@" > "$log" 2>&1
  status=$?
  local last
  last=$(grep -v '^ *$' "$log" | tail -1 | cut -c1-110)
  if [ $status = "${EXPECT:-0}" ]; then row "$name" ok "$((SECONDS - begin)) s; $last"
  else row "$name" FAIL "status $status after $((SECONDS - begin)) s; $last"; fi
}

if wanted build; then
  begin=$SECONDS
  if cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOSTIR_GUI=OFF -DHOSTIR_WERROR=OFF \
      -DHOSTIR_PCH=ON -DHOSTIR_UNITY=ON > "$logs/configure.txt" 2>&1 &&
     cmake --build "$build" --target hostir unit_conformance unit_device > "$logs/build.txt" 2>&1
  then row "build" ok "$((SECONDS - begin)) s"
  else row "build" FAIL "see $logs"; tail -30 "$logs/configure.txt" "$logs/build.txt" 2> /dev/null; fi
fi
hostir=$build/bin/hostir
[ -x "$hostir" ] || { printf '%s\n' "${rows[@]}"; exit 1; }
mlp="tests/programs/tp_mlp.hir"

if wanted conformance; then
  LIMIT=240 check "conformance, the device without a GPU" "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_on_host*'
  LIMIT=300 check "conformance, way a" "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_*-*/cuda_on_host*'
fi

if wanted programs; then
  for n in 2 3 4 8; do
    check "way a, $n ranks, tp_mlp against sim" "$hostir" run $mlp --mesh tp=$n --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5
    check "way a, $n ranks, tp_mlp against unsharded" "$hostir" run $mlp --mesh tp=$n --backend cuda --check-unsharded --rtol 1e-4 --atol 1e-5 -q
  done
  LIMIT=400 check "way a, tests/programs" "$hostir" test tests/programs --backend cuda
  LIMIT=500 check "way a, tests/scripts" "$hostir" test tests/scripts --backend cuda
fi

if wanted nccl; then
  for n in 2 4; do
    check "way c, $n ranks, tp_mlp against sim" "$hostir" launch -n $n run $mlp --mesh tp=$n --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5 --timeout 60
    for type in f32 bf16 i32; do
      tests/long/gpu_collectives.py $n $type > "$logs/collectives_${n}_$type.hir"
      check "way a, $n ranks, every collective, $type" "$hostir" run "$logs/collectives_${n}_$type.hir" --backend cuda --example-inputs --reference sim
      check "way c, $n ranks, every collective, $type" "$hostir" launch -n $n run "$logs/collectives_${n}_$type.hir" --backend cuda --example-inputs --reference sim --rtol 2e-2 --atol 1e-2 --timeout 60
    done
  done
  check "way c, 8 ranks, tp_mlp against sim" "$hostir" launch -n 8 run $mlp --mesh tp=8 --backend cuda --example-inputs --reference sim --rtol 1e-4 --atol 1e-5 --timeout 60
fi

if wanted faults; then
  bash tests/long/gpu_faults.sh "$hostir" "$logs" > "$logs/faults.txt" 2>&1
  while IFS='|' read -r name result remark; do row "$name" "$result" "$remark"; done < <(grep '|' "$logs/faults.txt")
fi

if wanted sanitizer && command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck; do
    LIMIT=300 check "compute-sanitizer $tool, 4 ranks" compute-sanitizer --tool $tool --error-exitcode 9 "$hostir" run $mlp --mesh tp=4 --backend cuda --example-inputs -q
    LIMIT=300 check "compute-sanitizer $tool, collectives" compute-sanitizer --tool $tool --error-exitcode 9 "$build/bin/unit_conformance" --gtest_brief=1 --gtest_filter='*/cuda_values_*three*rows:*/cuda_values_all_to_all*three*'
  done
fi

if wanted bench && python3 -c 'import torch' 2> /dev/null; then
  LIMIT=300 check "bench, beside PyTorch" python3 tests/long/gpu_bench.py "$hostir"
  cat "$logs/bench__beside_PyTorch.txt"
fi

printf '\n%-52s %-6s %s\n' what result remark
printf '%s\n' "${rows[@]}"
exit $bad
