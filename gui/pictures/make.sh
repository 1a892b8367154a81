#!/usr/bin/env bash
# Draws the README's pictures: gui/pictures/make.sh build-release/bin/hostir
set -eu
cd "$(dirname "$0")/../.."
hostir=$1
draw() { # PICTURE ARGUMENTS..., the steps on standard input
  local picture=$1 steps; shift
  steps=$(mktemp)
  { cat; echo "screenshot gui/pictures/$picture"; } >"$steps"
  LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s "-screen 0 1920x1200x24" "$hostir" gui "$@" --script "$steps" --size 1600x1000
  rm "$steps"
}
printf 'key F6\nkey F10\n' | draw run.png tests/programs/tp_mlp.hir --mesh tp=4
work=$(mktemp -d)
"$hostir" pipeline tests/programs/gpt_stages.hir --stages embed,attention,experts,attention,experts,head --data ids,targets --ranks 2 \
  --schedule interleaved --size B=2 --size S=4096 --size E=2048 --size V=32000 --size X=8 --size F=8192 >"$work/gpt.hir"
"$hostir" run "$work/gpt.hir" @pipeline --example-inputs --shapes-only --quiet --trace "$work/gpt.db"
printf 'wait\n' | draw gpt.png "$work/gpt.db"
rm -r "$work"
printf 'layout.Deadlock\nkey F5\n' | draw deadlock.png tests/programs/deadlock.hir crossed
