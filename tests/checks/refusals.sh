#!/usr/bin/env bash
# What commands refuse: one line per error id, with the exit status, the place if there is one, and the whole sentence.
# Ids of texts have their scripts under tests/scripts/negative; source_rules.py finds ids without a test.
set -u
cd "$(dirname "$0")/../.."
hostir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# refuses STATUS LINE COMMAND...: checks the exit status, and that the output has the whole line. W stands for the temporary folder.
refuses() {
  local status=$1 line=${2//W\//$work/}; shift 2
  "$hostir" "$@" >"$work/out" 2>&1 </dev/null
  local got=$?
  if [ $got = "$status" ] && grep -qxF -- "$line" "$work/out"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: hostir $*: exit status $got, expected $status and \"$line\""; head -5 "$work/out"
  fi
}

# session_refuses LINE PATH OPTIONS COMMAND...: opens a session on the path; the answer to the last command is the line.
# `tensor VALUE` reads a tensor.
session_refuses() {
  local line=$1 path=$2 options=$3 command; shift 3
  {
    echo "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"open\",\"params\":{\"path\":\"$path\",\"options\":$options}}"
    for command; do
      case $command in
        tensor\ *) echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tensor\",\"params\":{\"session\":1,\"value\":\"${command#tensor }\"}}" ;;
        *) echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"command\",\"params\":{\"session\":1,\"command\":\"$command\"}}" ;;
      esac
    done
  } | "$hostir" serve >"$work/out" 2>&1
  if tail -1 "$work/out" | grep -qF -- "\"text\":\"${line//\"/\\\"}\\n"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $path: $*: expected \"$line\""; tail -1 "$work/out" | cut -c 1-600
  fi
}

add=tests/programs/simple_add.hir
mlp=tests/programs/tp_mlp.hir
made='{"example_inputs":true}'
a='a=4xf32=[1 2 3 4]'
refuses 64 'error[input_missing]: no input for %b : 4xf32' run $add --input "$a"
refuses 3 'error[input_dtype]: input %b is i32, but the parameter is f32' run $add --input "$a" --input 'b=4xi32=[1 2 3 4]'
refuses 64 'error[input_twice]: input %a is given twice' run $add --input "$a" --input "$a"
refuses 64 'error[input_unknown]: @simple_add has no parameter %z; it has %a, %b' run $add --input 'z=4xf32=0'
refuses 64 'error[no_function]: the file has no function @nothing; it has @simple_add' run $add @nothing

cat >"$work/sizes.hir" <<'TEXT'
fusion @sizes(%x: tensor<(?N * ?M)xf32>) -> (%y: tensor<(?N * ?M)xf32>) {
  %y = neg %x
  return %y
}
TEXT
refuses 64 'error[input_size]: dimension 0 of %x is ?N*?M, the input has 6, and ?M is not known; bind it with --size M=8' \
  run "$work/sizes.hir" --input 'x=6xf32=0'

# As many errors as a file may have, the last of them in the lexer.
for i in $(seq 250); do echo '"open'; done >"$work/open_strings.hir"
refuses 2 'W/open_strings.hir:200:1: error[syntax_c3]: string is not closed on its line' verify "$work/open_strings.hir"

# Files.
for file in x.npy x.npz x.safetensors x.pt; do echo "hello" >"$work/$file"; done
refuses 3 'error[file_open]: W/none.npy: No such file or directory' run $add --input "a=@$work/none.npy"
refuses 3 'error[npy_format]: W/x.npy: not a readable .npy: the magic number is missing' run $add --input "a=@$work/x.npy"
refuses 3 'error[npz_format]: W/x.npz: not a readable zip archive: Not a zip archive' run $add --input "a=@$work/x.npz#a"
refuses 3 'error[safetensors_format]: W/x.safetensors: not a readable .safetensors: it is shorter than 8 bytes' \
  run $add --input "a=@$work/x.safetensors#a"
for ending in npz safetensors; do
  "$hostir" run $add --example-inputs --output "@$work/all.$ending" -q >/dev/null 2>&1
