#!/usr/bin/env python3
"""Types at `hostir debug` through a pseudo-terminal: line_editing.py HOSTIR. Prints `N passed, N failed`.

Editing keys, history over two sessions and in its file, completion, Ctrl-C, Ctrl-D, and what a pipe gets instead.
"""
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import termios
import time

from cases import check, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "tests/programs/tp_mlp.hir"
PROMPT = "(hostir) "


class Typist:
    """A debugger at the other end of a terminal."""

    def __init__(self, hostir, state):
        self.keyboard, terminal = pty.openpty()
        environment = dict(os.environ, XDG_STATE_HOME=str(state), HOME=str(state), TERM="xterm", LC_ALL="C.UTF-8")
        self.before = termios.tcgetattr(terminal)
        self.process = subprocess.Popen(
            [hostir, "debug", PROGRAM], cwd=ROOT, env=environment, start_new_session=True,
            stdin=terminal, stdout=terminal, stderr=terminal,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))
        self.terminal = terminal
        self.shown = ""
        self.wait_for(PROMPT)

    def read(self, seconds):
        if not select.select([self.keyboard], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.keyboard, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode("utf-8", "replace"))
        return bool(data)

    def wait_for(self, text, seconds=20):
        """The output up to and including `text`; None if it does not come."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            if time.monotonic() > end or (not self.read(0.2) and self.process.poll() is not None):
                return None
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def ready(self):
        """Waits until the editor reads keys: the prompt comes a moment earlier, when Ctrl-D would get lost."""
        end = time.monotonic() + 20
        while termios.tcgetattr(self.terminal)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)

    def settle(self):
        """Reads until there has been no output for a while, as a person would wait before typing on."""
        while self.read(0.5):
            pass

    def type(self, keys, answer, seconds=20):
        self.ready()
        os.write(self.keyboard, keys.encode())
        return self.wait_for(answer, seconds)

    def end(self, keys):
        self.ready()
        os.write(self.keyboard, keys.encode())
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        restored = termios.tcgetattr(self.terminal)[3] == self.before[3]
        os.close(self.terminal)
        os.close(self.keyboard)
        return status, restored


def main():
    hostir = str(pathlib.Path(sys.argv[1]).resolve())
    if "libedit" not in subprocess.run(["ldd", hostir], capture_output=True, text=True).stdout:
        print("skipped: built without libedit")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(folder)
        history = state / "hostir" / "history"

        typist = Typist(hostir, state)
        check("Tab completes a command and its topic", typist.type("inf\tran\t\r", "rank"), typist.shown)
        check("the completed command runs", typist.wait_for(PROMPT), typist.shown)
        shown = typist.type("print %b\t", "%b2")
        check("Tab lists values that begin so", shown and "%b1" in shown, shown)
        typist.settle()  # the line is drawn again below the list
        check("Ctrl-C drops the line", typist.type("\x03", "^C") and typist.wait_for(PROMPT), typist.shown)
        # The editor redraws only what changes, so the effect of the line shows whether completion
        # worked.
        shown = typist.type("break all_red\tif max(%b\t2) > 0\r", "Breakpoint 1")
        check("Tab completes an op, and a value inside a condition", shown, typist.shown)
        typist.wait_for(PROMPT)
        check("Tab completes a function", typist.type("list @ml\t\r", "comm over"), typist.shown)
        typist.wait_for(PROMPT)
        shown = typist.type("break tp_\t20\r", "Breakpoint 2")
        check("Tab completes a file before a line", shown and "unknown" not in shown, typist.shown)
        typist.wait_for(PROMPT)
        shown = typist.type("xxfo break\x01\x1b[3~\x1b[3~in\x05\r", "number  enabled")
        check("Home, Delete and End edit the line", shown, typist.shown)
        typist.wait_for(PROMPT)
        check("Up recalls the line before", typist.type("\x1b[A\x1b[A\r", "Breakpoint 3"), typist.shown)
        typist.wait_for(PROMPT)
        status, restored = typist.end("\x04")
        check("Ctrl-D ends the session", status == 0, status)
        check("the terminal is as it was", restored)
        lines = history.read_text().splitlines() if history.exists() else []
        check("the file has each line as it was entered",
              [line.rstrip() for line in lines] ==
              ["info ranks", "break all_reduce if max(%b2) > 0", "list @mlp.host", "break tp_mlp.hir:20",
               "info break", "break tp_mlp.hir:20"], lines)
        check("only its owner reads the file", history.exists() and history.stat().st_mode & 0o77 == 0)

        typist = Typist(hostir, state)
        check("the next session has the history", typist.type("\x1b[A\r", "Breakpoint 1"), typist.shown)
        typist.wait_for(PROMPT)
        check("Ctrl-R searches it", typist.type("\x12info b\r", "number  enabled"), typist.shown)
        typist.wait_for(PROMPT)
        status, restored = typist.end("quit\r")
        check("quit ends it, and the terminal is as it was", status == 0 and restored, (status, restored))

        history.write_text("".join(f"step {n}\n" for n in range(1, 2500)))
        typist = Typist(hostir, state)
        typist.end("\x04")
        lines = history.read_text().splitlines()
        check("a long history is cut to its end", (len(lines), lines[-1]) == (1000, "step 2499"), lines[-3:])

        history.unlink()
        piped = subprocess.run([hostir, "debug", PROGRAM], cwd=ROOT, input="info break\nquit\n", text=True,
                               capture_output=True, env=dict(os.environ, XDG_STATE_HOME=str(state)))
        check("a pipe gets plain lines", "\x1b" not in piped.stdout and piped.stdout.count(PROMPT) == 2, piped.stdout)
        check("and leaves no history", not history.exists())
    return finish()


if __name__ == "__main__":
    sys.exit(main())
