#!/usr/bin/env python3
"""Tests libhostir_nccl.so, `hostir open` and `hostir watch` on what it writes: nccl_plugin.py BUILD.

Processes that play NCCL's side of its interface (tests/nccl_plugin/driver.c) are ranks of a job: they run to the end,
are stopped, killed, leave a call out, fill the ring, call from several threads. Prints `N passed, N failed`.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from cases import check, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = 4


class Job:
    """The processes of a job, and what `hostir` says of their files."""

    def __init__(self, build, folder, version, calls, ranks=RANKS, every=(), env=None, **one):
        self.hostir = build / "bin/hostir"
        self.folder = pathlib.Path(folder) / "log"
        self.ranks = []
        for rank in range(ranks):
            command = [build / "bin/nccl_driver", build / "lib/libhostir_nccl.so", str(version),
                       f"{folder}/board", str(rank), str(ranks), str(calls), *every, *one.get(f"rank{rank}", ())]
            self.ranks.append(subprocess.Popen(
                list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "HOSTIR_NCCL_DIR": str(self.folder), "RANK": str(rank), "WORLD_SIZE": str(ranks),
                     **(env or {})}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.ranks:
            process.kill()  # also a stopped one
            process.communicate()

    def end(self):
        for rank, process in enumerate(self.ranks):
            out, error = process.communicate(timeout=60)
            check(f"rank {rank} ends", process.returncode == 0 and "made" in out, error)

    def open(self, *options):
        run = subprocess.run([self.hostir, "open", self.folder, "--json", *options], capture_output=True, text=True,
                             timeout=60)
        return run.returncode, json.loads(run.stdout) if run.stdout else {"sentence": run.stderr, "culprits": [],
                                                                          "kind": "", "notes": [], "fault": None}

    def watch(self, *options, timeout="30"):
        begin = time.monotonic()
        run = subprocess.run([self.hostir, "watch", self.folder, "--once", "--timeout", timeout, "--interval",
                              "0.2", *options], capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout, time.monotonic() - begin


def wait_until(what, holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            check(what, False, "timed out")
            return
        time.sleep(0.02)


def is_stopped(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


@contextlib.contextmanager
def job(build, *arguments, **options):
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, *arguments, **options) as made:
        yield made


def meetings(calls):
    """How many meetings and pairs `calls` calls of four ranks make: per five calls three all_reduces of all, one of
    each pair of ranks, and a send around the ring."""
    return sum(RANKS if k % 5 == 4 else 2 if k % 5 == 3 else 1 for k in range(calls))


def check_whole(build, version):
    with job(build, version, 100) as run:
        run.end()
        status, verdict = run.open()
        check(f"v{version}: no rank is accused", status == 0 and verdict["fault"] is False, verdict)
        check(f"v{version}: the log is complete", f"all {meetings(100)} calls on record completed" in
              verdict["sentence"], verdict["sentence"])
        check(f"v{version}: who wrote it", verdict["producer"] == "libhostir_nccl" and len(verdict["files"]) == RANKS,
              verdict)
        program = run.folder.parent / "job.hir"
        run.open("--program", str(program))
        text = program.read_text()
        check(f"v{version}: what was called", "all_reduce" in text and "send" in text and "f32" in text, text[:500])
        status, out, _ = run.watch()
        check(f"v{version}: the watcher ends with the job", status == 0 and "over" in out, out)


def check_stopped(build, version):
    """A rank is stopped in the middle: it is named while the others wait, and the job ends once it goes on."""
    with job(build, version, 60, every=("--pace-us", "1000"), rank2=("--stop-at", "37")) as run:
        wait_until("rank 2 stops", lambda: is_stopped(run.ranks[2]))
        status, out, took = run.watch("--stall", "1.5")
        check(f"v{version}: the watcher names it", status == 4 and "rank 2" in out and took < 15, (took, out))
        check(f"v{version}: and says why", "is stopped" in out and "no progress" in out, out)
        status, verdict = run.open()
        check(f"v{version}: who", status == 4 and verdict["culprits"] == [2] and verdict["kind"] == "never_came",
              verdict)
        check(f"v{version}: the others wait", set(verdict["waiting"]) == {0, 1, 3} or 0 in verdict["waiting"], verdict)
        check(f"v{version}: the trial", "completes" in verdict["trial"], verdict["trial"])
        run.ranks[2].send_signal(signal.SIGCONT)
        run.end()
        status, verdict = run.open()
        check(f"v{version}: then nobody", status == 0 and str(meetings(60)) in verdict["sentence"], verdict)


def check_frozen(build):
    """A rank is stopped after it has made its call: all have come, and nobody advances."""
    with job(build, 6, 60, every=("--pace-us", "1000"), rank2=("--freeze-at", "35")) as run:
        wait_until("rank 2 stops", lambda: is_stopped(run.ranks[2]))
        status, out, took = run.watch("--stall", "1.5")
        check("a rank stopped in a call", status == 4 and "rank 2 is stopped in " in out and took < 15, (took, out))
        status, verdict = run.open()
        check("its verdict", status == 4 and verdict["culprits"] == [2] and verdict["kind"] == "stopped" and
              0 in verdict["waiting"] and 2 not in verdict["waiting"], verdict)
        run.ranks[2].send_signal(signal.SIGCONT)
        run.end()
        status, verdict = run.open()
        check("it goes on", status == 0 and str(meetings(60)) in verdict["sentence"], verdict)


def check_frozen_beside_an_absent_rank(build):
    """Rank 2 is stopped in a call that rank 0 has not made, as it waits for its device: the stopped rank is at fault."""
    with job(build, 6, 60, every=("--pace-us", "1000"), rank2=("--freeze-at", "35"), rank0=("--doze-at", "35")) as run:
        wait_until("rank 2 stops", lambda: is_stopped(run.ranks[2]))
        status, out, took = run.watch("--stall", "1.5")
        check("a rank stopped in a call that another has not made", status == 4 and "rank 2 is stopped in " in out and
              took < 15, (took, out))
        status, verdict = run.open()
        check("its verdict", status == 4 and verdict["culprits"] == [2] and verdict["kind"] == "stopped" and
              any("rank 0 has not come to " in note for note in verdict["notes"]), verdict)


def check_killed(build):
    with job(build, 5, 60, rank1=("--kill-at", "22")) as run:
        run.ranks[1].wait(timeout=30)
        status, out, _ = run.watch("--stall", "1")
        check("a killed rank", status == 4 and "rank 1 died" in out, out)
        status, verdict = run.open()
        check("its record survives", verdict["culprits"] == [1] and verdict["kind"] == "died" and
              verdict["at"]["sequence"] > 1, verdict)


def check_left_out(build):
    """Rank 3 leaves out an all_reduce whose size differs from the next one's."""
    with job(build, 6, 60, rank3=("--skip", "20")) as run:
        status, out, _ = run.watch("--stall", "1")
        check("a call that is left out", status == 4 and "rank 3" in out, out)
        _, verdict = run.open()
        check("which one", verdict["culprits"] == [3] and verdict["sequence"] is not None, verdict)