done
refuses 3 'error[npz_member]: W/all.npz has no member "z"; it has y' run $add --input "a=@$work/all.npz#z"
refuses 3 'error[archive_member]: W/all.safetensors has no tensor "z"; it has y' run $add --input "a=@$work/all.safetensors#z"
refuses 3 'error[file_write]: /dev/full: No space left on device' run $add --example-inputs --output y=@/dev/full
cat >"$work/two.hir" <<'TEXT'
fusion @two(%x: tensor<2xf32>) -> (%p: tensor<2xf32>, %q: tensor<2xf32>) {
  %p = neg %x
  %q = exp %x
  return %p, %q
}
TEXT
"$hostir" run "$work/two.hir" --input x=2xf32=0 --output "@$work/two.npz" -q >/dev/null 2>&1
refuses 3 'error[archive_member]: W/two.npz has 2 tensors: name one, as in two.npz#p' run $add --input "a=@$work/two.npz"
refuses 3 'error[archive_member]: tests/unit/io/pt/state.pt has no tensor "w"; it has model.w, model.turned, model.column, steps.0' \
  run $add --input a=@tests/unit/io/pt/state.pt#w
refuses 64 'error[no_script]: no scripts found: their names end in .hir, .mlir or .hlo' test tests/checks
refuses 3 'error[log_missing]: no such file: "W/none.db"' trace info "$work/none.db"
refuses 3 'error[log_not_a_log]: "README.md" is not a log (no SQLite file)' replay README.md
refuses 3 'error[log_io]: cannot open "W/no/y.db.new": unable to open database file' \
  run $add --example-inputs --trace "$work/no/y.db"

# Sessions.
session_refuses 'error[open_options]: option "ranks" is "x"; expected a number of ranks' $add '{"ranks":"x"}'
session_refuses 'error[focus]: the focus is one rank: focus 3' $mlp "$made" 'focus 0,1'
session_refuses 'error[no_place]: there is no line 999; simple_add.host.hir has 24 lines' $add "$made" 'list 999'
session_refuses 'error[not_live]: %y is not live on any rank here' $add "$made" 'info layout %y'
session_refuses 'error[not_written]: %y_product has not been written yet' \
  $mlp "$made" step step step step step step 'tensor %y_product'
session_refuses 'error[not_held]: rank 0 holds %g[0:1, 0:6, 0:5], not the element [99, 0, 0]' $mlp "$made" step step step step 'inside %g[99,0,0]'
session_refuses 'error[one_tensor]: "%x rank all" names 2 tensors, one per rank; name one rank, or `global`' \
  $mlp "$made" 'tensor %x rank all'
session_refuses 'error[slice_range]: 9:10 is outside of dimension 0, which has 4 elements' $add "$made" continue 'print %y[9]'
session_refuses 'error[slice_rank]: 2 indices for a value of 1 dimensions' $add "$made" continue 'print %y[1,2]'
session_refuses 'error[no_values]: this run computes no values, only times, memory and collectives (--shapes-only); run on the sim backend for values' \
  $add '{"example_inputs":true,"backend":"shapes"}' continue 'print %y'
session_refuses 'error[what_if]: nothing hangs here and no race was found: whatif works at a deadlock, a mismatch or a race (continue, or until fault)' \
  $add "$made" whatif
session_refuses 'error[not_a_program]: "README.md" is neither a program (a text, `.hir`) nor a log (an SQLite file); `hostir open` reads dumps and profiles' README.md '{}'

# Runs and checks.
cat >"$work/loop.mlir" <<'TEXT'
module @f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.while(%x = %arg0) : tensor<f32>
     cond {
      %c = stablehlo.constant dense<1.000000e+03> : tensor<f32>
      %1 = stablehlo.compare  LT, %x, %c,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %1 = stablehlo.add %x, %c : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
    return %0 : tensor<f32>
  }
}
TEXT
can="these can: overlapped, combined, streams, shared_reductions, needless_reshards, gather_first, scale_after_sum, early_reshards, regather, prefetch"
refuses 64 "error[lower_c4]: \"steps\" cannot be left out: a host function can issue only single kernels and collectives; $can" \
  lower tests/programs/simple_add.hir --skip steps
