#!/usr/bin/env python3
"""Tests `hostir open` on folders of dumps: which rank is at fault, in which line, and no accusation without a fault.

    tests/checks/dumps.py build-dev/bin/hostir [--keep FOLDER]

The folders are those of tests/truth/flight_recorder (real NCCL ranks) and jobs generated here: one or more per kind
of mistake, each on several rank counts, and similar-looking jobs that are correct. Ends with `N passed, N failed`.
"""
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "long"))
from clog_writer import write_clog  # noqa: E402
from dump_cases import CASES, INNOCENT, case, fault, layers  # noqa: E402
from flight_recorder_writer import START_NS, Call, Job, write_dump  # noqa: E402
import hang_jobs  # noqa: E402, F401
import legal_orders  # noqa: E402, F401
import pipeline_jobs as pipes  # noqa: E402
import random_hangs  # noqa: E402

# Seeds of random_hangs.py that once accused an innocent rank.
SEEDS = {61039: "plain", 70732: "plain", 50110: "any", 54173: "any", 70019: "any", 70187: "any", 70402: "any", 70470: "any",
         70644: "any", 70714: "any", 70723: "any", 70831: "any", 72520: "any", 72602: "any", 73296: "any",
         75689: "any", 76224: "any", 76312: "any", 76862: "any", 77834: "any",
         80446: "any", 90321: "any", 110015: "any", 110161: "plain", 120179: "any", 300234: "plain", 310154: "two", 400158: "clog", 1: "clog", 339: "clog",
         500042: "plain", 700056: "plain", 800020: "two", 800094: "ahead", 900131: "legal", 901066: "legal", 902003: "any", 901035: "any"}

TRUTH = pathlib.Path(__file__).parent.parent / "truth" / "flight_recorder"

# ---- correct, slow, running or badly recorded jobs: no rank is accused

@case(2, 4, 7)
def healthy(world):
    job = layers(Job(world, {"1": list(range(0, world, 2))}), [10, 11, 12])
    job.all_reduce(13, group="1")
    return job.run(), {}, INNOCENT


@case(4)
def running_all_in_flight(world):
    job = layers(Job(world), [10, 11]).run()
    for r in range(world):
        for c in job.issued[r][1:]:
            c.state, c.done = "scheduled", None
    return job, {}, INNOCENT


@case(4)
def running_one_is_ahead_in_issuing(world):
    job = layers(Job(world), [10, 11, 12]).run()
    for r in range(world):
        for c in job.issued[r][1:]:
            c.state, c.done = "scheduled", None
    for r in range(1, world):
        job.issued[r].pop()  # the others are in call 2, and so is rank 0
    return job, {}, INNOCENT


@case(4)
def slow_rank(world):
    job = layers(Job(world), [10, 11, 12]).run()
    for c in job.issued[2]:
        c.created += 3 * 10**9
    for r in range(world):
        for c in job.issued[r]:
            c.done += 3 * 10**9
    return job, {}, INNOCENT


@case(4)
def slow_rank_until_the_dump(world):
    """All ranks wait seconds for rank 2, and the call ends so shortly before the dumps that no watchdog saw it end."""
    job = layers(Job(world), [10, 11]).run()
    for r in range(world):
        job.issued[r][1].end_late()
    return job, {}, INNOCENT


@case(4)
def late_rings_healthy(world):
    job = layers(Job(world), range(10, 60)).run()
    return job, {"ring": 20}, INNOCENT


@case(4)
def late_rings_that_begin_in_a_launch(world):
    """The ring of rank 1 lost the first part of a launch of three: its sum of sizes is not that of the others."""
    job = Job(world, {"1": [1, 2]})
    for step in range(6):
        for r in range(world):
            job.calls[r] += [Call("0", "_all_gather_base", [n], 99, out=[n * world], batch=f"{step}.{r}") for n in (64, 100, 256)]
    job.all_reduce(70, (5,), group="1")
    return job.run(), {"ring": 12}, INNOCENT


@case(3)
def left_out_after_an_exchange_in_late_rings(world):
    """The middle rank exchanges twice as much, so its ring begins later: that it has fewer recvs from rank 0 proves nothing."""
    job = Job(world)
    for step in range(4):
        for r in range(world):
            for peer in (r - 1, r + 1):
                if 0 <= peer < world:
                    job.calls[r] += [Call("0", kind, [16], line, peer=peer, batch=f"{step}.{r}", blocks=True)
                                     for kind, line in (("send", 90), ("recv", 91))]
            if (r, step) != (0, 2):
                job.calls[r].append(Call("0", "all_reduce", [5], 95, blocks=True))
    return job.run(), {"ring": 10}, {"fault": True, "not_accused": [1, 2]}


@case(4)
def healthy_without_one_file(world):
    return layers(Job(world), [10, 11]).run(), {"missing": (1,)}, {**INNOCENT, "not_known": "rank 1"}


@case(4)
def healthy_lines_differ(world):
    job = Job(world)
    for i in range(6):
        job.each(range(world), lambda r: Call("0", "broadcast", [8], 10 if r == 0 else 12))
        job.all_reduce(20 + i)
    return job.run(), {}, INNOCENT


@case(4)
def batched_exchange(world):
    job = Job(world)
    for r in range(world):
        job.calls[r] += [Call("0", "send", [16], 10, peer=(r + 1) % world, batch="a"),
                         Call("0", "recv", [16], 11, peer=(r - 1) % world, batch="a")]
    return job.run(), {}, INNOCENT


@case(4)
def batched_exchange_in_flight(world):
    job, _, _ = batched_exchange(world)
    for r in range(world):
        for c in job.issued[r]:
            c.state, c.done = "scheduled", None
    return job, {}, INNOCENT


@case(4)
def uneven_all_to_all(world):
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "all_to_all", [[r + q + 1] for q in range(world)], 10,
                                          out=[[q + r + 1] for q in range(world)]))
    return job.run(), {}, INNOCENT


@case(3)
def gather_right(world):
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "gather", [5], 10, out=[[5]] * world if r == 1 else []))
    return job.run(), {}, INNOCENT


@case(4)
def only_active_all_in_flight(world):
    job, how, said = running_all_in_flight(world)
    return job, {**how, "only_active": True}, said


@case(4)
def unsorted_group(world):
    job = Job(world, {"1": [3, 1]})
    job.calls[3].append(Call("1", "send", [4], 10, peer=1))
    job.calls[1].append(Call("1", "recv", [4], 11, peer=3))
    return job.run(), {}, INNOCENT


# ---- a call that all members are in, and that does not complete on some of them

def held_in(kind, held, ahead, **sizes):
    """The held ranks are still in their last call; the others have completed it and wait in the next one, or issued it."""
    job = layers(Job(4), [10, 11])
    job.each(range(4), lambda r: Call("0", kind, sizes.get("size", [64]), 12, **({"out": sizes["out"]} if "out" in sizes else {})))
    job.all_reduce(13, (8,), ranks=ahead)
    job.run()
    for r in held:
        job.issued[r][2].state, job.issued[r][2].done = "scheduled", None
    return job


@case(4)
def an_exchange_of_which_a_part_is_missing(world):
    """Which of the ranks sends less than rank 2 expects is not recorded."""
    job = held_in("all_to_all", [2], [0, 1, 3], size=[64])
    return job, {}, {**INNOCENT, "line": 12, "says": "rank 2 is still in it, "
                     "ranks 0, 1, 3 have completed it; its sizes for each peer are not recorded before PyTorch 2.11, and may differ"}


@case(4)
def a_broadcast_with_another_root(world):
    job = held_in("broadcast", [1, 3], [0, 2])
    return job, {}, {**INNOCENT, "line": 12, "says": "are in it with the same call, the last one since 2025-12-29 09:20:00 UTC; ranks 1, 3 "
                     "are still in it, ranks 0, 2 have completed it; its root is not recorded, and may differ"}


@case(4)
def a_broadcast_that_only_its_root_leaves(world):
    return held_in("broadcast", [1, 2, 3], [0]), {}, {**INNOCENT, "says": "its root is not recorded"}


@case(4)
def a_call_that_ends_on_all_but_one(world):
    return held_in("all_reduce", [2], [0, 1, 3]), {}, {**INNOCENT, "line": 12, "says": "ranks 0, 1, 3 have completed it; a GPU or a "
                                                      "link between them may have failed"}


@case(4)
def held_up_behind_the_call_that_waits_for_it(world):
    """All are in the call on group 1, but ranks 0 and 1 wait in the one before it, to which rank 2 never came."""
    job = layers(Job(world, {"1": [0, 1, 2]}), [10, 11])
    job.all_reduce(12, ranks=[0, 1, 3])
    job.all_reduce(13, (9,), group="1")
    job.run()
    for r in (0, 1, 2):
        job.issued[r][-1].state, job.issued[r][-1].done = "scheduled", None
    return job, {}, {"fault": True, "culprits": [2], "line": 12, "trial": True}


# ---- a rank without a file, and hosts that ran ahead of it

@case(4)
def dead_before_the_first_of_several_calls(world):
    """The hosts of the others issued the calls of the whole round: rank 3 died before the first of these."""
    job = Job(world, {"1": [0, 2], "2": [1, 3]})
    for i in range(3):
        last = i == 2
        layers(job, [10])
        for group in ("1", "2"):
            job.all_reduce(11, (128,), group=group, ranks=[r for r in job.groups[group] if not (last and r == 3)])
        job.all_reduce(12, (32,), ranks=[0, 1, 2] if last else None)
    job.dead = {3}
    return job.run(), {}, fault("no_record", 3, trial=True, says="rank 1 waits in all_reduce f32[128] seq 3 on group 2 at /home/ada/train.py:11 ",
                                trial_says="with this call on rank 3, and then all_reduce f32[32] seq 6 on default_pg, "
                                           "the program completes", never_says="rank 1 waits in turn")


@case(4)
def dead_while_the_others_block(world):
    """Rank 1 waits in the call on group 2 and has not come to the next one, in which more ranks wait."""
    job = Job(world, {"1": [0, 2], "2": [1, 3]})
    for i in range(3):
        layers(job, [10], blocks=True)
        for group in ("1", "2"):
            job.all_reduce(11, (128,), group=group, ranks=[r for r in job.groups[group] if (r, i) != (3, 2)], blocks=True)
        job.all_reduce(12, (32,), ranks=[0, 1, 2] if i == 2 else None, blocks=True)
    job.dead = {3}
    return job.run(), {}, fault("no_record", 3, trial=True, says="rank 1 waits in all_reduce f32[128] seq 3 on group 2 at /home/ada/train.py:11 ")


@case(4)
def dead_with_a_call_that_ended_late(world):
    """The call on group 2 in round 2 completed, for rank 3 made the later ones of that round, but nobody looked until the dump.
    The repair does not add it."""
    job, _, said = dead_before_the_first_of_several_calls(world)
    job.issued[1][4].end_late()
    return job, {}, said


# ---- one call that differs, and later ones that agree

def buckets(wrong, blocks=False, kinds=None, world=4):
    """Four rounds of three buckets from one line, of other sizes; `wrong` is that of rank 1's second bucket in the last round."""
    job = Job(world)
    for step in range(4):
        for r in range(world):
            sizes = [100, wrong if (r, step) == (1, 3) else 200, 300]
            job.calls[r] += [Call("0", "all_reduce", [n], 25, blocks=blocks) for n in sizes]
            job.calls[r].append(Call("0", "all_reduce", [1], 30, blocks=True))
    return job.run()


@case(4, 8)
def size_of_the_next_bucket(world):
    return buckets(300, world=world), {}, fault(
        "collective_mismatch", 1, line=25, trial=True, never_says="left out",
        says=f"rank 1 calls all_reduce f32[300] seq 14 on default_pg at /home/ada/train.py:25 in step "
             f"where ranks 0, 2{', 3' if world == 4 else '..7'} call all_reduce f32[200]")


