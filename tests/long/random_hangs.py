#!/usr/bin/env python3
"""Random jobs with a mistake of one rank, and the verdict of `hostir open` on the dumps of their hang.

    tests/long/random_hangs.py build-dev/bin/hostir [--seeds 0:1300] [--files any|ahead|clog|legal|two] [--keep DIR] [--all]

A job is a pipeline of some schedule and mesh, a training loop with data and tensor parallel groups, sharded parameters,
an exchange of experts, or neighbours that send to each other. It runs in plain Python (flight_recorder_writer.py). A
seed whose mistake does not hang is drawn again. No innocent rank may be accused: a verdict names the rank, or says that
it cannot be decided. Each seed also gives a job without a mistake at some moment of its run, whose files are written a
fifth of a second or twelve seconds later: nobody is accused. With `--files any` the dumps are of any schema, form and
name, ring buffers begin late, the file of an innocent rank may be lost or cut short, and a second rank may make a mistake.
With `--files ahead` the hosts do not block: they issue the rest of their step, and ring buffers may begin late. With
`--files two`, two ranks make a mistake wherever the job is large enough for a majority. With `--files clog` they are torchcomms' texts, which have no source lines, of jobs without sends. Prints a table of how often it did what, and ends with `N passed, N failed`.
"""
import argparse
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "checks"))
import pipeline_jobs as pipes  # noqa: E402
from clog_writer import write_clog  # noqa: E402
from flight_recorder_writer import Call, Job, write_dump  # noqa: E402

MISTAKES = ["left_out", "left_out", "doubled", "swapped", "wrong_size", "skipped_step", "stopped", "dead", "another_call",
            "wrong_group", "wrong_peer", "extra_call"]


def add(job, r, step, calls):
    for c in calls:
        c.step = step
        job.calls[r].append(c)


def pipeline(rng):
    schedule = rng.choice(["gpipe", "1f1b", "gpipe_batched", "interleaved"])
    while True:
        data, stages, width = rng.choice([1, 1, 2, 2, 3, 4]), rng.choice([2, 3, 4, 4, 8]), rng.choice([1, 1, 2])
        if data * stages * width <= 16:
            break
    layout = pipes.Layout(schedule, data, stages, width, rng.choice([2, 3, 4, 6]), rng.choice([1, 2, 3, 4]),
                          rng.random() < 0.7)
    return str(layout), pipes.build(layout)


def random_call(rng, group, size, line, members, blocks):
    kind = rng.choice(["all_reduce", "all_reduce", "all_reduce", "_all_gather_base", "_reduce_scatter_base", "barrier"])
    n = len(members)
    if kind == "_all_gather_base":
        return lambda: Call(group, kind, [size], line, out=[size * n], blocks=blocks)
    if kind == "_reduce_scatter_base":
        return lambda: Call(group, kind, [size * n], line, out=[size], blocks=blocks)
    if kind == "barrier":
        return lambda: Call(group, "all_reduce_barrier", [1], line, blocks=True)
    return lambda: Call(group, kind, [size], line, blocks=blocks)


def mesh_training(rng):
    """Groups along two axes and one of all; every step makes the same calls, some of them in loops over layers."""
    width, data = rng.choice([(1, 2), (1, 3), (1, 4), (1, 8), (2, 2), (2, 3), (2, 4), (4, 2)])
    world = width * data
    groups, kinds = {}, ["0"]
    if width > 1:
        groups |= {f"tp{d}": list(range(d * width, (d + 1) * width)) for d in range(data)}
        groups |= {f"dp{t}": list(range(t, world, width)) for t in range(width)}
        kinds += ["tp", "dp"]
    job = Job(world, groups)
    one_size = rng.choice([None, 256])  # all calls alike, or of many sizes
    program, line = [], 20
    for _ in range(rng.randint(1, 3)):
        part = []
        for _ in range(rng.randint(1, 3)):
            line += rng.choice([1, 2, 4])
            part.append((rng.choice(kinds), one_size or rng.choice([64, 128, 256, 999]), line, rng.random() < 0.5,
                         rng.random()))
        program += part * rng.choice([1, 1, 2, 4])
    program.append(("0", 1, line + 5, True, 0.0))

    def calls(r):
        out = []
        for kind, size, at, blocks, draw in program:
            group = {"0": "0", "tp": f"tp{r // width}", "dp": f"dp{r % width}"}[kind]
            out.append(random_call(random.Random(draw), group, size, at, job.groups[group], blocks)())
        return out
    steps = rng.randint(1, 4)
    for step in range(steps):
        for r in range(world):
            add(job, r, step, calls(r))
    return f"mesh {data}x{width} {steps} steps of {len(program)} calls", job


