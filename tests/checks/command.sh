#!/usr/bin/env bash
# The command line as users see it: help with examples, exit statuses, input and output files.
set -u
cd "$(dirname "$0")/../.."
hostir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect STATUS DESCRIPTION COMMAND...: checks the exit status; keeps the output in $work/out.
expect() {
  local status=$1 what=$2; shift 2
  "$@" >"$work/out" 2>&1
  local got=$?
  if [ $got = "$status" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $what: exit status $got, expected $status"; head -5 "$work/out"
  fi
}
# says TEXT DESCRIPTION: checks that the last output contains the text.
says() {
  if grep -qF -- "$1" "$work/out"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $2: no \"$1\" in:"; head -8 "$work/out"
  fi
}

for verb in run lower pipeline import fmt verify test debug open watch replay diff trace report ops machines bench plan serve completion; do
  expect 0 "help of $verb" "$hostir" "$verb" --help
  says "Examples:" "help of $verb has an example"
done
expect 0 "help" "$hostir" help
says "replay" "help lists the verbs"
expect 0 "help as a verb" "$hostir" help run
says "--check-unsharded" "help run is run --help"
expect 64 "help of no verb" "$hostir" help nothing
add=(tests/programs/simple_add.hir --input 'a=4xf32=[1 2 3 4]' --input 'b=4xf32=[5 6 7 8]')
expect 0 "simple add" "$hostir" run "${add[@]}" --trace "$work/a.db" --output "y=@$work/y.npy"
says "[6 8 10 12]" "simple add prints its output"
printf 'test "endless" {\n  repeat 1000000000000 {\n    %%x = value "f32=1"\n  }\n}\n' >"$work/endless.hir"
expect 1 "a repeat without end, with a limit" timeout 20 "$hostir" test "$work/endless.hir" --max-steps 1000
printf 'mesh @m = <x=1>\nhost @f on @m () -> () {\n  return\n}\ntest "long" {\n  run @f() schedules(1000000000)\n}\n' >"$work/long.hir"
expect 1 "schedules without end, with a limit" timeout 20 "$hostir" test "$work/long.hir" --max-steps 1000
says "the test has used its 1000 host instructions" "the limit names itself"
expect 2 "a log where a program should be" "$hostir" run "$work/a.db"
says "is not text: it is a log" "a log is called one"
head -c 30000000 /dev/urandom >"$work/noise.hir"
expect 2 "a file that is not text" bash -c 'ulimit -v 2000000; timeout 10 "$1" run "$2"' sh "$hostir" "$work/noise.hir"
says "error[not_text]: \"$work/noise.hir\" is not text: it has a zero byte" "noise is called that"
printf 'ML\357R\rStableHLO_v1.9.0\0' > "$work/bytecode.mlir"
expect 2 "MLIR bytecode" "$hostir" import "$work/bytecode.mlir"
says "convert it to text, with \`stablehlo-translate --deserialize\`" "bytecode is called that, and what prints it"
printf 'module @m {}' | gzip > "$work/packed.mlir"
expect 0 "import to standard output" bash -c 'test "$("$1" import "$2" -o -)" = "$("$1" import "$2")" && test ! -e ./-' sh "$hostir" tests/truth/jax/tp_mlp/stablehlo.mlir
expect 0 "a module that moves values" "$hostir" run tests/truth/jax/block_2x2/stablehlo.mlir --example-inputs
says "  all_to_all over {tp} of %25: it is held as" "the run of a module gives reasons for collectives"
expect 2 "a compressed module" "$hostir" import "$work/packed.mlir"
says "it is compressed by gzip: unpack it" "a compressed module is called that"
for form in '\n\010jit_step\022\004main' '\n\220\003\n\010jit_step\022\004main'; do
  printf "$form\032\002ab" > "$work/step.hlo.pb"
  expect 2 "an HLO module as a protocol buffer" "$hostir" import "$work/step.hlo.pb"
  says "it is an HLO module as a protocol buffer: XLA_FLAGS=" "a protocol buffer is called that"
done
for module in stablehlo.mlir compiled.hlo; do
  expect 0 "a debugger on an imported module" "$hostir" debug tests/truth/jax/tp_mlp/$module --ex 'info ranks'
  says "runnable" "it stands before the first instruction"
done
expect 0 "a job that has not made its folder yet" "$hostir" watch "$work/later" --once --interval 0.1 --timeout 0.3
says "no file of a job appeared within 0.3 s: $work/later" "watch says that nothing came"
printf 'SQLite format 3\0' >"$work/short.db"
expect 2 "a report on a file that is cut short" "$hostir" report "$work/short.db" -o "$work/short.html"
head -c 3000000 /dev/urandom | base64 -w 0 | tr 'A-M' '$%!^&|~;' >"$work/noise.hir"
expect 2 "a long line that is not a program" bash -c 'ulimit -v 2000000; timeout 10 "$1" verify "$2"' sh "$hostir" "$work/noise.hir"
[ "$(wc -c <"$work/out")" -lt 200000 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAILED: carets of a long line are not clipped"; }
expect 0 "expected file" "$hostir" run "${add[@]}" --expect "y=@$work/y.npy"
expect 1 "wrong expectation" "$hostir" run "${add[@]}" --expect "y=4xf32=[6 8 10 13]"
says "first at [3]" "a wrong expectation names the element"
expect 0 "replay" "$hostir" replay "$work/a.db"
expect 0 "diff of equal runs" "$hostir" diff "$work/a.db" "$work/a.db"
for machine in h200x8 cpu; do
  expect 0 "a log on $machine" "$hostir" run tests/programs/tp_mlp.hir --example-inputs --machine $machine --trace "$work/times_$machine.db" -q
done
expect 0 "times of two runs" "$hostir" diff "$work/times_h200x8.db" "$work/times_cpu.db" --times
says "@mlp.host#" "times are per instruction"
expect 0 "times of one run" "$hostir" diff "$work/times_cpu.db" "$work/times_cpu.db" --times
says "geometric mean error of the first log's times 0.0 %" "equal times have no error"
sweep=tests/scripts/collectives/p2p_buffers.hir
expect 4 "a send waits for its recv without a buffer" "$hostir" run $sweep @fits --example-inputs --p2p-buffer 0
expect 0 "and finds room in one" "$hostir" run $sweep @fits --example-inputs --p2p-buffer 64
expect 4 "the sweep of a program that needs buffers" "$hostir" run $sweep @fits --example-inputs --p2p-sweep
says "below 64 bytes" "the sweep finds the least buffer"
expect 0 "the sweep of a program that needs none" "$hostir" run tests/programs/tp_mlp.hir --example-inputs --p2p-sweep
expect 64 "a negative count" "$hostir" run "${add[@]}" --schedules -1
huge=100000000000
expect 3 "an input larger than the computer" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=1 \
  --input "x=normal(1, 2x6x${huge}xf32)" --input "w1=normal(2, 48x${huge}xf32)" \
  --input 'b1=normal(3, 48xf32)' --input "w2=normal(4, ${huge}x48xf32)" --input "b2=normal(5, ${huge}xf32)"
says "more than the memory" "the input that does not fit is named"
# A log has the texts as they were given, so lines and breakpoints are the same live and from the log.
same_places() {  # FILE FUNCTION PLACE
  local commands=(--ex "break $3" --ex continue --ex list --ex where --ex "info breakpoints" --ex "break $3" --ex continue --ex "info faults")
  "$hostir" run "$1" "$2" --example-inputs --trace "$work/places.db" -q >/dev/null 2>&1
  "$hostir" debug "$1" "$2" "${commands[@]}" 2>/dev/null | sed -n '/(hostir)/,$p' >"$work/live"
  "$hostir" debug "$work/places.db" "${commands[@]}" 2>/dev/null | sed -n '/(hostir)/,$p' >"$work/recorded"
  expect 0 "a breakpoint at $3" grep -q "^Breakpoint 1: break $3" "$work/live"
  expect 0 "the log of $2 has the places of $1" diff "$work/live" "$work/recorded"
}
same_places tests/scripts/stuck/deadlocks.hir @last_rank_missing deadlocks.hir:16
same_places tests/programs/tp_mlp.hir @mlp tp_mlp.hir:20
expect 0 "events by words" "$hostir" trace events "$work/a.db" 'op=launch rank=0'
expect 0 "events by option" "$hostir" trace events "$work/a.db" --op launch 'rank=0 dur>1ns'
expect 64 "a word that is none" "$hostir" trace events "$work/a.db" 'colour=red'
# What can be left out of a lowering makes programs faster, not different.
skipping() {  # PART FUSION LOWER-ARGUMENTS...
  expect 0 "@$2 without $1" sh -c '"$@" >"$0"' "$work/skipped.hir" "$hostir" lower "${@:3}" --skip "$1"
  expect 0 "@$2 without $1 is the same function" "$hostir" verify "$work/skipped.hir" "@$2.host" --against "@$2"
}
for part in overlapped combined streams shared_reductions needless_reshards gather_first scale_after_sum early_reshards regather prefetch; do
  skipping $part whole tests/scripts/passes/gather_first.hir @whole
  skipping $part mlp tests/programs/tp_mlp.hir --size B=4 --size S=4 --size H=32 --size F=64 --mesh tp=4 --overlap collectives
done
skipping combined net_grad tests/scripts/passes/regather.hir @net_grad
[ "$(grep -c 'all_gather' "$work/skipped.hir")" = 7 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: four weights are not gathered again for the backward pass"; grep all_gather "$work/skipped.hir"; }
skipping regather net_grad tests/scripts/passes/regather.hir @net_grad
skipping scale_after_sum own tests/scripts/passes/scale_after_sum.hir @own
expect 0 "a lowering" sh -c '"$@" >"$0"' "$work/whole.hir" "$hostir" lower tests/scripts/passes/gather_first.hir @whole
skipping gather_first whole tests/scripts/passes/gather_first.hir @whole
expect 1 "without gather_first, parts are reduced" cmp -s "$work/whole.hir" "$work/skipped.hir"
cat >"$work/group.hir" <<'END'
mesh @m = <x=2>
host @h on @m (inout %a: tensor<4096xf32>, inout %b: tensor<1024xf32>) -> () {
  %c = comm over {x}
  %s = stream "main"
  group {
    all_reduce sum %c rw(%a) on %s
    broadcast %c root(0) rw(%b) on %s
  }
  return
}
END
expect 0 "a group" "$hostir" run "$work/group.hir" --example-inputs --trace "$work/group.db"
expect 0 "collectives of a group" "$hostir" trace collectives "$work/group.db"
says "in_group" "members of a group name it"
expect 0 "members share the time of their group" "$hostir" trace sql "$work/group.db" --format csv "select count(distinct duration_ns) as
  times, abs(sum(duration_ns) - (max(finish_ns) - min(start_ns))) <= 2 as fits, min(group_address) as [in] from v_collectives"
says '2,1,@h#3' "members share the time of their group"
expect 0 "to the end of a log" bash -c 'echo "goto end" | "$1" debug "$2"' sh "$hostir" "$work/a.db"
says "The run ended" "goto end of a log that was just opened runs to its end"
expect 0 "one statement" "$hostir" trace sql "$work/a.db" 'select 1; -- and a remark'
expect 3 "two statements" "$hostir" trace sql "$work/a.db" 'select 1; select 2'
says "one statement at a time" "the second statement is not left out silently"
expect 2 "bad text" "$hostir" verify tests/scripts/negative/mesh_c2.hir
expect 2 "a forgotten all_reduce" "$hostir" verify tests/scripts/regress/sums_over_cut_dimensions.hir
says "sums_over_cut_dimensions.hir:29:" "verify points at a forgotten all_reduce"
expect 2 "a hang in a file that is only checked" "$hostir" verify tests/programs/deadlock.hir
says "deadlock.hir:36:5: error[deadlock]: ranks wait for each other in a circle: rank 0 waits for rank 1 in all_reduce" "verify follows the calls of every rank"
"$hostir" pipeline tests/programs/pipeline_stages.hir --stages first,middle,last --data x,target --schedule zb-h1 --micro-batches 3 |
  sed 's/send %c peer(0) ro(%s1.d_x.0)/send %c peer(2) ro(%s1.d_x.0)/' >"$work/peer.hir"
expect 2 "a send to another rank of a pipeline" "$hostir" verify "$work/peer.hir"
grep -A1 "error\[deadlock\]: .*send" "$work/out" >"$work/pointed"
mv "$work/pointed" "$work/out"
says "= group {" "the caret of the deadlock is at the send, not at what waits behind it on another rank"
expect 2 "a race in a file that is only checked" "$hostir" verify tests/scripts/regress/two_faults_of_a_run.hir
says "two_faults_of_a_run.hir:16:3: error[race_raw]: rank 0: @f#7 launch reads %t" "verify reports races"
same=tests/scripts/regress/same_fault_on_other_ranks.hir
expect 3 "a buffer used after it was freed" "$hostir" run $same @uses_freed --example-inputs
says "note: the same on rank 3" "the other rank that is about to use it is named"
expect 3 "a buffer that nothing has written" "$hostir" run $same @reads_nothing --example-inputs
says "note: the same on ranks 2, 3" "every rank that reads it is named"
expect 3 "replicas that part before a free" "$hostir" run tests/scripts/regress/replicas_parted_before_a_free.hir --example-inputs
says "but hold 1 and 2 at [0]" "the values are those before the free"
expect 2 "a kernel that does not fit its operands" "$hostir" verify tests/scripts/regress/layouts_that_hold_other_boxes.hir
says "error[kernel_box]" "verify compares the parts that a kernel gets"
expect 2 "a host that reads too early" "$hostir" verify tests/scripts/faults/races_more.hir
says "races_more.hir:26:3: error[use_before_wait]" "verify runs up to the first value that the host reads"
expect 2 "a result of which a part is not written" "$hostir" verify tests/scripts/faults/results.hir
says "error[uninitialised_read]" "verify sees that a result is not written"
"$hostir" lower tests/programs/sp_mlp.hir | grep -v 'wait %e on' >"$work/no_wait.hir"
expect 2 "a wait taken out of a lowered program" "$hostir" verify "$work/no_wait.hir"
says "    launch @unpack ro(%x_gathered_packed)" "a fault in a lowered host function is shown at its own line"
says "checked with ?B = 8, ?S = 8, ?H = 8, ?F = 8" "verify says which sizes it took"
expect 0 "programs that look wrong" "$hostir" verify tests/scripts/faults/unusual.hir tests/scripts/faults/unusual_more.hir
against=tests/scripts/passes/against.hir
# against STATUS FUNCTION FUSION TEXT: the verdict of verify --against, and its reason.
against() {
  expect "$1" "@$2 against @$3" "$hostir" verify $against "@$2" --against "@$3"
  says "$4" "the verdict on @$2"
}
for pair in 1 2 4 6 8 9 16 18 22 24 25 26 28 31; do
  "$hostir" verify tests/scripts/regress/not_proven.hir "@t${pair}_h" --against "@t${pair}_f" >"$work/out" 2>&1
  case $? in 1 | 5 | 64) passed=$((passed + 1)) ;; *) failed=$((failed + 1)); echo "FAILED: t$pair is not what its fusion is"; cat "$work/out" ;; esac
done
against 0 right layer "@right computes @layer: 1 output proven on 2 ranks"
against 0 exchange layer "1 output proven on 2 ranks"
against 1 bias_on_each layer "is not %y of @layer: broadcast_in_dim(%b) is counted twice but should be counted once"
against 1 no_reduction layer "a reduction is missing"
against 1 twice layer "it is 2 times %y of @layer"
says "against.hir:86:" "a doubled all_reduce is pointed at"
against 1 divided layer "it is 1/4 of %y of @layer"
against 1 wrong_block layer "matmul combines 0..2 of a dimension of one operand with 2..4 of the other"
against 1 swapped rows "it holds element [2] of %y of @rows where element [0] belongs"
says "against.hir:133:" "the permute that moves it is pointed at"
against 5 another_way rows "could not be proven equal to %y of @rows"
says "note: the outputs are equal on the example inputs" "what is not proven is run"
against 1 another_value rows "against.hir:156:3: error[against_differs]: %y[0] on rank 0 is not %y of @rows: it is"
says "note: on the example inputs %y[0] is " "the run's values are told"
against 1 forgotten rows "error[against_differs]: %y is never written on rank 0"
against 1 swapped_in_group rows "@swapped_in_group#6 writes on rank 1: %y of @rows"
against 1 right relu_layer "it is computed from %x, and %y of @relu_layer from %g of @relu_layer"
race=tests/scripts/regress/proof_of_a_racing_free.hir
expect 3 "a proof of a race with a free" "$hostir" verify $race @no_wait --against @product
says "proof_of_a_racing_free.hir:24:3: error[race_raw]" "the race has its place in the file"
expect 3 "the only host function is meant" "$hostir" verify $race --against @product
rule=tests/scripts/regress/proof_by_a_wrong_rule.hir
expect 0 "a proof by a kernel's rule" "$hostir" verify $rule @cut_rows --against @whole
says "@cut_rows computes @whole: 1 output proven on 2 ranks, assuming that the sharding rule of @gate holds" "the rule is named"
expect 1 "a proof by a wrong rule" "$hostir" verify $rule @cut_sum --against @whole
says "proof_by_a_wrong_rule.hir:5:10: error[against_differs]: %y is not equal to that of @whole, although the sharding rule of @gate promises that they are equal" "the rule is pointed at"
expect 5 "a proof of a program whose host reads integers" "$hostir" verify tests/programs/moe_by_hand.hir @moe --against @reference_grad
says "moe_by_hand.hir:90:3: note: the host reads integers here" "what the proof cannot follow is named"
sed 's/ro(%d_back) wo(%d_returned)/ro(%d_rows) wo(%d_returned)/' tests/programs/moe_by_hand.hir >"$work/moe.hir"
expect 1 "a program whose host reads integers and that is wrong" "$hostir" verify "$work/moe.hir" @moe --against @reference_grad
says "%d_x is not that of the fusion" "runs on example inputs find the wrong output"
expect 0 "a proof without parts" "$hostir" verify $rule @whole --against @whole
if grep -q "sharding rule" "$work/out"; then failed=$((failed + 1)); echo "FAILED: a rule that nothing needs is named"; fi
rounded=tests/scripts/regress/proof_through_a_rounding.hir
scaled=tests/scripts/passes/scale_after_sum.hir
expect 0 "a proof of weights that are divided after their product" "$hostir" verify $scaled @decode --against @decode --size B=2 --size H=3 --size T=10 --size D=4
expect 0 "the same with grouped queries in bf16" "$hostir" verify $scaled @grouped --against @grouped --size B=2 --size T=12 --size D=8
expect 0 "a proof of a product that is scaled afterwards" "$hostir" verify $scaled @own --against @own --size N=3 --size M=13 --size K=2
expect 0 "a proof through a rounding" "$hostir" verify $rounded @sum_host --against @sum
moved=tests/scripts/regress/proof_of_moved_elements.hir
for size in 10 12; do
  expect 0 "a proof of running sums of $size rows" "$hostir" verify $moved @running --against @running --size N=$size
  expect 0 "a proof of a roll of $size rows by hand" "$hostir" verify $moved @rolled --against @rolled --size N=$size
  expect 0 "a proof of turned and repeated rows of $size" "$hostir" verify $moved @turned --against @turned --size N=$size
  expect 0 "a proof of sums of padding in $size rows" "$hostir" verify $moved @padded --against @padded --size N=$size
done
# mistaken FUSION KERNEL SED DESCRIPTION: a change of a kernel of the lowered fusion is not proven, but named.
mistaken() {
  "$hostir" lower $moved "@$1" --size N=12 2>/dev/null | sed "/^kernel @$2(/,/^}/ { $3 }" >"$work/mistaken.hir"
  expect 1 "$4" "$hostir" verify "$work/mistaken.hir" "@$1.host" --against "@$1"
}
mistaken running cumsum_1 's/, reverse = true//' "the sums of the parts added up from the wrong end"
mistaken running slice 's/start = \[1, 0\], limit = \[5,/start = [0, 0], limit = [4,/' "the sum of a rank's own part added twice"
mistaken rolled slice_1 's/start = \[0, 0\], limit = \[1,/start = [1, 0], limit = [2,/' "the second row moved to the end"
mistaken padded pad 's/value = 0.5/value = 0.25/' "other padding"
for overlap in collectives ring; do
  "$hostir" lower tests/programs/overlap.hir @mlp --size S=16 --size H=8 --size F=16 --overlap $overlap \
    >"$work/overlapped.hir" 2>/dev/null
  expect 0 "a proof of overlap by $overlap" "$hostir" verify "$work/overlapped.hir" @mlp.host --against @mlp
done
sed '/%g_rows_2 = subview/s/coord(tp) + 2/coord(tp) + 1/g; /%g_rows_3 = subview/s/coord(tp) + 1/coord(tp) + 2/g' \
  "$work/overlapped.hir" >"$work/mistaken.hir"
expect 1 "two blocks of a ring in the rows of each other" "$hostir" verify "$work/mistaken.hir" @mlp.host --against @mlp
# The gradient of a block: intermediate values limit how large a difference rounding may explain.
"$hostir" lower tests/programs/block.hir @block_grad --size B=1 --size S=6 --size E=16 --size F=24 2>/dev/null |
  sed '/reduce_scatter sum.*(%d_n1_add_1)/s/ sum / avg /' >"$work/block.hir"
expect 1 "a sum of a block divided once more" "$hostir" verify "$work/block.hir" @block_grad.host --against @block_grad
says "(avg divides the sum by the number of ranks)" "the average is named"
says "reduce_scatter avg" "the average is pointed at, not only the output"
"$hostir" lower tests/programs/block.hir @block --size B=1 --size S=6 --size E=16 --size F=24 2>/dev/null |
  sed '/launch @scaled_dot_product_attention /s/%k, %v)/%v, %k)/' >"$work/swapped.hir"
expect 1 "keys and values swapped" "$hostir" verify "$work/swapped.hir" @block.host --against @block
says "launch @scaled_dot_product_attention" "the launch with the swapped operands is pointed at"
log=tests/scripts/regress/loss_off_by_log.hir
expect 1 "a loss off by log(4)" "$hostir" verify $log @log_tp --against @loss
says "that is log(4) = 1.386 too small, and axis tp has size 4: a sum of exponentials is 4 times too small" "the verdict on @log_tp"
expect 0 "a size that has become a number in both functions" "$hostir" verify "$work/overlapped.hir" @mlp.host --against @mlp --size S=16
"$hostir" lower $moved @rolled --size N=12 2>/dev/null | sed '/^fusion/,/^}/d' | cat - $moved | awk '!/^mesh/ || !seen[$0]++' >"$work/both.hir"
expect 0 "a size of the fusion only" "$hostir" verify "$work/both.hir" @rolled.host --against @rolled --size N=12
expect 64 "another size than that of the host function" "$hostir" verify "$work/both.hir" @rolled.host --against @rolled --size N=10
expect 64 "a size that neither function has" "$hostir" verify "$work/both.hir" @rolled.host --against @rolled --size Q=10
expect 64 "a different number of parameters" "$hostir" verify $against @right --against @rows
says "@right has 3 parameters and 1 results, @rows has 1 and 1" "the parameters are counted"
expect 64 "against a function that is no fusion" "$hostir" verify $against @right --against @mm
expect 2 "layouts through a call" "$hostir" verify tests/scripts/regress/layouts_through_calls.hir
says "error[call_layout]" "verify compares layouts through calls"
cat >"$work/unwritten.hir" <<'EOF'
mesh @m = <x=2>
kernel @one() -> (%v: tensor<?Nxf32>) {
  %v = constant {value = 1} : tensor<?Nxf32>
  return %v
}
host @shard on @m () -> (%b: shard<4xf32, @m, [{x}]>) {
  %s = stream "s"
  %b = alloc on %s : shard<4xf32, @m, [{x}]>
  where rank == 0 {
    launch @one wo(%b) on %s
  }
  return %b
}
host @tensor on @m () -> (%b: tensor<4xf32>) {
  %s = stream "s"
  %b = alloc on %s : tensor<4xf32>
  where rank == 0 {
    launch @one wo(%b) on %s
  }
  return %b
}
EOF
expect 3 "a shard that one rank did not write" "$hostir" run "$work/unwritten.hir" @shard
expect 0 "a tensor that only rank 0 wrote, whose result is rank 0's" "$hostir" run "$work/unwritten.hir" @tensor
expect 3 "missing file" "$hostir" run no_such_file.hir
expect 64 "unknown verb" "$hostir" frobnicate
expect 64 "unknown option" "$hostir" run tests/programs/simple_add.hir --frobnicate
expect 64 "unknown axis value" "$hostir" run tests/programs/simple_add.hir --mesh nonsense
expect 4 "deadlock" "$hostir" run tests/programs/deadlock.hir
expect 4 "mismatch" "$hostir" run tests/programs/mismatch.hir
expect 3 "not a log" "$hostir" replay README.md
expect 0 "standard input" sh -c "'$hostir' fmt - < tests/programs/simple_add.hir"
# Invalid requests, and requests that a backend cannot answer, are rejected with a message.
for asked in "--expect y=4xf32=0" "--output y=@$work/n.npy" --check-unsharded "--schedules 3" "--reference sim"; do
  # shellcheck disable=SC2086
  expect 64 "null with $asked" "$hostir" run "${add[@]}" --backend null $asked
  says "the null backend computes none" "null with $asked says why"
done
expect 64 "a mesh of 100 G ranks" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=99999999999 --example-inputs
says "more than 16777216 positions" "the mesh that is too large is named"
# Carets point into the original text, at the wrong rank.
cat >"$work/carets.hir" <<'END'
mesh @m = <x=3, y=2>
fusion @unused(%a: tensor<4xf32>) -> (%y: tensor<4xf32>) { %y = neg %a
 return %y }
kernel @init() -> (%v: tensor<?Nxf32>) {
  %v = iota : tensor<?Nxf32>
  return %v
}
host @claims on @m () -> (%z: shard<4xf32, @m, [{}]>) {
  %c = comm over {y}
  %s = stream "s"
  %z = alloc on %s : shard<4xf32, @m, [{}], unreduced={x}>
  launch @init wo(%z) on %s
  all_reduce sum %c rw(%z -> [{}]) on %s
  return %z
}
host @differs on @m () -> (%o: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "s"
  %o = alloc on %s : tensor<4xf32>
  launch @init wo(%o) on %s
  where coord(x) == 1 {
    all_reduce max %c rw(%o) on %s
  } else {
    all_reduce sum %c rw(%o) on %s
  }
  return %o
}
END
expect 2 "a layout that claims too much" "$hostir" run "$work/carets.hir" @claims
says "carets.hir:13:24: error[partial_claim]" "its caret is at the claim"
says "does not reduce %z" "its sentence"
expect 4 "one rank calls something else" "$hostir" run "$work/carets.hir" @differs
says "carets.hir:22:5: error[collective_mismatch]" "the caret is at that rank's"
expect 0 "null alone" "$hostir" run "${add[@]}" --backend null
expect 0 "tests on null" "$hostir" test tests/programs/simple_add.hir --backend null
says "value expectations skipped" "tests on null say what they did not check"
expect 0 "all scripts on null" "$hostir" test tests/scripts tests/programs --backend null
npy() {  # npy FILE DESCR SHAPE HEX
  python3 - "$@" <<'END'
import sys
path, descr, shape, data = sys.argv[1:]
head = ("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n" % (descr, shape)).encode()
open(path, "wb").write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes.fromhex(data))
END
}
cat >"$work/same.hir" <<'END'
fusion @ints(%a: tensor<2xi32>) -> (%y: tensor<2xi32>) {
  %y = add %a, %a
  return %y
}

