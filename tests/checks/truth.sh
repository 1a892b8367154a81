#!/usr/bin/env bash
# The programs on numbers recorded from PyTorch (tests/truth), on several numbers of ranks, and against the
# unsharded run on normal inputs. `truth.sh HOSTIR [large]`: with `large` also hidden size 2048.
set -u
cd "$(dirname "$0")/../.."
hostir=$1
passed=0
failed=0

check() {
  local what=$1; shift
  local out
  if out=$("$@" 2>&1); then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $what"; tail -n 4 <<<"$out"
  fi
}
# says WHAT TEXT COMMAND...: succeeds, and the output holds the text.
says() {
  local what=$1 text=$2; shift 2
  local out
  if out=$("$@" 2>&1) && grep -qF -- "$text" <<<"$out"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $what: no \"$text\""; tail -n 6 <<<"$out"
  fi
}

mlp() { # FOLDER
  local t=tests/truth/$1
  inputs=(--input "x=@$t/x.npy" --input "w1=@$t/c_fc.weight.npy" --input "b1=@$t/c_fc.bias.npy"
    --input "w2=@$t/c_proj.weight.npy" --input "b2=@$t/c_proj.bias.npy" --expect "y=@$t/y.npy")
}
for ranks in 1 2 3 5 8; do
  mlp tp_mlp_w2
  check "tp_mlp, $ranks ranks" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=$ranks "${inputs[@]}" --atol 1e-5
  mlp tp_mlp_sp_w2
  check "sp_mlp, $ranks ranks" "$hostir" run tests/programs/sp_mlp.hir --mesh tp=$ranks "${inputs[@]}" --atol 1e-5
  # Twice as far as PyTorch's own sharded run was from float64 (case.json), 0.00193.
  mlp tp_mlp_bf16_w2
  check "tp_mlp_bf16, $ranks ranks" "$hostir" run tests/programs/tp_mlp_bf16.hir --mesh tp=$ranks "${inputs[@]}" --atol 0.003855
done

toy=tests/truth/toy_sp_seq_w3
for ranks in 3 4 5 7 8; do
  inputs=(--input "x=@$toy/x0.npy" --input "w1=@$toy/init.in_proj.weight.npy" --input "b1=@$toy/init.in_proj.bias.npy"
    --input "w2=@$toy/init.out_proj.weight.npy" --input "b2=@$toy/init.out_proj.bias.npy" --expect "y=@$toy/y0.npy" --atol 1e-5)
  check "sp_toy, $ranks ranks" "$hostir" run tests/programs/sp_toy.hir --ranks $ranks "${inputs[@]}" --check-unsharded
  says "sp_toy, $ranks ranks: one all_gather" "1 x all_gather" "$hostir" run tests/programs/sp_toy.hir --ranks $ranks "${inputs[@]}"
  says "sp_toy, $ranks ranks: one reduce_scatter" "1 x reduce_scatter" "$hostir" run tests/programs/sp_toy.hir --ranks $ranks "${inputs[@]}"
done
rows=(--input 'x=normal(1, 2x7x10xf32)' --input 'w1=normal(2, 32x10xf32)' --input 'b1=normal(3, 32xf32)'
  --input 'w2=normal(4, 5x32xf32)' --input 'b2=normal(5, 5xf32)')
check "seven rows over eight ranks: an empty shard" "$hostir" run tests/programs/sp_toy.hir --ranks 8 "${rows[@]}" --check-unsharded

hidden=96
[ "${2:-}" = large ] && hidden=2048
random=(--input "x=normal(1, 2x6x${hidden}xf32)" --input "w1=normal(2, 384x${hidden}xf32)" --input 'b1=normal(3, 384xf32)'
  --input "w2=normal(4, ${hidden}x384xf32)" --input "b2=normal(5, ${hidden}xf32)")
for ranks in 1 2 3 4 5 6 7 8; do
  says "tp_mlp against unsharded, $ranks ranks" "same as unsharded" \
    "$hostir" run tests/programs/tp_mlp.hir --mesh tp=$ranks "${random[@]}" --check-unsharded
  if [ $ranks = 1 ]; then wanted="collectives: none"; else wanted="1 x all_reduce sum over {tp}"; fi
  says "tp_mlp collectives, $ranks ranks" "$wanted" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=$ranks "${random[@]}"
  says "sp_mlp against unsharded, $ranks ranks" "same as unsharded" \
    "$hostir" run tests/programs/sp_mlp.hir --mesh tp=$ranks "${random[@]}" --check-unsharded
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