@case(4)
def size_of_the_bucket_before(world):
    return buckets(100), {}, fault("collective_mismatch", 1, line=25, trial=True, never_says="came first")


@case(4)
def size_of_the_bucket_before_blocking(world):
    return buckets(100, blocks=True), {}, fault("collective_mismatch", 1, trial=True, never_says="came first")


@case(4)
def size_of_the_next_bucket_blocking(world):
    """The records end there: that a bucket was left out is as likely."""
    return buckets(300, blocks=True), {}, fault("left_out_call", 1, trial=True,
                                                says="rank 1 calls all_reduce f32[300] in its place, which may be a wrong size")


def shards(last):
    """Three rounds of an all_gather, and a layer; `last` gives rank 3's calls in the third."""
    job = Job(4)
    for step in range(3):
        for r in range(4):
            calls = [Call("0", "_all_gather_base", [100], 22, out=[400]), Call("0", "all_reduce", [8], 24, blocks=True)]
            job.calls[r] += last if (r, step) == (3, 2) else calls
    job.all_reduce(70, (1,))
    return job.run()


@case(4)
def another_kind_of_call_after_rounds(world):
    job = shards([Call("0", "_reduce_scatter_base", [400], 23, out=[100]), Call("0", "all_reduce", [8], 24, blocks=True)])
    return job, {}, fault("collective_mismatch", 3, line=23, never_says="more", trial=True,
                          trial_says="with all_gather f32[100] on rank 3 the program completes")


@case(4)
def leaves_the_loop_one_round_early(world):
    """Without its barrier the others would wait for ever: the trial says which call it adds."""
    job = shards([])
    return job, {}, fault("collective_mismatch", 3, trial=True, trial_says="with all_gather f32[100] on rank 3, and then all_reduce f32[8] seq 6 on default_pg, the program")


# ---- missing calls, extra calls, calls in another order

@case(3, 4, 8)
def skip_in_the_middle(world):
    job = layers(Job(world), [10, 11, 12, 13, 14], but=(world - 2, 12))
    return job.run(), {}, fault("left_out_call", world - 2, line=12, trial=True)


@case(4)
def skip_the_first(world):
    return layers(Job(world), [10, 11, 12], but=(0, 10)).run(), {}, fault("left_out_call", 0, line=10, trial=True)


@case(4)
def skip_blocking(world):
    job = layers(Job(world), [10, 11, 12, 13], but=(2, 11), blocks=True)
    return job.run(), {}, fault("left_out_call", 2, line=11, trial=True)


@case(4)
def skip_with_other_sizes(world):
    job = Job(world)
    for i, line in enumerate([10, 11, 12, 13, 14]):
        job.all_reduce(line, size=(8 + i, 3), ranks=[r for r in range(world) if (r, line) != (1, 12)])
    return job.run(), {}, fault("left_out_call", 1, line=12, trial=True)


@case(4)
def skip_in_a_loop_without_trace(world):
    """All calls look alike, so the missing call cannot be identified, but the rank can."""
    job = Job(world)
    for i in range(6):
        job.all_reduce(10, ranks=[r for r in range(world) if (r, i) != (3, 2)])
    return job.run(), {}, fault("never_came", 3, line=10, trial=True)


@case(6)
def skip_in_a_subgroup(world):
    job = Job(world, {"1": [0, 2, 4], "2": [1, 3, 5]})
    for line in (10, 11, 12):
        layers(job, [line], group="1", but=(4, 11))
        layers(job, [line + 10], group="2")
    return job.run(), {}, fault("left_out_call", 4, line=11, trial=True)


@case(4)
def skip_all_in_flight(world):
    """No rank waits for rank 2 yet, but its stacks show the mistake."""
    job = layers(Job(world), [10, 11, 12, 13], but=(2, 11)).run()
    for r in range(world):
        for c in job.issued[r][1:]:
            c.state, c.done = "scheduled", None
    return job, {}, fault("left_out_call", 2, line=11, trial=True)


@case(4)
def skip_json_without_stacks(world):
    job = layers(Job(world), [10, 11, 12], but=(1, 11)).run()
    return job, {"form": "json"}, fault("never_came", 1, trial=True)


@case(4)
def skip_saved_by_python(world):
    job = layers(Job(world), [10, 11, 12], but=(1, 11)).run()
    return job, {"form": "python"}, fault("left_out_call", 1, line=11, trial=True)


@case(4)
def skip_compressed(world):
    job = layers(Job(world), [10, 11, 12], but=(1, 11)).run()
    return job, {"form": "gz"}, fault("never_came", 1, trial=True)


@case(3, 5)
def extra_call_in_the_middle(world):
    job = layers(Job(world), [10])
    job.calls[1].append(Call("0", "all_reduce", [64, 64], 33))
    layers(job, [11, 12])
    return job.run(), {}, fault("extra_call", 1, line=33, trial=True)


@case(4)
def extra_call_of_other_size(world):
    job = layers(Job(world), [10])
    job.calls[2].append(Call("0", "all_reduce", [7], 33))
    layers(job, [11, 12])
    return job.run(), {}, fault("extra_call", 2, line=33, trial=True)


@case(4)
def one_iteration_more(world):
    job = Job(world)
    for i in range(5):
        job.all_reduce(10, ranks=range(world) if i < 4 else [0])
    return job.run(), {}, fault("extra_call", 0, line=10, trial=True)


@case(4)
def swapped_kinds(world):
    job = Job(world)
    for r in range(world):
        pair = [Call("0", "all_reduce", [8], 10), Call("0", "_all_gather_base", [8], 11, out=[8 * world])]
        job.calls[r] += pair[::-1] if r == 3 else pair
    layers(job, [12])
    return job.run(), {}, fault("swapped_calls", 3, trial=True)


@case(4)
def swapped_kinds_at_the_end(world):
    """The hang stops rank 3 before the layer that the others have issued already."""
    job = Job(world)
    for r in range(world):
        pair = [Call("0", "all_reduce", [8], 10), Call("0", "_all_gather_base", [8], 11, out=[8 * world])]
        job.calls[r] += pair[::-1] if r == 3 else pair
    job.all_reduce(12, ranks=[0, 1, 2])
    return job.run(), {}, fault("swapped_calls", 3, trial=True)


@case(4, 6)
def order_of_groups_blocking(world):
    job = Job(world, {"1": list(range(world)), "2": list(range(world))})
    for r in range(world):
        pair = [Call("1", "all_reduce", [8], 10, blocks=True), Call("2", "all_reduce", [8], 11, blocks=True)]
        job.calls[r] += pair[::-1] if r == 1 else pair
    return job.run(), {}, fault("order", 1, line=11, trial=True)


@case(4)
def order_of_groups_in_a_loop_over_them(world):
    """One line calls both groups in turn, as it did before: rank 1 is not on a wrong group."""
    job = Job(world, {"1": list(range(world)), "2": list(range(world))})
    for r in range(world):
        for line in (10, 20):
            pair = [Call(g, "all_reduce", [line], line, blocks=True) for g in ("1", "2")]
            job.calls[r] += pair[::-1] if (r, line) == (1, 20) else pair
    return job.run(), {}, fault("order", 1, line=20, trial=True)


@case(4)
def order_of_groups_in_flight(world):
    job = Job(world, {"1": list(range(world)), "2": list(range(world))})
    layers(job, [5])
    for r in range(world):
        pair = [Call("1", "all_reduce", [8], 10), Call("2", "all_reduce", [8], 11)]
        job.calls[r] += pair[::-1] if r == 2 else pair
    job.run()
    for r in range(world):
        for c in job.issued[r][1:]:
            c.state, c.done = "scheduled", None
    return job, {}, fault("order", 2, line=11, trial=True)


@case(8)
def two_skip_the_same_call(world):
    job = Job(world)
    for line in (30, 31, 32, 33):
        job.all_reduce(line, ranks=[r for r in range(world) if not (r in (2, 6) and line == 32)])
    return job.run(), {}, fault("left_out_call", 2, 6, line=32, says="ranks 0, 1, 3, 4, 5, 7 make", trial=True)


@case(4)
def half_skip(world):
    """Two ranks make the call and two do not: nothing shows which are right."""
    job = Job(world)
    for line in (30, 31, 32, 33):
        job.all_reduce(line, ranks=[r for r in range(world) if not (r % 2 and line == 32)])
    return job.run(), {}, fault("left_out_call", suspects=[0, 1, 2, 3], line=32, says="ranks 1, 3 leave out")


@case(4)
def skip_in_one_of_two_pairs(world):
    """One of two members makes the call; the other pair shows that both should."""
    job = Job(world, {"1": [0, 1], "2": [2, 3]})
    for line in (21, 22, 23):
        layers(job, [line], group="1")
        layers(job, [line], group="2", but=(3, 22))
    return job.run(), {}, fault("left_out_call", 3, line=22, trial=True)


@case(4)
def skip_before_the_rings_begin(world):
    """No rank has a record of the omitted call; the first call that the others still have is a different one."""
    job = Job(world)
    for i in range(100):
        job.all_reduce(10 + i % 5, ranks=[r for r in range(world) if (r, i) != (3, 20)])
    return job.run(), {"ring": 10}, fault("never_came", 3)


@case(4)
def skip_in_one_of_two_groups(world):
    """Rank 1 goes on to the call of all; ranks 0 and 2, of another group, show which line comes first."""
    job = Job(world, {"tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]})
    for i in range(2):
        for r in range(world):
            job.calls[r].append(Call(f"tp{r // 2}", "all_reduce", [128], 20, blocks=True))
            if (r, i) != (1, 1):
                job.calls[r].append(Call(f"dp{r % 2}", "all_reduce", [999], 40, blocks=True))
        layers(job, [50], blocks=True)
    return job.run(), {}, fault("order", 1, line=40, suspects=[], trial=True)


# ---- the same call with different arguments

@case(2, 4)
def size_differs(world):
    job = layers(Job(world), [10])
    job.each(range(world), lambda r: Call("0", "all_reduce", [100 if r == 1 else 128], 11))
    culprits = [1] if world > 2 else []
    return job.run(), {}, fault("collective_mismatch", *culprits, line=11, trial=True)


@case(4)
def dtype_differs(world):
    job = layers(Job(world), [10])
    job.each(range(world), lambda r: Call("0", "all_reduce", [128], 11, dtype="BFloat16" if r == 3 else "Float"))
    return job.run(), {}, fault("collective_mismatch", 3, line=11, says="bf16", trial=True)


@case(4)
def dtype_differs_old_version(world):
    """Schema 2.3 wrote dtypes as torch's numeric codes."""
    job = layers(Job(world), [10])
    job.each(range(world), lambda r: Call("0", "all_reduce", [128], 11, dtype=15 if r == 3 else 6))
    return job.run(), {"version": "2.3"}, fault("collective_mismatch", 3, line=11, says="bf16", trial=True)


@case(4)
def kind_differs(world):
    job = layers(Job(world), [10])
    job.each(range(world), lambda r: Call("0", "broadcast" if r == 0 else "all_reduce", [128], 11 + r))
    return job.run(), {}, fault("collective_mismatch", 0, line=11, trial=True)


@case(5)
def gathered_size_differs(world):
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "_all_gather_base", [9 if r == 4 else 8], 10,
                                          out=[(9 if r == 4 else 8) * world]))
    return job.run(), {}, fault("collective_mismatch", 4, line=10, trial=True)


