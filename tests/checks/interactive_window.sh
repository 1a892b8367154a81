#!/usr/bin/env bash
# The interactive window under Xvfb: no key is lost, even if it is released before the next frame; an idle window sleeps;
# and typed text survives SIGKILL and SIGTERM.
#   tests/checks/interactive_window.sh build/bin/hostir
# A bookmark (Ctrl+B), which the window keeps in its settings, shows the position that the keys led to; the same keys
# from a script give the expected position.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=tests/programs/tp_mlp.hir
export LIBGL_ALWAYS_SOFTWARE=1

# ---- inside Xvfb: interactive_window.sh --inside HOSTIR SETTINGS

ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }  # utime and stime
# quiet PID: waits until no thread of the process is runnable and they have used almost no CPU time for a while.
quiet() {
  local still=0 before=0 now
  for _ in $(seq 150); do
    now=$(ticks "$1") || return 1
    if [ $((now - before)) -le 1 ] && ! grep -qs ') R ' "/proc/$1/task"/*/stat; then still=$((still + 1)); else still=0; fi
    [ "$still" -ge 3 ] && return 0
    before=$now
    sleep 0.1
  done
  return 1
}
inside() {
  "$1" gui "$program" --settings "$2" --size 900x600 &
  local pid=$!
  trap "kill $pid 2>/dev/null" EXIT
  local window
  window=$(timeout 60 xdotool search --sync --onlyvisible --name "^$(basename "$program") - ") || return 1
  xdotool windowfocus --sync "$window"
  quiet "$pid" || { echo "the window never comes to rest after it was opened"; return 1; }
  for _ in 1 2 3 4 5; do
    xdotool key --delay 0 F10
    quiet "$pid" || { echo "the window never comes to rest after a step"; return 1; }
  done
  xdotool key --delay 0 ctrl+b
  quiet "$pid"
  local before after
  before=$(ticks "$pid")
  sleep 2
  after=$(ticks "$pid")
  local percent=$(((after - before) * 100 / (2 * $(getconf CLK_TCK))))
  echo "an idle window takes $percent % of a processor"
  xdotool key --delay 0 ctrl+q
  for _ in $(seq 200); do
    if ! kill -0 "$pid" 2>/dev/null; then wait "$pid" && [ "$percent" -lt 10 ]; return; fi
    sleep 0.1
  done
  echo "Ctrl+Q does not close the window"
  return 1
}
# inside_killed HOSTIR FOLDER SIGNAL: edits a copy of the program and ends the window with a signal.
inside_killed() {
  cp "$program" "$2/edited.hir"
  echo "layout = [editor*]" >"$2/edited.conf"
  "$1" gui "$2/edited.hir" --settings "$2/edited.conf" --size 900x600 &
  local pid=$!
  trap "kill -9 $pid 2>/dev/null" EXIT
  local window
  window=$(timeout 60 xdotool search --sync --onlyvisible --name "^edited.hir - ") || return 1
  xdotool windowfocus --sync "$window"
  quiet "$pid"
  xdotool mousemove --window "$window" 450 300 click 1
  quiet "$pid"
  xdotool key --delay 0 ctrl+Home
  xdotool type --delay 5 "// every letter // "
  quiet "$pid"
  kill "-$3" "$pid"
  local status=0
  wait "$pid" || status=$?
  grep -qs "^// every letter // " "$2/edited.conf.unsaved/"* || { echo "$3: the text was not kept"; return 1; }
  cmp -s "$program" "$2/edited.hir" || { echo "$3: the file was written"; return 1; }
  [ "$3" = KILL ] || [ "$status" = 0 ] || { echo "$3: exit status $status"; return 1; }
  echo "$3: what was typed is kept"
}
if [ "$1" = --inside ]; then inside "$2" "$3"; exit; fi
if [ "$1" = --inside-killed ]; then inside_killed "$2" "$3" "$4"; exit; fi

# ---- outside Xvfb

hostir=$1
out=build-test/interactive
rm -rf "$out"
mkdir -p "$out"
for tool in xvfb-run xdotool; do
  command -v "$tool" >/dev/null || { echo "$tool is needed (tests/setup.sh --dev)"; echo "0 passed, 1 failed"; exit 1; }
done
failed=0
printf 'key F10\n%.0s' 1 2 3 4 5 >"$out/steps"
echo 'key Ctrl+B' >>"$out/steps"
screen="-screen 0 1280x1024x24"
xvfb-run -a -s "$screen" "$hostir" gui "$program" --settings "$out/script.conf" --script "$out/steps" || failed=1
xvfb-run -a -s "$screen" tests/checks/interactive_window.sh --inside "$hostir" "$out/keys.conf" || failed=1
for signal in KILL TERM; do
  mkdir -p "$out/$signal"
  xvfb-run -a -s "$screen" tests/checks/interactive_window.sh --inside-killed "$hostir" "$out/$signal" "$signal" || failed=1
done
wanted=$(grep '^bookmark = ' "$out/script.conf")
got=$(grep '^bookmark = ' "$out/keys.conf")
echo "five F10 lead to: $got"
if [ -z "$wanted" ] || [ "$wanted" != "$got" ]; then echo "they should lead to: $wanted"; failed=1; fi
echo "$((1 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
