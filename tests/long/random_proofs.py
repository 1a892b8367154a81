#!/usr/bin/env python3
"""Verdicts of `hostir verify --against` must agree with running the program.

    tests/long/random_proofs.py build-dev/bin/hostir [--seeds 0:300] [--mistakes 4] [--keep DIR] [--models]

Random fusions (random_fusions.py) are lowered. The host program as it is, and with a planted mistake, is verified against
the fusion and run on three sets of inputs against its unsharded form. Proven (0) must be right on all inputs, differs
(1) wrong on one, and the compiler's own output must never differ. Not proven (5) may be either; how many were proven
and named is printed. Mistakes that the verifier refuses without --against (exit status 2) are not counted.

Ends with `N passed, N failed`; failing programs are kept in DIR.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys

import random_fusions

PROVEN, DIFFERS, INVALID, UNPROVEN = 0, 1, 2, 5


def mistakes(text, rng):
    """Texts with one changed line each: what a programmer gets wrong."""
    lines = text.split("\n")
    host = next(i for i, line in enumerate(lines) if line.startswith("host @"))
    kernel = next((i for i, line in enumerate(lines) if line.startswith("kernel @")), host)
    found = []

    def change(i, new):
        if new != lines[i]:
            found.append("\n".join(lines[:i] + [new] + lines[i + 1:]))

    for i, line in enumerate(lines):
        if i < kernel:
            continue
        if i < host:
            change(i, re.sub(r"value = ([0-9.e+-]+)", lambda m: f"value = {float(m[1]) * 2}", line))
            change(i, line.replace("= add ", "= sub "))
            change(i, line.replace("reduce_max", "reduce_min"))
            change(i, re.sub(r"= (sub|matmul|add|maximum) (%\w+), (%\w+)", r"= \1 \3, \3", line))
            continue
        for a, b in (("all_reduce sum", "all_reduce avg"), ("all_reduce sum", "all_reduce max"),
                     ("all_reduce max", "all_reduce sum"), ("reduce_scatter sum", "reduce_scatter avg")):
            change(i, line.replace(a, b))
        if "all_reduce" in line and "->" in line:  # doubled: the second leaves the layout as it is
            again = re.sub(r" -> \[[^)]*\)", ")", re.sub(r"^\s*%\w+ = ", "  ", line))
            change(i, line + "\n" + re.sub(r", unreduced=[a-z]*\{[^}]*\}", "", again))
        pairs = re.search(r"pairs\(?\s*=?\s*(\[\[.*?\]\])", line)
        if pairs:
            turned = re.sub(r"\[(\d+), (\d+)\]", lambda m: f"[{m[2]}, {m[1]}]", pairs[1])
            change(i, line.replace(pairs[1], turned))
        operands = re.search(r"ro\((%[\w.]+), (%[\w.]+)", line)
        if operands and "launch" in line:
            change(i, line.replace(operands[0], f"ro({operands[2]}, {operands[1]}"))
            change(i, line.replace(operands[0], f"ro({operands[1]}, {operands[1]}"))
    rng.shuffle(found)
    return found


def tests_of(text, original, count=3):
    """`text` with tests that run the host function on several inputs against the fusion."""
    inputs = re.search(r"run @f\((.*)\) schedules", original)[1]
    out = text
    for k in range(count):
        given = re.sub(r"normal\((\d+),", lambda m: f"normal({int(m[1]) + 100 * k},", inputs)
        out += (f'\ntest "inputs {k}" {{\n  run @f.host({given}) against @f\n'
                "  expect_same_as_unsharded tolerance(atol(1e-4) rtol(1e-4))\n}\n")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("hostir")
    parser.add_argument("--seeds", default="0:300", help="FIRST:BEHIND_LAST")
    parser.add_argument("--mistakes", type=int, default=4, help="per program")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--models", action="store_true")
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.hostir)
    folder = pathlib.Path(arguments.keep) if arguments.keep else binary.parent.parent / "random_proofs"
    folder.mkdir(parents=True, exist_ok=True)
    first, behind = (int(n) for n in arguments.seeds.split(":"))
    passed, failed = 0, []
    count = {"right": 0, "proven": 0, "wrong": 0, "named": 0, "harmless": 0}

    def verdict(file):
        done = subprocess.run([binary, "verify", file, "@f.host", "--against", "@f"], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    for seed in range(first, behind):
        rng = random.Random(seed)
        original = random_fusions.Generator(seed, arguments.models).text()
        source = folder / f"seed_{seed}.hir"
        source.write_text(original)
        lowered = subprocess.run([binary, "lower", source, "@f"], capture_output=True, text=True, check=False).stdout
        lowered = re.sub(r"(?m)^(test|gradient) .*\n?(^ .*\n|^}\n)*", "", lowered)
        if "host @f.host" not in lowered:
            print(f"seed {seed}: does not lower")
            failed.append(seed)
            continue
        wrong = mistakes(lowered, rng)[:arguments.mistakes]
        for n, text in enumerate([lowered] + wrong):
            file = folder / f"seed_{seed}_{n}.hir"
            file.write_text(tests_of(text, original))
            status, said = verdict(file)
            if status == INVALID and n > 0:
                file.unlink()
                continue
            is_right = subprocess.run([binary, "test", file], capture_output=True, text=True, check=False).returncode == 0
            agrees = {PROVEN: is_right, DIFFERS: not is_right, UNPROVEN: True}.get(status, not is_right)
            if n == 0:
                count["right"] += 1
                count["proven"] += status == PROVEN
                agrees = agrees and status != DIFFERS
            elif is_right:
                count["harmless"] += 1
            else:
                count["wrong"] += 1
                count["named"] += status not in (PROVEN, UNPROVEN)
            if agrees:
                passed += 1
                file.unlink()
            else:
                failed.append(file.name)
                print(f"{file}: verdict {status}, running it is {'right' if is_right else 'wrong'}\n{said}")
        source.unlink()
    print(f"proven: {count['proven']} of {count['right']} correct programs; named: {count['named']} of {count['wrong']} "
          f"mistakes; {count['harmless']} changes were harmless")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