fusion @bits(%a: tensor<2xi1>) -> (%y: tensor<2xi1>) {
  %y = logical_not %a
  return %y
}

fusion @bytes(%a: tensor<300xu8>) -> (%y: tensor<300xu8>) {
  %y = add %a, %a
  return %y
}

fusion @floats(%a: tensor<2xf32>) -> (%y: tensor<2xf32>) {
  %y = relu %a
  return %y
}
END
npy "$work/i64.npy" "'<i8'" "(2,)" "01000000000000000000000000010000"
expect 3 "an integer that does not fit" "$hostir" run "$work/same.hir" @ints --input "a=@$work/i64.npy"
says "error[input_range]: input %a is 1099511627776 at [1], which i32 cannot hold" "the value that does not fit is named"
expect 3 "2 is no i1" "$hostir" run "$work/same.hir" @bits --input 'a=2xi32=[1 2]'
says "input %a is 2 at [1], which i1 cannot hold" "the value that is no i1 is named"
expect 3 "a float that overflows" "$hostir" run "$work/same.hir" @floats --input 'a=2xf64=[1 1e300]'
expect 3 "a generator that does not fit" "$hostir" run "$work/same.hir" @bytes --input 'a=iota'
says "error[value_range]: iota: element 256 is 256, which u8 cannot hold" "the generated element is named"
npy "$work/i16.npy" "'<i2'" "(2,)" "01000200"
expect 0 "int16 fits into i32" "$hostir" run "$work/same.hir" @ints --input "a=@$work/i16.npy"
expect 3 "integers for floats" "$hostir" run "$work/same.hir" @floats --input "a=@$work/i16.npy"
says "input %a is i16, but the parameter is f32" "both dtypes are named"
npy "$work/void.npy" "'|V1'" "(2,)" "3840"
expect 3 "one-byte void for f32" "$hostir" run "$work/same.hir" @floats --input "a=@$work/void.npy"
says "holds one-byte void, which is read as u8" "how the file's dtype is read"
npy "$work/negative.npy" "'<f4'" "(-2,)" ""
expect 3 "a negative shape" "$hostir" run "$work/same.hir" @floats --input "a=@$work/negative.npy"
says "negative size -2" "a negative shape is named"
npy "$work/record.npy" "[('x', '<f4')]" "(2,)" "0000000000000000"
expect 3 "records" "$hostir" run "$work/same.hir" @floats --input "a=@$work/record.npy"
says "structured dtype" "records are named"
floats=("$hostir" run "$work/same.hir" @floats --input 'a=2xf32=[1 2]')
expect 1 "an integer expectation of floats" "${floats[@]}" --expect 'y=2xi32=[1 2]'
says "it is f32, but the expected value is i32" "the dtypes are named"
expect 0 "a wider float expectation" "${floats[@]}" --expect 'y=2xf64=[1 2]'
expect 1 "a wider integer expectation in text" "$hostir" run "$work/same.hir" @ints --input 'a=2xi32=[1 1]' \
  --expect 'y=2xi64=[2 2]'
