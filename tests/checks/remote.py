#!/usr/bin/env python3
"""Tests logs on a remote machine, with this one playing its part: remote.py HOSTIR. Prints `N passed, N failed`.

An sshd of its own listens on a free port of localhost; where none can run, a stand-in for ssh runs the commands. `hostir serve` answers through it, and logs are read as
`ssh:HOST:PATH`, also one that is being written.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from cases import ENDLESS, check, counts, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTIR = pathlib.Path(sys.argv[1]).resolve()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Remote:
    """An sshd and an `ssh` in PATH that knows its key and port; the host is called `node`."""

    def __init__(self, folder):
        self.folder = folder
        port = free_port()
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "user.pub", folder / "authorized")
        (folder / "sshd.conf").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
            f"PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSetEnv PATH={folder}/bin:/usr/bin:/bin\n")
        (folder / "ssh.conf").write_text(
            f"Host node\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
            " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n BatchMode yes\n")
        ours = folder / "ours"
        theirs = folder / "bin"
        ours.mkdir()
        theirs.mkdir()
        (theirs / "hostir").symlink_to(HOSTIR)
        (ours / "ssh").write_text(f"#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh.conf \"$@\"\n")
        (ours / "ssh").chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{ours}:{os.environ['PATH']}")
        self.daemon = None
        if pathlib.Path("/usr/sbin/sshd").exists() and os.getuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
            self.daemon = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", folder / "sshd.conf"],
                                           stderr=(folder / "sshd.log").open("w"))
        if not self.answers(port):
            log = folder / "sshd.log"
            print("no sshd here: a stand-in runs the commands", log.read_text()[-300:] if log.exists() else "")
            (ours / "ssh").write_text(f"#!/bin/sh\n[ \"$1\" = -- ] && shift\n[ \"$1\" = node ] || exit 255\nshift\n"
                                      f"PATH={folder}/bin:/usr/bin:/bin exec sh -c \"$*\"\n")

    def answers(self, port):
        for _ in range(100 if self.daemon else 0):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return subprocess.run(["ssh", "node", "hostir --version"], env=self.environment, capture_output=True,
                                          timeout=60, check=False).returncode == 0
            time.sleep(0.05)
        return False

    def run(self, *words, status=0, **options):
        done = subprocess.run([str(w) for w in words], env=self.environment, capture_output=True, text=True, timeout=120,
                              cwd=ROOT, check=False, **options)
        check(f"{' '.join(map(str, words))} ends with {status}", done.returncode == status, done.stdout + done.stderr)
        return done.stdout + done.stderr


def check_serve(remote, log):
    lines = [{"method": "open", "params": {"path": str(log)}},
             {"method": "command", "params": {"session": 1, "command": "info waits"}},
             {"method": "query", "params": {"session": 1, "sql": "select count(*) as n from fault"}}]
    text = "".join(json.dumps({"jsonrpc": "2.0", "id": i, **line}) + "\n" for i, line in enumerate(lines))
    answers = [json.loads(line) for line in remote.run("ssh", "node", "hostir serve", input=text).splitlines()]
    check("every request is answered", [a.get("id") for a in answers] == [0, 1, 2], answers)
    check("the log of the other machine is open", answers[0].get("result", {}).get("ranks") == 2, answers[0])
    check("and can be asked", answers[2]["result"]["rows"][0] in ([1], {"n": 1}), answers[2])


def check_logs(remote, log):
    there = f"ssh:node:{log}"
    here = remote.run(HOSTIR, "trace", "events", log)
    check("a log reads the same", remote.run(HOSTIR, "trace", "events", there) == here)
    commands = remote.folder / "commands.txt"
    commands.write_text("goto end\ninfo faults\n")
    check("the debugger opens it", "deadlock" in remote.run(HOSTIR, "debug", there, "-x", commands, status=4))
    refused = remote.run(HOSTIR, "trace", "info", "ssh:node:/no/such.db", status=3)
    check("what is not there is named by the other machine", "/no/such.db" in refused, refused)
    refused = remote.run(HOSTIR, "trace", "info", "ssh:node", status=3)
    check("a host alone is refused", "error[remote_log]" in refused and "ssh:HOST:PATH" in refused, refused)
    refused = remote.run(HOSTIR, "trace", "info", "ssh:-oProxyCommand=touch:x.db", status=3)
    check("a host is never an option", not (ROOT / "touch").exists() and "ended with status" in refused, refused)
    odd = log.with_name("it's a $(touch x) log.db")
    shutil.copy(log, odd)
    check("names reach the other machine as they are", remote.run(HOSTIR, "trace", "events", f"ssh:node:{odd}") == here)


def check_live(remote):
    program = remote.folder / "endless.hir"
    program.write_text(ENDLESS)
    log = remote.folder / "live.db"
    writer = subprocess.Popen([HOSTIR, "run", program, "--example-inputs", "--trace", log], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not log.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        writer.send_signal(signal.SIGSTOP)  # a log without end would take the machine's time
        question = "select count(*) from event"
        copied = int(remote.run(HOSTIR, "trace", "sql", f"ssh:node:{log}", question, "--format", "csv").split()[-1])
        check("a log that is being written can be read", writer.poll() is None, writer.returncode)
        here = int(remote.run(HOSTIR, "trace", "sql", log, question, "--format", "csv").split()[-1])
        check("the copy has what was written by then", copied == here, (copied, here))
    finally:
        writer.kill()
        writer.wait()


def main():
    with tempfile.TemporaryDirectory() as name:
        remote = Remote(pathlib.Path(name))
        try:
            log = remote.folder / "run.db"
            remote.run(HOSTIR, "run", "tests/programs/deadlock.hir", "--trace", log, status=4)
            check_serve(remote, log)
            check_logs(remote, log)
            check_live(remote)
        finally:
            if remote.daemon:
                remote.daemon.terminate()
                remote.daemon.wait()
                if counts["failed"]:
                    print((remote.folder / "sshd.log").read_text()[-1500:])
    return finish()


if __name__ == "__main__":
    sys.exit(main())
