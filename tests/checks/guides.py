#!/usr/bin/env python3
"""Runs the snippets of the guides and of the README's tour: guides.py HOSTIR [GUIDE.md...].

A block ```hir NAME``` is a file; it must verify unless its name begins with bad_ or it has expected errors. In a block
```console``` a line `$ hostir ...` is a command, run in the folder of the files, which has the repository's `tests` too, and
the lines below are its output: `...` as a line stands for any lines, inside a line for any text. `[exit N]` is the exit
status, 0 without it. A block ```debugger``` is one such command, and what it prints when the lines after its prompt are
typed. In a block ```sh``` every line that does not follow a backslash is a command whose exit status is 0. In README.md, blocks
without a kind are commands that build and test.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDES = ["hostir/text/GUIDE.md", "hostir/script/GUIDE.md", "README.md"]
PROMPT = "(hostir) "


def blocks(text):
    """Yields (line number, info string, lines) of each fenced block."""
    inside, info, begin, lines = False, "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside:
                yield begin, info, lines
            inside, info, begin, lines = not inside, line[3:].strip(), number, []
        elif inside:
            lines.append(line)
    if inside:
        raise SystemExit("a block is not closed at the end")


def pattern(expected):
    """The regular expression of the expected lines."""
    out = ""
    for line in expected:
        if line == "...":
            out += r"(?:.*\n)*?"
        else:
            out += ".*".join(re.escape(piece) for piece in line.split("...")) + r"\n"
    return re.compile(out)


def commands(lines):
    """Yields (command, expected lines, exit status)."""
    command, expected, status = None, [], 0
    for line in lines + ["$ "]:
        if line.startswith("$ "):
            if command:
                yield command, expected, status
            command, expected, status = line[2:], [], 0
        elif match := re.fullmatch(r"\[exit (\d+)\]", line):
            status = int(match.group(1))
        else:
            expected.append(line)


def run(hostir, command, folder):
    words = shlex.split(command)
    assert words[0] == "hostir", command
    done = subprocess.run([hostir] + words[1:], cwd=folder, text=True, timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def check_guide(hostir, path):
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder, open(path, encoding="utf-8") as guide:
        os.symlink(os.path.join(ROOT, "tests"), os.path.join(folder, "tests"))
        for line, info, lines in blocks(guide.read()):
            where = f"{os.path.relpath(path, ROOT)}:{line}"
            kind, _, name = info.partition(" ")
            count += 1
            if kind == "hir":
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
                status, output = run(hostir, f"hostir verify {name}", folder)
                announced = any("expected-error" in text for text in lines)
                if status != 0 and not announced and not name.startswith("bad_"):
                    failures.append(f"{where}: {name} does not verify:\n{output}")
            elif kind == "console":
                for command, expected, wanted in commands(lines):
                    status, output = run(hostir, command, folder)
                    if status != wanted:
                        failures.append(f"{where}: {command}: exit status {status}, not {wanted}:\n{output}")
                    elif expected and not pattern(expected).fullmatch(output):
                        failures.append(f"{where}: {command}: prints otherwise:\n{output}")
            elif kind == "sh":
                for command in "\n".join(lines).replace("\\\n", " ").splitlines():
                    status, output = run(hostir, command, folder)
                    if status != 0:
                        failures.append(f"{where}: {command}: exit status {status}, not 0:\n{output}")
            elif kind == "debugger":
                typed = [text.removeprefix(PROMPT) for text in lines if text.startswith(PROMPT)]
                command = " ".join([lines[0].removeprefix("$ "), *("--ex " + shlex.quote(text) for text in typed)])
                status, output = run(hostir, command, folder)
                if status != 0 or not pattern(lines[1:]).fullmatch(output.removesuffix(PROMPT + "\n")):
                    failures.append(f"{where}: {command}: exit status {status}, or prints otherwise:\n{output}")
            elif kind or os.path.basename(path) != "README.md":
                failures.append(f"{where}: a block is `hir NAME`, `console`, `sh` or `debugger`, not `{info}`")
    if count == 0:
        failures.append(f"{path} has no snippets")
    return failures


def main():
    hostir = os.path.abspath(sys.argv[1])
    guides = sys.argv[2:] or [os.path.join(ROOT, guide) for guide in GUIDES]
    failures = [failure for guide in guides for failure in check_guide(hostir, guide)]
    print("\n".join(failures) if failures else "guides: ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