@case(3)
def two_roots(world):
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "gather", [5], 10 + r, out=[[5]] * world if r in (0, 2) else []))
    job.run()
    for r in range(world):
        job.issued[r][0].state, job.issued[r][0].done = "scheduled", None
    return job, {}, fault("collective_mismatch", suspects=[0, 2], trial=True)


@case(4)
def two_roots_of_which_only_they_tell(world):
    """Members that are not the root have no outputs: they follow either root."""
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "gather", [5], 10 + r, out=[[5]] * world if r in (1, 2) else []))
    job.run()
    for r in range(world):
        job.issued[r][0].state, job.issued[r][0].done = "scheduled", None
    return job, {}, fault("collective_mismatch", suspects=[1, 2], trial=True)


@case(4)
def blocks_differ(world):
    job = Job(world)
    def make(r):
        sends = [[4 if r == 2 else 3] for _ in range(world)]
        return Call("0", "all_to_all", sends, 10, out=[[3] for _ in range(world)], agree=(r == 2,))
    job.each(range(world), make)
    return job.run(), {}, fault("block_mismatch", 2, line=10, trial=True)


@case(4)
def totals_of_all_to_all_differ(world):
    job = Job(world)
    job.each(range(world), lambda r: Call("0", "all_to_all", [60 if r == 1 else 64], 10, out=[64], agree=(r == 1,)))
    return job.run(), {}, fault("block_mismatch", 1, line=10)


# ---- ranks that stop

@case(2, 4, 8)
def stopped_outside(world):
    job = layers(Job(world), [10, 11])
    job.all_reduce(12, ranks=[r for r in range(world) if r != world - 1])
    return job.run(), {}, fault("never_came", world - 1, line=12, trial=True)


@case(4)
def dead_rank(world):
    job = layers(Job(world), [10, 11])
    job.all_reduce(12, ranks=[0, 1, 2])
    job.dead = {3}
    return job.run(), {}, fault("no_record", 3, line=12, trial=True)


@case(3, 4)
def dead_rank_ends_the_calls_of_the_others(world):
    last = world - 1
    job = layers(Job(world), [10, 11])
    job.all_reduce(12, ranks=range(last))
    job.dead = {last}
    job.run()
    for r in range(last):
        job.issued[r][2].end_late()
    return job, {}, fault("no_record", last, line=12, trial=True)


@case(4)
def the_first_to_leave_ends_the_calls_of_the_others(world):
    """Rank 3 stopped outside; it wrote its dump first and left, which ended the call of two others."""
    job = layers(Job(world), [10, 11])
    job.all_reduce(12, ranks=[0, 1, 2])
    job.run()
    for r in (0, 2):
        job.issued[r][2].end_late()
    return job, {}, fault("never_came", 3, line=12, trial=True)


@case(4)
def stopped_before_two_groups(world):
    """Rank 2 is awaited by rank 0 in their group, and by 1 and 3 in the next call of all."""
    job = layers(Job(world, {"1": [0, 2], "2": [1, 3]}), [10])
    job.calls[0].append(Call("1", "all_reduce", [8], 20, blocks=True))
    for r in (1, 3):
        job.calls[r].append(Call("2", "all_reduce", [8], 20, blocks=True))
    job.all_reduce(21, ranks=[0, 1, 3])
    return job.run(), {}, fault("never_came", 2, line=20, trial=True)


@case(4)
def file_of_the_culprit_is_missing(world):
    job = layers(Job(world), [10, 11, 12, 13], but=(2, 11))
    return job.run(), {"missing": (2,)}, fault("no_record", 2, trial=True)


@case(4, 8)
def doubled_beside_a_missing_file(world):
    """Rank 1 repeats its last call; the ranks with a file have completed all theirs, so it is not they who stopped."""
    job = layers(Job(world), [10, 11, 12])
    job.calls[1].append(Call("0", "all_reduce", [64, 64], 12))
    return job.run(), {"missing": (2,)}, fault("extra_call", 1, line=12)


@case(2)
def doubled_without_stacks(world):
    """Either rank may be wrong. JSON has no stacks, so the calls themselves show that rank 1 left its rounds."""
    job = Job(world)
    for _ in range(3):
        layers(job, [10], size=(5,))
        layers(job, [11], size=(7,))
    job.calls[1].append(Call("0", "all_reduce", [7], 11))
    return job.run(), {"form": "json"}, {"fault": True, "culprits": [], "suspects": [0, 1]}


@case(4)
def file_of_another_is_missing(world):
    job = layers(Job(world), [10, 11, 12, 13], but=(2, 11))
    return job.run(), {"missing": (0,)}, fault("left_out_call", 2, line=11, not_known="rank 0")


@case(8)
def last_send_left_out_and_hosts_ahead(world):
    """Rank 3 waits in the call of all, which rank 5 has issued as well, behind its recv."""
    job = Job(world, {f"dp{s}": [2 * s, 2 * s + 1] for s in range(4)})
    for step in range(3):
        for r in range(world):
            for batch in range(3):
                job.calls[r] += [Call("0", "recv", [16], 12, peer=r - 2, blocks=True)] if r > 1 else []
                job.calls[r] += [Call("0", "send", [16], 14, peer=r + 2, blocks=True)] if r < 6 and (r, step, batch) != (3, 2, 2) else []
            for batch in range(3 if step < 2 else 0):
                job.calls[r] += [Call("0", "recv", [16], 16, peer=r + 2, blocks=True)] if r < 6 else []
                job.calls[r] += [Call("0", "send", [16], 18, peer=r - 2, blocks=True)] if r > 1 else []
            job.calls[r] += [Call(f"dp{r // 2}", "all_reduce", [9], 40, blocks=True), Call("0", "all_reduce", [1], 50, blocks=True)]
    for call in [c for calls in job.calls for c in calls]:
        call.step = 0
    pipes.run_ahead(job.run())
    return job, {}, fault("left_out_call", 3, line=14, trial=True)


@case(6)
def left_out_before_the_rings_and_hosts_ahead(world):
    """Rank 2 waits in the call of its group, which all have issued; that it lacks an earlier call shows only by its number."""
    job = Job(world, {"1": [0, 2, 4]})
    for step in range(12):
        layers(job, [20, 21], but=(2, 21) if step == 2 else None, blocks=True)
    job.all_reduce(40, (9,), group="1", blocks=True)
    for call in [c for calls in job.calls for c in calls]:
        call.step = 0
    pipes.run_ahead(job.run())
    return job, {"ring": 8}, fault("never_came", 2, says="rank 2 never came to all_reduce f32[64,64] seq 24 on default_pg, in which ranks 0, 1, 3, 4, 5",
                                   notes=["rank 2 made one call fewer than rank "], trial=True)


@case(4)
def late_rings_skip(world):
    job = layers(Job(world), range(10, 60), but=(1, 55))
    return job.run(), {"ring": 12}, fault("left_out_call", 1, line=55, trial=True)


@case(6)
def chain_of_waits(world):
    """0 and 1 wait for 2, which waits for 3, which stopped; 4 and 5 have finished."""
    job = Job(world, {"1": [0, 1, 2], "2": [2, 3], "3": [4, 5]})
    layers(job, [10])
    for r in (0, 1):
        job.calls[r].append(Call("1", "all_reduce", [8], 20, blocks=True))
    job.calls[2] += [Call("2", "all_reduce", [8], 21, blocks=True), Call("1", "all_reduce", [8], 22)]
    for r in (4, 5):
        job.calls[r].append(Call("3", "all_reduce", [8], 23))
    return job.run(), {}, fault("never_came", 3, line=21, trial=True)


@case(4)
def two_stop(world):
    job = layers(Job(world), [10])
    job.all_reduce(11, ranks=[0, 1])
    return job.run(), {}, fault("never_came", 2, 3, line=11, trial=True)


@case(4)
def only_active_stopped(world):
    job, how, said = stopped_outside(world)
    return job, {"only_active": True}, said


# ---- send and recv

@case(2, 4)
def never_received(world):
    job = layers(Job(world), [10])
    job.calls[0].append(Call("0", "send", [16], 20, peer=1))
    return job.run(), {}, fault("never_came", 1, line=20, trial=True)


@case(3)
def never_sent(world):
    job = layers(Job(world), [10])
    job.calls[2].append(Call("0", "recv", [16], 20, peer=0))
    return job.run(), {}, fault("never_came", 0, line=20, trial=True)


@case(2)
def sent_size_differs(world):
    job = layers(Job(world), [10])
    job.calls[0].append(Call("0", "send", [16], 20, peer=1))
    job.calls[1].append(Call("0", "recv", [12], 21, peer=0))
    return job.run(), {}, fault("collective_mismatch", suspects=[0, 1], line=20, trial=True)


@case(2)
def sent_size_differs_in_one_round(world):
    job = Job(world)
    for step in range(4):
        job.calls[0].append(Call("0", "send", [32 if step == 3 else 64], 20, peer=1))
        job.calls[1].append(Call("0", "recv", [64], 21, peer=0))
    return job.run(), {}, fault("collective_mismatch", 0, line=20, trial=True, trial_says="with send f32[64] on rank 0 the program")


@case(3)
def sent_to_the_wrong_rank(world):
    job = layers(Job(world), [10])
    job.calls[0].append(Call("0", "send", [16], 20, peer=2))
    job.calls[1].append(Call("0", "recv", [16], 21, peer=0))
    return job.run(), {}, fault("wrong_peer", 0, line=20, trial=True)


@case(2)
def both_send_first(world):
    job = layers(Job(world), [10])
    for r in range(2):
        job.calls[r] += [Call("0", "send", [16], 20, peer=1 - r, blocks=True),
                         Call("0", "recv", [16], 21, peer=1 - r, blocks=True)]
    return job.run(), {}, fault("order", suspects=[0, 1], line=20, trial=True)


@case(2)
def both_send_first_in_flight(world):
    job = layers(Job(world), [10])
    for r in range(2):
        job.calls[r] += [Call("0", "send", [16], 20, peer=1 - r), Call("0", "recv", [16], 21, peer=1 - r)]
    return job.run(), {}, fault("order", suspects=[0, 1], line=20, trial=True)


@case(2)
def both_send_first_and_one_leaves(world):
    job = layers(Job(world), [10])
    for r in range(2):
        job.calls[r].append(Call("0", "send", [16], 20, peer=1 - r, blocks=True))
    job.run()
    job.issued[1][1].end_late()
    return job, {}, fault("order", suspects=[0, 1], line=20, trial=True)


@case(3, 5)
def ring_of_sends(world):
    job = Job(world)
    for r in range(world):
        job.calls[r] += [Call("0", "send", [16], 20, peer=(r + 1) % world, blocks=True),
                         Call("0", "recv", [16], 21, peer=(r - 1) % world, blocks=True)]
    return job.run(), {}, fault("order", suspects=list(range(world)), line=20, trial=True)


def one_f_one_b_that_sends_first(world, blocks):
    """Every stage sends a gradient back before it receives the next batch, and its neighbour sends that batch first."""
    job = Job(world)
    batches = 6
    for s in range(world):
        forward = [[Call("0", "recv", [16], 111, peer=s - 1, blocks=blocks)] if s > 0 else [],
                   [Call("0", "send", [16], 115, peer=s + 1, blocks=blocks)] if s + 1 < world else []]
        backward = [[Call("0", "recv", [16], 121, peer=s + 1, blocks=blocks)] if s + 1 < world else [],
                    [Call("0", "send", [16], 125, peer=s - 1, blocks=blocks)] if s > 0 else []]
        ahead = min(world - 1 - s, batches)
        for turn in range(batches + ahead):
            parts = (forward if turn < batches else []) + (backward if turn >= ahead else [])
            job.calls[s] += [copy.copy(c) for part in parts for c in part]
    return job.run()