npy "$work/two.npy" "'<i8'" "(2,)" "02000000000000000200000000000000"
expect 0 "a wider integer expectation from a file" "$hostir" run "$work/same.hir" @ints --input 'a=2xi32=[1 1]' \
  --expect "y=@$work/two.npy"
expect 64 "no inputs" "$hostir" run tests/programs/simple_add.hir
says "no input for %a : 4xf32, %b : 4xf32" "all missing inputs are named"
says "--input 'b=normal(2, 4xf32)'" "an example can be pasted"
expect 0 "made up inputs" "$hostir" run tests/programs/simple_add.hir --example-inputs
expect 0 "bench makes up inputs" "$hostir" bench tests/programs/simple_add.hir -n 1
says "no inputs were given" "bench says what it made up"
expect 0 "bench of products" "$hostir" bench tests/programs/tp_mlp.hir --mesh tp=4 --size B=2 --size S=8 --size H=64 --size F=128 -n 2
says "0.0005591 GFLOP, " "bench counts the arithmetic"
grep -qE "^simulated +[1-9][0-9.]* us on h200x8; .* is [1-9]" "$work/out" && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAILED: bench has no simulated time or no limit"; }
expect 0 "bench of the interpreter" "$hostir" bench tests/programs/pipeline_by_hand.hir --backend null -n 3
for words in "run --shap" "run x.hir --backend sh" "run tests/programs/tp_mlp.hir @m" "compl" "ops reduce_sc" "help ver"; do
  # shellcheck disable=SC2016
  bash -c 'source <("$1" completion bash); COMP_WORDS=(hostir $2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _hostir; echo "${COMPREPLY[@]}"' \
    sh "$hostir" "$words"
