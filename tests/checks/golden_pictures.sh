#!/usr/bin/env bash
# Draws the states of tests/golden under Xvfb and compares them with its pictures.
#   tests/checks/golden_pictures.sh build/bin/hostir                      compare
#   tests/checks/golden_pictures.sh build/bin/hostir --update [NAME...]   redraw all pictures or these
set -uo pipefail
cd "$(dirname "$0")/../.."
hostir=$1
update=${2:-}
wanted=("${@:3}")
out=build-test/golden
rm -rf "$out"
mkdir -p "$out"
if ! "$hostir" gui --help >/dev/null 2>&1 || ! command -v xvfb-run >/dev/null; then
  echo "golden pictures need the window and xvfb-run"
  echo "0 passed, 1 failed"
  exit 1
fi
# Other versions of Dear ImGui draw corners and spacing differently; the pictures are from Debian 12's version.
imgui=$(sed -n 's/^#define IMGUI_VERSION *"\(.*\)"/\1/p' /usr/include/imgui/imgui.h)
if [ "$imgui" != 1.86 ]; then
  echo "skipped: the pictures are drawn by Dear ImGui 1.86, here is ${imgui:-none}"
  exit 0
fi
# draw STEPS ARGUMENTS...: runs `hostir gui` with the arguments, driven by STEPS.
draw() {
  LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s "-screen 0 1280x1024x24" "$hostir" gui "${@:2}" --script "$1" --size 1000x700
}
passed=0
failed=0
for steps in tests/golden/*.steps; do
  name=$(basename "$steps" .steps)
  [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]] && continue
  read -ra arguments <<<"$(sed -n '1s/^# //p' "$steps")"
  if [ "$update" = --update ]; then last="screenshot tests/golden/$name.png"; else last="match tests/golden/$name.png $out"; fi
  { cat "$steps"; echo "$last"; } >"$out/$name.steps"
  if draw "$out/$name.steps" "${arguments[@]}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
