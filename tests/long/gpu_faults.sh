#!/bin/bash
# Faults in runs with several processes, on one GPU or with a GPU each: each run ends in time, names the rank and instruction
# at fault, and leaves the GPUs clean. Usage: gpu_faults.sh HOSTIR LOG_DIR [RANKS [ONLY]]. Prints `name|ok or FAIL|remark` for every
# fault, or for those with ONLY in their name.
set -u
hostir=$1
logs=$2
ranks=${3:-2}
only=${4:-}
timeout_s=6

program() { # program RANKS BODY
  printf 'mesh @m = <r=%s>\nkernel @root(%%x: tensor<1024xf32>) -> (%%y: tensor<1024xf32>) {\n  %%n = neg %%x\n  %%y = log %%n\n  return %%y\n}\nkernel @largest(%%x: tensor<1024xf32>) -> (%%n: tensor<1xi64>) {\n  %%a = abs %%x\n  %%m = reduce_max %%a {dims = [0]}\n  %%w = reshape %%m : tensor<1xf32>\n  %%n = cast %%w {to = i64}\n  return %%n\n}\nhost @f on @m (inout %%a: tensor<1024xf32>) -> (%%a: tensor<1024xf32>) {\n  %%c = comm over {r}\n  %%s = stream "s"\n  all_reduce sum %%c rw(%%a) on %%s\n%s  return %%a\n}\n' "$1" "$2"
}
good=$'  %e = all_reduce sum %c rw(%a) on %s\n  wait %e on host\n'

# fault NAME EXPECTED_STATUS PATTERN BODY [COMMAND run in parallel with the launcher's pid]
fault() {
  local name=$1 status=$2 pattern=$3 body=$4 beside=${5:-}
  [[ $name == *$only* ]] || return
  local text="$logs/fault_${name//[^a-z]/_}.hir" log="$logs/fault_${name//[^a-z]/_}.txt" begin=$SECONDS got
  program "$ranks" "$body" > "$text"
  timeout 90 "$hostir" launch -n "$ranks" --grace 15 run "$text" --backend cuda --timeout $timeout_s --example-inputs ${run_options:-} \
    --trace "${text%.hir}.db" > "$log" 2>&1 &
  local pid=$!
  [ -n "$beside" ] && $beside $pid
  wait $pid
  got=$?
  local took=$((SECONDS - begin)) opened=no
  "$hostir" trace info "${text%.hir}.db" > /dev/null 2>&1 && opened=yes
  local said
  said=$(grep -m1 -E "$pattern" "$log" | cut -c1-150)
  if [ $got = "$status" ] && [ -n "$said" ] && [ $took -le $((timeout_s + 45)) ] && [ $opened = yes ]
  then echo "fault: $name|ok|$took s; $said"
  else echo "fault: $name|FAIL|status $got (expected $status) after $took s, log opens: $opened; $(grep -v '^ *$' "$log" | head -3 | tr '\n' ' ' | cut -c1-200)"; fi
}
kill_second() { # the process of rank 1, once it has had time to connect
  sleep 9
  local child
  child=$(pgrep -P "$1" | head -1)          # timeout's child is the launcher
  child=$(pgrep -P "$child" | sed -n 2p)
  kill -KILL "$child"
}

fault "none" 0 'a' "$good"
fault "a rank that never calls" 4 'rank 1 never came to all_reduce' $'  where coord(r) != 1 {\n    %e = all_reduce sum %c rw(%a) on %s\n    wait %e on host\n  }\n'
fault "operations that differ" 4 'all_reduce sum.*all_reduce max|all_reduce max.*all_reduce sum|collective_mismatch' \
  $'  where coord(r) != 1 {\n    %e = all_reduce sum %c rw(%a) on %s\n    wait %e on host\n  } else {\n    %p = alloc on %s : tensor<512xf32>\n    %e = broadcast %c root(0) rw(%p) on %s\n    wait %e on host\n    free %p on %s\n  }\n'
loop=$'  for %i in 0..2000000 {\n    %e = all_reduce sum %c rw(%a) on %s\n    wait %e on host\n  }\n'
fault "a rank that is killed" 4 'process 1 with rank 1 is gone|process 1 .* was ended by signal 9' "$loop" kill_second
fault "out of memory" 3 'max_memory|no .* bytes left|more than the' $'  %big = alloc on %s : tensor<1000000000000xf32>\n  free %big on %s\n'
run_options="--nan error" fault "a NaN" 3 'nan_born.*rank 1: @f.* makes the first NaN' \
  $'  where coord(r) == 1 {\n    %t = alloc on %s : tensor<1024xf32>\n    %e = launch @root ro(%a) wo(%t) on %s\n    wait %e on host\n    free %t on %s\n  }\n'
fault "an assertion about a value on the device" 3 'rank 1: @f.* assert failed: %n < 0 does not hold, where %n is' \
  $'  where coord(r) == 1 {\n    %t = alloc on %s : tensor<1xi64>\n    %e = launch @largest ro(%a) wo(%t) on %s\n    wait %e on host\n    %n = read %t[0]\n    assert %n < 0, "an index is too large"\n    free %t on %s\n  }\n'"$good"
fault "none again" 0 'a' "$good"