done >"$work/completed" 2>&1
expect 0 "completion in bash" diff "$work/completed" - <<<$'--shapes-only\nshapes\n@mlp\ncompletion\nreduce_scatter\nverify'
expect 4 "commands of the debugger as options" "$hostir" debug tests/programs/deadlock.hir --ex continue --ex "info waits"
says "(hostir) info waits" "the debugger takes every command"
expect 64 "completion of another shell" "$hostir" completion fish
sed 's/ in @line6//' tests/scripts/passes/shardy_two_meshes.hir >"$work/ambiguous.hir"
expect 1 "an axis of two meshes" "$hostir" test "$work/ambiguous.hir"
says "divide the ranks of @line6 and of @grid23 differently; name the mesh" "an ambiguous axis is named"
# Tests: --update reports the results after the update; a file without tests is reported; parts are
# independent.
printf 'fusion @f(%%a: tensor<2xf32>) -> (%%y: tensor<2xf32>) {\n  %%y = add %%a, %%a\n  return %%y\n}\n' >"$work/plain.hir"
expect 0 "a file without tests" "$hostir" test "$work/plain.hir"
says "has no \`test\` piece" "a file without tests says so"
{ cat "$work/plain.hir"; printf 'test "t" {\n  run @f("2xf32=[1 2]")\n  expect_output %%y == "2xf32=[2 5]"\n}\n'; } >"$work/wrong.hir"
expect 0 "--update that wrote" "$hostir" test "$work/wrong.hir" --update
says "1 files rewritten" "--update says that it wrote"
expect 0 "what --update wrote" "$hostir" test "$work/wrong.hir"
printf '\n// -----\nfusion @broken(%%a: tensor<2xf33>) {\n' >>"$work/wrong.hir"
expect 1 "a part that does not parse" "$hostir" test "$work/wrong.hir" -v
says ": t  " "the tests of the other part run"
expect 64 "an op's wrong name" "$hostir" ops allreduce
says 'did you mean "all_reduce"?' "an op's name is suggested"
# Sizes are combined with inputs, and a named input replaces one from an archive.
printf 'fusion @f(%%w: tensor<(?K*?D)x4xf32>, %%x: tensor<?Bx(?K*?D)xf32>) -> (%%y: tensor<?Bx4xf32>) {\n  %%y = matmul %%x, %%w\n  return %%y\n}\n' >"$work/sizes.hir"
sizes=("$work/sizes.hir" --input "w=normal(1, 6x4xf32)" --input "x=normal(2, 5x6xf32)")
expect 0 "--size with inputs" "$hostir" run "${sizes[@]}" --size K=2
expect 64 "a size that nothing tells" "$hostir" run "${sizes[@]}"
says "bind it with --size D=8" "a size that nothing tells says how to bind it"
expect 64 "a size that does not divide" "$hostir" run "${sizes[@]}" --size K=4
expect 0 "an archive of inputs" "$hostir" run tests/programs/simple_add.hir --input "a=4xf32=[1 2 3 4]" --input "b=4xf32=[1 1 1 1]" --output "@$work/all.npz"
expect 3 "a transposed weight" "$hostir" run tests/programs/tp_mlp.hir --input 'x=normal(1, 1x2x6xf32)' --input 'w1=normal(2, 6x8xf32)' \
  --input 'b1=normal(3, 8xf32)' --input 'w2=normal(4, 6x8xf32)' --input 'b2=normal(5, 6xf32)'
