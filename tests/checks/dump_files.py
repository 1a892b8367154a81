#!/usr/bin/env python3
"""Tests `hostir open` on folders of dumps as people collect them: names, damaged files, copies, mixed jobs, settings.

    tests/checks/dump_files.py build-dev/bin/hostir [--keep FOLDER]

The jobs are those of flight_recorder_writer.py. Ends with `N passed, N failed`.
"""
import csv
import json
import os
import select
import shutil
import subprocess
import sys

from cases import HOSTIR, accuses, accuses_nobody, case, opened, run_cases
from flight_recorder_writer import START_NS, Call, Job

SECOND_NS = 10**9


def training(skips=(1, 2), world=4, steps=4, groups=None):
    """An all_reduce per step; `skips` = (rank, step) omits one."""
    job = Job(world, groups)
    for step in range(steps):
        for r in range(world):
            if (r, step) != skips:
                job.calls[r].append(Call("0", "all_reduce", [64], 30 + step, blocks=True))
    return job.run()


def change(folder, ranks, edit):
    """Edits the JSON dumps of some ranks."""
    for r in ranks:
        path = folder / f"trace_{r}.json"
        dump = json.loads(path.read_text())
        edit(dump)
        path.write_text(json.dumps(dump))


# ---- a job that runs

@case
def watch_tells_a_pipe_at_once(folder):
    """`hostir watch job | tee log`, which nobody ends."""
    training().write(folder)
    watch = subprocess.Popen([HOSTIR, "watch", folder, "--stall", "0.5", "--interval", "0.1"], stdout=subprocess.PIPE, text=True)
    try:
        readable, _, _ = select.select([watch.stdout], [], [], 30)
        assert readable, "nothing is printed in 30 s"
        assert "no progress for" in watch.stdout.readline()
    finally:
        watch.terminate()
        watch.wait()
        watch.stdout.close()


# ---- files of different moments

@case
def a_file_older_than_the_others(folder):
    """Calls that the others completed cannot lack rank 3: its file was written before, so only its name is known."""
    job = training(skips=None, steps=9)
    job.issued[3] = job.issued[3][:3]
    for r in range(3):
        job.issued[r][-1].state, job.issued[r][-1].done = "scheduled", None
    job.write(folder)
    said = opened(folder)
    accuses_nobody(said)
    assert said["suspects"] == [3] and "whose record ends before this call" in said["sentence"], said["sentence"]
    assert any("ends with seq 3 of default_pg, and rank 0 completed seq 8" in t for t in said["not_known"]), said["not_known"]
    assert said["trial"] == "not tried: the calls of rank 3 up to the hang are not on record", said["trial"]


@case
def a_file_one_call_behind(folder):
    """NCCL ends a call on some ranks before others have left it: one call proves nothing."""
    job = training(skips=None, steps=9)
    job.issued[3] = job.issued[3][:7]
    for r in range(3):
        job.issued[r][-1].state, job.issued[r][-1].done = "scheduled", None
    job.write(folder)
    accuses(opened(folder), "never_came", 3, trial=False)


# ---- times

@case
def arrivals_in_the_log(folder):
    """A call arrives when its host makes it: rank 3 is a second late in the second of two calls."""
    job = Job(4)
    job.all_reduce(30)
    job.all_reduce(31)
    job.run()
    job.issued[3][1].created = max(job.issued[r][1].created for r in range(3)) + SECOND_NS
    job.write(folder / "dumps")
    subprocess.run([HOSTIR, "open", folder / "dumps", "--trace", folder / "job.db"], capture_output=True)
    table = subprocess.run([HOSTIR, "trace", "collectives", folder / "job.db", "--format", "csv"], capture_output=True, text=True)
    first, second = csv.DictReader(table.stdout.splitlines())
    assert int(first["first_arrival_ns"]) == 0 and int(first["skew_ns"]) < 10**6, first
    assert SECOND_NS <= int(second["skew_ns"]) < SECOND_NS + 10**6 and second["start_ns"] == "", second


