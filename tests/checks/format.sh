#!/usr/bin/env bash
# Every tracked C++ file is formatted as .clang-format says.
set -eu
cd "${1:-.}"
git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -r clang-format --dry-run -Werror
echo "format: ok"