def sharded(rng):
    world, layers = rng.choice([2, 4, 8]), rng.randint(2, 4)
    sizes = [100 * n if rng.random() < 0.5 else 100 for n in range(layers + 1)]
    job = Job(world)
    steps = rng.randint(1, 4)
    for step in range(steps):
        for r in range(world):
            add(job, r, step, [Call("0", "_all_gather_base", [sizes[n]], 99, out=[sizes[n] * world], function="unshard")
                               for n in range(1, layers + 1)])
            for n in range(layers, 0, -1):
                add(job, r, step, [Call("0", "_all_gather_base", [sizes[n]], 120, out=[sizes[n] * world]),
                                   Call("0", "_reduce_scatter_base", [sizes[n] * world], 140, out=[sizes[n]])])
            add(job, r, step, [Call("0", "all_reduce", [1], 150, blocks=True, function="clip_grad_norm")])
    return f"sharded {world} ranks, {layers} layers, {steps} steps", job


def experts(rng):
    world, steps = rng.choice([2, 4, 8]), rng.randint(1, 4)
    job = Job(world)
    for step in range(steps):
        tokens = [[16 + (3 * r + 5 * q + step) % 7 for q in range(world)] for r in range(world)]
        for r in range(world):
            there, back = [[n] for n in tokens[r]], [[tokens[q][r]] for q in range(world)]
            add(job, r, step, [Call("0", "all_to_all", [world], 60, agree=("counts", step)),
                               Call("0", "all_to_all", there, 61, out=back, agree=("tokens", step)),
                               Call("0", "all_to_all", back, 62, out=there, agree=("back", step)),
                               Call("0", "all_reduce", [77], 63, blocks=True)])
    return f"experts {world} ranks, {steps} steps", job


def neighbours(rng):
    world, steps, ring = rng.choice([3, 4, 5, 8]), rng.randint(1, 4), rng.random() < 0.5
    job = Job(world)
    for step in range(steps):
        for r in range(world):
            calls = []
            for n in ((r - 1) % world, (r + 1) % world) if ring else (r - 1, r + 1):
                if 0 <= n < world:
                    calls += [Call("0", "send", [16], 90, peer=n, batch=f"{r}.{step}", blocks=True),
                              Call("0", "recv", [16], 91, peer=n, batch=f"{r}.{step}", blocks=True)]
            calls.append(Call("0", "all_reduce", [5], 95, blocks=True))
            add(job, r, step, calls)
    return f"neighbours{' in a ring' if ring else ''} {world} ranks, {steps} steps", job


def coalesced(rng):
    """Parameters that are gathered, and gradients that are scattered, several in one launch."""
    world, layers, steps = rng.choice([2, 4, 8]), rng.randint(1, 3), rng.randint(1, 4)
    parts = [rng.choice([64, 64, 100, 256]) for _ in range(rng.randint(2, 4))]
    job = Job(world)
    for step in range(steps):
        for r in range(world):
            for layer in range(2 * layers):
                forward, batch = layer < layers, f"{step}.{r}.{layer}"
                add(job, r, step, [Call("0", "_all_gather_base", [n], 99, out=[n * world], batch=batch) if forward else
                                   Call("0", "_reduce_scatter_base", [n * world], 140, out=[n], batch=batch) for n in parts])
            add(job, r, step, [Call("0", "all_reduce", [1], 150, blocks=True)])
    return f"coalesced {world} ranks, {steps} steps of {2 * layers} launches of {len(parts)}", job


def in_any_order(make):
    """The job with two more calls in each step, which one rank makes in the other order: on two communicators, or from
    two lines of one."""
    def varied(rng):
        text, job = make(rng)
        odd, apart = rng.randrange(job.world), rng.random() < 0.5
        group, size = ("aux", 6) if apart else ("0", 5)
        if apart:
            job.groups["aux"] = list(range(job.world))
        for r, calls in enumerate(job.calls):
            steps = sorted({c.step for c in calls})
            job.calls[r] = []
            for step in steps:
                job.calls[r] += [c for c in calls if c.step == step]
                pair = [Call("0", "all_reduce", [5], 301, function="norms"), Call(group, "all_reduce", [size], 302, function="stats")]
                add(job, r, step, reversed(pair) if r == odd else pair)
                add(job, r, step, [Call("0", "all_reduce", [7], 303, blocks=True)])
        return f"{text}, rank {odd} in another order on {'two communicators' if apart else 'one communicator'}", job
    return varied


# `coalesced` is drawn only with `--files any`, so that the other seeds give the jobs that they always gave.
JOBS = [pipeline, pipeline, mesh_training, mesh_training, mesh_training, sharded, experts, neighbours]
KINDS = {"plain": JOBS, "two": JOBS, "ahead": JOBS, "any": [*JOBS, coalesced], "legal": [in_any_order(make) for make in JOBS],
         "clog": [mesh_training, mesh_training, mesh_training, sharded, experts]}