@case(4, 8)
def stages_that_send_first(world):
    """The repair of one circle only leads to the next one: the order is that of all stages."""
    return one_f_one_b_that_sends_first(world, False), {}, {
        "fault": True, "kind": "order", "culprits": [], "trial": True,
        "trial_says": "with the next recv before each send at /home/ada/train.py:125 in step"}


@case(4)
def stages_that_send_first_and_block(world):
    return one_f_one_b_that_sends_first(world, True), {}, {"fault": True, "kind": "order", "culprits": [], "trial": True}


def ring_with_a_wrong_peer(world, batched):
    """In the last round rank 1 sends past its neighbour."""
    job = layers(Job(world), [10])
    for turn in range(2 if batched else 1):
        for r in range(world):
            to = (r + (2 if r == 1 and turn == batched else 1)) % world
            batch = f"{r}.{turn}" if batched else None
            job.calls[r] += [Call("0", "send", [16], 20, peer=to, batch=batch),
                             Call("0", "recv", [16], 21, peer=(r - 1) % world, batch=batch)]
    return job.run(), {}, fault("wrong_peer", 1, line=20, trial=True)


@case(3, 4, 8)
def ring_in_launches_with_a_wrong_peer(world):
    return ring_with_a_wrong_peer(world, True)


@case(3, 4, 8)
def ring_in_flight_with_a_wrong_peer(world):
    return ring_with_a_wrong_peer(world, False)


@case(4)
def pipeline_stage_stopped(world):
    """Each stage receives from the previous one; stage 1 stops after its recv."""
    job = Job(world)
    for r in range(world):
        if r > 0:
            job.calls[r].append(Call("0", "recv", [16], 20, peer=r - 1, blocks=True))
        if r + 1 < world and r != 1:
            job.calls[r].append(Call("0", "send", [16], 21, peer=r + 1, blocks=True))
    return job.run(), {}, fault("never_came", 1, line=20, trial=True)


def one_f_one_b(job, stages, group, batches, width=1):
    """Appends the calls of a 1F1B pipeline: a send and the recv of the opposite direction share a launch. `stages`
    are its ranks. After every recv on its own, a tensor parallel pair of ranks reduces if `width` is 2."""
    for s, r in enumerate(stages):
        count = 0

        def go(*calls):
            nonlocal count
            count += 1
            for c in calls:
                c.batch, c.blocks = (f"{group}.{r}.{count}" if len(calls) > 1 else None), True
            job.calls[r] += calls
            if width == 2 and len(calls) == 1 and calls[0].kind == "recv":
                job.calls[r].append(Call(f"tp{r // 2}", "all_reduce", [128], 20 + calls[0].line % 10, blocks=True))
        last = len(stages) - 1
        recv_f = [Call(group, "recv", [32, 8], 101, peer=stages[s - 1])] if s > 0 else []
        recv_b = [Call(group, "recv", [32, 8], 103, peer=stages[s + 1])] if s < last else []
        def again(calls):
            return [Call(c.group, c.kind, [32, 8], c.line, peer=c.peer) for c in calls]
        send_f = [Call(group, "send", [32, 8], 102, peer=stages[s + 1])] if s < last else []
        send_b = [Call(group, "send", [32, 8], 104, peer=stages[s - 1])] if s > 0 else []
        warm = min(last - s, batches)
        steps = [part for _ in range(warm) for part in (recv_f, send_f)]
        rest = batches - warm
        if rest:
            steps.append(recv_f)
        for i in range(rest):
            steps += [send_f + recv_b, send_b if i == rest - 1 else send_b + recv_f]
        steps += [part for _ in range(warm) for part in (recv_b, send_b)]
        for step in steps:
            if step:
                go(*again(step))
    return job


def stuck_stage(world, stage, calls, batches=8):
    job = one_f_one_b(Job(world), list(range(world)), "0", batches)
    job.calls[stage] = job.calls[stage][:calls]
    return job.run(), {}, fault("never_came", stage, trial=True)


@case(3, 4)
def pipeline_healthy(world):
    return one_f_one_b(Job(world), list(range(world)), "0", 6).run(), {}, INNOCENT


@case(4)
def pipeline_first_stage_stopped(world):
    """The neighbours' sends and recvs have no counterpart, but the same lines met the same ranks before."""
    return stuck_stage(world, 0, 5)


