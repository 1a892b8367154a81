#!/usr/bin/env python3
"""Imports and runs folders of JAX programs, and compares the results with JAX's.

Usage: jax_cases.py HOSTIR FOLDER... Each case is a folder with stablehlo.mlir, in<i>.npy, out<i>.npy, case.json and
optionally compiled.hlo and generic.mlir. `compiled_collectives` in case.json counts the instructions in XLA's text; those in a loop
run `known_trip_count` times. `compiled_bytes`: the bytes per rank of all of them. `more_collectives` is how many stablehlo.mlir needs, with the reason, where that is more.
Exit status 1 if a result differs or a case needs more collectives than XLA.
"""
import json
import math
import pathlib
import re
import sys
import tempfile

from cases import run

OURS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter",
        "all_to_all": "all-to-all", "permute": "collective-permute"}


def counts(text):
    found = {name: 0 for name in OURS.values()}
    for count, name in re.findall(r"^(\d+) x (\w+)", text, re.M):
        if name in OURS:
            found[OURS[name]] += int(count)
    return found


def bytes_per_rank(text):
    """Of all collectives that a run lists."""
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    return sum(float(n) * units[unit] for n, unit in re.findall(r"^\d+ x \w+ .*, ([\d.]+) (\w+) per rank", text, re.M))


def loop_passes(case):
    """How often the collectives in XLA's text run. If there is a loop, all of them are in it."""
    compiled = case / "compiled.hlo"
    trips = re.findall(r'known_trip_count":{"n":"(\d+)"', compiled.read_text()) if compiled.exists() else []
    return max((int(n) for n in trips), default=1)


def executed(case):
    """The collectives that XLA's text executes: first those of known number, with those of a loop's body once per pass;
    then those of one pass of each loop whose end depends on data."""
    text = (case / "compiled.hlo").read_text()
    bodies = dict(re.findall(r"^(?:ENTRY )?%?(\S+) \(.*?\{$(.*?)^\}", text, re.M | re.S))
    loops = []

    def count(name):
        found = {kind: len(re.findall(rf"^\s*(?:ROOT )?%?\S+ = .* {kind}(?:-start)?\(", bodies[name], re.M))
                 for kind in OURS.values()}
        for line in bodies[name].splitlines():
            passes = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
            if " while(" in line and not passes:  # the condition runs once more than the body
                body, condition = (count(re.search(rf"{key}=%?([\w.-]+)", line)[1]) for key in ("body", "condition"))
                loops.append({kind: body[kind] + condition[kind] for kind in body})
                found = {kind: found[kind] + condition[kind] for kind in found}
                continue
            for callee in re.findall(r"(?:calls|to_apply|body)=%?([\w.-]+)", line):
                for kind, inner in (count(callee) if callee in bodies else {}).items():
                    found[kind] += inner * (int(passes[1]) if passes else 1)
        return found
    return count(re.search(r"^ENTRY %?(\S+)", text, re.M)[1]), [loop for loop in loops if any(loop.values())]


def passes_explain(have, fixed, loops):
    """Whether some number of passes of each loop gives these collectives."""
    if any(have[kind] < fixed[kind] for kind in have):
        return False
    if not loops:
        return have == fixed
    more = {kind: fixed[kind] + loops[0][kind] for kind in fixed}
    return passes_explain(have, fixed, loops[1:]) or passes_explain(have, more, loops)


def imported_as_text(hostir, program, folder):
    """Checks that the imported text is canonical: reparsing and printing it gives the same text."""
    out = pathlib.Path(folder) / "imported.hir"
    status, said = run(hostir, "import", program, "-o", out)
    if status != 0:
        return said
    status, said = run(hostir, "fmt", "--check", out)
    return "" if status == 0 else "the imported text is not canonical: " + said


def run_case(hostir, case, program, described):
    arguments = [hostir, "run", program, "--rtol", "1e-5", "--atol", described.get("atol", 1e-5)]
    for i in range(len(list(case.glob("in*.npy")))):
        arguments += ["--input", f"{i}=@{case}/in{i}.npy"]
    for i in range(len(list(case.glob("out*.npy")))):
        arguments += ["--expect", f"{i}=@{case}/out{i}.npy"]
    return run(*arguments)


def executed_with_data(hostir, case, described):
    """The collectives that XLA's text executes if data decides how often: those of a run of it, which must be right."""
    if not (case / "compiled.hlo").exists() or not executed(case)[1]:
        return 0
    status, said = run_case(hostir, case, case / "compiled.hlo", described)
    return sum(counts(said).values()) if status == 0 else 0


def check(hostir, case, program, folder):
    described = json.loads((case / "case.json").read_text())
    status, said = run_case(hostir, case, program, described)
    if status != 0:
        return said[-2000:]
    wanted = described.get("compiled_collectives", {})
    have = counts(said)
    compiled = sum(wanted.values()) * loop_passes(case)
    if program.suffix == ".hlo":
        fixed, loops = executed(case)
        if not passes_explain(have, fixed, loops):
            return f"collectives {have}, XLA's text executes {fixed}" + (f" and per pass {loops}" if loops else "")
    elif "more_collectives" in described:  # with its reason; stale if the number differs
        if sum(have.values()) != described["more_collectives"][0]:
            return f"{sum(have.values())} collectives {have}, case.json says {described['more_collectives']}"
    elif wanted and sum(have.values()) > max(compiled, executed_with_data(hostir, case, described)):
        return f"{sum(have.values())} collectives {have}, XLA compiled {compiled}"
    elif bytes_per_rank(said) > described.get("compiled_bytes", math.inf):
        return f"{bytes_per_rank(said)} bytes per rank, XLA's collectives move {described['compiled_bytes']}"
    return imported_as_text(hostir, program, folder)


UNKNOWN = """module @m {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x4xf32>
    %1:2 = stablehlo.custom_call @decode(%0) : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<4xi32>)
    return %1#0 : tensor<8x2xf32>
  }
}
"""


def check_unknown_operation(hostir, folder):
    """An operation without a counterpart is kept and listed, is timed without values, and is never computed."""
    program = pathlib.Path(folder) / "unknown.mlir"
    program.write_text(UNKNOWN)
    status, said = run(hostir, "import", program, "-o", pathlib.Path(folder) / "unknown.hir")
    if status != 0 or "1 x stablehlo.custom_call (@decode): no counterpart" not in said:
        return f"import ends with status {status}: {said}"
    status, said = run(hostir, "run", program, "--shapes-only", "--example-inputs")
    if status != 0 or "1 x all_gather" not in said:
        return f"--shapes-only ends with status {status}: {said}"
    status, said = run(hostir, "run", program, "--example-inputs")
    if status != 3 or 'opaque "stablehlo.custom_call (@decode)" cannot be computed' not in said:
        return f"a run with values ends with status {status}: {said}"
    return imported_as_text(hostir, program, folder)


def main():
    hostir, folders = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        wrong = check_unknown_operation(hostir, scratch)
        passed += not wrong
        if wrong:
            failed += 1
            print(f"FAILED: an unknown operation: {wrong}")
        for folder in folders:
            for case in sorted(p for p in pathlib.Path(folder).iterdir() if (p / "case.json").exists()):
                for name in ("stablehlo.mlir", "generic.mlir", "compiled.hlo"):
                    if not (case / name).exists():
                        continue
                    wrong = check(hostir, case, case / name, scratch)
                    passed += not wrong
                    if wrong:
                        failed += 1
                        print(f"FAILED: {case / name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