def plant(rng, job, mistake, rank, at):
    """Changes the calls of `rank` at `at`; False: the mistake has no meaning there."""
    calls = job.calls[rank]
    call = calls[at]
    if mistake in ("left_out", "doubled", "swapped", "skipped_step", "stopped", "dead"):
        return pipes.plant(job, mistake, rank, at)
    if mistake == "wrong_size":
        if call.kind == "all_to_all" or call.kind.endswith("barrier"):
            return False
        grown = lambda shapes: [[s[0] + 1, *s[1:]] for s in shapes]  # noqa: E731
        call.inputs, call.outputs = grown(call.inputs), grown(call.outputs)
        return True
    if mistake == "another_call":
        if call.peer is not None or call.kind == "broadcast":
            return False
        call.kind, call.agree = "broadcast", None
        return True
    if mistake == "wrong_group":
        others = [g for g, members in job.groups.items() if rank in members and g != call.group and len(members) > 1]
        if call.peer is not None or not others:
            return False
        call.group = rng.choice(others)
        return True
    if mistake == "wrong_peer":
        others = [r for r in job.groups[call.group] if r not in (rank, call.peer)]
        if call.peer is None or not others:
            return False
        call.peer = rng.choice(others)
        return True
    if mistake == "extra_call":
        group = rng.choice([g for g, members in job.groups.items() if rank in members and len(members) > 1])
        made = Call(group, "all_reduce", [rng.choice([5, 256])], 200, blocks=rng.random() < 0.5, function="extra")
        made.step = call.step
        calls.insert(pipes.launch_of(job, rank, at)[0], made)
        return True
    raise ValueError(mistake)


def one_mistake(rng, job, rank):
    """Plants a mistake into a call of the rank; what it is, or nothing if it has no meaning there."""
    at = rng.randrange(len(job.calls[rank]))
    mistake = rng.choice(MISTAKES)
    line, step = job.calls[rank][at].line, job.calls[rank][at].step
    if not plant(rng, job, mistake, rank, at):
        return ""
    if mistake == "dead":
        job.dead |= {rank}
    return f"rank {rank} {mistake}, line {line}, step {step}, call {at}"


SECOND = {"any": 0.2, "two": 1.0}  # how often a second rank makes a mistake, by `--files`


def draw(seed, jobs, second=0.0):
    """(description, job after it has hung, ranks at fault)."""
    for turn in range(1000):
        rng = random.Random(f"hang {seed} {turn}")
        text, job = rng.choice(jobs)(rng)
        whole = copy.deepcopy(job).run()
        if pipes.is_stuck(whole):
            continue
        ranks = {rng.randrange(job.world)}
        most = 2 if second and (second < 1 or job.world > 4) else 1
        while len(ranks) < min(most, job.world - 1) and rng.random() < second:
            other = rng.randrange(job.world)
            if 2 * (len(ranks) + 1) < job.world:  # the majority counts as right
                ranks.add(other)
        planted = [one_mistake(rng, job, rank) for rank in sorted(ranks)]
        if all(planted) and pipes.is_stuck(job.run()):
            return "; ".join([text, *planted]), job, ranks
    raise RuntimeError(f"seed {seed}: nothing hangs")


NAMES = ["trace_{}", "nccl_trace_rank_{}", "comm_lib_trace_rank_{}", "dump-rank{}.node-7", "gpu01_{:03}", "rank_{}/flight.recorder",
         "Rank={}.bin", "15:02:11 job#4 (copy) rank {}"]