refuses 64 "error[lower_c4]: \"stepps\" cannot be left out: no pass has this name; $can" lower tests/programs/simple_add.hir --skip stepps
refuses 3 'error[unfinished_loop]: a loop of the imported program does not end within the iterations it was unrolled to, so the results are wrong: %unfinished_loops is true. Unroll more with --loop-passes, or run the text of `lower(..).compile().as_text()`, where loops are not unrolled' \
  run "$work/loop.mlir" --input 0=f32=743
refuses 3 'line 3: the end of a loop depends on data and has no bound: 128 iterations are unrolled; if these are not enough, the last result, %unfinished_loops, is true' \
  run "$work/loop.mlir" --input 0=f32=743
refuses 64 'error[check_fusion]: @pipeline is a host function; only a fusion has an unsharded form (a script may say: run @pipeline against @fusion)' \
  run tests/programs/pipeline_by_hand.hir @pipeline --example-inputs --check-unsharded
refuses 64 'error[usage]: @forgotten is a host function: its shardings are written, not chosen' plan tests/programs/deadlock.hir --ranks 2
refuses 3 'tests/programs/simple_add.hir:6:3: error[max_steps]: rank 0 is still at @simple_add.host#2 alloc after 1 steps' run $add --example-inputs --max-steps 1
cat >"$work/point.hir" <<'TEXT'
mesh @m = <x=2>
kernel @k() -> (%v: tensor<4xf32>) {
  %v = constant {value = 1} : tensor<4xf32>
  return %v
}
host @f on @m () -> (%y: tensor<4xf32>) {
  %s = stream "main"
  %y = alloc on %s : tensor<4xf32>
  where coord(x) == 0 {
    launch @k wo(%y) on %s
  } else {
    launch @k wo(%y) on %s
  }
  return %y
}
test "one branch" {
  run @f()
  expect_value %y after @f#4 rank 1 == "4xf32=1"
}
TEXT
# error[point]: a test's failures are printed without their ids.
refuses 1 '  W/point.hir:18: %y after @f#4 on rank 1: rank 1 never executed @f#4' test "$work/point.hir"

# Logs.
"$hostir" run $add --example-inputs --trace "$work/add.db" -q >/dev/null 2>&1
"$hostir" run $mlp --example-inputs --trace "$work/mlp.db" -q >/dev/null 2>&1
refuses 3 'error[export_write]: cannot write the export' trace export "$work/add.db" -o /dev/full
altered() {  # altered NAME SQL: a copy of the log on which the statement was executed
  python3 -c 'import shutil, sqlite3, sys
shutil.copy(sys.argv[1], sys.argv[2])
with sqlite3.connect(sys.argv[2]) as log: log.execute(sys.argv[3])' "$work/add.db" "$work/$1" "$2"
}
refuses 2 'error[not_a_log]: "README.md" is not a log: `hostir run FILE --trace RUN.db` writes one' diff "$work/add.db" README.md
refuses 2 'error[diff_times]: W/add.db and W/mlp.db have no kernel or collective in common' diff "$work/add.db" "$work/mlp.db" --times
refuses 3 'error[log_no_data]: W/add.db: the log has 1 writes of %y on rank 0, none with contents; record the run with --trace-values data=y' \
  trace export "$work/add.db" --value %y --rank 0 -o "$work/y.npy"
refuses 64 'error[event_filter]: "rank=x": write rank=3, rank=0,2 or rank=2..5' trace events "$work/add.db" 'rank=x'
refuses 64 'error[trace_format]: unknown format "perfetto", expected table, csv or json' trace sql "$work/add.db" 'select 1' --format perfetto
refuses 3 'error[log_sql]: an empty statement' trace sql "$work/add.db" ';'
altered empty.db 'DELETE FROM run'
refuses 3 'error[log_empty]: the log was cut before its run was described' trace info "$work/empty.db"
altered machine.db "UPDATE run SET machine = 'nix', machine_text = ''"
refuses 3 'error[replay_program]: the log does not describe the machine "nix"' replay "$work/machine.db"
session_refuses 'error[no_contents]: the contents of %y are not known: the log cannot be run again' "$work/machine.db" '{}' 'print %y'
session_refuses 'error[no_inside]: numbers inside an instruction need the buffers of a run, and this is only a log' \
  "$work/machine.db" '{}' 'inside %y[0]'