def check_slow(build):
    """A rank that always comes last is not accused."""
    with job(build, 5, 60, rank1=("--pace-us", "40000")) as run:
        time.sleep(1)
        status, out, _ = run.watch("--stall", "1.5", timeout="1")
        check("a slow rank", status == 0 and "no progress" not in out, out)
        run.end()


def check_ring(build):
    """The ring keeps the newest calls in bounded space, and a hang is found all the same."""
    small = {"HOSTIR_NCCL_RECORDS": "64"}
    with job(build, 5, 600, env=small, rank3=("--stop-at", "533")) as run:
        wait_until("rank 3 stops", lambda: is_stopped(run.ranks[3]), 40)
        status, out, _ = run.watch("--stall", "1")
        check("a ring that wrapped", status == 4 and "rank 3" in out, out)
        sizes = [file.stat().st_size for file in run.folder.iterdir()]
        check("its size", len(sizes) == RANKS and max(sizes) < 64 * 1024, sizes)


def check_threads(build):
    """Four communicators per process, each called from a thread of its own."""
    with job(build, 6, 1000, ranks=2, every=("--threads", "4")) as run:
        run.end()
        status, verdict = run.open()
        # Two ranks make no pairs: four all_reduces and two messages in five calls.
        expected = 4 * sum(2 if k % 5 == 4 else 1 for k in range(1000))
        check("threads", status == 0 and f"all {expected} calls" in verdict["sentence"], verdict["sentence"])