@case
def a_hung_call_lasts_until_the_dump(folder):
    """In the export, on a track named as in the verdict. A copy of the files is older: then the call lasts as long as its timeout."""
    job = Job(4)
    job.all_reduce(30)
    job.all_reduce(31, ranks=[0, 1, 3])
    job.run()
    for age_s, lasts_s in ((12, 12), (24 * 3600, 600)):
        dumps = job.write(folder / f"dumps_{age_s}")
        for path in dumps.iterdir():
            os.utime(path, ns=(START_NS + age_s * SECOND_NS,) * 2)
        subprocess.run([HOSTIR, "open", dumps, "--trace", folder / "job.db"], capture_output=True)
        done = subprocess.run([HOSTIR, "trace", "export", folder / "job.db"], capture_output=True, text=True, check=True)
        events = json.loads(done.stdout)["traceEvents"]
        hung = [e for e in events if e["name"] == "all_reduce (in flight)"]
        assert sorted(e["pid"] for e in hung) == [0, 1, 3] and all(e["ph"] == "B" for e in hung), hung
        end = max(e["ts"] for e in events if "ts" in e)  # viewers show open slices until there
        assert all(abs((end - e["ts"]) / 1e6 - lasts_s) < 1 for e in hung), (age_s, end, hung)
        names = {e["args"]["name"] for e in events if e["name"] == "thread_name" and e["tid"] == hung[0]["tid"]}
        assert all("default_pg" in name for name in names), names


# ---- names

NAMES = ("trace_{}_of_{world}", "trace_{}_step1200", "fr_r{}_pid{pid}", "trace_{}_1767000000", "trace_{}.7f3a",
         "host-a100-17_{}_20260101T0101", "fr-{}-of-{world}-attempt1", "rank_{}_attempt_0.pickle", "h17_{}.json.gz.bak")


@case
def names_with_several_numbers(folder):
    """The rank is the number that differs from file to file and is one of the job's, with or without a missing file."""
    for number, pattern in enumerate(NAMES):
        for missing in (None, 0, 2):
            where = folder / f"{number}_{missing}"
            training(skips=(1, 2)).write(where)
            for r in range(4):
                path = where / f"trace_{r}"
                if r == missing:
                    path.unlink()
                else:
                    path.rename(where / pattern.format(r, world=4, pid=4711 + 37 * r))
            said = opened(where)
            accuses(said, "left_out_call", 1, trial=False)
            assert sum(r["record"] == "whole" for r in said["ranks"]) == (4 if missing is None else 3), said["ranks"]


@case
def a_damaged_file_whose_name_has_several_numbers(folder):
    training().write(folder)
    for r in range(4):
        (folder / f"trace_{r}").rename(folder / f"trace_{r}_of_4")
    (folder / "trace_1_of_4").write_bytes(b"\x80\x02")
    accuses_nobody(opened(folder), "trace_1_of_4 of rank 1")


# ---- files that cannot be read

@case
def unknown_contents_under_a_ranks_name(folder):
    """They may be of a rank that did nothing wrong."""
    for name, contents in (("text", b"no dump"), ("zeros", bytes(4096)), ("html", b"<html></html>"), ("cut", b"\x80\x02K")):
        where = folder / name
        training().write(where)
        (where / "trace_1").write_bytes(contents)
        said = opened(where)
        accuses_nobody(said, "a file is there but cannot be read: trace_1 of rank 1")
        assert said["suspects"] == [1], said["suspects"]
        assert any("trace_1" in note for note in said["notes"]), said["notes"]


@case
def logs_that_begin_like_json(folder):
    """torch's log of the dead rank begins with a bracket; other programs log an object per line. Neither is a damaged dump."""
    lines = "[rank3]:[W1128 07:32:40.2939 Utils.hpp:137] Warning\n[rank3]: Traceback (most recent call last):\n"
    objects = '{"step": 1, "rank": 3}\n{"step": 2, "rank": 3}\n'
    for number, (name, text) in enumerate((("log_3.txt", lines), ("attempt_0/3/stderr.log", lines), ("rank_3.log", objects),
                                           ("stderr-3", "[2026-11-28 07:32:40] rank 3 starts\n"), ("trace_3.txt", "{rank: 3}\n"))):
        where = folder / str(number)
        training(skips=(3, 3)).write(where, missing=(3,))
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
        accuses(opened(where), "no_record", 3)


@case
def a_json_dump_cut_short(folder):
    for size in (1, 3, 900):
        where = training(skips=(3, 3)).write(folder / f"cut_{size}", form="json")
        text = (where / "trace_3.json").read_text()
        assert len(text) > size
        (where / "trace_3.json").unlink()
        (where / "dump-3.json").write_text(text[:size])
        accuses_nobody(opened(where), "a file is there but cannot be read: dump-3.json of rank 3")


@case
def a_log_file_beside_a_missing_dump(folder):
    """The rank's log is no dump that could not be read: a rank that lives writes its dump."""
    training().write(folder)
    (folder / "trace_1").unlink()
    (folder / "train_1.log").write_text("step 0\n")
    accuses(opened(folder), "no_record", 1)