altered input.db "UPDATE input SET data = x'00'"
refuses 3 'error[log_damaged]: compressed contents are damaged' replay "$work/input.db"
altered cut.db 'UPDATE input SET data = NULL'
refuses 3 'error[log_no_input]: the log does not hold the contents of input %a' replay "$work/cut.db"
altered other.db "UPDATE input SET kind = 'generator', expression = 'full(9)', data = NULL"
refuses 3 'error[replay_input]: input %a has changed: full(9) now gives other data' replay "$work/other.db"
mkdir "$work/set" && cp "$work/add.db" "$work/set/a.db" && cp "$work/mlp.db" "$work/set/b.db"
refuses 3 'error[log_set_differs]: "W/set/b.db" is not of the same run as the files before it: 19 rows of the table "instruction" differ' trace info "$work/set"
altered set/b.db 'PRAGMA user_version = 1'
refuses 3 'error[log_set_version]: "W/set/b.db" has schema version 1; a set needs version 6 or later' trace info "$work/set"

# Several processes.
refuses 64 'error[launcher]: the backend null runs all ranks in one process, so each of the 2 that `hostir launch` started would repeat the whole run: leave out `launch -n 2`, or use --backend cuda' \
  launch -n 2 run tests/programs/deadlock.hir --backend null
# Files of other tools.
dump() { printf "$2" >"$work/$1"; }
truth=tests/truth/flight_recorder
dump rank_0.json '{"a":'
refuses 2 'error[json_format]: the file ends too early (byte 5)' open "$work/rank_0.json"
dump rank_0.json '{"a":x}'
refuses 2 'error[json_format]: byte 6: not valid JSON' open "$work/rank_0.json"
dump rank_0.json '{"a":1}'
refuses 2 'error[import_format]: W/rank_0.json: holds plain data, but no dump of a known recorder' open "$work/rank_0.json"
dump ras.txt 'NCCL version 2.28.7 compiled with CUDA 13.0\n\nJob summary\n==========='
refuses 2 'error[ras_format]: the report has no table of communicators' open "$work/ras.txt"
dump rank_0.pkl '\x80\x02c'
refuses 2 'error[pickle_opcode]: byte 2: opcode GLOBAL (0x63) is not plain data; Flight Recorder dumps and tensor files do not contain it, so the file is rejected' \
  open "$work/rank_0.pkl"
dump rank_0.pkl '\x80\x02N'
refuses 2 'error[pickle_format]: the file ends too early (byte 3)' open "$work/rank_0.pkl"
dump rank_0.pkl '\x80\x02]q\x00h\x00a.'
refuses 2 'error[plain_data]: a container contains itself' open "$work/rank_0.pkl"
dump rank_0.gz '\x1f\x8b\x08'
refuses 2 'error[gzip_format]: compressed data: it ends too early: the file is cut off or damaged' open "$work/rank_0.gz"
dump rank_0.clog 'V|2|a'
refuses 2 'error[clog]: clog version 2; version 1 can be read' open "$work/rank_0.clog"
dump rank_0.json '{"schemaVersion":1,"traceEvents":['
refuses 2 'error[kineto_format]: W/rank_0.json: not valid JSON at byte 35' open "$work/rank_0.json"
dump rank_0.ring 'HIRNCCL1'
refuses 2 'error[nccl_ring]: the file ends within its header' open "$work/rank_0.ring"
mkdir "$work/dumps"  # a number at the end of the folder's name would be taken for the rank
dump dumps/trace '{"version":"2.10","entries":[]}'
refuses 2 'error[import_rank]: W/dumps/trace: the file does not say whose rank it is, and its name has no number; name it like trace_3' open "$work/dumps/trace"
mkdir "$work/none"
refuses 2 'error[import_files]: W/none: nothing readable here; supported are Flight Recorder dumps, libhostir_nccl files, torchcomms clog, NCCL Inspector, RAS or NCCL_DEBUG lines, profiles of PyTorch or Nsight Systems' \
  open "$work/none"
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as other: other.execute("CREATE TABLE t (a)")' "$work/rank_0.sqlite"
refuses 2 'error[nsys_format]: W/rank_0.sqlite: is not an export of Nsight Systems; write it with `nsys export --type sqlite`' open "$work/rank_0.sqlite"
refuses 64 'error[no_program]: --program needs dumps: profiles do not record the calls of each rank' \
  open $truth/healthy/kineto_0.json.gz --program "$work/p.hir"
