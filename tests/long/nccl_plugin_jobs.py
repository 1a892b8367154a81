#!/usr/bin/env python3
"""libhostir_nccl.so under PyTorch jobs of several NCCL ranks on one GPU.

    nccl_plugin_jobs.py BUILD [RANKS...]      needs torch and one GPU; default: 2 and 4 ranks

For each number of ranks:
1. Three jobs of the same program, one with the plugin and two without, take turns in blocks of steps. Prints the ratios
   of step times, block by block: that of the two without the plugin is the noise.
2. The plugin's files against what the job called: `hostir open` must count every call, all completed.
3. A rank of a longer job is stopped by SIGSTOP: `hostir watch` must name it within 15 s. After SIGCONT the job ends,
   and nobody is accused.

Every process has its own NCCL_HOSTID, so that NCCL treats the processes as separate hosts. Prints `N passed, N failed`.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BLOCKS = 12
STEPS = 20  # of a block
STOP_WITHIN_S = 15
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed += bool(holds)
    failed += not holds
    print(f"{'ok' if holds else 'FAILED'}: {what}{'' if holds else ': ' + str(detail)[:1500]}", flush=True)


# ---- a rank

class Step:
    """One training step: two products and the collectives between them. Counts the calls that it makes."""

    def __init__(self, rank, world):
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.rank, self.world = torch, dist, rank, world
        self.calls = {}
        torch.cuda.set_device(0)
        dist.init_process_group("nccl", rank=rank, world_size=world)
        self.pairs = [dist.new_group([0, 1])] if world > 2 else []
        make = dict(device="cuda", dtype=torch.bfloat16)
        self.x, self.w = torch.randn(2048, 2048, **make), torch.randn(2048, 2048, **make)
        self.whole, self.part = torch.zeros(world * 1024, **make), torch.zeros(1024, **make)
        self.token = torch.zeros(256, **make)

    def call(self, name, function, *arguments, **options):
        self.calls[name] = self.calls.get(name, 0) + 1
        return function(*arguments, **options)

    def run(self):
        dist = self.dist
        y = self.x @ self.w
        self.call("AllGather", dist.all_gather_into_tensor, self.whole, self.part)
        y = y @ self.w
        self.call("ReduceScatter", dist.reduce_scatter_tensor, self.part, self.whole)
        self.call("AllReduce", dist.all_reduce, self.token)
        self.call("Broadcast", dist.broadcast, self.token, 0)
        for group in self.pairs if self.rank < 2 else []:
            self.call("AllReduce", dist.all_reduce, self.token, group=group)
        after, before = (self.rank + 1) % self.world, (self.rank - 1) % self.world
        ops = [dist.P2POp(dist.isend, self.token, after), dist.P2POp(dist.irecv, self.part[:256], before)]
        self.calls["Send"] = self.calls.get("Send", 0) + 1
        self.calls["Recv"] = self.calls.get("Recv", 0) + 1
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        self.torch.cuda.synchronize()
        return y


def wait_for(path):
    while not path.exists():
        time.sleep(0.001)


def worker(board, rank, world, blocks, steps):
    """Runs a block whenever the parent creates `go_BLOCK`."""
    step = Step(rank, world)
    step.run()
    times = []
    for block in range(blocks):
        wait_for(board / f"go_{block}")
        step.run()
        for _ in range(steps):
            begin = time.perf_counter()
            step.run()
            times.append((time.perf_counter() - begin) * 1e6)
        (board / f"done_{block}_{rank}").touch()
    (board / f"calls_{rank}.json").write_text(json.dumps({"calls": step.calls, "times": times}))
    step.dist.destroy_process_group()


# ---- the jobs

class Job:
    def __init__(self, folder, ranks, port, plugin=None, blocks=BLOCKS, steps=STEPS):
        self.folder, self.log, self.world = folder, folder / "log", ranks
        folder.mkdir()
        environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks),
                       "NCCL_SOCKET_IFNAME": "lo", "NCCL_NVLS_ENABLE": "0", "NCCL_MAX_NCHANNELS": "2",
                       "TORCH_NCCL_ENABLE_MONITORING": "0", "HOSTIR_NCCL_DIR": str(self.log)}
        if plugin:
            environment["NCCL_PROFILER_PLUGIN"] = str(plugin)
        self.ranks = []
        for rank in range(ranks):
            out = open(folder / f"out_{rank}.txt", "w")
            command = [sys.executable, __file__, "worker", folder, rank, ranks, blocks, steps]
            self.ranks.append(subprocess.Popen(list(map(str, command)), stdout=out, stderr=out, env={
                **environment, "RANK": str(rank), "NCCL_HOSTID": f"{folder.name}{rank}"}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.ranks:
            process.kill()  # also a stopped one
            process.wait()

    def go(self, block):
        (self.folder / f"go_{block}").touch()

    def wait_for_block(self, block, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if all((self.folder / f"done_{block}_{rank}").exists() for rank in range(self.world)):
                return True
            if any(process.poll() for process in self.ranks):
                return False
            time.sleep(0.002)
        return False

    def end(self, name):
        for rank, process in enumerate(self.ranks):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                pass
            check(f"{name}: rank {rank} ends", process.returncode == 0,
                  (self.folder / f"out_{rank}.txt").read_text()[-800:])

    def facts(self):
        return [json.loads((self.folder / f"calls_{rank}.json").read_text()) for rank in range(self.world)]


def meetings(facts):
    """The calls that `hostir open` counts: a collective once, a message once."""
    whole = sum(facts[-1]["calls"].get(name, 0) for name in ("AllGather", "ReduceScatter", "AllReduce", "Broadcast"))
    of_pair = facts[0]["calls"]["AllReduce"] - facts[-1]["calls"]["AllReduce"]
    return whole + of_pair + sum(rank["calls"]["Send"] for rank in facts)


def opened(build, job, *options):
    run = subprocess.run([build / "bin/hostir", "open", job.log, "--json", *options], capture_output=True, text=True,
                         timeout=60)
    return run.returncode, json.loads(run.stdout) if run.stdout else {"sentence": run.stderr, "fault": None}


def by_block(facts):
    """The median step time of each block, over all ranks."""
    of = [[t for rank in facts for t in rank["times"][block * STEPS:(block + 1) * STEPS]] for block in range(BLOCKS)]
    return [statistics.median(times) for times in of]


def ratio(some, others):
    """The median of the blocks' ratios and their quartiles, in percent."""
    quarters = statistics.quantiles([(a / b - 1) * 100 for a, b in zip(some, others)], n=4)
    return f"{quarters[1]:+.2f} % ({quarters[0]:+.2f} to {quarters[2]:+.2f})"