def write_any(rng, job, folder, ranks):
    """Writes the dumps in one of the forms that jobs, tools and people leave behind.

    Returns what is unusual about them, and the ranks without a readable file."""
    forms = rng.choice([["pickle"], ["pickle"], ["json"], ["python"], ["gz"], ["pickle", "json", "python", "gz"]])
    versions = rng.choice([["2.10"], ["2.4"], ["2.5"], ["2.7"], ["2.11"], ["2.4", "2.7", "2.11"]])
    ring = rng.choice([None, None, rng.randint(2, 30)])
    name = rng.choice(NAMES)
    # These dumps do not show which parts of a launch are still in flight.
    only_active = rng.random() < 0.1 and not any(c.batch for calls in job.calls for c in calls)
    innocent = [r for r in range(job.world) if r not in ranks]
    lost = rng.choice(innocent) if rng.random() < 0.25 and len(innocent) > 1 else None
    cut = rng.random() < 0.4
    for r in range(job.world):
        if r in job.dead or (r == lost and not cut):
            continue
        dump = job.dump(r, version=rng.choice(versions), ring=ring, only_active=only_active)
        path = folder / name.format(r)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.parent / "writing"
        scratch.mkdir(exist_ok=True)
        write_dump(dump, scratch, r, rng.choice(forms))
        data = next(scratch.iterdir()).read_bytes()
        path.write_bytes(data[: len(data) * 2 // 3] if r == lost else data)
        next(scratch.iterdir()).unlink()
        scratch.rmdir()
    text = f"{'/'.join(forms)} {'/'.join(versions)} {name!r}"
    text += f", rings of {ring}" if ring else ""
    text += ", only active" if only_active else ""
    text += f", rank {lost} {'cut' if cut else 'lost'}" if lost is not None else ""
    return text, {lost} - {None}


def ask(hostir, folder):
    done = subprocess.run([hostir, "open", str(folder), "--json", "--no-trial"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return None, f"exit status {done.returncode}: {done.stderr.strip()[:300]}"
    return json.loads(done.stdout), ""


def check_running(hostir, seed, root, files):
    """A job without a mistake at a random moment; what is wrong with the verdict, or nothing."""
    rng = random.Random(f"running {seed}")
    text, job = rng.choice(KINDS[files])(rng)
    if pipes.is_stuck(job.run()):
        return text, ""
    moment = rng.choice([c.created for calls in job.issued for c in calls]) + rng.randrange(100000)
    for r in range(job.world):
        job.issued[r] = [c for c in job.issued[r] if c.created <= moment]
        for c in job.issued[r]:
            if c.done > moment:
                c.state, c.done = "scheduled", None
    for age_s in (0.2, 12):
        folder, how = root / f"running_{seed}_{age_s}", "plain"
        if files == "any":
            how, _ = write_any(random.Random(f"files {seed} {age_s}"), job, folder, set())
        elif files == "clog":
            write_clog(job, folder, lifecycle=seed % 2 == 0)
        else:
            job.write(folder)
        for path in folder.rglob("*"):
            os.utime(path, ns=(moment + int(age_s * 1e9),) * 2)
        said, error = ask(hostir, folder)
        if said is None or said["fault"] or (age_s < 1 and said["if_stuck"]):
            return f"{text}, running, files {age_s} s old; {how}", error or said["sentence"]
    return text, ""


# If others wait for a rank without a file, naming it is right even if only its file is lost.
PASSED = ("right", "undecided", "nobody", "the rank without a file")


def check(hostir, seed, root, files):
    running, accused = check_running(hostir, seed, root, files)
    if accused:
        return running, "a healthy job", accused
    text, job, ranks = draw(seed, KINDS[files], SECOND.get(files, 0.0))
    folder, lost = root / f"hang_{seed}", set()
    if files == "any":
        how, lost = write_any(random.Random(f"files {seed}"), job, folder, ranks)
        text += f"; {how}"
    elif files == "clog":
        write_clog(job, folder, lifecycle=seed % 2 == 0)
    elif files == "ahead":
        pipes.run_ahead(job)
        ring = random.Random(f"files {seed}").choice([None, None, 8, 20])
        text += f"; ring of {ring}"
        job.write(folder, ring=ring)
    else:
        job.write(folder)
    said, error = ask(hostir, folder)
    if said is None:
        return text, "no verdict", error
    if ranks & set(said["culprits"]) and ranks | lost >= set(said["culprits"]):
        result = "right"
    elif lost and set(said["culprits"]) == lost:
        result = "the rank without a file"
    elif said["culprits"]:
        result = "an innocent rank"
    elif not said["fault"]:
        result = "nobody"
    else:
        result = "undecided" if not said["suspects"] or ranks & set(said["suspects"]) else "suspects without it"
    return text, result, said["sentence"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("hostir")
    parser.add_argument("--seeds", default="0:300", help="FIRST:BEHIND_LAST")
    parser.add_argument("--files", choices=list(KINDS), default="plain")
    parser.add_argument("--keep", help="a folder for the dumps")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print every verdict that does not name the rank")
    arguments = parser.parse_args()
    first, behind = (int(n) for n in arguments.seeds.split(":"))
    counted = {}
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        root = pathlib.Path(arguments.keep or scratch)
        seeds = range(first, behind)
        todo = pool.map(check, [arguments.hostir] * len(seeds), seeds, [root] * len(seeds),
                        [arguments.files] * len(seeds), chunksize=4)
        for seed, (text, result, sentence) in zip(seeds, todo):
            counted[result] = counted.get(result, 0) + 1
            bad = result not in PASSED
            if bad or (arguments.all and result != "right"):
                print(f"{'FAILED ' if bad else ''}seed {seed}: {text}\n    {result}: {sentence}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in sorted(counted.items(), key=lambda c: -c[1])))
    failed = sum(count for result, count in counted.items() if result not in PASSED)
    print(f"{sum(counted.values()) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
