#!/usr/bin/env python3
"""Source rules that the compiler does not check.

One list of ops (no `case OpKind::`, and ops are named only where NAMES_OPS says why), no machine paths, no dynamic_cast
or virtual in hostir/, an introduction in every header, a limit on file sizes, files named in a README exist, a README in
every folder of more than four files of code, no unknown top-level entries, a test for every id of an error. Usage:
source_rules.py [ROOT].
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
# Who may name a compute or communication op, and why; all other code asks its record. A path that no longer names one
# must leave this list.
NAMES_OPS = {
    "hostir/ops/": "the records", "tests/": "examples",
    "hostir/passes/": "the ops that passes insert, and rewrites of single ops",
    "hostir/import/": "other compilers' ops", "traces/import/": "other tools' calls",
    "traces/profile/": "other tools' calls", "traces/skeleton/": "other tools' calls",
    "interp/diagnose/": "what other tools' records leave open about a call: roots, blocks, halves of a pair",
    "interp/session/what_if/": "edits that pair sends and receives",
    "interp/sim/proof/": "algebra of single ops", "interp/core/claims/": "algebra of single ops",
    "interp/sim/issue.cpp": "counts of an all_to_all that differ by rank", "interp/sim/execute.cpp": "sends with a buffer",
    "hostir/ir/machine_builtin.cpp": "measured times",
    "hostir/text/parse/": "literals are constants", "hostir/text/verify/": "operators that widen their operands",
    "hostir/api/plan/": "programs whose ranks send to each other are not predicted",
    "kernels/cpu/plan/": "fast kernels for some ops", "kernels/cpu/tile/tile_emit.cpp": "casts of u64 between integers",
    "kernels/cuda/generate/": "fast kernels for some ops",
}
OPS = re.compile(r"^HOSTIR_(?:COMPUTE|COMPOSITE|COMMUNICATION)_OP\((\w+)\)", re.M)
NAMED_OP = re.compile(r"\bOpKind::(\w+)")
DEFAULT_OP = re.compile(r"OpKind \w+ = OpKind::\w+;$")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root)/")
PATH_IN_TEXT = re.compile(r"`([\w./-]+/[\w.-]+\.(?:cpp|h|py|sh|hir|md|json|def))`")
CARET = re.compile(r"^ *// *\^", re.M)
MAX_LINES = 500
CODE = (".h", ".cpp", ".cu", ".cuh", ".inc", ".py", ".sh")
# Ids of errors that need a test.
CONSTRAINT = re.compile(r'"([a-z]\w*_c\d+)"')
ERROR_ID = re.compile(r'\bfail(?:_at)?\(\s*ErrorKind::\w+,\s*"(\w+)"|Severity::kError,\s*"(\w+)"')
# The forms in which a test names the id that it expects: `expected-error[id]`, `error[id]`,
# `expect_error id`, or a string in C++.
TESTED_ID = re.compile(r'error\[(\w+)\]|expect_error (\w+)|\\?"([a-z]\w*?)\\?"')
# Ids without a test, and the reasons. An id that gets a test or is removed must leave this list.
GPU = "only with a GPU or its libraries"
WINDOW = "only where a window can be opened, or in a build without one"
GUARD = "callers check first; this is what a wrong caller would get"
HUGE = "only for millions of rows"
NOT_TESTED = {
    "backend_no_checkpoint": GPU, "cuda_compile": GPU, "cuda_device": GPU, "cuda_graph": GPU, "cuda_missing": GPU, "cuda_view": GPU, "transport": GPU,
    "cupti_missing": GPU, "nccl_dtype": GPU, "nccl_missing": GPU, "place": GPU, "calibrate": GPU, "lost_process": GPU,
    "no_gui": WINDOW, "window": WINDOW, "gui_script": WINDOW, "gui_picture": WINDOW, "file_read": WINDOW,
    "history_edit": GUARD, "input_shape": GUARD, "input_type": GUARD, "log_no_event": GUARD, "no_log": GUARD, "no_rank": GUARD,
    "no_element": GUARD, "not_now": GUARD, "test_value": GUARD, "replay_differs": GUARD, "import_size": HUGE,
}


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
    if name.startswith("tests/scripts/negative/") and "expected-error" in text and not CARET.search(text):
        found.append(f"{name}: a negative script pins where the error points: a comment line with a caret below that line")
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


def rooms_without_readme(names):
    """Folders with code that nobody introduces. Below tests/, only its own folders: a test says itself what it is for."""
    rooms = {}
    for name in names:
        folder = name.rpartition("/")[0]
        if name.endswith(CODE) and (not name.startswith("tests/") or folder.count("/") == 1):
            rooms[folder] = rooms.get(folder, 0) + 1
    return [f"{folder} has {count} source files but no README.md; describe in ten lines what it holds and who uses it"
            for folder, count in sorted(rooms.items()) if count > 4 and f"{folder}/README.md" not in names]


def untested_ids(root, names):
    """Ids of errors in the sources that no script, check or unit test expects."""
    used, tested = {}, set()
    for name in names:
        if name.startswith("tests/") and name.endswith((".hir", ".mlir", ".hlo", ".sh", ".py", ".cpp", ".c")):
            if name == "tests/checks/source_rules.py":
                continue
            for match in TESTED_ID.finditer((root / name).read_text(errors="replace")):
                tested.add(next(filter(None, match.groups())))
        elif name.endswith((".cpp", ".h")):
            text = (root / name).read_text(errors="replace")
            for match in [*CONSTRAINT.finditer(text), *ERROR_ID.finditer(text)]:
                line = text.count("\n", 0, match.start()) + 1
                used.setdefault(next(filter(None, match.groups())), f"{name}:{line}")
    stale = [f"tests/checks/source_rules.py: NOT_TESTED names {id}, which {'has a test' if id in tested else 'is gone'}"
             for id in NOT_TESTED if id in tested or id not in used]
    return stale + [f"{place}: no test expects the error {id}: write tests/scripts/negative/{id}.hir, or a line of "
                    "tests/checks/refusals.sh" for id, place in sorted(used.items()) if id not in tested and id not in NOT_TESTED]


def named_ops(root, names):
    """Ops named outside of NAMES_OPS, and what it lists in vain."""
    ops = set(OPS.findall((root / "hostir/ir/ops.def").read_text()))
    found, seen = [], set()
    for name in names:
        if not name.endswith((".h", ".cpp", ".cu", ".inc")):
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            if not ops.intersection(NAMED_OP.findall(line)) or DEFAULT_OP.search(line.split("  //")[0]):
                continue
            allowed = [prefix for prefix in NAMES_OPS if name.startswith(prefix)]
            seen.update(allowed)
            if not allowed:
                found.append(f"{name}:{number}: names an op: ask its record, or move this to the op's own file: {line.strip()}")
    return found + [f"tests/checks/source_rules.py: NAMES_OPS lists {prefix}, which names no op"
                    for prefix in NAMES_OPS if prefix not in seen]


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
    found += rooms_without_readme(set(names))
    found += untested_ids(root, names)
    found += named_ops(root, names)
    print("\n".join(found) if found else "source rules: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