def check_captured(build):
    with job(build, 5, 20, every=("--capture", "10")) as run:
        run.end()
        _, verdict = run.open()
        check("captured calls are not pending", not verdict["fault"] and
              any("1 calls were captured" in note for note in verdict["notes"]), verdict)


# Plays NCCL within Python: PYTHON holds the GIL in each call, RELEASED does not, as PyTorch.
PYTHON_JOB = """
import ctypes, os, sys
library, rank = ctypes.CDLL(sys.argv[1]), int(os.environ["RANK"])
table = (ctypes.c_void_p * 6).in_dll(library, "ncclProfiler_v5")
P, Q, I = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
init = ctypes.PYFUNCTYPE(I, P, Q, P, ctypes.c_char_p, I, I, I, P)(table[1])
START = (I, P, P, P)
held, released = ctypes.PYFUNCTYPE(*START)(table[2]), ctypes.CFUNCTYPE(*START)(table[2])

class Call(ctypes.Structure):
    _fields_ = [("type", Q), ("parent", P), ("rank", I), ("function", ctypes.c_char_p), ("count", Q),
                ("dtype", ctypes.c_char_p), ("root", I), ("stream", P), ("captured", ctypes.c_uint8), ("rest", Q * 6)]

context, mask, handle = P(), I(), P()
init(ctypes.byref(context), 7, ctypes.byref(mask), b"world", 1, 2, rank, None)

def all_reduce(start, count):
    call = Call(type=1 << 9, rank=rank, function=b"AllReduce", count=count, dtype=b"ncclFloat32", stream=1)
    start(context, ctypes.byref(handle), ctypes.byref(call))

def training_step():
    all_reduce(held, 8)
    all_reduce(released, 8)
    if rank == 0:
        all_reduce(held, 16)  # rank 1 leaves it out
    all_reduce(held, 32)

try:
    raise KeyError
except KeyError:
    training_step()
sys.stdin.read()
"""


def check_frames(build):
    """Python frames where they are asked for, of callers that hold the GIL."""
    for wanted in ("3", ""):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "train.py"
            script.write_text(PYTHON_JOB)
            log = pathlib.Path(folder) / "log"
            ranks = [subprocess.Popen([sys.executable, script, build / "lib/libhostir_nccl.so"], stdin=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "HOSTIR_NCCL_DIR": str(log), "RANK": str(rank),
                                           "WORLD_SIZE": "2", "HOSTIR_NCCL_RECORDS": "16", "HOSTIR_NCCL_FRAMES": wanted})
                     for rank in range(2)]
            end = time.monotonic() + 20
            while time.monotonic() < end and not (log.is_dir() and len(list(log.iterdir())) == 2 and sum(
                    int.from_bytes(file.read_bytes()[32:40], "little") for file in log.iterdir()) == 7):
                time.sleep(0.05)
            run = subprocess.run([build / "bin/hostir", "open", log, "--json"], capture_output=True, text=True, timeout=60)
            size = [file.stat().st_size for file in log.iterdir()]
            text = b"".join(file.read_bytes() for file in log.iterdir())
            errors = [process.communicate("")[1] for process in ranks]
            check("the job goes on", all(process.returncode == 0 for process in ranks) and not any(errors), errors)
            verdict = json.loads(run.stdout)
            line = next(n for n, at in enumerate(PYTHON_JOB.splitlines(), 1) if "leaves it out" in at)
            if wanted:
                check("the line of the call", f"train.py:{line}" in verdict["sentence"], verdict)
                check("callers without the GIL have none", text.count(b" training_step\n") == 5, text.count(b" training_step\n"))
                check("frames in bounded space", max(size) == 4096 + 256 * 128 + 16 * (176 + 3 * 128), size)
            else:
                check("no frames unless asked", b"training_step" not in text and "train.py" not in verdict["sentence"] and
                      max(size) == 4096 + 256 * 128 + 16 * 176, size)