says "?H is 6 already, from dimension 2 of %x; its transpose, 8x6, would fit" "who bound ?H is named"
# Without values: the same times, memory and collectives, at any size.
for program in tp_mlp fsdp_tp block vocab; do
  expect 0 "run of $program" "$hostir" run "tests/programs/$program.hir" --example-inputs
  "$hostir" run "tests/programs/$program.hir" --example-inputs 2>/dev/null | grep -v "^%\|^  " >"$work/computed"
  "$hostir" run "tests/programs/$program.hir" --example-inputs --shapes-only 2>/dev/null | grep -v "^%\|^  " >"$work/predicted"
  expect 0 "--shapes-only predicts $program" diff "$work/computed" "$work/predicted"
  expect 0 "--shapes-only prints what it predicts of $program" grep -q "simulated\|peak memory" "$work/predicted"
done
races=(run tests/scripts/faults/races.hir)
expect 3 "--schedules forces the orders of a race" "$hostir" "${races[@]}" @reduced_before_it_is_computed --input "x=full(1)" --schedules 5
says "delaying @reduced_before_it_is_computed#5 on rank 0 until after @reduced_before_it_is_computed#6 changes %y" "the late instruction is named"
says "1 of 1 unordered pairs forced into both orders; nothing orders" "how many orders were forced"
expect 3 "an order that only shows on all ranks" "$hostir" "${races[@]}" @received_over_what_is_read --input "x=full(1)" --input "z=full(5)" --schedules 5
says "delaying @received_over_what_is_read#8 on every rank" "a late instruction of one rank or of all"
expect 3 "orders that only show together" "$hostir" run tests/scripts/regress/two_races_together.hir --input "x=full(1)" --schedules 9
says "delaying @f#11 on every rank until after @f#15 and @f#17 on every rank until after @f#21 changes %y" "the fewest decisions are named"
says "2 of 2 unordered pairs forced into both orders, 1 of 4 combinations; nothing orders" "how many combinations were needed"
cat >"$work/false_rule.hir" <<'END'
mesh @m = <x=2>
kernel @most(%a: tensor<?Bx?Hxf32>) -> (%y: tensor<?Bx?Hxf32>) rule "([b,h])->([b,h])" {
  %top = reduce_max %a {dims = [1]}
  %y = broadcast_in_dim %top {dims = [0], shape = [?B, ?H]}
  return %y
}
fusion @f(%a: tensor<2x8xf32> <@m, [{}, {x}]>) -> (%y: tensor<2x8xf32>) {
  %small = cast %a {to = f8e5m2}
  %back = cast %small {to = f32}
  %y = apply @most(%back)
  return %y
}
END
expect 1 "a cast to few digits excuses nothing where both runs had the same" "$hostir" run "$work/false_rule.hir" \
  --input "a=2x8xf32=[1 1 1 1 1.25 1 1 1][1 1 1 1 1.25 1 1 1]" --check-unsharded
