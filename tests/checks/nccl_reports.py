#!/usr/bin/env python3
"""Tests `hostir open` on what NCCL itself writes: NCCL_DEBUG lines, RAS reports, NCCL Inspector's logs.

    tests/checks/nccl_reports.py build-dev/bin/hostir [--keep FOLDER]

The jobs have four ranks: tensor parallel groups {0,1} and {2,3}, data parallel groups {0,2} and {1,3}.
Ends with `N passed, N failed`.
"""
import csv
import json
import resource
import subprocess
import sys

from cases import HOSTIR, accuses, accuses_nobody, case, opened, run_cases

RANKS = range(4)


# ---- NCCL_DEBUG lines

class DebugLines:
    """Every rank's lines. `ids`: splits carry a commId, as up to 2.21; `counted`: a splitCount, as from 2.22 on."""

    def __init__(self, ids=False, counted=True):
        self.lines = [[] for _ in RANKS]
        for r in RANKS:
            self.init(r, "ncclCommInitRankConfig", 0x5500, r, 4, "commId 0x5f1c")
            for number, (base, color) in enumerate(((0x7700, r // 2), (0x8800, r % 2)), 1):
                split = f"parent 0x{0x5500 + 16 * r:x} {f'splitCount {number} ' if counted else ''}color {color} key {r}"
                end = f"{split} commId 0x{10 * number + color:x}" if ids else split
                self.init(r, "ncclCommSplit", base, r % 2 if number == 1 else r // 2, 2, end)

    def init(self, r, function, pointer, rank, size, end):
        self.say(r, f"{function} comm 0x{pointer + 16 * r:x} rank {rank} nranks {size} cudaDev {r} nvmlDev {r} "
                    f"busId 1000 {end} - Init COMPLETE")

    def say(self, r, text):
        self.lines[r].append(f"node0:{4242 + r}:4300 [{r}] NCCL INFO {text}\n")

    def call(self, r, pointer, count):
        self.say(r, f"AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count {count} datatype 7 op 0 root 0 "
                    f"comm 0x{pointer + 16 * r:x} [nranks=2] stream 0x6600")

    def train(self, skips=None):
        """Two calls on the tensor parallel group, one on the data parallel one and one on all, three times."""
        for step in range(3):
            for r in RANKS:
                for pointer, count in ((0x7700, 64), (0x7700, 65), (0x8800, 1000), (0x5500, 1)):
                    if (r, step, count) != skips:
                        self.call(r, pointer, count)
        return self

    def write(self, folder, one_file=False):
        for r in RANKS:
            with open(folder / ("job.log" if one_file else f"nccl.node0.{4242 + r}.log"), "a", encoding="utf-8") as file:
                file.writelines(self.lines[r])
        return folder


@case
def debug_lines_of_a_mesh(folder):
    """Splits of one size and color are told apart, in one file and in one file per process."""
    for ids, counted in ((True, True), (False, True), (False, False)):
        for one_file in (True, False):
            for skips in (None, (3, 1, 65)):
                where = folder / f"{ids}{counted}{one_file}{skips is None}"
                where.mkdir()
                said = opened(DebugLines(ids, counted).train(skips).write(where, one_file))
                if skips is None:
                    accuses_nobody(said)
                else:
                    accuses(said, "left_out_call", 3)
                    assert ids or "split 1 of 0x5f1c (color 1)" in said["sentence"], said["sentence"]


@case
def debug_lines_whose_splits_cannot_be_told_apart(folder):
    """Without a count, a rank that took no part in the first split counts the second as its first."""
    job = DebugLines(counted=False)
    job.lines[1] = [line for line in job.lines[1] if "0x7710" not in line]
    for r in RANKS:
        job.call(r, 0x8800, 1000 + r % 2)
        if r != 1:
            job.call(r, 0x7700, 64)
    said = opened(job.write(folder))
    accuses_nobody(said)
    assert any("several communicators have the name" in text for text in said["not_known"]), said["not_known"]


@case
def debug_lines_without_a_world(folder):
    """Every process knows only communicators of two ranks: nothing tells their ranks in the job."""
    job = DebugLines()
    for r in RANKS:
        job.lines[r] = [line for line in job.lines[r] if "nranks 4" not in line]
    done = subprocess.run([HOSTIR, "open", str(job.train().write(folder))], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no communicator has all ranks" in done.stderr, done.stderr


def debug_job(folder, calls):
    """Four ranks, each with the calls `calls(rank)`: (kind, count, peer or 0)."""
    for r in RANKS:
        lines = [f"comm 0x5500 rank {r} nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE"]
        lines += [f"{kind}: opCount {n:x} sendbuff 0x7f00 recvbuff 0x7f00 count {count} datatype 7 op 0 root {peer} comm 0x5500 "
                  "[nranks=4] stream 0x1" for n, (kind, count, peer) in enumerate(calls(r))]
        (folder / f"rank{r}.log").write_text("".join(f"h0:{100 + r}:{100 + r} [0] NCCL INFO {line}\n" for line in lines))
    return opened(folder)


@case
def debug_stopped_calls_before_the_last(folder):
    """The others stand in the first call that the rank lacks, although they have issued more."""
    said = debug_job(folder, lambda r: [("AllReduce", 64, 0), ("AllGather", 16, 0)] * (2 if r == 3 else 3))
    accuses(said, "never_came", 3)
    assert "never came to all_reduce sum f32[64] seq 5 " in said["sentence"], said["sentence"]


@case
def debug_left_out_in_the_middle(folder):
    """From the call that one rank left out on, the calls do not meet."""
    pair = [("AllReduce", 64, 0), ("AllGather", 16, 0)]
    said = debug_job(folder, lambda r: pair * 2 + (pair[1:] if r == 1 else pair) + pair * 2)
    accuses(said, "left_out_call", 1)
    assert "ranks 0, 2, 3 wait in all_reduce, rank 1 waits in all_gather seq 5 " in said["sentence"], said["sentence"]


def debug_ring(folder, left_out):
    def calls(r):
        made = [("AllReduce", 1, 0)]
        for step in range(3):
            made += [("Send", 64, (r + 1) % 4)] + ([] if (r, step) == left_out else [("Recv", 64, (r - 1) % 4)])
        return made + [("AllReduce", 1, 0)]
    return debug_job(folder, calls)


@case
def debug_left_out_recv(folder):
    """All ranks are in the last call, but a send before it has no recv."""
    said = debug_ring(folder, (2, 2))
    accuses(said, "order", 2)
    assert "rank 2 calls all_reduce sum f32[1] seq 2 on commId 0x77 without the recv from rank 1" in said["sentence"], said["sentence"]


@case
def debug_ring_that_runs(folder):
    """Launches of several sends and recvs are not recorded: a ring of sends is not taken for a circle."""
    accuses_nobody(debug_ring(folder, None))


@case
def debug_counts_are_per_member(folder):
    """AllGather's count is what each rank sends, ReduceScatter's what each receives, AlltoAll's what each pair exchanges."""
    calls = [(f"{kind}: opCount {n:x} sendbuff 0x7f00 recvbuff 0x7f00 count 8 datatype 7 op 0 root 0 comm 0x5500 "
              "[nranks=4] stream 0x1") for n, kind in enumerate(("AllGather", "ReduceScatter", "AlltoAll", "AllReduce"))]
    for r in RANKS:
        lines = [f"comm 0x5500 rank {r} nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE", *calls]
        (folder / f"rank{r}.log").write_text("".join(f"h0:{100 + r}:{100 + r} [0] NCCL INFO {line}\n" for line in lines))
    log = folder / "job.db"
    subprocess.run([HOSTIR, "open", str(folder), "--trace", str(log)], check=True, capture_output=True)
    table = subprocess.run([HOSTIR, "trace", "collectives", str(log), "--format", "csv"], check=True, capture_output=True, text=True)
    sizes = {row["kind"]: int(row["bytes"]) for row in csv.DictReader(table.stdout.splitlines())}
    assert sizes == {"all_gather": 128, "reduce_scatter": 128, "all_to_all": 128, "all_reduce": 32}, sizes


# ---- RAS reports

def ras(path, counts, dead=(), when="10:00:00", communicators=None):
    """One communicator of all ranks with the given (AllGather, AllReduce) counts, and more, by hash."""
    def rank(number, r, made):
        return {"rank": number, "host": "h0", "pid": 100 + r, "cuda_dev": r,
                "collective_counts": {"Broadcast": 1, "Reduce": 0, "AllGather": made[0], "AllReduce": made[1]}}
    def communicator(name, members, made):
        alive = [rank(n, r, made[n]) for n, r in enumerate(members) if r not in dead]
        gone = [{"rank": n, "host": "h0", "pid": 100 + r, "cuda_dev": r, "status": {"considered_dead": True}}
                for n, r in enumerate(members) if r in dead]
        return {"hash": name, "size": len(members), "ranks": alive, "missing_ranks": gone}
    listed = [communicator("0x5f1c", RANKS, counts)]
    listed += [communicator(name, members, made) for name, members, made in communicators or ()]
    path.write_text(json.dumps({"nccl_version": "2.29.2", "timestamp": f"2026-01-05 {when}", "communicators": listed}),
                    encoding="utf-8")


@case
def ras_one_call_apart(folder):
    """Counts are read at different times: one report proves nothing, a second one decides."""
    for name, counts, culprits in (("behind", [(3, 8), (3, 7), (3, 8), (3, 8)], [1]),
                                   ("ahead", [(3, 8), (3, 8), (3, 9), (3, 8)], [2]),
                                   ("half", [(3, 8), (3, 7), (3, 8), (3, 7)], [1, 3])):
        where = folder / name
        where.mkdir()
        ras(where / "first.json", counts)
        said = opened(where)
        accuses_nobody(said, "a second report that says the same decides", "If the job is stuck: rank")
        assert said["if_stuck"]["culprits"] == culprits, said["if_stuck"]
        ras(where / "second.json", [(a, b + 10) for a, b in counts], when="10:00:30")
        accuses_nobody(opened(where), "counts advanced between two RAS reports 30 s apart")
        ras(where / "third.json", [(a, b + 10) for a, b in counts], when="10:05:30")
        accuses(opened(where), "extra_call" if name == "ahead" else "never_came", *culprits)


@case
def ras_behind_by_several(folder):
    ras(folder / "ras.json", [(3, 8), (3, 4), (3, 8), (3, 8)])
    said = opened(folder)
    accuses(said, "never_came", 1)
    assert "all_reduce seq 9 on communicator 0x5f1c" in said["sentence"], said["sentence"]
    assert any("only 4 AllReduce on communicator 0x5f1c, and others made 8" in t for t in said["not_known"]), said["not_known"]


RAS_TEXT = """NCCL version 2.28.9 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 12090

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          8            1         16       16

Communicators... (0.001s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         8        16        16   RUNNING  {whole}
    1         2         1         8         8        16   RUNNING  {half}

Errors
======

{errors}Warnings
========

{warnings}"""
MISMATCH = """#{label} (00000000deadbeef) MISMATCH
  Communicator ranks have different AllReduce operation counts
"""
BEHIND = "  Rank 3 has launched up to operation 4 -- GPU 3 managed by process 4003 on node 10.0.0.1\n\n"


def ras_text(folder, whole="OK", half="OK", errors="", warnings="", name="ras.txt"):
    (folder / name).write_text(RAS_TEXT.format(whole=whole, half=half, errors=errors, warnings=warnings), encoding="utf-8")


@case
def ras_as_text(folder):
    """`ncclras` prints text by default: it names the ranks that are few, and counts what differs."""
    ras_text(folder, whole="MISMATCH", warnings=MISMATCH.format(label="0-0") + "  15 ranks have launched up to operation 8\n" + BEHIND)
    said = opened(folder)
    accuses(said, "never_came", 3)
    assert "all_reduce seq 5 on communicator 0x00000000deadbeef, in which ranks 0, 1, 2, 4..15 wait" in said["sentence"], said["sentence"]
    assert any("rank 3 of communicator #0-0 (00000000deadbeef) is process 4003 on 10.0.0.1" in n for n in said["notes"]), said["notes"]


@case
def ras_as_text_of_a_part(folder):
    """Two ranks, named in a list, have made none, on a communicator of half of the job."""
    ras_text(folder, half="MISMATCH", warnings=MISMATCH.format(label="1-1") + "  6 ranks have launched up to operation 2\n"
             "  2 ranks have not launched any operations\n  Rank 1 -- GPU 1 managed by process 11 on node h\n"
             "  Rank 5 -- GPU 5 managed by process 15 on node h\n\n")
    said = opened(folder)
    accuses(said, "never_came", 1, 5)
    assert any("which has 8 of at least 16 ranks" in n for n in said["notes"]), said["notes"]


@case
def ras_as_text_that_names_nobody(folder):
    ras_text(folder, whole="MISMATCH", warnings=MISMATCH.format(label="0-0") + "  8 ranks have launched up to operation 8\n"
             "  8 ranks have launched up to operation 4\n\n")
    said = opened(folder)
    accuses_nobody(said)
    assert any("8 ranks have made 8, 8 ranks have made 4; the text report does not name them" in n for n in said["notes"]), said["notes"]


@case
def ras_as_text_of_a_healthy_job(folder):
    ras_text(folder)
    accuses_nobody(opened(folder))


@case
def ras_as_text_with_a_dead_rank(folder):
    ras_text(folder, whole="INCOMPLETE", errors="DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
             "  Process 77 on node h2 managing GPU 1\n\n#0-0 (5f1c) INCOMPLETE\n  Missing communicator data from 1 rank\n"
             "  Rank 9 -- GPU 1 managed by process 77 on node h2\n\n")
    said = opened(folder)
    accuses_nobody(said, "but rank 9 died or no longer answers")
    assert any("rank 9 of communicator #0-0 (5f1c) is process 77 on h2" in n for n in said["notes"]), said["notes"]


@case
def ras_of_thousands_of_ranks(folder):
    """The time grows with the ranks, not with their pairs; and thousands of groups make no thousands of notes."""
    world = 4096
    def rank(number, r, made):
        return {"rank": number, "host": f"h{r // 8}", "pid": r, "cuda_dev": r % 8, "collective_counts": {"AllReduce": made}}
    listed = [{"hash": "0x5f1c", "size": world, "missing_ranks": [], "ranks": [rank(r, r, 4 if r == 77 else 8) for r in range(world)]}]
    listed += [{"hash": f"0x{g:x}", "size": 8, "missing_ranks": [], "ranks": [rank(n, 8 * g + n, 30) for n in range(8)]}
               for g in range(world // 8)]
    (folder / "ras.json").write_text(json.dumps({"nccl_version": "2.29.2", "communicators": listed}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = opened(folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    accuses(said, "never_came", 77)
    assert len(said["not_known"]) < 5, said["not_known"]
    assert used < 8, f"{used:.1f} s"


@case
def ras_order_is_not_invented(folder):
    """Rank 1 is behind by calls of two kinds: which of them is the next is not known."""
    ras(folder / "ras.json", [(4, 8), (3, 6), (4, 8), (4, 8)])
    said = opened(folder)
    accuses(said, "never_came", 1)
    assert "never came to collective seq 11 on" in said["sentence"], said["sentence"]


@case
def ras_two_kinds(folder):
    """Rank 1 made a gather where the others made a reduction: no moment of a correct job has these counts."""
    ras(folder / "ras.json", [(3, 8), (4, 7), (3, 8), (3, 8)])
    accuses(opened(folder), "collective_mismatch", 1)


@case
def ras_dead(folder):
    """The counts are equal, so which call the others wait in is not known. What lags beside it is no fault."""
    ras(folder / "ras.json", [(3, 8)] * 4, dead=[3], communicators=[("0xaa", [0, 1], [(0, 5), (0, 4)])])
    said = opened(folder)
    accuses(said, "died", 3, trial=False)
    assert "gather" not in said["sentence"] and "broadcast" not in said["sentence"], said["sentence"]


@case
def ras_equal_communicators_beside(folder):
    """Calls on communicators whose counts are equal have no place in an order, so none is told as a last call."""
    ras(folder / "ras.json", [(3, 8), (3, 4), (3, 8), (3, 8)],
        communicators=[("0xaa", [0, 1], [(0, 40), (0, 40)]), ("0xbb", [2, 3], [(0, 40), (0, 40)])])
    said = opened(folder)
    accuses(said, "never_came", 1)
    assert "0xaa" not in said["sentence"] and "its last call" not in said["sentence"], said["sentence"]


@case
def ras_waits_across_communicators(folder):
    """Rank 3 skips calls of its group; rank 1 waits for it in another group, and is itself behind."""
    ras(folder / "ras.json", [(0, 10), (0, 10), (0, 10), (0, 9)],
        communicators=[("0xaa", [0, 1], [(0, 40), (0, 40)]), ("0xbb", [2, 3], [(0, 40), (0, 37)])])
    accuses(opened(folder), "never_came", 3)


# ---- NCCL Inspector

def inspector(folder, calls):
    """calls: (rank, communicator, position, size, number of calls, microseconds of each)."""
    for r, name, position, size, count, us in calls:
        with open(folder / f"h0-pid{100 + r}.log", "a", encoding="utf-8") as file:
            for number in range(1, count + 1):
                file.write(json.dumps({
                    "header": {"id": name, "comm_name": "unknown", "rank": position, "n_ranks": size, "nnodes": 1},
                    "metadata": {"inspector_output_format_version": "v4.0", "hostname": "h0", "pid": 100 + r,
                                 "dump_timestamp_us": 1767000000000000 + 1000 * number},
                    "coll_perf": {"coll": "AllReduce", "coll_sn": number, "coll_exec_time_us": us}}) + "\n")
    return opened(folder)


@case
def inspector_sub_communicators(folder):
    """The lines of a group come first: ranks are those of the largest communicator."""
    said = inspector(folder, [(r, f"0x{r // 2}", r % 2, 2, 7, 42) for r in RANKS] + [(r, "0x5f1c", r, 4, 7, 42) for r in RANKS])
    accuses_nobody(said, "all 21 calls on record completed", "writes finished calls only")
    assert not said["not_known"], said["not_known"]


@case
def inspector_file_that_ends_early(folder):
    said = inspector(folder, [(r, "0x5f1c", r, 4, 4 if r == 2 else 6, 42) for r in RANKS])
    accuses_nobody(said, "the file of rank 2 ends with call 4 on AllReduce of 0x5f1c, and others with call 6")


@case
def inspector_late_rank(folder):
    """Execution includes waiting, so the rank with the shortest time arrives last."""
    said = inspector(folder, [(r, "0x5f1c", r, 4, 6, 42 if r == 3 else 900) for r in RANKS])
    accuses_nobody(said, "rank 3 arrives last in 6 of 6 calls on AllReduce of 0x5f1c: it executes them in 42 us")


@case
def inspector_equal_ranks(folder):
    said = inspector(folder, [(r, "0x5f1c", r, 4, 6, 900 - 100 * r) for r in RANKS])
    accuses_nobody(said)
    assert "arrives last" not in said["sentence"], said["sentence"]


if __name__ == "__main__":
    sys.exit(run_cases())