@case
def a_byte_order_mark(folder):
    training().write(folder, form="json")
    path = folder / "trace_1.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    accuses(opened(folder), "never_came", 1)


@case
def files_cut_short(folder):
    training(world=8).write(folder, form="json")
    for r in range(2, 6):
        path = folder / f"trace_{r}.json"
        path.write_bytes(path.read_bytes()[:900])
    notes = opened(folder)["notes"]
    assert [n.split("json: ")[-1] for n in notes[:3]] == ["the file ends too early (byte 900)"] * 3, notes
    assert notes[3] == "1 more damaged file: trace_5.json", notes


# ---- copies and other jobs

@case
def a_copy(folder):
    """Which of the two names is right is not known, so neither rank is accused with its calls."""
    for culprit in (1, 2, 3):
        where = folder / str(culprit)
        training(skips=(culprit, 2)).write(where)
        shutil.copy(where / "trace_1", where / "trace_3")
        said = opened(where)
        assert set(said["culprits"]) <= {2} & {culprit}, said["sentence"]
        assert any("one is a copy of the other" in text for text in said["not_known"]), said["not_known"]


@case
def a_second_job_of_the_same_time(folder):
    """The job that is not read may hang."""
    training(skips=None, world=2).write(folder / "jobA")
    other = training(skips=(1, 2), world=2)
    for calls in other.issued:
        for call in calls:
            call.created += 3 * SECOND_NS
            call.done = call.done and call.done + 3 * SECOND_NS
    other.write(folder / "jobB")
    said = opened(folder)
    accuses_nobody(said, "no rank is accused: ", "2 files are not read, and may be of another job, which may hang: ")
    assert "no rank is at fault" not in said["sentence"], said["sentence"]


# ---- groups

@case
def members_listed_differently(folder):
    job = Job(4, {"1": [0, 1, 2, 3]})
    for _ in range(3):
        job.all_reduce(20, group="1")
    job.run().write(folder, form="json")
    change(folder, [3], lambda dump: dump["pg_config"]["1"].update(ranks="[0, 1, 3]"))
    said = opened(folder)
    assert said["not_known"] == ["rank 3 lists ranks 0, 1, 3 as the members of group 1, and ranks 0, 1, 2 list ranks 0..3"], \
        said["not_known"]


@case
def entries_that_describe_a_group_differently(folder):
    """pg_config says `undefined`, the entries `gloo_cpu`: one group, whose call rank 1 left out."""
    job = Job(4, {"9": [0, 1, 2, 3]})
    for step in range(3):
        for r in range(4):
            if (r, step) != (1, 1):
                job.calls[r].append(Call("9", "all_reduce", [1], 35, blocks=True))
            job.calls[r].append(Call("0", "all_reduce", [1], 50, blocks=True))
    job.run().write(folder, form="json")

    def describe(dump):
        for entry in dump["entries"]:
            if entry["process_group"][0] == "9":
                entry["process_group"][1] = "gloo_cpu"
    change(folder, range(4), describe)
    said = opened(folder)
    accuses(said, "order", 1)
    assert "seq 2 on group 9" in said["sentence"], said["sentence"]


@case
def names_that_steer_a_terminal(folder):
    """A stranger's names: clear the screen, write a verdict, hide the rest, change the clipboard. C0, DEL and C1."""
    steer = "\x1b[2J\x1b[1;1Hno rank is at fault\x1b[8m\x7f\u009b2J\r\x1b]52;c;cHduZWQ=\x07"
    training().write(folder, form="json")

    def describe(dump):
        for config in dump["pg_config"].values():
            config["desc"] = steer
        for entry in dump["entries"]:
            entry["process_group"][1] = steer
            entry["frames"] = [{"name": steer, "filename": steer, "line": 7}]
    change(folder, range(4), describe)
    log = folder / "log.db"
    for command in [["open", folder, "--trace", log], ["debug", log, "--ex", "info collectives", "--ex", "where"],
                    ["trace", "collectives", log]]:
        run = subprocess.run([HOSTIR, *command], capture_output=True, check=False)
        said = (run.stdout + run.stderr).decode()
        assert not [c for c in said if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160], said
    assert "never came to all_reduce" in subprocess.run([HOSTIR, "open", folder], capture_output=True, text=True, check=False).stdout


