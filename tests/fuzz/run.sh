#!/usr/bin/env bash
# Runs every fuzz target for SECONDS over its kept corpus: tests/fuzz/run.sh SECONDS [TARGET...]
#
# Builds the preset `fuzz` if necessary. Text targets also start from tests/programs and tests/scripts. New inputs go to
# build-fuzz/found/; inputs that crash, hang, leak or need more than 2 GiB go to build-fuzz/crashes/. Ends with
# `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.."
seconds=${1:-30}
shift || true
targets=${*:-text_fuzz script_fuzz npy_fuzz npz_fuzz safetensors_fuzz log_fuzz import_fuzz torch_fuzz profile_fuzz module_fuzz}
# shellcheck disable=SC2086
{ cmake --preset fuzz && cmake --build --preset fuzz --target $targets; } >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
# The words of libFuzzer's -dict: ours, and the mnemonics.
words=build-fuzz/hir.dict
{ cat tests/fuzz/hir.dict; sed -n 's/^HOSTIR_[A-Z]*_OP(\([a-z_]*[a-z]\)_*)$/"\1"/p' hostir/ir/ops.def; } >$words
export ASAN_OPTIONS="allocator_may_return_null=0:max_allocation_size_mb=2048:${ASAN_OPTIONS:-}"
passed=0
failed=0
for target in $targets; do
  found=build-fuzz/found/$target
  mkdir -p "$found" build-fuzz/crashes
  seeds=()
  if [ -d tests/fuzz/corpus/"$target" ]; then seeds+=(tests/fuzz/corpus/"$target"); fi
  options=(-timeout=20)
  case $target in
    text_fuzz) seeds+=(tests/programs tests/scripts); options+=(-max_len=16384 -dict=$words) ;;
    script_fuzz)  # larger ones run whole models, which takes minutes with the sanitizers
      small=build-fuzz/seeds/script_fuzz
      rm -rf "$small"
      mkdir -p "$small"
      find tests/programs tests/scripts -name '*.hir' -size -5k -exec sh -c 'cp "$1" "$2/$(echo "$1" | tr / _)"' sh {} "$small" \;
      seeds+=("$small")
      options=(-timeout=90 -max_len=8192 -dict=$words) ;;
    module_fuzz) seeds+=(tests/truth/jax/*/ tests/truth/jax_made/*/); options+=(-max_len=16384) ;;
  esac
  log=build-fuzz/$target.log
  if build-fuzz/bin/"$target" -max_total_time="$seconds" -rss_limit_mb=2048 "${options[@]}" -print_final_stats=1 \
    -artifact_prefix=build-fuzz/crashes/"$target"- "$found" "${seeds[@]}" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "$target: $(grep -o 'number_of_executed_units: .*' "$log")"
  else
    failed=$((failed + 1))
    echo "FAILED $target"
    grep -E 'ERROR|SUMMARY|artifact_prefix|#[0-9]+ .* in hostir|does not read|otherwise' "$log" | head -n 20
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
