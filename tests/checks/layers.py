#!/usr/bin/env python3
"""Layer check: a lower layer never includes a higher one, and folders of one layer never include each other.

Usage: layers.py [ROOT]. Prints `file:line: message` for every violation; exit status 1 if there is one.
The table is that of the README ("Layers").
"""
import pathlib
import re
import sys

# folder -> layer
LAYERS = {
    "hostir/support": 0,
    "hostir/ir": 1,
    "hostir/ops": 2,
    "hostir/text": 3,
    "hostir/passes": 3,
    "hostir/io": 3,
    "hostir/import": 3,
    "kernels/common": 4,
    "kernels/cpu": 4,
    "kernels/cuda": 4,
    "interp/model": 5,
    "interp/diagnose": 6,
    "interp/core": 6,
    "interp/session": 7,
    "interp/null": 8,
    "interp/sim": 8,
    "interp/cuda": 8,
    "traces": 8,
    "gui": 8,
    "hostir/script": 8,
    "hostir/api": 9,
    "hostir/cli": 10,
    "hostir/python": 10,
}
# The layers that each layer may include (README "Layers").
ALLOWED = {
    0: set(), 1: {0}, 2: {0, 1}, 3: {0, 1, 2}, 4: {0, 1, 2}, 5: {0, 1, 2}, 6: set(range(6)),
    7: {0, 1, 2, 3, 5, 6}, 9: set(range(9)), 10: {0, 1, 2, 3, 5, 6, 7, 8, 9},
}
# Folders that others in the same layer may include.
SHARED = {
    "kernels/common": {"kernels/cpu", "kernels/cuda"},
}
BACKENDS = {"interp/null", "interp/sim", "interp/cuda"}
# Only hostir/api creates backends. `hostir launch` owns the rendezvous of a run's processes.
MAKES_BACKENDS = {"hostir/api"}
MEETING_PLACE = ("hostir/cli", "interp/cuda/rendezvous.h")
# External libraries that only one folder may include.
FOREIGN = [
    (re.compile(r'<sqlite3\.h>'), {"traces"}),
    (re.compile(r'<(imgui|GLFW/|GL/|backends/imgui)'), {"gui"}),
    (re.compile(r'<(cuda|nccl|nvrtc|cupti|cublas|cudnn)'), {"kernels/cuda", "interp/cuda"}),
    (re.compile(r'<(oneapi/)?dnnl'), {"kernels/cpu"}),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+("([^"]+)"|<[^>]+>)')


def allowed_layers(folder):
    layer = LAYERS[folder]
    if layer != 8:
        return ALLOWED[layer]
    return {0, 1, 2, 4, 5, 6} if folder in BACKENDS else {0, 1, 2, 3, 5, 6, 7}


def folder_of(path):
    for depth in (2, 1):
        candidate = "/".join(path.split("/")[:depth])
        if candidate in LAYERS:
            return candidate
    return None


def check_file(root, path):
    relative = path.relative_to(root).as_posix()
    folder = folder_of(relative)
    if folder is None:
        return []
    found = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        for pattern, places in FOREIGN:
            if pattern.search(match.group(1)) and folder not in places:
                found.append(f"{relative}:{number}: {match.group(1)} may only be included in {sorted(places)}")
        if match.group(2) is None:
            continue
        target = folder_of(match.group(2))
        if target is None:
            found.append(f"{relative}:{number}: {match.group(2)} is not a path from the repository's root")
        elif (target != folder and folder not in SHARED.get(target, ())
              and LAYERS[target] not in allowed_layers(folder)):
            found.append(f"{relative}:{number}: layer {LAYERS[folder]} ({folder}) may not include "
                         f"layer {LAYERS[target]} ({target})")
        elif (target in BACKENDS and folder != target and folder not in MAKES_BACKENDS
              and (folder, match.group(2)) != MEETING_PLACE):
            found.append(f"{relative}:{number}: {folder} may not include {match.group(2)}: "
                         f"backends are made by {sorted(MAKES_BACKENDS)}")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    violations = []
    for top in ("hostir", "interp", "kernels", "traces", "gui"):
        for suffix in ("*.h", "*.cpp", "*.cu", "*.cuh", "*.def"):
            for path in sorted((root / top).rglob(suffix)):
                violations += check_file(root, path)
    print("\n".join(violations) if violations else "layers: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