refuses 64 'error[no_repair]: --repaired: the verdict proposes no repair: no rank is at fault: all 13 calls on record completed' \
  open $truth/healthy --repaired "$work/p.hir"
mkdir "$work/same" && cp $truth/healthy/kineto_0.json.gz "$work/same/a.json.gz" && cp $truth/healthy/kineto_0.json.gz "$work/same/b.json.gz"
refuses 2 'error[profile_rank]: W/same/a.json.gz and W/same/b.json.gz are both of rank 0; name one profile for each rank' open "$work/same"
refuses 3 'error[torch_format]: tests/unit/io/pt/missing.pt: not a readable .pt: storage "9" is missing' \
  run $add --example-inputs --input a=@tests/unit/io/pt/missing.pt

# Imported programs: the position is in the module.
moe=tests/truth/jax/moe_shard_map/stablehlo.mlir
for line in "$moe:6:12: error[out_of_bounds]: rank 0: @jit_moe#4 reinterpret of 1024 bytes as 512 bytes; both types must have the same size" \
  '        %1 = stablehlo.reshape %arg2 : (tensor<8x16xf32>) -> tensor<4x2x16xf32>'; do
  refuses 3 "$line" run $moe --mesh ep=2 --example-inputs
done

# Pipelines.
stages=tests/programs/pipeline_stages.hir
refuses 64 'error[pipeline_c1]: 2000000 micro-batches: a pipeline has at least 1 and at most 1048576' \
  pipeline $stages --stages first,last --data x,target --micro-batches 2000000
refuses 64 'error[pipeline_c1]: 1f1b has one stage per rank, not 2; use interleaved or zb-h1, or 4 ranks' \
  pipeline $stages --stages first,middle,middle,last --data x,target --ranks 2
refuses 64 'error[pipeline_c2]: 2 stages on 3 ranks: every rank has equally many stages, so the number of ranks must divide 2' \
  pipeline $stages --stages first,last --data x,target --ranks 3
refuses 64 'error[pipeline_c2]: stage 1 is to be @nothing, which is not a fusion of the program; its fusions are @first, @middle, @last' \
  pipeline $stages --stages first,nothing --data x
refuses 64 'error[pipeline_c2]: data %y: no stage has a parameter of that name, or the previous stage provides it; parameters that can be given are %x, %w, %b, %target' \
  pipeline $stages --stages first,last --data x,y
refuses 2 "$stages:9:15: error[pipeline_c3]: %x of @first (stage1) is 4x6xf32, but the previous stage makes 4x8xf32" \
  pipeline $stages --stages first,first,last --data x,target
refuses 2 "$stages:17:8: error[pipeline_c5]: @middle is the last stage and must return the loss, one floating-point scalar" \
  pipeline $stages --stages first,middle --data x