says "%y of @f#3 apply" "the value that differs is named"
huge_mlp=(tests/programs/tp_mlp.hir --mesh tp=8 --size B=4 --size S=4096 --size H=16384 --size F=65536)
expect 0 "--shapes-only of 4 GB of weights" bash -c 'ulimit -v 2000000; timeout 20 "$@"' sh "$hostir" run "${huge_mlp[@]}" --shapes-only --trace "$work/shapes.db"
says "%y : 4x4096x16384xf32, not computed" "--shapes-only prints shapes"
says "1 x all_reduce sum over {tp}" "--shapes-only counts collectives"
expect 0 "replay of a prediction" bash -c 'ulimit -v 2000000; timeout 20 "$@"' sh "$hostir" replay "$work/shapes.db"
for option in --check-unsharded "--expect y=full(1)" "--schedules 2" "--nan error"; do
  # shellcheck disable=SC2086
  expect 64 "--shapes-only with $option" "$hostir" run tests/programs/tp_mlp.hir --example-inputs --shapes-only $option
  says "--shapes-only computes none" "--shapes-only says why not $option"
done
printf 'continue\nprint %%y\n' >"$work/print.txt"
expect 0 "debug without values" "$hostir" debug tests/programs/simple_add.hir --backend shapes -x "$work/print.txt"
says "computes no values" "print of a value that is not computed says why"
for cost in eager prepared graph; do
  "$hostir" run tests/programs/tp_mlp.hir --example-inputs --host-cost $cost --trace "$work/$cost.db" >/dev/null 2>&1
  "$hostir" trace sql "$work/$cost.db" "SELECT max(finish_ns) FROM event" --format csv | tail -1
