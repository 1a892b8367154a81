#!/usr/bin/env bash
# The command as a person meets it: help with examples, exit statuses, files in and out.
set -u
cd "$(dirname "$0")/../.."
hostir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect STATUS DESCRIPTION COMMAND...: the exit status; output is kept in $work/out.
expect() {
  local status=$1 what=$2; shift 2
  "$@" >"$work/out" 2>&1
  local got=$?
  if [ $got = "$status" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $what: exit status $got, expected $status"; head -5 "$work/out"
  fi
}
# says TEXT DESCRIPTION: the last output holds the text.
says() {
  if grep -qF -- "$1" "$work/out"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED: $2: no \"$1\" in:"; head -8 "$work/out"
  fi
}

for verb in run lower fmt verify test debug replay diff trace ops machines bench; do
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
expect 0 "expected file" "$hostir" run "${add[@]}" --expect "y=@$work/y.npy"
expect 1 "wrong expectation" "$hostir" run "${add[@]}" --expect "y=4xf32=[6 8 10 13]"
says "first at [3]" "a wrong expectation names the element"
expect 0 "replay" "$hostir" replay "$work/a.db"
expect 0 "diff of equal runs" "$hostir" diff "$work/a.db" "$work/a.db"
expect 64 "a negative count" "$hostir" run "${add[@]}" --schedules -1
huge=100000000000
expect 3 "an input larger than the computer" "$hostir" run tests/programs/tp_mlp.hir --mesh tp=1 \
  --input "x=normal(1, 2x6x${huge}xf32)" --input "w1=normal(2, 48x${huge}xf32)" \
  --input 'b1=normal(3, 48xf32)' --input "w2=normal(4, ${huge}x48xf32)" --input "b2=normal(5, ${huge}xf32)"
says "more than the memory" "the input that does not fit is named"
expect 0 "one statement" "$hostir" trace sql "$work/a.db" 'select 1; -- and a remark'
expect 3 "two statements" "$hostir" trace sql "$work/a.db" 'select 1; select 2'
says "one statement at a time" "the second statement is not left out silently"
expect 2 "bad text" "$hostir" verify tests/scripts/negative/mesh_c2.hir
expect 3 "missing file" "$hostir" run no_such_file.hir
expect 64 "unknown verb" "$hostir" frobnicate
expect 64 "unknown option" "$hostir" run tests/programs/simple_add.hir --frobnicate
expect 64 "unknown axis value" "$hostir" run tests/programs/simple_add.hir --mesh nonsense
expect 4 "deadlock" "$hostir" run tests/programs/deadlock.hir
expect 4 "mismatch" "$hostir" run tests/programs/mismatch.hir
expect 3 "not a log" "$hostir" replay README.md
expect 0 "standard input" sh -c "'$hostir' fmt - < tests/programs/simple_add.hir"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
