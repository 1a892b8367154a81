#!/usr/bin/env python3
"""Mutates texts of tests/programs and tests/scripts while keeping their form: parts of axes, blocks, counts, views,
sizes, layouts, operands, lines. Each text is verified, lowered, run, tested and debugged. It may be rejected with a
diagnostic or fail its expectations, but it must not crash, hang, or exceed its memory limit.

    tests/long/random_texts.py build-dev/bin/hostir [--seeds 0:300] [--keep DIR]

A failing text is kept in DIR (default: random_texts/ beside the binary's folder). Ends with `N passed, N failed`.
"""
import argparse
import pathlib
import random
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
MEMORY = 4 << 30  # of address space
LIMITS = ["--max-memory", "256", "--max-steps", "20000"]
# Exit statuses of the command when it reports an error itself.
PLAIN = {0, 1, 2, 3, 4, 64}

AXES = re.compile(r"\{([a-z][\w:()]*(?:, [a-z][\w:()]*)*|)\}")
LAYOUT = re.compile(r"\[\{[^\[\]]*\}\](?:, unreduced=\w*\{[^}]*\})?")
NUMBER = re.compile(r"(?<![\w.:%@#\"])\d+(?![\w.\"])")
MESH = re.compile(r"(?<=[\w])=(\d+)(?=[,>])")
VALUE = re.compile(r"%[a-zA-Z_]\w*")
VIEW = re.compile(r"(?<=\[)(\d+):(\d+)(?=[\],])")
SHARD = re.compile(r"(shard<[^<>]*\])(>)")
KINDS = ["", "max", "min", "prod", "sum", "avg"]


class Mutator:
    def __init__(self, seed, text):
        self.random = random.Random(seed)
        self.text = text
        self.names = [m.group(1) for m in re.finditer(r"[<,] ?(\w+)=\d+", text)] or ["x"]

    def axis(self):
        name = self.random.choice(self.names)
        if self.random.random() < 0.5:
            return name
        return f"{name}:({self.random.choice([1, 1, 1, 2, 2, 3, 4])}){self.random.choice([2, 2, 2, 3, 4, 6])}"

    def axes(self):
        return "{" + ", ".join(self.axis() for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3]))) + "}"

    def replace(self, pattern, make):
        found = list(pattern.finditer(self.text))
        if not found:
            return
        m = self.random.choice(found)
        self.text = self.text[:m.start()] + make(m) + self.text[m.end():]

    def change_axes(self):
        self.replace(AXES, lambda m: self.axes())

    def change_layout(self):
        def make(m):
            dims = m.group(0).count("{") - m.group(0).count("unreduced")
            if self.random.random() < 0.1:
                dims += self.random.choice([-1, 1])
            out = "[" + ", ".join(self.axes() for _ in range(max(dims, 0))) + "]"
            if self.random.random() < 0.4:
                out += f", unreduced={self.random.choice(KINDS)}{self.axes()}"
            return out
        self.replace(LAYOUT, make)

    def add_blocks(self):
        def make(m):
            dims = m.group(1).split("[", 1)[-1].split("], unreduced", 1)[0].count("{")
            blocks = ", ".join(self.axes() for _ in range(dims))
            return f"{m.group(1)}, blocks=[{blocks}]{m.group(2)}"
        self.replace(SHARD, make)

    def number(self, m):
        return str(self.random.choice([0, 1, 2, 3, 4, 5, 7, 8, 16, int(m.group(0)) + 1, max(int(m.group(0)) - 1, 0),
                                       2 * int(m.group(0)), 1000, 1 << 31, 1 << 62]))

    def change_number(self):
        self.replace(NUMBER, self.number)

    def change_mesh(self):
        self.replace(MESH, lambda m: f"={self.random.choice([1, 2, 2, 3, 4, 5, 6, 8, 12])}")

    def change_view(self):
        self.replace(VIEW, lambda m: f"{self.random.choice([0, 0, 1, 2, 3, 9])}:{self.random.choice([0, 1, 2, 3, 4, 99])}")

    def change_value(self):
        values = VALUE.findall(self.text)
        self.replace(VALUE, lambda m: self.random.choice(values))

    def change_line(self):
        lines = self.text.split("\n")
        i, j = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        what = self.random.randrange(3)
        if what == 0:
            lines.insert(j, lines[i])
        elif what == 1:
            lines[i], lines[j] = lines[j], lines[i]
        else:
            del lines[i]
        self.text = "\n".join(lines)

    def mutated(self):
        ways = [self.change_axes] * 3 + [self.change_layout] * 4 + [self.add_blocks, self.add_blocks] + [
            self.change_number, self.change_number, self.change_mesh, self.change_mesh, self.change_view,
            self.change_value, self.change_line]
        for _ in range(self.random.choice([1, 1, 2, 2, 3, 5])):
            self.random.choice(ways)()
        return self.text


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def crashed(command):
    """Describes what went wrong; None if nothing did."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              stdin=subprocess.DEVNULL, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        return f"more than {SECONDS} s"
    if done.returncode not in PLAIN:
        return f"exit status {done.returncode}: {done.stderr[-300:]}"
    if "does not read back" in done.stdout:
        return done.stdout[:300]
    return None


def verdict(binary, file):
    text = file.read_text()
    commands = [["test", *LIMITS, str(file)]]
    for kind, name in re.findall(r"^(fusion|host) @([\w.]+)", text, re.MULTILINE)[:3]:
        function = "@" + name
        if kind == "fusion":
            commands.append(["lower", str(file), function])
        commands.append(["run", *LIMITS, "--schedules", "2", str(file), function])
    if "host @" in text:
        commands.append(["debug", *LIMITS, "-x", str(file.parent / "commands.txt"), str(file)])
    for command in commands:
        wrong = crashed([str(binary)] + command)
        if wrong:
            return " ".join(command) + ": " + wrong
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("hostir")
    parser.add_argument("--seeds", default="0:300", help="FIRST:BEHIND_LAST")
    parser.add_argument("--keep", default=None)
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.hostir).resolve()
    folder = pathlib.Path(arguments.keep) if arguments.keep else binary.parent.parent / "random_texts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commands.txt").write_text("step 3\ninfo ranks\ninfo colls\ninfo waits\ninfo memory\ncontinue\nwhatif\n"
                                         "reverse-step\ninfo streams\nquit\n")
    seeds = sorted(p for part in ("programs", "scripts") for p in (ROOT / "tests" / part).rglob("*.hir"))
    first, behind = (int(n) for n in arguments.seeds.split(":"))
    failed = 0
    for seed in range(first, behind):
        source = random.Random(seed).choice(seeds)
        file = folder / f"seed_{seed}.hir"
        file.write_text(Mutator(seed, source.read_text()).mutated())
        wrong = verdict(binary, file)
        if wrong:
            failed += 1
            print(f"== {file} from {source.relative_to(ROOT)}\n{wrong}", flush=True)
        else:
            file.unlink()
    print(f"{behind - first - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