def check_chain(build):
    for ours, theirs in ((4, 4), (5, 5), (6, 4), (6, 5), (4, 5)):
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts"
            env = {"HOSTIR_NCCL_CHAIN": str(build / f"lib/libnccl_counter_v{theirs}.so"), "COUNTER_FILE": str(counts)}
            with Job(build, folder, ours, 50, ranks=2, env=env) as run:
                run.end()
                status, verdict = run.open()
            check(f"v{ours} before v{theirs}: our log", status == 0 and "completed" in verdict["sentence"], verdict)
            lines = [json.loads(line) for line in counts.read_text().splitlines()]
            check(f"v{ours} before v{theirs}: a line per communicator", len(lines) == 2, lines)
            for line in lines:
                check(f"v{ours} before v{theirs}: the other plugin's events",
                      line["coll"] == 40 and line["p2p"] == 20 and line["channel"] == 120 and line["states"] == 120 and
                      line["foreign"] == 0 and line["stopped"] >= 180 and
                      (line["coll_api"] == 40) == (ours > 4 and theirs > 4), line)
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, 6, 10, ranks=2,
                                                      env={"HOSTIR_NCCL_CHAIN": "/nowhere.so"}) as run:
        errors = [process.communicate(timeout=30) for process in run.ranks]
        check("a plugin that is missing", all("/nowhere.so" in error for _, error in errors) and
              all(process.returncode == 0 for process in run.ranks), errors)
        check("the job is recorded all the same", run.open()[0] == 0)


def check_no_folder(build):
    with tempfile.TemporaryDirectory() as folder:
        blocked = pathlib.Path(folder) / "file"
        blocked.write_text("")
        with Job(build, folder, 5, 10, ranks=2, env={"HOSTIR_NCCL_DIR": str(blocked / "log")}) as run:
            errors = [process.communicate(timeout=30) for process in run.ranks]
            check("a folder that cannot be made", all("no record is kept" in error for _, error in errors) and
                  all(process.returncode == 0 for process in run.ranks), errors)


def check_damaged(build):
    """A file that is cut or changed anywhere is refused or read, never a crash."""
    with job(build, 5, 20, ranks=2) as run:
        run.end()
        file = sorted(run.folder.iterdir())[0]
        whole = file.read_bytes()
        for length in (7, 100, 263, 4096, 40000):
            file.write_bytes(whole[:length])
            status, verdict = run.open()
            check(f"cut to {length} bytes", status in (0, 2, 3, 4) and verdict["sentence"], verdict)
        for at in (8, 12, 16, 24, 32, 40, 44, 48, 4096, 4104, 4112, 36864, 36872, 36876, 36880, 36896):
            file.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8:])
            status, verdict = run.open()
            check(f"damage at {at}", status in (0, 2, 3, 4) and verdict["sentence"], verdict)


def check_waits_for_start(build):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([build / "bin/hostir", "watch", folder, "--once", "--timeout", "0.3", "--interval", "0.1"],
                             capture_output=True, text=True, timeout=30)
        check("a job that has not started", run.returncode == 0 and run.stdout == "", run)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for version in (4, 5, 6):
        check_whole(build, version)
        check_stopped(build, version)
    for more in (check_frozen, check_frozen_beside_an_absent_rank, check_killed, check_left_out, check_slow, check_ring, check_threads, check_captured, check_frames, check_chain,
                 check_no_folder, check_damaged, check_waits_for_start):
        more(build)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
