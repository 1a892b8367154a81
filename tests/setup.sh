#!/usr/bin/env bash
# Installs the project's dependencies on Debian 12 or Ubuntu 24.04, as root or with sudo. Running it again changes
# nothing. `tests/setup.sh --dev` adds what the full test suite needs: clang tools and a virtual display.
set -euo pipefail
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

packages=(g++ cmake ninja-build ccache pkg-config git ca-certificates python3
  libfmt-dev libexpected-dev libcli11-dev nlohmann-json3-dev libdnnl-dev libsqlite3-dev sqlite3 libzstd-dev
  libxxhash-dev zlib1g-dev libzip-dev libedit-dev libmimalloc-dev libimgui-dev libstb-dev libglfw3-dev libgl-dev libfreetype-dev fonts-dejavu-core
  libgtest-dev libbenchmark-dev)
[ "${1:-}" = --dev ] && packages+=(python3-numpy clang-format-14 clang-tidy clang lld libclang-rt-dev llvm xvfb xauth xdotool libgl1-mesa-dri
  openssh-client)
# For tests/checks/remote.py. Only as root: a machine that needs sudo is probably personal and should not get a server.
[ "${1:-}" = --dev ] && [ "$(id -u)" = 0 ] && packages+=(openssh-server)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