def measure(build, folder, ranks):
    plugin = build / "lib/libhostir_nccl.so"
    with Job(folder / "with", ranks, 29610, plugin) as one, Job(folder / "without", ranks, 29630) as other, \
            Job(folder / "again", ranks, 29670) as again:
        jobs = [one, other, again]
        for block in range(BLOCKS):
            for job in jobs[block % 3:] + jobs[:block % 3]:
                job.go(block)
                if not job.wait_for_block(block, 90 if block == 0 else 30):
                    check(f"{ranks} ranks: block {block} ends", False,
                          [(job.folder / f"out_{rank}.txt").read_text()[-500:] for rank in range(ranks)])
                    return
        one.end(f"{ranks} ranks with the plugin")
        other.end(f"{ranks} ranks without")
        again.end(f"{ranks} ranks without, again")
        facts = one.facts()
        status, verdict = opened(build, one, "--program", str(folder / "job.hir"))
        check(f"{ranks} ranks: the log is complete", status == 0 and
              f"all {meetings(facts)} calls on record completed" in verdict["sentence"],
              (meetings(facts), facts[0]["calls"], verdict["sentence"]))
        a, b, c = by_block(facts), by_block(other.facts()), by_block(again.facts())
        print(f"{ranks} ranks: a step takes {statistics.median(a):.1f} us with the plugin, {statistics.median(b):.1f} and "
              f"{statistics.median(c):.1f} us without; per block, with against without: {ratio(a, b)} and {ratio(a, c)}; "
              f"without against without: {ratio(c, b)}", flush=True)


def stop(build, folder, ranks):
    with Job(folder / "stopped", ranks, 29650, build / "lib/libhostir_nccl.so", blocks=2, steps=400) as job:
        job.go(0)
        if not job.wait_for_block(0, 90):
            check(f"{ranks} ranks: the job starts", False, (job.folder / "out_0.txt").read_text()[-800:])
            return
        job.go(1)
        time.sleep(0.5)
        victim = ranks - 1
        job.ranks[victim].send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        run = subprocess.run([build / "bin/hostir", "watch", job.log, "--once", "--timeout", "30"], capture_output=True,
                             text=True, timeout=60)
        took = time.monotonic() - begin
        print(run.stdout, run.stderr, flush=True)
        check(f"{ranks} ranks: the stopped rank is named after {took:.1f} s", run.returncode == 4 and
              took < STOP_WITHIN_S and f"rank {victim} " in run.stdout and "stopped" in run.stdout, run.stdout)
        job.ranks[victim].send_signal(signal.SIGCONT)
        job.end(f"{ranks} ranks, once it goes on")
        status, verdict = opened(build, job)
        check(f"{ranks} ranks: nobody is accused once the rank resumes", status == 0 and not verdict["fault"], verdict["sentence"])


def main():
    if sys.argv[1] == "worker":
        worker(pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:]))
        return 0
    build = pathlib.Path(sys.argv[1]).resolve()
    for ranks in map(int, sys.argv[2:] or (2, 4)):
        with tempfile.TemporaryDirectory(dir=os.environ.get("NCCL_PLUGIN_JOBS")) as folder:
            measure(build, pathlib.Path(folder), ranks)
            stop(build, pathlib.Path(folder), ranks)
            keep = os.environ.get("KEEP")
            if keep:
                subprocess.run(["cp", "-r", folder, f"{keep}/{ranks}_ranks"], check=False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
