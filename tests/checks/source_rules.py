#!/usr/bin/env python3
"""Source rules that the compiler does not check.

One list of ops (no `case OpKind::`), no machine paths, no dynamic_cast or virtual in hostir/, an introduction in every
header, a limit on file sizes, files named in a README exist, no unknown top-level entries. Usage: source_rules.py [ROOT].
"""
import pathlib
import re
import subprocess
import sys

TOP = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "hostir", "interp", "kernels", "gui",
       "traces", "tests"}
RULES = [
    (re.compile(r"case OpKind::"), ("hostir", "interp", "kernels", "traces", "gui"), "behaviour belongs in the op's own file"),
    (re.compile(r"dynamic_cast<"), ("hostir", "interp", "kernels", "traces"), "no dynamic_cast"),
    (re.compile(r"\bvirtual\b"), ("hostir/support", "hostir/ir", "hostir/ops", "hostir/text", "hostir/passes", "hostir/io"),
     "no virtual in hostir"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), ("hostir", "interp", "kernels", "traces", "gui"), "finish it or write an issue"),
    (re.compile(r"std::views|std::source_location"), ("hostir", "interp", "kernels", "traces", "gui"),
     "clang 14 cannot parse it with this library"),
    (re.compile(r"std::shared_ptr<(?!const )"), ("hostir/support", "hostir/ir", "hostir/ops", "hostir/text", "hostir/passes",
                                                  "hostir/io", "interp/core"), "shared_ptr only for immutable things"),
]
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root)/")
PATH_IN_TEXT = re.compile(r"`([\w./-]+/[\w.-]+\.(?:cpp|h|py|sh|hir|md|json|def))`")
MAX_LINES = 500


def tracked(root):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    return [line for line in out.stdout.splitlines() if (root / line).is_file()]


def check(root, name):
    found = []
    text = (root / name).read_text(errors="replace")
    lines = text.splitlines()
    is_code = name.endswith((".h", ".cpp", ".cu", ".cuh"))
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line) and not name.startswith("tests/checks/") and not name.endswith((".csv", ".npy")):
            found.append(f"{name}:{number}: a path of one machine")
        if is_code:
            for pattern, folders, why in RULES:
                if pattern.search(line) and name.startswith(folders) and not line.lstrip().startswith("//"):
                    found.append(f"{name}:{number}: {why}: {line.strip()}")
    if name.endswith(".md"):
        for path in PATH_IN_TEXT.findall(text):
            if not (root / path).exists() and not ((root / name).parent / path).exists():
                found.append(f"{name}: names {path}, which is not there")
    if is_code and len(lines) > MAX_LINES:
        found.append(f"{name}: {len(lines)} lines; one concept per file")
    if name.endswith(".h") and not name.startswith("tests/") and not text.startswith("//"):
        found.append(f"{name}:1: a header begins with what lives here and why")
    if name.endswith(".h") and "#pragma once" not in text:
        found.append(f"{name}: #pragma once is missing")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    names = tracked(root)
    found = []
    for name in names:
        top = name.split("/")[0]
        if top not in TOP and not top.startswith("."):
            found.append(f"{name}: unknown top-level entry")
        if not name.endswith((".npy", ".npz", ".png", ".db")):
            found += check(root, name)
    print("\n".join(found) if found else "source rules: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
