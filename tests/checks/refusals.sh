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

add=tests/programs/simple_add.hir
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
refuses 3 'error[archive_member]: tests/unit/import/pt/state.pt has no tensor "w"; it has model.w, model.turned, model.column, steps.0' \
  run $add --input a=@tests/unit/import/pt/state.pt#w
refuses 64 'error[no_script]: no scripts found: their names end in .hir, .mlir or .hlo' test tests/checks
refuses 3 'error[log_missing]: no such file: "W/none.db"' trace info "$work/none.db"
refuses 3 'error[log_not_a_log]: "README.md" is not a log (no SQLite file)' replay README.md
refuses 3 'error[log_io]: cannot open "W/no/y.db.new": unable to open database file' \
  run $add --example-inputs --trace "$work/no/y.db"

# Pipelines.
stages=tests/programs/pipeline_stages.hir
refuses 64 'error[pipeline_c1]: 2000000 micro-batches: a pipeline has at least 1 and at most 1048576' \
  pipeline $stages --stages first,last --data x,target --micro-batches 2000000
refuses 64 'error[pipeline_c1]: 1f1b has one stage on a rank, not 2; use interleaved or zb-h1, or 4 ranks' \
  pipeline $stages --stages first,middle,middle,last --data x,target --ranks 2
refuses 64 'error[pipeline_c2]: 2 stages on 3 ranks: every rank has equally many stages, so the number of ranks must divide 2' \
  pipeline $stages --stages first,last --data x,target --ranks 3
refuses 64 'error[pipeline_c2]: stage 1 is to be @nothing, which is not a fusion of the program; its fusions are @first, @middle, @last' \
  pipeline $stages --stages first,nothing --data x
refuses 64 'error[pipeline_c2]: data %y is not a parameter of any stage, or only one that the stage before gives; parameters that can be given are %x, %w, %b, %target' \
  pipeline $stages --stages first,last --data x,y
refuses 2 "$stages:9:15: error[pipeline_c3]: %x of @first (stage1) is 4x6xf32, the stage before makes 4x8xf32" \
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

# Plans.
refuses 64 'tests/programs/two_stages.hir:14:8: error[plan_meshes]: @mlp uses 2 meshes, @s0 and @s1 among them: plan chooses one mesh for a whole fusion; plan the part on each mesh as a fusion of its own' \
  plan tests/programs/two_stages.hir --ranks 4

echo "$passed passed, $failed failed"
[ $failed = 0 ]