cat >"$work/stages.hir" <<'TEXT'
mesh @a = <x=2>
mesh @b = <y=2>
mesh @p = <pp=2>
fusion @ids(%x: tensor<4xi32>) -> (%y: tensor<4xi32>) {
  %y = neg %x
  return %y
}
fusion @count(%x: tensor<4xi32>, %w: tensor<4xf32>) -> (%loss: tensor<f32>) {
  %f = cast %x {to = f32}
  %y = mul %f, %w
  %loss = reduce_mean %y {dims = [0]}
  return %loss
}
fusion @on_a(%x: tensor<4xf32> <@a, [{x}]>) -> (%y: tensor<4xf32>) {
  %y = neg %x
  return %y
}
fusion @on_b(%x: tensor<4xf32> <@b, [{y}]>) -> (%loss: tensor<f32>) {
  %loss = reduce_mean %x {dims = [0]}
  return %loss
}
fusion @on_p(%x: tensor<4xf32> <@p, [{pp}]>) -> (%loss: tensor<f32>) {
  %loss = reduce_mean %x {dims = [0]}
  return %loss
}
TEXT
refuses 2 'W/stages.hir:4:8: error[pipeline_c4]: @ids (stage0) has neither activations nor weights of floating-point numbers: there is nothing to differentiate for' \
  pipeline "$work/stages.hir" --stages ids,count --data x
refuses 2 'W/stages.hir:18:8: error[pipeline_c6]: @on_b uses mesh @b, but a value before it is on @a: all stages of a pipeline must be on one mesh' \
  pipeline "$work/stages.hir" --stages on_a,on_b
refuses 2 'error[pipeline_c6]: mesh @p has an axis "pp", which is the pipeline'"'"'s; rename it' pipeline "$work/stages.hir" --stages on_p
tied=tests/programs/pipeline_tied_stages.hir
{ sed '/^test/,$d' $tied; sed -n '/^fusion @middle/,/^}/p' $tied | sed 's/@middle/@other/; s/\[{}, {tp}\]/[{tp}, {}]/'; } >"$work/tied.hir"
refuses 2 "$tied:23:80: error[pipeline_c7]: %targets of @head (stage1) is 4x3xi32, and no weight: all micro-batches would get the same numbers. Name it in --data if each has its own, or in --constants if not" \
  pipeline $tied --stages embed,head --data ids
refuses 2 "$tied:23:14: error[pipeline_c8]: %y is tied, but in @head (stage1) it is no weight: it is a result of the previous stage" \
  pipeline $tied --stages embed,head --data ids,targets --tied y
refuses 2 'error[pipeline_c8]: tied %w is 8x8xf32 cut [{}, {tp}] in @middle (stage1), but 8x8xf32 cut [{tp}, {}] in @other (stage2): write the same shape and sharding in both' \
  pipeline "$work/tied.hir" --stages embed,middle,other,head --data ids,targets --tied w
refuses 64 'error[pipeline_c2]: tied %w is a parameter of stage1 only, but a tied weight is one that several stages have; parameters that can be given are %ids, %table, %w, %v, %targets' \
  pipeline $tied --stages embed,middle,head --data ids,targets --tied w
refuses 64 'error[pipeline_c2]: constant %nothing is not a parameter of any stage; parameters that can be given are %ids, %table, %targets' \
  pipeline $tied --stages embed,head --data ids,targets --constants nothing

# Plans.
refuses 64 'tests/programs/two_stages.hir:14:8: error[plan_meshes]: @mlp uses 2 meshes, @s0 and @s1 among them: plan chooses one mesh for a whole fusion; plan the part on each mesh as a fusion of its own' \
  plan tests/programs/two_stages.hir --ranks 4

# Proofs.
refuses 64 'error[against]: there is no fusion @nothing' \
  verify tests/scripts/passes/against.hir @right --against @nothing
refuses 64 'error[against]: @mm is a kernel; --against takes a fusion, as in @layer' \
  verify tests/scripts/passes/against.hir @right --against @mm
refuses 64 'error[against]: @twice is a host function; --against takes a fusion, as in @layer' \
  verify tests/scripts/passes/against.hir @right --against @twice
refuses 64 'error[usage]: @right needs --against @fusion' verify tests/scripts/passes/against.hir @right
refuses 64 'error[usage]: name the function to prove, as in hostir verify my.hir @mine --against @mlp; the file has the host functions @forgotten, @crossed' \
  verify tests/programs/deadlock.hir --against @layer
refuses 64 'error[usage]: name the function to prove, as in hostir verify my.hir @mine --against @mlp; the file has no host function' \
  verify tests/programs/tp_mlp.hir --against @mlp

echo "$passed passed, $failed failed"
[ $failed = 0 ]
