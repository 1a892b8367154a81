#!/usr/bin/env bash
# Ends a run with SIGKILL at random moments, a third of them while its log is being created or closed. The log must
# open, report that it was cut, and replay up to the cut. Every fourth run is ended with SIGTERM instead, and its log
# must be closed. A debugger that a signal ends must leave no temporary log. `killed_logs.sh HOSTIR [MOMENTS=50] [SEED=1]`. Prints how many events the logs kept.
set -u
cd "$(dirname "$0")/../.."
hostir=$1
moments=${2:-50}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
bad() { failed=$((failed + 1)); echo "FAILED: $1"; }

cat >"$work/long.hir" <<'E2'
mesh @m = <x=4>

kernel @quarter(%v: tensor<?Nxf32>) -> (%r: tensor<?Nxf32>) {
  %h = constant {value = 0.25} : tensor<?Nxf32>
  %r = mul %v, %h
  return %r
}

host @f on @m (%x: shard<64xf32, @m, [{}]>) -> (%y: shard<64xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "main"
  %a = alloc on %s : shard<64xf32, @m, [{}], unreduced={x}>
  %y = alloc on %s : shard<64xf32, @m, [{}]>
  launch @quarter ro(%x) wo(%y) on %s
  for %i in 0..4000 {
    launch @quarter ro(%y) wo(%a) on %s
    all_reduce sum %c ro(%a) wo(%y) on %s
  }
  free %a on %s
  return %y
}
E2
values=(none digest stats 'data=*')
run() { # LOG VALUES
  exec "$hostir" run "$work/long.hir" --input 'x=normal(1, 64xf32)' --quiet --trace "$1" --trace-values "$2"
}
begin=$(date +%s%N)
(run "$work/whole.db" digest) || bad "the whole run"
whole_ms=$((($(date +%s%N) - begin) / 1000000))
replayed_events() { grep -oE '[0-9]+ events' <<<"$1" | head -n 1 | grep -oE '[0-9]+'; }
whole_events=$(replayed_events "$("$hostir" replay "$work/whole.db" 2>&1)")

# A session that waits for a command leaves nothing behind, whatever ends it.
mkdir "$work/temporary"
for signal in HUP TERM; do  # a background job of bash ignores SIGINT
  # Under nohup, the program ignores SIGHUP as it should.
  [ $signal = HUP ] && [ $((0x$(awk '/^SigIgn/ {print $2}' /proc/self/status) & 1)) = 1 ] && continue
  mkfifo "$work/commands.$signal"
  TMPDIR=$work/temporary "$hostir" debug "$work/long.hir" --input 'x=normal(1, 64xf32)' <"$work/commands.$signal" \
    >"$work/session" 2>&1 &
  process=$!
  exec 3>"$work/commands.$signal"
  printf 'step\ninfo history\n' >&3
  for ((i = 0; i < 300; ++i)); do
    [ "$(wc -l <"$work/session")" -ge 6 ] && break
    sleep 0.1
  done
  files=$(ls "$work/temporary" | wc -l)
  kill -$signal $process
  wait $process 2>/dev/null
  exec 3>&-
  left=$(ls "$work/temporary" | wc -l)
  if [ "$files" != 0 ] && [ "$left" = 0 ]; then passed=$((passed + 1)); else
    bad "SIG$signal: $files files of the session's log, $left left"; cat "$work/session"
  fi
done

empty=0
most=0
for ((i = 0; i < moments; ++i)); do
  log=$work/$i.db
  (run "$log" "${values[i % 4]}") >/dev/null 2>&1 &
  process=$!
  ms=$((RANDOM * whole_ms / 32768))
  case $((i % 6)) in
    1) ms=$((RANDOM * 40 / 32768)) ;;
    3) ms=$((whole_ms - whole_ms / 10 + RANDOM * whole_ms / 5 / 32768)) ;;
  esac
  signal=KILL; [ $((i % 4)) = 2 ] && signal=TERM
  sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
  kill -$signal $process 2>/dev/null
  wait $process 2>/dev/null
  killed=$?
  if [ ! -s "$log" ]; then passed=$((passed + 1)); empty=$((empty + 1)); continue; fi  # killed before the log existed
  info=$("$hostir" trace info "$log" 2>&1); status=$?
  if [ $status -ne 0 ]; then bad "moment $i ($ms ms): info"; tail -n 3 <<<"$info"; continue; fi
  replay=$("$hostir" replay "$log" 2>&1); status=$?
  events=$(replayed_events "$replay")
  if [ $status -ne 0 ]; then bad "moment $i ($ms ms): replay"; tail -n 3 <<<"$replay"; continue; fi
  # Before the run begins there is no signal handler, and after its end there is nothing to stop.
  if [ $signal = TERM ] && [ "${events:-0}" != 0 ] && grep -qi 'cut' <<<"$info"; then
    bad "moment $i ($ms ms): SIGTERM cut the log (exit status $killed)"; continue
  fi
  # If killed after the last page was written, the log is complete.
  if [ $killed -eq 137 ] && ! grep -qi 'cut' <<<"$info" && [ "${events:-0}" != "$whole_events" ]; then
    bad "moment $i ($ms ms): not said to be cut, ${events:-0} of $whole_events events"; continue
  fi
  [ "${events:-0}" = 0 ] && empty=$((empty + 1))
  [ "${events:-0}" -gt $most ] && most=$events
  passed=$((passed + 1))
done
echo "$moments moments of a run of $whole_ms ms: $empty logs without events, most kept $most"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
