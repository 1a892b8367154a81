#!/usr/bin/env bash
# Runs every program of tests/programs with a log, including those with faults, and replays it: all events must recur.
# The same for logs of real GPUs (tests/truth/gpu), and for debugger sessions with freezes, focus steps, steps back and a
# branch. `replay_all.sh HOSTIR`
set -u
cd "$(dirname "$0")/../.."
hostir=$1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0
failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED: $1"; }

# logged NAME STATUS ARGUMENTS...: checks that `hostir run` ends with STATUS and that its log replays.
logged() {
  local name=$1 wanted=$2; shift 2
  local out status
  out=$("$hostir" run "$@" --quiet --trace "$logs/$name.db" 2>&1); status=$?
  if [ $status -ne "$wanted" ]; then bad "$name: exit status $status, not $wanted"; tail -n 3 <<<"$out"; return; fi
  replayed "$name"
}
replayed() {
  local out
  if out=$("$hostir" replay "$logs/$1.db" 2>&1); then good; else bad "$1: replay"; tail -n 5 <<<"$out"; fi
}

mlp() { # the five inputs of an MLP of sizes B S H F and a dtype
  inputs=(--input "x=normal(1, $1x$2x$3x$5)" --input "w1=normal(2, $4x$3x$5)" --input "b1=normal(3, $4x$5)"
    --input "w2=normal(4, $3x$4x$5)" --input "b2=normal(5, $3x$5)")
}
p=tests/programs
for ranks in 1 3 8; do
  mlp 2 6 24 48 f32
  logged tp_mlp_$ranks 0 $p/tp_mlp.hir --mesh tp=$ranks "${inputs[@]}"
  logged sp_mlp_$ranks 0 $p/sp_mlp.hir --mesh tp=$ranks "${inputs[@]}"
  mlp 2 6 24 48 bf16
  logged tp_mlp_bf16_$ranks 0 $p/tp_mlp_bf16.hir --mesh tp=$ranks "${inputs[@]}"
  logged sp_toy_$ranks 0 $p/sp_toy.hir --ranks $ranks --input 'x=normal(1, 2x7x10xf32)' --input 'w1=normal(2, 32x10xf32)' \
    --input 'b1=normal(3, 32xf32)' --input 'w2=normal(4, 5x32xf32)' --input 'b2=normal(5, 5xf32)'
done

# inputs_of PROGRAM FUNCTION: a normally distributed input for every declared parameter.
inputs_of() {
  inputs=()
  local line seed=0
  while read -r line; do
    seed=$((seed + 1))
    inputs+=(--input "${line%% *}=normal($seed, ${line#* })")
  done < <(sed -n "/^\(fusion\|host\) @$2\b/,/{\$/p" "$1" | tr '\n' ' ' | sed 's/->.*//' |
    grep -oE '%[a-z0-9_]+: (inout )?(tensor|shard)<[^,>]+' | sed -E 's/%([a-z0-9_]+): (inout )?(tensor|shard)<(.*)/\1 \4/; s/[?]M/6/g; s/[?]K/10/g; s/[?]N/8/g; s/[?][A-Z]/12/g')
}
declared() { # STATUS PROGRAM FUNCTION [ARGUMENTS...]
  local status=$1 program=$2 function=$3; shift 3
  inputs_of $p/"$program".hir "$function"
  logged "${program}_$function" "$status" $p/"$program".hir "$function" "$@" "${inputs[@]}"
}
declared 0 simple_add simple_add
declared 0 matmul_rowcol matmul
declared 0 matmul_rowcol by_hand
declared 0 nvfuser_mlp mlp
declared 0 nvfuser_mlp half_bias
declared 0 dp_gradient step
declared 0 pipeline_by_hand whole
declared 0 pipeline_by_hand pipeline
declared 4 deadlock forgotten
declared 4 deadlock crossed
declared 4 mismatch crossed
declared 4 mismatch short

# session NAME ARGUMENTS...: runs the commands on standard input in the debugger, with a log. The log is replayed, and
# opened in the debugger, where going to its end must take the same decisions, including edits.
session() {
  local name=$1; shift
  printf 'rank 0\nrank all\ninfo ranks\ninfo memory\n' >"$logs/end.txt"
  cat - "$logs/end.txt" >"$logs/$name.txt"
  "$hostir" debug "$@" -x "$logs/$name.txt" --trace "$logs/$name.db" >"$logs/$name.out" 2>&1
  if grep -q '^error' "$logs/$name.out"; then bad "$name"; grep '^error' "$logs/$name.out"; return; fi
  replayed "$name"
  { echo 'step 2'; echo 'goto end'; cat "$logs/end.txt"; } >"$logs/again.txt"
  "$hostir" debug "$logs/$name.db" -x "$logs/again.txt" >"$logs/again.out" 2>&1
  local at; at=$(grep -n 'info ranks' "$logs/$name.out" | tail -n 1 | cut -d: -f1)
  if diff <(tail -n "+$at" "$logs/$name.out") <(sed -n '/info ranks/,$p' "$logs/again.out"); then good
  else bad "$name: its log, opened again, does not end as it did"; fi
}
inputs_of $p/pipeline_by_hand.hir pipeline
session frozen $p/pipeline_by_hand.hir pipeline "${inputs[@]}" <<'S'
freeze 1
step 20
rank 0
next 5
thaw 1
rank 1
step 7
rank all
continue
S
mlp 2 6 24 48 f32
session branch $p/tp_mlp.hir --mesh tp=4 "${inputs[@]}" <<'S'
until all_reduce
reverse-step 3
set %x[0, 0, 0] = 7 rank 2
rank 2
step 3
rank all
freeze 0
step 10
thaw 0
continue
S
session back_and_forth $p/tp_mlp.hir --mesh tp=3 "${inputs[@]}" <<'S'
continue
goto 5
rank 2
step 4
rank all
reverse-continue
continue
S
# Logs of real GPUs.
for log in tests/truth/gpu/*.db.xz; do
  name=$(basename "$log" .db.xz)
  python3 -c 'import lzma, sys; open(sys.argv[2], "wb").write(lzma.open(sys.argv[1]).read())' "$log" "$logs/$name.db"
  replayed "$name"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