done >"$work/costs"
expect 0 "eager hosts cost more than prepared ones, and those more than graphs" bash -c '[ "$(grep -c "^[0-9]\+$" "$1")" = 3 ] && sort -c -n -r -u "$1"' sh "$work/costs"
large_mlp=(tests/programs/tp_mlp.hir --ranks 2 --size B=4 --size S=2048 --size H=8192 --size F=32768)
expect 0 "plan" "$hostir" plan "${large_mlp[@]}"
says "%x <@m, [{tp}, {}, {}]>  S(0)@tp" "plan cuts the batch where nothing is fixed"
expect 0 "plan with fixed activations" "$hostir" plan "${large_mlp[@]}" --fix x --fix %y
says "%w1 <@m, [{tp}, {}]>  S(0)@tp" "plan finds the tensor-parallel MLP: the first weight"
says "%w2 <@m, [{}, {tp}]>  S(1)@tp" "plan finds the tensor-parallel MLP: the second weight"
python3 tests/bench/long_fusion.py --layers 12 --batch 4 --sequence 64 --hidden 32 --features 128 --heads 4 --dp 1 --tp 2 >"$work/layers.hir"
expect 0 "plan of twelve layers" "$hostir" plan "$work/layers.hir" --grad --mesh dp=1,tp=2
says "  %wq_0 .. %wq_11 (12x) <@m, [" "plan prints the sharding of a parameter once for all layers"
[ "$(wc -l <"$work/out")" -le 80 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan repeats its lines for every layer: $(wc -l <"$work/out")"; tail -5 "$work/out"; }
expect 0 "plan without a mesh in the file" "$hostir" plan tests/programs/simple_add.hir --ranks 4
sed -n '/^the fastest plans/,/^$/p' "$work/out" >"$work/fastest"
[ "$(grep -c 'nothing is cut$' "$work/fastest")" = 1 ] && [ "$(grep -c ' 12 B ' "$work/fastest")" = 1 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan lists plans twice that differ only in the names of axes"; head -12 "$work/out"; }
expect 0 "plan on named meshes" "$hostir" plan "${large_mlp[@]}" --mesh tp=2 --mesh '<dp=2, tp=1>' --top 100
says "  dp=2 tp=1  " "plan tries a named mesh with an axis that the file lacks"
[ "$(grep -c 'us  \|ms  ' "$work/out")" = "$(grep -c '  tp=2  \|  dp=2 tp=1  ' "$work/out")" ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan tries meshes that were not named"; head -12 "$work/out"; }
says "the best on each mesh, by predicted time:" "plan compares the meshes"
sed -n '/^the best on each mesh/,/^$/p' "$work/out" >"$work/meshes"
[ "$(grep -c '  tp=2  \|  dp=2 tp=1  ' "$work/meshes")" = 2 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan does not list every mesh"; cat "$work/meshes"; }
expect 0 "plan that reports its progress" "$hostir" plan "${large_mlp[@]}" -v
says "2 ranks, mesh 1 of 1 (tp=2 x=1): " "plan -v says which mesh was searched"
says ", best so far " "plan -v says what is best so far"
expect 0 "plan with two axes" "$hostir" plan tests/programs/tp_mlp.hir --mesh dp=2,tp=4 --size B=4 --size S=2048 --size H=8192 --size F=32768
says "%b2[0] by tp  (and 1 over other axes)" "plan prints equal plans over different axes once"
large_step=(tests/programs/tp_mlp.hir --grad --wrt w1 --wrt w2 --size B=4 --size S=2048 --size H=65536 --size F=262144)
expect 0 "plan for as few ranks as possible" "$hostir" plan "${large_step[@]}" --optimizer adamw --ranks 1..8
says " too much)  " "plan says how much a number of ranks lacks"
says "@mlp.grad fits on " "plan says how many ranks are enough"
says "memory of a rank at its peak: parameters " "plan splits the memory of a rank"
says "  against the next, " "plan compares the best with the next"
expect 0 "plan that cannot fit" "$hostir" plan "${large_step[@]}" --optimizer adamw --ranks 1
says "none fits: " "plan recommends nothing that does not fit"
[ "$(grep -c '^best: ' "$work/out")" = 0 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan recommends what does not fit"; head -12 "$work/out"; }
expect 0 "plan as JSON" "$hostir" plan "${large_mlp[@]}" --json
python3 -c '
import json, sys
answer = json.loads(open(sys.argv[1]).read().splitlines()[-1])  # notices come first
best = answer["best"]
assert answer["ranks"] == 2 and best["fits"] and best["excess_bytes"] == 0, best
assert sum(best["memory"].values()) == best["peak_bytes"], best
assert best == answer["tried"][0]["plans"][0]' "$work/out" && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: plan --json"; head -40 "$work/out"; }
expect 64 "plan with a wrong range" "$hostir" plan tests/programs/tp_mlp.hir --ranks 8..
says 'a range as in 8..64, or auto, not "8.."' "plan says what a range is"
expect 64 "plan with an optimizer and no gradient" "$hostir" plan tests/programs/tp_mlp.hir --ranks 2 --optimizer adamw
expect 64 "plan without ranks" "$hostir" plan tests/programs/tp_mlp.hir
says "or the meshes to try, as in --mesh dp=4,tp=2" "plan says what it needs"
expect 64 "plan on a mesh of other ranks" "$hostir" plan "${large_mlp[@]}" --mesh tp=3
says "--ranks 2, but --mesh tp=3 has 3 ranks" "plan compares the ranks with the mesh"
expect 64 "plan on meshes of different ranks" "$hostir" plan tests/programs/tp_mlp.hir --mesh tp=2 --mesh dp=2,tp=2
says "--mesh dp=2,tp=2 has 4 ranks, and --mesh tp=2 has 2: meshes are compared on the same ranks" "plan compares the meshes' ranks"
expect 64 "plan on a mesh without a size" "$hostir" plan tests/programs/tp_mlp.hir --mesh tp
says 'takes the axes of a mesh, as in --mesh dp=4,tp=2, not "tp"' "plan shows how a mesh is written"
expect 64 "plan on a mesh with an axis twice" "$hostir" plan tests/programs/tp_mlp.hir --mesh tp=2,tp=2
says 'axis "tp" appears twice' "plan says what is wrong with the mesh"
expect 64 "plan with an unknown name" "$hostir" plan "${large_mlp[@]}" --fix z
expect 64 "plan of a host function" "$hostir" plan tests/programs/pipeline_by_hand.hir @pipeline --ranks 2
expect 0 "debug makes up inputs" "$hostir" debug tests/programs/simple_add.hir -x /dev/null
expect 0 "sim against its reference kernels" "$hostir" run tests/programs/tp_mlp.hir --example-inputs --reference sim
says "as sim with reference kernels has it" "the reference is named"
says "all 8 compared writes equal those of sim" "the reference is compared after every instruction"
expect 0 "measures a machine" "$hostir" machines calibrate --backend sim --largest 16 --name here
says "geometric mean error: 0.0 % of the fitted sizes, 0.0 % of the others" "the simulator is predicted exactly"
says "machine @here {" "the measured machine is described"
expect 64 "a backend without kernels" "$hostir" machines calibrate --backend null --largest 16
expect 64 "the reference against itself" "$hostir" run "${add[@]}" --kernels reference --reference sim
expect 64 "unknown output" "$hostir" run "${add[@]}" --output "zz=@$work/z.npy"
expect 3 "output into no folder" "$hostir" run "${add[@]}" --output "y=@$work/none/y.npy"
if grep -q collectives "$work/out"; then failed=$((failed + 1)); echo "FAILED: it ran before the output was looked at"; fi
for wrong in "--schedules 0" "--schedules -1" "--atol nan" "--rtol -1" "--trace-values foo" "--trace-values stats" \
  "--max-memory 99999999999999" "--size B=2" "--size B" "--ranks 3" "--input zz=1" "--input a=%b"; do
  # shellcheck disable=SC2086
  expect 64 "wrong: $wrong" "$hostir" run "${add[@]}" $wrong
done
expect 64 "a negative count" "$hostir" run "${add[@]}" --schedules -1
says "takes a whole number from 1, not -1" "a negative count is refused in a short sentence"
expect 64 "a size without a number" "$hostir" run tests/programs/tp_mlp.hir --size B
says "--size B=8" "the hint of --size is one of --size"
expect 64 "ranks without a mesh" "$hostir" run "${add[@]}" --ranks 3
says "has no mesh" "a program without a mesh says so"
expect 64 "a value of no form" "$hostir" run "${add[@]}" --input zz=1
says "--input zz=1" "the wrong input is named"
expect 64 "no test matches" "$hostir" test tests/programs/simple_add.hir --filter no_such_title
expect 3 "missing script" "$hostir" test no_such_file.hir
expect 0 "exit statuses in the help" "$hostir" help
says "64  wrong usage" "the help lists exit statuses"
expect 0 "lowering a host function" "$hostir" lower tests/programs/deadlock.hir
says "is already a host function" "lowering says what it did"
expect 0 "lowering without sizes" "$hostir" lower tests/programs/tp_mlp.hir
says "all_reduce sum %c rw(%y_product" "without sizes, the plan with the fewest collectives is chosen"
expect 0 "lowering with reasons" "$hostir" lower tests/programs/tp_mlp.hir --size B=2 --size S=6 --size H=24 --size F=48 --mesh tp=4 --explain %y
says "cut: %y [{}, {}, {}], unreduced={tp} from %g " "explain shows how an op is cut"
says 'choices in a small program are made as if its data were 1 MiB' "explain says what its times are for"
expect 0 "reasons for a value inside a composite" "$hostir" lower tests/programs/tp_mlp.hir --size B=2 --size S=6 --size H=24 --size F=48 --mesh tp=4 --explain %y_product
says "linear at @mlp#3 reduces a dimension that is cut in %g and %w2" "a value inside a composite has the reasons of its op"
sed -n '1,/^gradient/p' tests/scripts/passes/rings.hir | sed 's/f32/bf16/g' >"$work/rings.hir"
for length in 8192:ring 131072:balanced; do
  expect 0 "attention of ${length%:*} tokens" "$hostir" lower "$work/rings.hir" @causal --mesh cp=8 --size B=1 --size H=32 --size S="${length%:*}" --size D=128 --overlap ring --explain %y
  says "scaled_dot_product_attention: ${length#*:}" "the ring of ${length%:*} tokens is the one expected to end first"
done
expect 3 "attention that does not fit" "$hostir" run "$work/rings.hir" @causal --grad --mesh cp=8 --size B=8 --size H=32 --size S=4194304 --size D=128 --example-inputs --shapes-only
[ "$(grep -c 'error\[max_memory\]' "$work/out")" = 1 ] && passed=$((passed + 1)) ||
  { failed=$((failed + 1)); echo "FAILED: memory runs out more than once"; head -5 "$work/out"; }
expect 0 "lowering with reasons at a real size" "$hostir" lower tests/programs/tp_mlp.hir --size B=8 --size S=2048 --size H=2400 --size F=4800 --mesh tp=4 --explain %g
says "    not all_gather over {tp}, then local: " "explain shows the plan that a reshard lost to"
expect 0 "lowering with the time of each pass" "$hostir" lower tests/programs/simple_add.hir --time-passes
says "each reshard one kernel or one collective" "every pass has its time"
expect 0 "lowering with the text after one pass" "$hostir" lower tests/programs/simple_add.hir --print-after steps
says "===== after steps =====" "the text after a pass is printed"
expect 0 "lowering an alias of a transpose" "$hostir" lower tests/scripts/regress/alias_of_a_transpose.hir @transposed
says "launch @mul_transpose_add ro(%w)" "a kernel that moves elements does not write what it reads"
expect 0 "lowering an alias of a pointwise chain" "$hostir" lower tests/scripts/regress/alias_of_a_transpose.hir @place_by_place
says " rw(%w)" "a pointwise kernel updates its parameter"
expect 0 "lowering with the text of the kernels" "$hostir" lower tests/programs/simple_add.hir --print-kernels
says "===== kernel @" "whose kernel it is is named"
says "__global__ void" "generated CUDA C++ is printed"
# NVRTC once refused the fold of register 32, whose name was the dtype f32.
"$hostir" lower tests/scripts/passes/loops.hir @halved_grad --print-kernels >"$work/kernels.txt"
expect 1 "no variable of a kernel has the name of a dtype" grep -E '^ *(const )?(auto|float|double|int|[iu]64t) [fiu](1|8|16|32|64)\b' "$work/kernels.txt"
expect 64 "lowering for a machine that is unknown" "$hostir" lower tests/programs/simple_add.hir --machine nope
"$hostir" fmt tests/programs/tp_mlp.hir >"$work/canonical.hir"
expect 0 "what fmt prints is canonical" "$hostir" fmt --check "$work/canonical.hir"

# Two logs: values that were not compared are never reported as equal, and differences are reported
# as sentences.
"$hostir" run "${add[@]}" --trace "$work/none.db" --trace-values none >/dev/null
expect 1 "one side without values" "$hostir" diff "$work/a.db" "$work/none.db"
says "The log of B holds no values of writes" "the side without values is named"
expect 0 "both sides without values" "$hostir" diff "$work/none.db" "$work/none.db"
says "Neither log holds values of writes" "values that were not compared are not called equal"
"$hostir" run "${add[@]}" --trace "$work/reference.db" --kernels reference >/dev/null
expect 0 "other kernels" "$hostir" diff "$work/a.db" "$work/reference.db"
says "note: Kernels: fast in A, reference in B" "other kernels are said first"
for ranks in 2 3; do
  "$hostir" run tests/programs/tp_mlp.hir --example-inputs --mesh tp=$ranks --trace "$work/$ranks.db" >/dev/null 2>&1
done
expect 0 "no NaN is born where a rooted reduce writes nothing" "$hostir" run \
  tests/scripts/regress/output_of_a_rooted_reduce_elsewhere.hir h --input 'p=full(1)' --nan error
for factor in 1 3; do
  printf 'fusion @f(%%x: tensor<2xf32>) -> (%%y: tensor<2xf32>) {\n  %%c = constant {value = %se38} : tensor<2xf32>\n  %%y = mul %%x, %%c\n  return %%y\n}\n' $factor >"$work/infinite.hir"
  "$hostir" run "$work/infinite.hir" --input 'x=2xf32=[2 5]' --trace "$work/infinite_$factor.db" --trace-values data=1048576 >/dev/null 2>&1
done
expect 1 "a number is not near an infinity" "$hostir" diff "$work/infinite_1.db" "$work/infinite_3.db" --rtol 0.9
expect 1 "other meshes" "$hostir" diff "$work/2.db" "$work/3.db"
says "note: Mesh:" "other meshes are said first"
says "sequence number 0: all_reduce sum of" "a meeting is a sentence"

# Every command shown in a program of the gallery.
while read -r line; do
  case $line in *" debug "*) line="$line -x /dev/null" ;; esac
  eval "'$hostir' ${line#*hostir }" >"$work/out" 2>&1
  status=$?
  if [ $status = 0 ] || [ $status = 4 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $line: exit status $status"; head -5 "$work/out"
  fi
done < <(grep -hE '^//   hostir ' tests/programs/*.hir)
for ranks in 1 2 3 4; do
  expect 0 "check-unsharded on $ranks" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=$ranks --check-unsharded
  says "same as unsharded" "check-unsharded on $ranks compares"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