@case(4, 8)
def pipeline_middle_stage_stopped(world):
    return stuck_stage(world, world // 2, 9)


@case(3, 4)
def pipeline_last_stage_stopped(world):
    return stuck_stage(world, world - 1, 6)


@case(3)
def pipeline_stage_stopped_in_the_first_batch(world):
    """No line has met any rank before, and nothing tells that one names the wrong rank."""
    return stuck_stage(world, 2, 0)


@case(3)
def pipeline_with_one_batch_less(world):
    job = one_f_one_b(Job(world), [0, 1, 2], "0", 6)
    job.calls[2] = one_f_one_b(Job(world), [0, 1, 2], "0", 5).calls[2]
    job.all_reduce(200)
    return job.run(), {}, fault("left_out_call", 2, line=101)


def three_axes(data, stages, width, batches):
    """Data parallel replicas of pipelines whose stages are `width` ranks; all reduce their gradients at the end."""
    def rank(d, s, t):
        return (d * stages + s) * width + t
    groups = {f"tp{r // width}": list(range(r, r + width)) for r in range(0, data * stages * width, width)}
    lines = [[rank(d, s, t) for s in range(stages)] for d in range(data) for t in range(width)]
    groups |= {f"pp{i}": line for i, line in enumerate(lines)}
    groups |= {f"dp{s}.{t}": [rank(d, s, t) for d in range(data)] for s in range(stages) for t in range(width)}
    job = Job(data * stages * width, groups)
    for i, line in enumerate(lines):
        one_f_one_b(job, line, f"pp{i}", batches, width)
    for name, members in groups.items():
        if name.startswith("dp"):
            job.each(members, lambda r, name=name: Call(name, "all_reduce", [999], 40, blocks=True))
    return job.all_reduce(50, size=(1,), blocks=True)


@case(16)
def three_axes_healthy(world):
    return three_axes(2, 4, 2, 6).run(), {}, INNOCENT


@case(16)
def three_axes_a_middle_stage_stopped(world):
    job = three_axes(2, 4, 2, 6)
    job.calls[5] = job.calls[5][:8]
    return job.run(), {}, fault("never_came", 5)


@case(16)
def three_axes_a_last_stage_stopped(world):
    """A rank that waits in one half of a launch with a send and a recv is not the one that stopped."""
    job = three_axes(2, 4, 2, 6)
    job.calls[15] = job.calls[15][:5]
    return job.run(), {}, fault("never_came", 15)


@case(4)
def half_of_a_launch_is_missing(world):
    job = three_axes(2, 2, 1, 4)
    job.calls[3] = job.calls[3][:5]
    return job.run(), {}, fault("never_came", 3)


@case(16)
def stopped_before_the_smaller_group(world):
    """Rank 5's next call is line 24 with rank 4; seven ranks wait for it in line 40."""
    job = Job(world, {f"tp{d}": [2 * d, 2 * d + 1] for d in range(8)} | {f"dp{t}": list(range(t, 16, 2)) for t in (0, 1)})
    for _ in range(2):
        for r in range(world):
            for _ in range(3):
                job.calls[r] += [Call(f"tp{r // 2}", "all_reduce", [128], 20, blocks=True),
                                 Call(f"tp{r // 2}", "all_reduce", [256], 24, blocks=True)]
            job.calls[r] += [Call(f"dp{r % 2}", "all_reduce", [999], 40, blocks=True)]
    job.calls[5] = job.calls[5][:8]
    return job.run(), {}, fault("never_came", 5, line=24)


@case(6)
def sent_to_the_wrong_rank_and_all_go_on(world):
    """Rank 4, to which rank 0 sends, waits in the next call of all."""
    job = layers(Job(world), [10])
    job.calls[0].append(Call("0", "send", [16], 70, peer=4, blocks=True))
    job.calls[5].append(Call("0", "recv", [16], 71, peer=0, blocks=True))
    return layers(job, [72], blocks=True).run(), {}, fault("wrong_peer", 0, line=70)


@case(4)
def recv_forgotten_in_the_third_round(world):
    job = Job(world)
    for i in range(3):
        layers(job, [9])
        job.calls[0].append(Call("0", "send", [16], 70, peer=1, blocks=True))
        if i < 2:
            job.calls[1].append(Call("0", "recv", [16], 71, peer=0, blocks=True))
        layers(job, [72], blocks=True)
    return job.run(), {}, fault("left_out_call", 1, line=71, trial=True)


@case(4)
def never_received_and_all_go_on(world):
    """The exchange has never taken place before, so either rank may be wrong."""
    job = layers(Job(world), [9])
    job.calls[0].append(Call("0", "send", [16], 70, peer=1, blocks=True))
    return layers(job, [72], blocks=True).run(), {}, fault("order", suspects=[0, 1], line=70)


# ---- ranks compared with those that run the same program, or with their own rounds

@case(3)
def left_out_in_its_own_rounds(world):
    """A chain of ranks: no two run one program. The number told is that of the missing call, not of the one in an earlier round."""
    job = Job(world)
    for step in range(3):
        for r in range(world):
            if r > 0:
                job.calls[r].append(Call("0", "recv", [16], 20, peer=r - 1, blocks=True))
            if r + 1 < world:
                job.calls[r].append(Call("0", "send", [16], 21, peer=r + 1, blocks=True))
            for line in (31, 32, 33):
                if (r, step, line) != (1, 2, 32):
                    job.calls[r].append(Call("0", "all_reduce", [8], line, blocks=True))
    return job.run(), {}, fault("left_out_call", 1, line=32, sequence=8, trial=True)


def two_axes(data, width, steps, plant=None, blocks=True):
    """Data-parallel replicas of tensor-parallel groups; `plant(job)` edits the calls to plant a fault."""
    groups = {f"tp{d}": list(range(d * width, (d + 1) * width)) for d in range(data)}
    groups |= {f"dp{t}": list(range(t, data * width, width)) for t in range(width)}
    job = Job(data * width, groups)
    for r in range(data * width):
        for _ in range(steps):
            tp, dp = f"tp{r // width}", f"dp{r % width}"
            job.calls[r] += [Call(tp, "all_reduce", [128], 20, blocks=blocks), Call(tp, "all_reduce", [256], 24, blocks=blocks),
                             Call(dp, "all_reduce", [999], 40, blocks=blocks), Call("0", "all_reduce", [2], 50, blocks=True)]
    if plant is not None:
        plant(job)
    return job


@case(8)
def skip_in_a_pair(world):
    """The other call of the pair differs in size; the other three pairs show which is right."""
    job = two_axes(world // 2, 2, 3, lambda job: job.calls[5].pop(4), blocks=False)
    return job.run(), {}, fault("left_out_call", 5, line=20, suspects=[], trial=True)


@case(8)
def size_differs_in_a_pair(world):
    def plant(job):
        job.calls[2][9] = Call("tp1", "all_reduce", [250], 24, blocks=True)
    return two_axes(world // 2, 2, 3, plant).run(), {}, fault("collective_mismatch", 2, line=24, suspects=[], trial=True)


@case(8)
def one_barrier_too_many(world):
    """It meets the next call of all ranks, of the same size."""
    def plant(job):
        job.calls[3].insert(5, Call("0", "all_reduce", [2], 77, blocks=True))
    job = two_axes(world // 4, 4, 3, plant)
    return job.run(), {}, fault("extra_call", 3, line=77, trial=True)


@case(8)
def one_barrier_too_many_and_a_file_is_missing(world):
    job, _, said = one_barrier_too_many(world)
    return job, {"missing": (6,)}, {**said, "not_known": "rank 6", "trial": False}


@case(8)
def a_group_with_a_program_of_its_own(world):
    """Both ranks of one pair make an extra call, so no rank skipped one."""
    def plant(job):
        for r in (2, 3):
            job.calls[r].insert(5, Call("tp1", "all_reduce", [64], 99, blocks=True))
        job.calls[6] = job.calls[6][:6]
    return two_axes(world // 2, 2, 3, plant).run(), {}, fault("never_came", 6, line=40)


@case(4)
def a_missing_record_that_explains_nothing(world):
    """Rank 3's file is not there, but rank 1 has left out a recv: the others would hang with rank 3 too."""
    job = Job(world)
    for i in range(3):
        layers(job, [9], blocks=True)
        for a, b in ((0, 1), (2, 3)):
            job.calls[a].append(Call("0", "send", [16], 70, peer=b, blocks=True))
            if (b, i) != (1, 2):
                job.calls[b].append(Call("0", "recv", [16], 71, peer=a, blocks=True))
    layers(job, [72], blocks=True)
    return job.run(), {"missing": (3,)}, {
        "fault": True, "culprits": [], "not_known": "rank 3",
        "trial_says": "ranks 0, 3 never came to all_reduce f32[64,64] seq 4 on default_pg, in which ranks 1, 2 wait "
                      "at /home/ada/train.py:72 in step, from train.py:90 in <module>"}


@case(4)
def pipeline_stage_skips_a_recv_in_its_second_step(world):
    """No other rank runs this stage; it made the recv in its first step."""
    job = Job(world)
    for step in range(3):
        one_f_one_b(job, list(range(world)), "0", 4)
        if step == 1:
            at = max(i for i, c in enumerate(job.calls[1]) if c.line == 101 and c.batch is None)
            del job.calls[1][at]
        job.all_reduce(200, blocks=True)
        for r in range(world):
            for c in job.calls[r]:
                c.batch = c.batch and (c.batch if c.batch.startswith("step") else f"step{step}.{c.batch}")
    return job.run(), {}, fault("left_out_call", 1, line=101, suspects=[])


@case(8)
def stops_in_two_groups(world):
    """Neither stop explains that the other group hangs."""
    job = Job(world, {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]})
    for line in (10, 11, 12):
        layers(job, [line], group="1", blocks=True)
        layers(job, [line], group="2", blocks=True)
    job.calls[2], job.calls[5] = job.calls[2][:1], job.calls[5][:2]
    return job.run(), {}, fault("never_came", 2, 5, line=11, says="rank 5 never came", trial=True)


@case(4)
def splits_differ_and_a_file_is_missing(world):
    job, _, said = blocks_differ(world)
    return job, {"missing": (0,)}, {**said, "trial": False, "not_known": "rank 0"}


# ---- sharded parameters, experts, and exchanges with neighbours

def sharded(world, layer_count=4, steps=2):
    """Gathers and, on the way back, gathers ahead of the reduce_scatters of gradients; nothing blocks but the end."""
    job = Job(world)
    for _ in range(steps):
        for r in range(world):
            add = job.calls[r].append
            for n in range(1, layer_count + 1):
                add(Call("0", "_all_gather_base", [100 * n], 99 + n, out=[100 * n * world], function="unshard"))
            for n in range(layer_count, 0, -1):
                if n > 1:
                    add(Call("0", "_all_gather_base", [100 * n - 100], 120, out=[(100 * n - 100) * world]))
                add(Call("0", "_reduce_scatter_base", [100 * n * world], 140, out=[100 * n], function="post_backward"))
            add(Call("0", "all_reduce", [1], 150, blocks=True, function="clip_grad_norm"))
    return job


@case(8)
def sharded_last_call_in_flight(world):
    job = sharded(world).run()
    for r in range(world):
        job.issued[r][-1].state, job.issued[r][-1].done = "scheduled", None
    return job, {}, INNOCENT


@case(8)
def sharded_skips_a_reduce_scatter(world):
    job = sharded(world)
    del job.calls[5][[i for i, c in enumerate(job.calls[5]) if c.line == 140][5]]
    return job.run(), {}, fault("left_out_call", 5, line=140, trial=True)


@case(8)
def sharded_dead_rank_and_late_rings(world):
    job = sharded(world, steps=6)
    job.calls[4] = job.calls[4][:50]
    job.run().dead = {4}
    return job, {"ring": 12}, fault("no_record", 4, trial=True)


def experts(world, steps=3):
    """Mixture of experts: exchanges counts, sends tokens with uneven splits, and sends the results back."""
    job = Job(world)
    for step in range(steps):
        tokens = [[16 + (3 * r + 5 * q + step) % 7 for q in range(world)] for r in range(world)]
        for r in range(world):
            there, back = [[n] for n in tokens[r]], [[tokens[q][r]] for q in range(world)]
            job.calls[r] += [Call("0", "all_to_all", [world], 60, agree=("counts", step)),
                             Call("0", "all_to_all", there, 61, out=back),
                             Call("0", "all_to_all", back, 62, out=there), Call("0", "all_reduce", [77], 63, blocks=True)]
    return job


@case(4, 8)
def experts_healthy(world):
    return experts(world).run(), {}, INNOCENT


@case(4, 8)
def experts_skip_an_exchange_with_splits(world):
    """The repair is not a copy of another rank's call: each rank has splits of its own."""
    job = experts(world)
    del job.calls[2][5]
    return job.run(), {}, fault("left_out_call", 2, line=61, trial=True)


@case(5)
def neighbours_exchange_and_one_stops(world):
    job = Job(world)
    for step in range(3):
        for r in range(world):
            for n in (r - 1, r + 1):
                if 0 <= n < world:
                    job.calls[r] += [Call("0", "send", [16], 90, peer=n, batch=f"{r}.{step}", blocks=True),
                                     Call("0", "recv", [16], 91, peer=n, batch=f"{r}.{step}", blocks=True)]
    job.calls[3] = job.calls[3][:4]
    return job.run(), {}, fault("never_came", 3, trial=True)


@case(4)
def one_iteration_less_and_then_an_evaluation(world):
    job = Job(world)
    for step in range(5):
        for bucket in range(3):
            job.all_reduce(30, size=(1000 + bucket,), ranks=[r for r in range(world) if (r, step) != (3, 4)])
    job.all_reduce(55, size=(7,), blocks=True)
    return job.run(), {}, fault("left_out_call", 3, line=55, says="left out 3 calls", trial=True)


# ---- two mistakes in groups that have no rank in common

def two_halves(world, one, two):
    """`one` and `two` change the call of their rank in the second of three rounds."""
    half = world // 2
    job = Job(world, {"1": list(range(half)), "2": list(range(half, world))})
    for r in range(world):
        group = "1" if r < half else "2"
        lines = (20, 21, 22)
        change = one if r == 1 else two if r == half + 1 else None
        for line in lines:
            if line == 21 and change == "size":
                job.calls[r].append(Call(group, "all_reduce", [77], line, blocks=True))
            elif line == 21 and change == "stop":
                break
            else:
                job.calls[r].append(Call(group, "all_reduce", [64], line, blocks=True))
    return job.run(), {}, fault("collective_mismatch", 1, half + 1, line=21, trial=True,
                                says="does the same on its own group" if one == two else "; also, rank")


@case(6, 8)
def sizes_differ_in_two_groups(world):
    return two_halves(world, "size", "size")


@case(6, 8)
def size_differs_and_another_group_waits(world):
    return two_halves(world, "size", "stop")


@case(4, 8)
def barrier_left_out_or_one_call_more(world):
    job = Job(world)
    for turn in range(3):
        job.all_reduce(20)
        job.all_reduce(21, size=(1,), ranks=[r for r in range(world) if (r, turn) != (1, 1)], blocks=True)
    return job.run(), {}, fault("extra_call", 1, line=21, says="or it left out", trial=True)


@case(3, 5)
def receives_first_in_its_last_round(world):
    """A ring whose first rank sends first; in its third round it receives first, and the others do nothing new."""
    job = Job(world)
    for step in range(3):
        for r in range(world):
            send = Call("0", "send", [16], 40 if r == 0 else 44, peer=(r + 1) % world, blocks=True)
            recv = Call("0", "recv", [16], 41 if r == 0 else 43, peer=(r - 1) % world, blocks=True)
            if (r, step) == (0, 2):
                send.line, recv.line = 44, 43
            job.calls[r] += [send, recv] if r == 0 and step < 2 else [recv, send]
    return job.run(), {}, fault("order", 0, line=43, trial=True, says="rank 0 calls recv from rank ",
                                trial_says=f"with send to rank 1 before recv from rank {world - 1} on rank 0 the program completes")


@case(4)
def send_without_a_recv_and_hosts_ahead(world):
    """Rank 2 left out a recv and is a round ahead: rank 1, which waits in its send, does not hold up rank 2."""
    job = Job(world)
    for step in range(2):
        for r in range(world):
            for peer in (r - 1, r + 1):
                if 0 <= peer < world:
                    job.calls[r] += [Call("0", kind, [16], line, peer=peer, batch=f"{step}.{r}", blocks=True)
                                     for kind, line in (("send", 90), ("recv", 91)) if (r, step, peer, kind) != (2, 0, 1, "recv")]
            job.calls[r].append(Call("0", "all_reduce", [5], 95, blocks=True))
    for call in [c for calls in job.calls for c in calls]:
        call.step = 0 if call.kind == "all_reduce" else 1
    job.run()
    for r in range(world):
        for call in job.calls[r][len(job.issued[r]):]:
            call.created = job.issued[r][-1].created + 100000
            job.issued[r].append(call)
            if r != 2 and call.kind == "all_reduce":
                break
    return job, {}, {"fault": True, "not_accused": [0, 1, 3]}


# ---- pipelines of several schedules and meshes, with one mistake

def planted(layout, mistake, rank, step, of_line, nth, missing=(), ahead=False, ring=None, **said):
    """Registers one pipeline with a mistake of `rank` at its `nth` call of a line in one step. Empty `said`: a fault of
    that rank alone, tried; else also what it gives. `ahead`: the hosts issue the rest of the step. `ring`: calls kept."""
    def make(_):
        job = pipes.build(layout)
        at = [i for i, c in enumerate(job.calls[rank]) if c.step == step and c.line == of_line][nth]
        assert pipes.plant(job, mistake, rank, at)
        job.run()
        if ahead:
            pipes.run_ahead(job)
        if mistake == "dead":
            job.dead = {rank}
        return job, {"missing": missing, "ring": ring}, {"fault": True, "culprits": [rank], "trial": True, **said}
    name = str(layout).replace(",", "").replace(" ", "_")
    CASES.append((f"pipeline_{name}_{mistake}_{rank}_{step}_{of_line}_{nth}{missing or ''}{'_ahead' if ahead else ''}{f'_ring_{ring}' if ring else ''}", make, layout.world))


ONE_STEP = dict(steps=1, world_end=False)
for schedule in ("gpipe", "gpipe_batched", "1f1b"):
    for data, stages, width in ((1, 4, 1), (2, 4, 1), (1, 4, 2), (1, 8, 1), (2, 8, 1)):
        pipeline = pipes.Layout(schedule, data, stages, width, batches=stages)
        middle = pipeline.rank(data - 1, stages // 2, width - 1)
        last = pipeline.rank(data - 1, stages - 1, width - 1)
        planted(pipeline, "left_out", middle, 1, pipes.SEND_F, -1)
        planted(pipeline, "left_out", middle, 2, pipes.RECV_B, 1)
        planted(pipeline, "doubled", last, 1, pipes.RECV_F, -1)
        planted(pipeline, "doubled", middle, 2, pipes.SEND_B, 0)
        planted(pipeline, "wrong_size", middle, 1, pipes.SEND_F, 2, line=pipes.SEND_F)
        planted(pipeline, "wrong_size", last, 0, pipes.RECV_F, 2, line=pipes.RECV_F)
        planted(pipeline, "skipped_step", middle, 1, pipes.RECV_F, 0)
        planted(pipeline, "stopped", middle, 2, pipes.SEND_F, 1, kind="never_came")
        planted(pipeline, "dead", middle, 2, pipes.SEND_F, 1, kind="no_record")
# The hosts run ahead of their devices, as in PyTorch: each call waits on its device for the ones before it.
for schedule in ("gpipe", "1f1b"):
    for data, stages, width in ((2, 4, 2), (1, 4, 2)):
        pipeline = pipes.Layout(schedule, data, stages, width, batches=stages)
        middle = pipeline.rank(data - 1, stages // 2, width - 1)
        for mistake in ("stopped", "dead"):
            for of_line in (pipes.SEND_F, pipes.RECV_B, pipes.TENSOR + pipes.RECV_F % 10):
                planted(pipeline, mistake, middle, 2, of_line, 1, ahead=True)
        planted(pipeline, "left_out", middle, 1, pipes.SEND_F, -1, ahead=True)
        planted(pipeline, "left_out", middle, 1, pipes.TENSOR + pipes.RECV_F % 10, 1, ahead=True)
for stage, of_line in ((0, pipes.TENSOR + pipes.RECV_B % 10), (1, pipes.TENSOR + pipes.RECV_F % 10)):
    pipeline = pipes.Layout("gpipe", 2, 2, 4, batches=2)
    for ring in (9, 12, 20):
        planted(pipeline, "left_out", pipeline.rank(0, stage, 2), 1, of_line, 1, ahead=True, ring=ring)
planted(pipes.Layout("gpipe", 2, 8, batches=4), "left_out", 9, 1, pipes.SEND_F, -1, line=pipes.SEND_F)
# The sends of a ring do not block: else its ranks would wait for each other from the beginning.
for data, stages in ((1, 4), (2, 4), (1, 8)):
    pipeline = pipes.Layout("interleaved", data, stages)
    middle = pipeline.rank(data - 1, 2, 0)
    planted(pipeline, "stopped", middle, 1, pipes.RECV_B, 3, kind="never_came")
    planted(pipeline, "skipped_step", middle, 2, pipes.SEND_F, 0)
    planted(pipeline, "dead", middle, 1, pipes.SEND_F, 3, kind="no_record")
planted(pipes.Layout("gpipe", 1, 2), "left_out", 0, 1, pipes.SEND_F, 3)
planted(pipes.Layout("gpipe", 1, 2), "left_out", 1, 2, pipes.SEND_B, 1)
planted(pipes.Layout("gpipe", 1, 2), "doubled", 1, 1, pipes.RECV_F, 3)
# The file of another rank is missing: its death may explain the hang as well, or not.
planted(pipes.Layout("1f1b", 4, 4), "left_out", 5, 1, pipes.SEND_F, 1, missing=(6,), line=pipes.SEND_F, not_known="rank 6",
        says="rank 6, which left no record, would explain the hang as well")
planted(pipes.Layout("1f1b", 4, 4), "left_out", 5, 1, pipes.SEND_F, 1, missing=(15,), line=pipes.SEND_F, not_known="rank 15")
planted(pipes.Layout("gpipe", 2, 4), "left_out", 6, 1, pipes.SEND_F, -1, missing=(7,), culprits=[7], kind="no_record",
        says="rank 6 would explain the hang as well")
# In the first step, the rank with the same stage in another replica shows which call is missing.
for schedule, data, stages, width in (("1f1b", 2, 2, 1), ("1f1b", 2, 4, 1), ("1f1b", 3, 2, 1), ("1f1b", 2, 2, 2), ("gpipe", 2, 2, 1)):
    pipeline = pipes.Layout(schedule, data, stages, width)
    for stage, of_line, nth in ((0, pipes.SEND_F, 0), (0, pipes.SEND_F, -1), (1, pipes.RECV_F, 0), (1, pipes.SEND_B, 1),
                                (1, pipes.RECV_F, -1)):
        planted(pipeline, "left_out", pipeline.rank(0, stage, 0), 0, of_line, nth, line=of_line)
    for stage, of_line, nth in ((0, pipes.SEND_F, 0), (1, pipes.SEND_B, 1)):
        planted(pipeline, "doubled", pipeline.rank(data - 1, stage, 0), 0, of_line, nth)
    planted(pipeline, "left_out", 0, 0, pipes.DATA, 0, line=pipes.DATA)
    planted(pipeline, "left_out", pipeline.world - 1, 0, pipes.WORLD, 0, line=pipes.WORLD)
# In the first step of one pipeline either rank may be wrong.
planted(pipes.Layout("gpipe", 1, 2, steps=1), "left_out", 0, 0, pipes.SEND_F, 3, kind="order", culprits=[], suspects=[0, 1])
# No other rank runs the program of a pair; one of them calls a line twice in a row, which neither does anywhere else.
planted(pipes.Layout("1f1b", 1, 4, 2, steps=1), "doubled", 3, 0, 21, 0)
planted(pipes.Layout("gpipe_batched", 1, 2, 2, batches=6, **ONE_STEP), "doubled", 1, 0, 23, 0)
# Both ranks of a pair may be wrong.
planted(pipes.Layout("gpipe", 1, 4, 2), "doubled", 1, 0, 23, 3, culprits=[], trial=False)
# A rank that stops leaves others in another part of the schedule.
planted(pipes.Layout("interleaved", 1, 8, 2, batches=6, steps=4, world_end=False), "stopped", 3, 0, 21, 9)

# An extra call is the last one of its rank, or leads to the last one, which waits for a rank that
# has ended. Its twin shows it.
planted(pipes.Layout("interleaved", 1, 4, 2, batches=2, steps=1), "doubled", 3, 0, pipes.SEND_B, 1)
planted(pipes.Layout("interleaved", 2, 4, batches=2, steps=1), "doubled", 3, 0, pipes.SEND_B, 0)
planted(pipes.Layout("1f1b", 2, 4, batches=6, **ONE_STEP), "doubled", 4, 0, pipes.RECV_B, 2)
planted(pipes.Layout("gpipe", 1, 8, 2, batches=6, **ONE_STEP), "doubled", 8, 0, pipes.SEND_B, 2)
planted(pipes.Layout("gpipe", 1, 8, 2, batches=2, **ONE_STEP), "doubled", 6, 0, pipes.RECV_B, 0)
planted(pipes.Layout("interleaved", 2, 8, batches=2, **ONE_STEP), "doubled", 10, 0, pipes.RECV_B, 1)
# The waiting twin makes the calls of the earlier step.
planted(pipes.Layout("1f1b", 1, 4, 2, batches=2, steps=2, world_end=False), "left_out", 5, 1, 23, 0)


# ---- the time at which the files were written

def written_after(folder, seconds):
    """Files of the folder were written that long after the job's start."""
    for path in pathlib.Path(folder).iterdir():
        os.utime(path, ns=(START_NS + int(seconds * 1e9), START_NS + int(seconds * 1e9)))
    return folder


def copied_a_day_later(folder):
    """The files have the time of their copying, so nothing shows that the job stood still."""
    job, _, said = stopped_outside(4)
    written_after(job.write(folder), 24 * 3600)
    return {**said, "not_known": "if these are the times of copies, the job may still have been running"}


def slow_before_the_timeout(folder):
    """Rank 3 is twelve seconds late, and the timeout is ten minutes: it may still come."""
    job, _, _ = stopped_outside(4)
    written_after(job.write(folder), 12)
    return {**INNOCENT, "says": "nobody is accused yet: the oldest call is 12 s old and its timeout is 600 s. "
                                "If the job is stuck: rank 3 never came to all_reduce"}


def slow_for_a_moment(folder):
    """Ranks of a healthy job are always some milliseconds apart."""
    job, _, _ = stopped_outside(4)
    written_after(job.write(folder), 0.3)
    return {**INNOCENT, "if_stuck": False}


def dumped_one_after_the_other(folder):
    """The file of rank 3 is twenty seconds older than the others: it may have come since."""
    job, _, _ = stopped_outside(4)
    written_after(job.write(folder), 32)
    os.utime(folder / "trace_3", ns=(START_NS + 12 * 10**9, START_NS + 12 * 10**9))
    return {**INNOCENT, "if_stuck": True, "not_known": "rank 3: its file was written 20 s before that of rank"}


def stuck_until_the_timeout(folder):
    slow_before_the_timeout(folder)
    written_after(folder, 700)
    return fault("never_came", 3, line=12)


def file_of_an_earlier_run(folder):
    """Rank 3 died; its file is a day older and shows another hang."""
    job, _, said = dead_rank(4)
    job.write(folder)
    old = layers(Job(4), [10, 11]).run().dump(3)
    for entry in old["entries"]:
        entry["time_created_ns"] -= 24 * 3600 * 10**9
    old["entries"][1]["state"] = "scheduled"
    write_dump(old, pathlib.Path(folder), 3)
    return {**said, "not_known": "of an earlier run"}


# ---- what a repair says

def ring_of(kind, world=4):
    """All ranks first send to the next one (or wait for the previous one), and each call blocks."""
    job = Job(world)
    for r in range(world):
        both = [Call("0", "send", [64], 30, peer=(r + 1) % world, blocks=True),
                Call("0", "recv", [64], 31, peer=(r - 1) % world, blocks=True)]
        job.calls[r] = both if kind == "send" else both[::-1]
    return job.run()


def left_out_where_ring_is_short(folder, short):
    """Rank 2 left a call out; the rings of some ranks begin after that call."""
    job = layers(Job(4), range(10, 17), but=(2, 12)).run()
    pathlib.Path(folder).mkdir(parents=True)
    for r in range(4):
        write_dump(job.dump(r, ring=short.get(r)), pathlib.Path(folder), r)
    return fault("left_out_call", 2, line=12, trial=True)


def ring_of_rank_0_is_short(folder):
    return left_out_where_ring_is_short(folder, {0: 2})


def rings_of_all_but_one_are_short(folder):
    return left_out_where_ring_is_short(folder, {0: 2, 1: 3})


def left_out_by_one_of_two(folder):
    """Rank 0 waits in the call that rank 1 left out, although rank 1 has made another call of that number."""
    job = Job(2)
    for step in range(4):
        for r in range(2):
            for layer in range(3):
                if (r, step, layer) != (1, 3, 1):
                    job.calls[r].append(Call("0", "all_reduce", [100 + 10 * layer], 20 + layer, blocks=layer == 2))
    job.run().write(folder)
    return {"fault": True, "culprits": [1], "sequence": 11, "trial": True,
            "says": "rank 0 waits for it in all_reduce f32[110] seq 11 on default_pg at /home/ada/train.py:21 ",
            "trial_says": "with all_reduce on default_pg before all_reduce seq 11 on default_pg on rank 1 the"}


def bucket_left_out(folder):
    """The repair names both calls, and the trial does not add them again."""
    job = Job(4)
    for step in range(3):
        for r in range(4):
            for bucket in range(4):
                if (r, step, bucket) != (1, 2, 2):
                    job.calls[r].append(Call("0", "all_reduce", [1000 * (bucket + 1)], 61, blocks=bucket == 3))
    job.run().write(folder)
    return {"fault": True, "kind": "left_out_call", "culprits": [1], "trial": True,
            "trial_says": "with all_reduce f32[3000] before all_reduce f32[4000] on rank 1 the program completes"}


def one_gather_more_in_one_of_two_loops(folder):
    """The step from one loop to the next occurs only once, so it cannot show which of two ranks is odd."""
    job = Job(2)
    for r in range(2):
        lines = [99] * (2 + r) + [120, 140, 120, 140]
        job.calls[r] = [Call("0", "_reduce_scatter_base", [200], 140, out=[100]) if line == 140 else
                        Call("0", "_all_gather_base", [100], line, out=[200]) for line in lines]
        job.calls[r].append(Call("0", "all_reduce", [1], 150, blocks=True))
    job.run().write(folder)
    return {"fault": True, "culprits": [], "suspects": [0, 1], "says": "either rank 1 makes one call too many, or rank 0 left it out"}


def ring_of_sends(folder):
    """The repair is told as the repaired rank makes it, with what other ranks have to make then."""
    ring_of("send").write(folder)
    return {"fault": True, "kind": "order", "trial": True,
            "trial_says": "with recv from rank 2 before send to rank 0 on rank 3, and with the other side of the sends and recvs "
                          "made by ranks 0, 1, 2 the program completes"}


def one_recv_more(folder):
    """Nobody made the send: a repair that adds it would prove nothing."""
    job = Job(4)
    job.all_reduce(20)
    for r in range(4):
        job.calls[r] += [Call("0", "recv", [16], 54, peer=2, blocks=True)] if r == 3 else []
        job.calls[r].append(Call("0", "all_reduce", [1], 60, blocks=True))
    job.run().write(folder)
    return {"fault": True, "kind": "order", "culprits": [], "suspects": [2, 3], "trial": True,
            "says": "rank 2 has made no send for the recv: either rank 3 makes one recv more, or rank 2 comes to its send later",
            "trial_says": "without recv from rank 2 on rank 3 the program completes"}


def blocks_of_two_ranks(folder):
    """Rank 1 sends to rank 2 what rank 2 does not expect: either may be wrong, and one repair is tried."""
    job = Job(4)
    sends = [[10 * r + q + 1 for q in range(4)] for r in range(4)]
    receives = [[sends[q][r] + 7 * (q == 1 and r == 2) for q in range(4)] for r in range(4)]
    job.each(range(4), lambda r: Call("0", "all_to_all", [[n] for n in sends[r]], 10, out=[[n] for n in receives[r]], agree=(r == 2,)))
    job.run().write(folder)
    return {"fault": True, "culprits": [], "suspects": [1, 2], "trial": True,
            "trial_says": "with the blocks that the others send and expect on rank 2 the program completes"}


def ring_of_recvs(folder):
    ring_of("recv").write(folder)
    return {"fault": True, "kind": "order", "trial": True,
            "trial_says": "with send to rank 2 before recv from rank 0 on rank 1, and with"}


def two_against_two(folder):
    """Both ranks of one side are repaired."""
    job = Job(4, {"1": [0, 1, 2, 3]})
    for r in range(4):
        both = [Call("0", "all_reduce", [64], 30, blocks=True), Call("1", "all_reduce", [64], 31, blocks=True)]
        job.calls[r] = both if r < 2 else both[::-1]
    job.run().write(folder)
    return {"fault": True, "kind": "order", "trial": True, "trial_says": "on ranks 2, 3 the program completes"}


def stuck_job(folder, change):
    """Rank 2 never comes to the last call; `change` alters what the entries of rank 1 tell."""
    job = Job(4)
    for line in (10, 11):
        job.each(range(4), lambda r: Call("0", "broadcast", [4], line, dtype="Byte"))
    job.all_reduce(12)
    job.calls[2].pop()
    job.run()
    pathlib.Path(folder).mkdir(parents=True)
    for r in range(4):
        dump = job.dump(r)
        for entry in dump["entries"] if r == 1 else []:
            change(entry)
        write_dump(dump, pathlib.Path(folder), r)
    return fault("never_came", 2, trial=True)


def sizes_are_not_recorded(folder):
    return stuck_job(folder, lambda entry: (entry.pop("input_sizes"), entry.pop("output_sizes")))


def lists_of_sizes_are_empty(folder):
    return stuck_job(folder, lambda entry: entry.update(input_sizes=[], output_sizes=[]))


def bool_meets_bytes(folder):
    """NCCL knows no bool: it sends bytes."""
    def change(entry):
        if "broadcast" in entry["profiling_name"]:
            entry.update(input_dtypes=["Bool"], output_dtypes=["Bool"])
    return stuck_job(folder, change)


# ---- without source lines: only the order of calls tells

def mesh_of_pairs(lines, steps=3):
    """Tensor and data parallel pairs; `lines` are (group, kind, size) of each step."""
    job = Job(4, {"tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]})
    for _ in range(steps):
        for r in range(4):
            groups = {"world": "0", "tp": f"tp{r // 2}", "dp": f"dp{r % 2}"}
            job.calls[r] += [Call(groups[g], kind, [n], 1, blocks=kind.endswith("barrier")) for g, kind, n in lines]
    return job


def clog_left_out_in_one_of_parallel_groups(folder):
    """Rank 0 leaves out a call, and its peer in dp waits too. The other dp pair shows which call comes next."""
    job = mesh_of_pairs([("dp", "all_reduce", 999), ("dp", "all_reduce_barrier", 1)] * 4 + [("world", "all_reduce", 1)])
    del job.calls[0][9 + 3]
    write_clog(job.run(), folder)
    return fault("left_out_call", 0, says="or it makes that call after its next one", trial=True)


def clog_swapped_in_one_of_parallel_groups(folder):
    job = mesh_of_pairs([("dp", "all_reduce", 999), ("dp", "all_reduce", 7), ("tp", "all_reduce", 5), ("world", "all_reduce", 1)])
    job.calls[0][4:6] = job.calls[0][5:3:-1]
    write_clog(job.run(), folder)
    return fault("swapped_calls", 0, trial=True)


def two_ranks(call_at, blocks):
    """Nothing shows which of two ranks is right, but rank 1 makes a call from a line that rank 0 never calls."""
    job = Job(2)
    for _ in range(3):
        layers(job, [10, 11], blocks=blocks)
    job.calls[1].insert(call_at, Call("0", "all_reduce", [64, 64], 200, blocks=blocks))
    job.all_reduce(30, (5,), blocks=True)
    return job.run()


def a_call_of_one_of_two_ranks(folder):
    """All calls up to the last are alike, so the hang is far from the line that is odd."""
    two_ranks(3, True).write(folder)
    return fault("extra_call", suspects=[0, 1], frame=("/home/ada/train.py", 200), trial=True,
                 says="rank 1 makes one call too many, or rank 0 left it out", never_says="later")


def a_last_call_of_one_of_two_ranks(folder):
    two_ranks(6, False).write(folder)
    return fault("extra_call", suspects=[0, 1], frame=("/home/ada/train.py", 200), trial=True,
                 says="rank 1 makes one call too many, or rank 0 left it out or makes it later")


def clog_left_out_or_later(folder):
    """The record of rank 2 ends in its first wrong call."""
    job = mesh_of_pairs([("world", "all_reduce", 16), ("world", "all_reduce_barrier", 1)])
    del job.calls[2][4]
    write_clog(job.run(), folder)
    return fault("left_out_call", 2, says="or it makes that call later", trial=True)


def clog_one_more_or_later(folder):
    job = mesh_of_pairs([("world", "all_reduce", 16), ("world", "all_reduce_barrier", 1)])
    job.calls[2].insert(3, Call("0", "all_reduce", [9], 1))
    write_clog(job.run(), folder, lifecycle=False)
    return fault("extra_call", 2, says="or the others make that call later", trial=True)


def clog_without_ends_stops(folder):
    """The others have issued more calls, but stand in the first one that the rank lacks."""
    job = layers(Job(4), range(10, 18))
    del job.calls[3][5:]
    write_clog(job.run(), folder, lifecycle=False)
    return fault("never_came", 3, says="seq 6 on world, in which ranks 0, 1, 2 wait", trial=True)


def clog_barrier_against_another_call(folder):
    """A barrier is an all_reduce of one element, so it does not meet a larger one."""
    job = mesh_of_pairs([("world", "all_reduce", 16), ("world", "all_reduce_barrier", 1)], 1)
    job.calls[2] = [Call("0", "all_reduce", [16], 1), Call("0", "all_reduce", [16], 1)]
    write_clog(job.run(), folder)
    return fault("collective_mismatch", 2, says="where ranks 0, 1, 3 call barrier", trial=True)


def clog_barriers_in_two_groups(folder):
    """The trial says barrier too, not all_reduce."""
    job = mesh_of_pairs([("tp", "all_reduce_barrier", 1), ("dp", "all_reduce_barrier", 1)], 1)
    job.calls[0].reverse()
    job.calls[3].reverse()
    write_clog(job.run(), folder)
    return {"fault": True, "kind": "order", "says": "barrier seq 1 on tp0", "never_says": "all_reduce"}


def left_out_in_straight_code(folder):
    """Rank 2 waits at a later line of the same function: it does not come back."""
    job = layers(Job(4), [10])
    job.each(range(4), lambda r: Call("0", "_all_gather_base", [64], 11, out=[256]))
    job.all_reduce(12, blocks=True)
    del job.calls[2][1]
    job.run().write(folder)
    return fault("left_out_call", 2, line=11, never_says="later", trial=True)


# ---- several sources

def contradiction(folder):
    """Two inconsistent files of rank 1: the contradiction is reported, and no rank is accused."""
    job = layers(Job(3), [10, 11]).run()
    job.write(folder)
    other = job.dump(1)
    other["entries"][1]["input_sizes"] = [[5]]
    write_dump(other, pathlib.Path(folder), 1, "json")
    return {**INNOCENT, "not_known": "rank 1: seq 2"}


def several_versions(folder):
    job, _, said = skip_blocking(4)
    pathlib.Path(folder).mkdir(parents=True)
    for r, version in enumerate(("2.4", "2.5", "2.9", "2.11")):
        write_dump(job.dump(r, version=version), pathlib.Path(folder), r)
    return said


def several_forms(folder):
    job, _, said = skip_blocking(4)
    pathlib.Path(folder).mkdir(parents=True)
    for r, form in enumerate(("pickle", "json", "python", "gz")):
        write_dump(job.dump(r), pathlib.Path(folder), r, form)
    return said


def one_file_cut_short(folder):
    job, _, said = skip_blocking(4)
    cut = job.write(folder) / "trace_1"
    cut.write_bytes(cut.read_bytes()[:300])
    return {**said, "not_known": "rank 1", "trial": False}


def log_files_beside(folder):
    """One sentence tells of them all; a dump that is cut short has its own."""
    job, _, said = skip_blocking(4)
    folder = job.write(folder)
    for r in range(12):
        (folder / f"worker_{r}.log").write_text(f"step 1 on rank {r}\nstep 2\n")
    (folder / "trace_9").write_bytes((folder / "trace_0").read_bytes()[:300])
    return {**said, "notes": ["trace_9", "12 files are skipped, because they are not dumps of a known recorder: "
                              "worker_0.log, worker_1.log, worker_10.log and 9 more"]}


def mixed(folder, run, other):
    """Rank 3's file is of another run of the job, made 73 s earlier or later."""
    pathlib.Path(folder).mkdir(parents=True)
    for r in range(4):
        (folder / f"trace_{r}").write_bytes((TRUTH / (other if r == 3 else run) / f"trace_{r}").read_bytes())


def a_file_of_a_later_run(folder):
    mixed(folder, "skip", "size")
    return fault("left_out_call", 2, trial=True, not_known="trace_3 is of a later run")


def a_file_of_an_earlier_run(folder):
    mixed(folder, "size", "skip")
    return fault("collective_mismatch", 1, trial=True, not_known="trace_3 is of an earlier run")


def a_copy_under_another_name(folder):
    """A file named after a rank outside of its groups accuses nobody."""
    job, _, said = skip_blocking(4)
    folder = job.write(folder)
    (folder / "trace_7").write_bytes((folder / "trace_1").read_bytes())
    return {**said, "not_known": "its name says rank 7, which is not a member of its group"}


def a_file_without_a_rank(folder):
    job, _, said = skip_blocking(4)
    folder = job.write(folder)
    (folder / "trace.bak").write_bytes((folder / "trace_1").read_bytes())
    return {**said, "not_known": "trace.bak: the file does not say whose rank it is"}


def an_empty_file(folder):
    """Its process was killed while it wrote: told, not taken for a rank without a file."""
    job, _, said = skip_blocking(4)
    folder = job.write(folder)
    (folder / "trace_3").write_bytes(b"")
    return {**said, "not_known": "rank 3", "trial": False, "notes": ["trace_3: is empty: its process ended"]}


def only_a_damaged_file_is_missing(folder):
    """The others wait for its rank, which may have done nothing wrong."""
    job, _, _ = skip_blocking(4)
    folder = job.write(folder)
    at_fault = folder / "trace_2"
    at_fault.write_bytes(at_fault.read_bytes()[:300])
    return {**INNOCENT, "kind": "no_record", "suspects": [2],
            "says": "nobody is accused, because a file is there but cannot be read: trace_2 of rank 2; ranks 0, 1, 3 wait"}


def calls_of_ranks_that_are_no_members(folder):
    """Damaged files: they do not list their own rank, and the ranks that they list have no file."""
    job = Job(4, {"1": [0, 1, 2, 3]})
    layers(job, [10])
    job.all_reduce(20, group="1", ranks=[1, 2])
    job.run()
    pathlib.Path(folder).mkdir(parents=True)
    for r in (1, 2):
        dump = job.dump(r)
        dump["pg_config"]["1"]["ranks"] = "[0, 3]"
        write_dump(dump, pathlib.Path(folder), r)
    return {"not_known": "is not one of its members",
            "trial_says": "not tried: rank 1 calls all_reduce f32[64,64] seq 1 on group 1, but is not one of its members"}


def files_named_by_local_ranks(folder):
    """Two nodes with two ranks each: node0/trace_0 is rank 0, node1/trace_0 rank 2."""
    job, _, said = skip_blocking(4)
    for r in range(4):
        (pathlib.Path(folder) / f"node{r // 2}").mkdir(parents=True, exist_ok=True)
        write_dump(job.dump(r), pathlib.Path(folder) / f"node{r // 2}", r)
        (pathlib.Path(folder) / f"node{r // 2}" / f"trace_{r}").rename(pathlib.Path(folder) / f"node{r // 2}" / f"gpu{r % 2}.pkl")
    return {**said, "not_known": "both names say rank 0: the files are numbered in order of their names"}


def profiles_beside(folder):
    """What the profiles say is told too; the one that is cut short is named."""
    job, _, said = skip_blocking(4)
    folder = job.write(folder)
    for profile in (TRUTH / "healthy").glob("kineto_*"):
        shutil.copy(profile, folder)
    cut = folder / "kineto_1.json.gz"
    cut.write_bytes(cut.read_bytes()[:3000])
    return {**said, "notes": ["kineto_1.json.gz: compressed data: it ends too early"], "skipped": ["kineto_1.json.gz"],
            "profile": "as far as the profiles show, rank 0 arrives last"}


FOLDERS = [ring_of_rank_0_is_short, rings_of_all_but_one_are_short, one_recv_more, blocks_of_two_ranks, copied_a_day_later, left_out_by_one_of_two, bucket_left_out, one_gather_more_in_one_of_two_loops, ring_of_sends, ring_of_recvs, two_against_two, sizes_are_not_recorded, lists_of_sizes_are_empty, bool_meets_bytes,
           clog_left_out_in_one_of_parallel_groups, clog_swapped_in_one_of_parallel_groups, clog_left_out_or_later, a_call_of_one_of_two_ranks,
           a_last_call_of_one_of_two_ranks,
           clog_one_more_or_later, clog_without_ends_stops, clog_barrier_against_another_call, clog_barriers_in_two_groups, left_out_in_straight_code, files_named_by_local_ranks, profiles_beside, a_file_of_a_later_run, a_file_of_an_earlier_run, a_copy_under_another_name, a_file_without_a_rank, an_empty_file, only_a_damaged_file_is_missing, calls_of_ranks_that_are_no_members, log_files_beside, slow_before_the_timeout, slow_for_a_moment, dumped_one_after_the_other, stuck_until_the_timeout, file_of_an_earlier_run, contradiction, several_versions,
           several_forms, one_file_cut_short]


# Names of the program that a trial runs, which nobody has seen.
SKELETON_NAME = re.compile(r"@job|@fill|%c\d|comm groups|\(line \d")


def wrong(said, expected, text):
    """Describes a mismatch with the expected verdict in one line; empty if there is none."""
    if said["waiting"] != sorted(set(said["waiting"])):
        return f"waiting: {said['waiting']}"
    for key in ("fault", "kind", "culprits", "suspects", "sequence"):
        if key in expected and said[key] != expected[key]:
            return f"{key}: {said[key]}, expected {expected[key]}"
    if set(expected.get("not_accused", [])) & set(said["culprits"]):
        return f"culprits: {said['culprits']}"
    if "line" in expected and f"train.py:{expected['line']} " not in text:
        return f"line {expected['line']} is not told"
    if "says" in expected and expected["says"] not in text:
        return f"\"{expected['says']}\" is not said"
    if "never_says" in expected and expected["never_says"] in text:
        return f"\"{expected['never_says']}\" is said"
    if "not_known" in expected and not any(expected["not_known"] in t for t in said["not_known"]):
        return f"not_known says nothing of {expected['not_known']}: {said['not_known']}"
    if expected.get("trial") and "completes" not in said["trial"]:
        return f"the repaired program: {said['trial'] or 'not tried'}"
    if SKELETON_NAME.search(said["trial"]):
        return f"the trial uses names of its program: {said['trial']}"
    if "trial_says" in expected and expected["trial_says"] not in said["trial"]:
        return f"the trial does not say \"{expected['trial_says']}\": {said['trial']}"
    if "notes" in expected and not (len(said["notes"]) == len(expected["notes"]) and
                                    all(e in s for e, s in zip(expected["notes"], said["notes"]))):
        return f"notes: {said['notes']}"
    if "frame" in expected and (said["at"]["frame"]["file"], said["at"]["frame"]["line"]) != expected["frame"]:
        return f"frame: {said['at']['frame']}"
    if "skipped" in expected and [pathlib.Path(s["file"]).name for s in said["skipped"]] != expected["skipped"]:
        return f"skipped: {said['skipped']}"
    if "profile" in expected and expected["profile"] not in said["profile"]["sentence"]:
        return f"profile: {said['profile']['sentence']}"
    if "if_stuck" in expected and (said["if_stuck"] is not None) != expected["if_stuck"]:
        return f"if_stuck: {said['if_stuck']}"
    return ""


def wrong_before_the_timeout(said, expected):
    """The same job, whose files were written two minutes after its start: who is at fault if it is stuck?"""
    if not expected["fault"]:
        return wrong(said, {**INNOCENT, "if_stuck": False}, said["sentence"])
    if said["fault"]:  # what no later call can mend, of one rank or of all
        more = set(expected.get("culprits", [])) - set(said["culprits"])
        return wrong(said, {**expected, **({"culprits": said["culprits"], "says": "", "trial": False, "trial_says": ""} if more else {})}, said["sentence"])
    if said["if_stuck"] is None:
        return "if_stuck is null"
    if said["culprits"] or not said["sentence"].endswith(f". If the job is stuck: {said['if_stuck']['sentence']}"):
        return "the sentence accuses at once, or lacks the one of if_stuck"
    return wrong({**said, "fault": True, **said["if_stuck"]}, expected, said["if_stuck"]["sentence"])


def ask(hostir, folder):
    done = subprocess.run([hostir, "open", str(folder), "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return None, f"exit status {done.returncode}: {done.stderr.strip()[:300]}"
    said = json.loads(done.stdout)
    if done.returncode != (4 if said["fault"] else 0):
        return None, f"exit status {done.returncode} beside fault {said['fault']}"
    return said, ""


TRUE_CASES = {
    "healthy": INNOCENT,
    "skip": fault("left_out_call", 2, says="fr.py:33 ", trial=True, frame=("/home/ada/transformer/fr.py", 7)),
    "size": fault("collective_mismatch", 1, says="f32[100]", trial=True),
}


def wrong_in_the_log(hostir, folder, said, log):
    """Why the log that `open --trace` writes tells something else than `open`; None if it does not."""
    subprocess.run([hostir, "open", str(folder), "--trace", str(log)], capture_output=True)
    shown = subprocess.run([hostir, "debug", str(log)], input="list\ninfo faults\nquit\n", capture_output=True, text=True)
    if not said["culprits"]:
        return None if "at fault" not in shown.stdout else f"its log accuses:\n{shown.stdout}"
    where = said["sentence"].split(" make at ")[-1].split(",")[0].split(";")[0] if " make at " in said["sentence"] else ""
    if "where its host is; its last call on record, in flight:\n->" not in shown.stdout:
        return f"its log does not tell the last call of rank 0:\n{shown.stdout}"
    if said["sentence"] not in shown.stdout:
        return f"its log says:\n{shown.stdout}{shown.stderr}"
    for told in [said["trial"], *said["notes"], *([said["profile"]["sentence"]] if said["profile"] else [])]:
        if told not in shown.stdout:
            return f"its log lacks \"{told}\":\n{shown.stdout}"
    direct = subprocess.run([hostir, "debug", str(folder)], input="list\ninfo faults\nquit\n", capture_output=True, text=True)
    if direct.stdout != shown.stdout:
        return f"the folder, opened directly, shows:\n{direct.stdout}{direct.stderr}\nand its log:\n{shown.stdout}"
    return None if f"// {where}" in shown.stdout else f"its log lists no call at {where}:\n{shown.stdout}"


def main():
    hostir = sys.argv[1]
    keep = sys.argv[3] if len(sys.argv) > 3 and sys.argv[2] == "--keep" else None
    random.seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(keep or scratch)
        early = []
        todo = [(f"truth {name}", TRUTH / name, expected) for name, expected in TRUE_CASES.items()]
        for name, make, world in CASES:
            job, how, expected = make(world)
            todo.append((name, job.write(root / name, **how), expected))
            if not name.startswith("pipeline_"):
                early.append((name, written_after(job.write(root / f"{name}_early", **how), 120), expected))
        for make in FOLDERS:
            todo.append((make.__name__, root / make.__name__, make(root / make.__name__)))
        failed = 0
        for name, folder, expected in early:
            said, error = ask(hostir, folder)
            error = error or wrong_before_the_timeout(said, expected)
            if error:
                failed += 1
                print(f"FAILED {name}, early: {error}" + (f"\n    {said['sentence']}" if said else ""))
        for name, folder, expected in todo:
            said, error = ask(hostir, folder)
            error = error or wrong(said, expected, said["sentence"])
            if not error and (folder.parent == TRUTH or name == "profiles_beside"):
                error = wrong_in_the_log(hostir, folder, said, root / f"{folder.name}.db")
            if error:
                failed += 1
                print(f"FAILED {name}: {error}" + (f"\n    {said['sentence']}" if said else ""))
        for seed, files in SEEDS.items():
            text, result, sentence = random_hangs.check(hostir, seed, root, files)
            if result not in random_hangs.PASSED:
                failed += 1
                print(f"FAILED seed {seed}, {text}: {result}\n    {sentence}")
    print(f"{len(todo) + len(early) + len(SEEDS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