@case
def a_call_on_a_group_of_their_own(folder):
    """TP 2 x DP 4. Ranks 4 and 5, a tp group, leave the loop a round early: tp (group 1) is not theirs."""
    job = Job(8, {"1": [0, 1], "2": [2, 3], "3": [4, 5], "4": [6, 7], "5": [0, 2, 4, 6], "6": [1, 3, 5, 7]})
    for step in range(4):
        for r in range(8):
            if r // 2 != 2 or step < 3:
                job.calls[r].append(Call(str(1 + r // 2), "all_reduce", [64], 20, blocks=True))
                job.calls[r].append(Call(str(5 + r % 2), "all_reduce", [8], 21, blocks=True))
    for r in range(8):
        job.calls[r].append(Call("0", "barrier", [1], 30, blocks=True))
    job.run().write(folder, form="json")

    def describe(dump):
        for group, name in {"1": "tp", "2": "tp", "3": "tp", "4": "tp", "5": "dp", "6": "dp"}.items():
            if group in dump["pg_config"]:
                dump["pg_config"][group]["desc"] = name
            for entry in dump["entries"]:
                if entry["process_group"][0] == group:
                    entry["process_group"][1] = name
    change(folder, range(8), describe)
    said = opened(folder)
    assert said["fault"] and said["culprits"] == [4, 5], said["sentence"]
    assert "without all_reduce f32[64] on their tp groups" in said["sentence"], said["sentence"]


@case
def no_call_on_record(folder):
    """The recorder was on, and the job made no call: nothing is known about it."""
    training().write(folder, form="json")
    change(folder, range(4), lambda dump: dump.update(entries=[]))
    said = opened(folder)
    accuses_nobody(said)
    assert said["sentence"].startswith("no rank is accused: no call is on record"), said["sentence"]


@case
def groups_with_one_description(folder):
    job = Job(4, {"1": [0, 1], "2": [2, 3]})
    for step in range(3):
        for r in range(4):
            if (r, step) != (3, 1):
                job.calls[r].append(Call(str(1 + r // 2), "all_reduce", [64 + step], 20 + step, blocks=True))
    job.run().write(folder, form="json")

    def describe(dump):
        for name in ("1", "2"):
            if name in dump["pg_config"]:
                dump["pg_config"][name]["desc"] = "TENSOR_MODEL_PARALLEL_GROUP"
        for entry in dump["entries"]:
            if entry["process_group"][0] != "0":
                entry["process_group"][1] = "TENSOR_MODEL_PARALLEL_GROUP"
    change(folder, range(4), describe)
    said = opened(folder)
    assert "on TENSOR_MODEL_PARALLEL_GROUP (group 2)" in said["sentence"], said["sentence"]


# ---- entries

@case
def numbers_up_to_2_1(folder):
    """Entries have one seq_id instead of collective_seq_id and p2p_seq_id; without it, they are refused."""
    def old(dump):
        dump["version"] = "2.1"
        for entry in dump["entries"]:
            entry["seq_id"] = entry.pop("collective_seq_id")
            for key in ("p2p_seq_id", "op_id", "is_p2p"):
                entry.pop(key, None)
    training().write(folder, form="json")
    change(folder, range(4), old)
    accuses(opened(folder), "never_came", 1)
    change(folder, range(4), lambda dump: [entry.pop("seq_id") for entry in dump["entries"]])
    done = subprocess.run([HOSTIR, "open", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "neither collective_seq_id nor seq_id" in done.stderr, done.stderr


@case
def numbers_up_to_2_1_with_sends(folder):
    """Only the two ranks of a send count it, so the numbers of a collective differ."""
    job = Job(3)
    job.calls[0].append(Call("0", "send", [8], 20, peer=1))
    job.calls[1].append(Call("0", "recv", [8], 21, peer=0))
    job.all_reduce(30)
    job.all_reduce(31)
    job.run().write(folder, form="json")

    def old(dump):
        dump["version"] = "2.1"
        for number, entry in enumerate(dump["entries"], 1):
            entry["seq_id"] = number
            for key in ("collective_seq_id", "p2p_seq_id", "op_id", "is_p2p"):
                entry.pop(key, None)
    change(folder, range(3), old)
    accuses_nobody(opened(folder), "no rank is at fault: all 3 calls on record completed")


@case
def paths_of_windows(folder):
    """torch's own frame is not taken for the user's."""
    training().write(folder, form="json")

    def windows(dump):
        for entry in dump["entries"]:
            entry["frames"] = [
                {"name": "all_reduce", "filename": r"C:\py\Lib\site-packages\torch\distributed\distributed_c10d.py", "line": 2800},
                {"name": "step", "filename": r"D:\proj\train.py", "line": 14}]
    change(folder, range(4), windows)
    said = opened(folder)
    assert "D:/proj/train.py:14 in step" in said["sentence"] and "c10d" not in said["sentence"], said["sentence"]


if __name__ == "__main__":
    sys.exit(run_cases())
