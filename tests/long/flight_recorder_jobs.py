#!/usr/bin/env python3
"""Jobs that hang on real NCCL ranks, and the verdicts on their dumps.

    flight_recorder_jobs.py record FOLDER [CASE...]   needs torch and one GPU; every rank is a separate process
    flight_recorder_jobs.py table HOSTIR FOLDER       prints the verdicts of `hostir open` and torchfrtrace per case

Each case is a job of several ranks on one GPU. Each process has its own NCCL_HOSTID, so that NCCL treats the processes
as separate hosts. A few seconds after the start, a thread in every rank writes the Flight Recorder dump and ends the
process, like a watchdog. `case.json` names the rank at fault; `torchfrtrace.txt` is the output of PyTorch's analyser.
"""
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

DUMP_AFTER_S = 7
PATIENCE = datetime.timedelta(seconds=DUMP_AFTER_S - 1)  # of every group: calls younger than it accuse nobody
CASES = {}


def case(world, fault=True, culprits=(), suspects=(), missing=(), ring=2000, says="", kinds=()):
    def add(body):
        CASES[body.__name__] = {"body": body, "world": world, "fault": fault, "culprits": sorted(culprits),
                                "suspects": sorted(suspects), "missing": sorted(missing), "ring": ring,
                                "says": says, "kinds": sorted(kinds)}
        return body
    return add


def line_of(marker):
    """The number of this file's line that ends with `# marker`."""
    for number, text in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1):
        if text.endswith("# " + marker):
            return number
    raise KeyError(marker)


class Ranks:
    """The argument of a case's body: this rank, the world, torch, and groups created on all ranks."""

    def __init__(self, rank, world):
        import torch
        import torch.distributed as dist
        self.rank, self.world, self.torch, self.dist = rank, world, torch, dist

    def zeros(self, *shape, dtype=None):
        return self.torch.zeros(*shape, device="cuda", dtype=dtype or self.torch.float32)

    def layers(self, count):
        for _ in range(count):
            self.dist.all_reduce(self.zeros(64, 64))

    def warm(self, *pairs):
        """Creates NCCL's pair communicators now: their first use blocks, and records nothing while it does."""
        for source, target in pairs:
            if self.rank == source:
                self.dist.send(self.zeros(4), target)
            elif self.rank == target:
                self.dist.recv(self.zeros(4), source)
        self.sync()

    def sync(self):
        self.torch.cuda.synchronize()


# ---- no rank is at fault

@case(4, fault=False)
def healthy(r):
    r.layers(5)
    out = r.zeros(256)
    r.dist.all_gather_into_tensor(out, r.zeros(64))
    r.dist.reduce_scatter_tensor(r.zeros(64), out)
    r.dist.all_to_all_single(r.zeros(256), out)
    r.sync()


@case(4, fault=False)
def slow_rank(r):
    for step in range(3):
        if r.rank == 2:
            time.sleep(0.8)
        r.layers(2)
        r.sync()


@case(4, fault=False)
def uneven_all_to_all(r):
    sends = [r.rank + q + 1 for q in range(r.world)]
    r.dist.all_to_all_single(r.zeros(sum(sends)), r.zeros(sum(sends)), sends, sends)
    r.sync()


@case(4, fault=False, missing=[1])
def missing_dump_of_a_healthy_job(r):
    r.layers(4)
    r.sync()


@case(2, fault=False)
def exchange_in_a_batch(r):
    other = 1 - r.rank
    ops = [r.dist.P2POp(r.dist.isend, r.zeros(64), other), r.dist.P2POp(r.dist.irecv, r.zeros(64), other)]
    for work in r.dist.batch_isend_irecv(ops):
        work.wait()
    r.sync()


# ---- missing calls, extra calls, calls in another order

@case(4, culprits=[2], says="skipped", kinds=["left_out_call"])
def skipped_layer(r):
    r.layers(2)
    if r.rank != 2:
        r.dist.all_reduce(r.zeros(64, 64))  # skipped
    r.layers(2)
    r.sync()


# The others stop in this call, so no record shows whether rank 1 left it out or made another one in
# its place.
@case(4, culprits=[1], says="skipped size", kinds=["left_out_call", "collective_mismatch"])
def skipped_layer_of_another_size(r):
    r.layers(2)
    if r.rank != 1:
        r.dist.all_reduce(r.zeros(100))  # skipped size
    r.layers(3)
    r.sync()


@case(4, culprits=[3], says="extra", kinds=["extra_call"])
def extra_call(r):
    r.layers(2)
    if r.rank == 3:
        r.dist.all_reduce(r.zeros(64, 64))  # extra
    r.layers(2)
    r.sync()


@case(4, culprits=[1], kinds=["order"])
def order_of_groups(r):
    a, b = (r.dist.new_group(timeout=PATIENCE) for _ in range(2))
    for group in (a, b):
        r.dist.all_reduce(r.zeros(8), group=group)  # makes NCCL's communicators
    r.sync()
    for group in ((b, a) if r.rank == 1 else (a, b)):
        r.dist.all_reduce(r.zeros(32), group=group)  # groups
        r.sync()


@case(4, culprits=[3], kinds=["swapped_calls", "collective_mismatch"])
def order_of_kinds(r):
    out = r.zeros(4 * 64)
    calls = [lambda: r.dist.all_reduce(r.zeros(256)), lambda: r.dist.all_gather_into_tensor(out, r.zeros(64))]
    for call in (reversed(calls) if r.rank == 3 else calls):
        call()
    r.layers(1)
    r.sync()


@case(4, culprits=[0], kinds=["extra_call", "never_came"])
def one_iteration_more(r):
    for _ in range(6 if r.rank == 0 else 5):
        r.layers(1)
    r.sync()


# ---- calls that differ

@case(4, culprits=[1], says="size", kinds=["collective_mismatch"])
def other_size(r):
    r.layers(2)
    r.dist.all_reduce(r.zeros(100 if r.rank == 1 else 128))  # size
    r.sync()


@case(4, culprits=[3], says="dtype", kinds=["collective_mismatch"])
def other_dtype(r):
    r.layers(2)
    r.dist.all_reduce(r.zeros(1 << 20, dtype=r.torch.float16 if r.rank == 3 else r.torch.float32))  # dtype
    r.sync()


@case(4, culprits=[0], kinds=["collective_mismatch"])
def other_kind(r):
    r.layers(2)
    x = r.zeros(1 << 20)
    if r.rank == 0:
        r.dist.broadcast(x, 0)
    else:
        r.dist.all_reduce(x)
    r.sync()


@case(4, culprits=[2], kinds=["block_mismatch"])
def all_to_all_splits(r):
    sends = [8, 8, 8, 8] if r.rank != 2 else [8, 8, 8, 24]
    r.dist.all_to_all_single(r.zeros(32), r.zeros(sum(sends)), [8, 8, 8, 8], sends)
    r.sync()


@case(4, suspects=[1, 2], kinds=["collective_mismatch"])
def gather_with_two_roots(r):
    root = 2 if r.rank == 2 else 1
    lists = [r.zeros(16) for _ in range(r.world)] if r.rank == root else None
    r.dist.gather(r.zeros(16), lists, dst=root)
    r.sync()


# ---- ranks that stop, and missing dumps

@case(4, culprits=[3], kinds=["never_came"])
def stuck_outside(r):
    r.layers(3)
    r.sync()
    if r.rank == 3:
        time.sleep(3600)
    r.dist.all_reduce(r.zeros(64))
    r.sync()


@case(4, culprits=[2], missing=[2], kinds=["no_record", "died"])
def dead_rank(r):
    r.layers(3)
    r.sync()
    if r.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    r.dist.all_reduce(r.zeros(64))
    r.sync()


@case(4, culprits=[2], missing=[0], says="skipped beside", kinds=["left_out_call"])
def skipped_beside_a_missing_dump(r):
    r.layers(2)
    if r.rank != 2:
        r.dist.all_reduce(r.zeros(64, 64))  # skipped beside
    r.layers(2)
    r.sync()


@case(4, culprits=[1], ring=16, says="skipped late", kinds=["left_out_call"])
def skipped_behind_a_late_ring(r):
    r.layers(40)
    if r.rank != 1:
        r.dist.all_reduce(r.zeros(64, 64))  # skipped late
    r.layers(3)
    r.sync()


@case(4, culprits=[2], kinds=["never_came", "left_out_call"])
def subgroup(r):
    even, odd = (r.dist.new_group(ranks, timeout=PATIENCE) for ranks in ([0, 2], [1, 3]))
    r.layers(1)
    mine = even if r.rank % 2 == 0 else odd
    r.dist.all_reduce(r.zeros(64), group=mine)
    r.sync()
    if r.rank == 2:
        time.sleep(3600)
    r.dist.all_reduce(r.zeros(64), group=mine)
    r.sync()
    r.layers(1)
    r.sync()


# ---- send and recv

@case(2, suspects=[0, 1], kinds=["order"])
def both_send_first(r):
    other = 1 - r.rank
    r.layers(1)
    r.warm((0, 1))
    r.dist.send(r.zeros(1 << 24), other)  # large: nothing buffers it
    r.sync()
    r.dist.recv(r.zeros(1 << 24), other)
    r.sync()


@case(3, suspects=[0, 1, 2], kinds=["order"])
def ring_of_sends(r):
    r.layers(1)
    r.warm((0, 1), (1, 2), (0, 2))
    r.dist.send(r.zeros(1 << 24), (r.rank + 1) % 3)
    r.sync()
    r.dist.recv(r.zeros(1 << 24), (r.rank + 2) % 3)
    r.sync()


@case(2, culprits=[0], kinds=["never_came"])
def never_sent(r):
    r.layers(1)
    r.warm((0, 1))
    if r.rank == 1:
        r.dist.recv(r.zeros(64), 0)  # waits
    r.sync()


# ---- recording

def worker(name, rank, folder):
    facts = CASES[name]
    folder = pathlib.Path(folder)
    ranks = Ranks(rank, facts["world"])
    ranks.torch.cuda.set_device(0)
    ranks.dist.init_process_group("nccl", rank=rank, world_size=facts["world"], timeout=PATIENCE)
    ranks.dist.all_reduce(ranks.zeros(1024))
    ranks.sync()

    def dump():
        time.sleep(DUMP_AFTER_S)
        if rank not in facts["missing"]:
            bytes_ = ranks.torch._C._distributed_c10d._dump_nccl_trace()
            (folder / f"trace_{rank}").write_bytes(bytes_)
        os._exit(0)

    threading.Thread(target=dump, daemon=True).start()
    facts["body"](ranks)
    time.sleep(3600)


def record_case(name, folder, port):
    facts = CASES[name]
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "NCCL_SOCKET_IFNAME": "lo",
                   "TORCH_FR_BUFFER_SIZE": str(facts["ring"]), "TORCH_NCCL_TRACE_BUFFER_SIZE": str(facts["ring"]),
                   "TORCH_NCCL_DUMP_ON_TIMEOUT": "0", "TORCH_FR_DUMP_ON_TIMEOUT": "0",
                   "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0", "TORCH_NCCL_ENABLE_MONITORING": "0",
                   "NCCL_NVLS_ENABLE": "0", "NCCL_MAX_NCHANNELS": "2"}
    workers = []
    for rank in range(facts["world"]):
        log = open(folder / f"log_{rank}.txt", "w")
        workers.append(subprocess.Popen([sys.executable, __file__, "worker", name, str(rank), str(folder)],
                                        env={**environment, "NCCL_HOSTID": f"{name}{rank}"}, stdout=log, stderr=log))
    return workers


def finish_case(name, folder, workers):
    facts = CASES[name]
    until = time.time() + 90
    for process in workers:
        try:
            process.wait(max(1, until - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()
    said = {k: facts[k] for k in ("world", "fault", "culprits", "suspects", "missing", "kinds")}
    said["line"] = line_of(facts["says"]) if facts["says"] else None
    (folder / "case.json").write_text(json.dumps(said, indent=1) + "\n")
    analyser = subprocess.run([sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder), "-p",
                               "trace_", "--allow-incomplete-ranks"], capture_output=True, text=True, timeout=120)
    (folder / "torchfrtrace.txt").write_text(analyser.stdout + analyser.stderr)


def record(folder, names):
    """Runs three cases at a time, because a case mostly waits."""
    names = list(names or CASES)
    for begin in range(0, len(names), 3):
        running = [(name, folder / name, record_case(name, folder / name, 29500 + begin + i))
                   for i, name in enumerate(names[begin:begin + 3])]
        for name, where, workers in running:
            finish_case(name, where, workers)
            print(name, sorted(p.name for p in where.glob("trace_*")), flush=True)


# ---- the table

def analyser_words(folder):
    """Summarises torchfrtrace's output in a few words: its findings, and the ranks that it misses."""
    path = folder / "torchfrtrace.txt"
    if not path.exists():
        return "not run"
    text = path.read_text()
    said = [word.lower() for word in ("COLLECTIVE_TYPE_MISMATCH", "SIZE_OR_SYNTAX_MISMATCH", "COLLECTIVE_DTYPE_MISMATCH",
                                      "COLLECTIVE_STATE_MISMATCH") if word in text]
    said += sorted(set(re.findall(r"missing ranks: \{[^}]*\}", text)))
    if "We cannot decide" in text:
        said.append("cannot decide")
    if "Traceback" in text:
        said.append("fails: " + text.strip().splitlines()[-1][:80])
    first = next((line for line in text.splitlines() if "joining collective" in line or "mismatch" in line.lower()), "")
    return "; ".join(said) or first[:90] or ("nothing wrong" if not text.strip() else text.strip().splitlines()[0][:90])


def table(hostir, folder):
    wrong = 0
    print("| case | at fault | hostir open | torchfrtrace |\n|---|---|---|---|")
    for where in sorted(p for p in folder.iterdir() if (p / "case.json").exists()):
        expected = json.loads((where / "case.json").read_text())
        traces = sorted(str(p) for p in where.glob("trace_*"))
        done = subprocess.run([hostir, "open", *traces, "--json"], capture_output=True, text=True)
        said = json.loads(done.stdout) if done.returncode in (0, 4) else {"fault": None, "sentence": done.stderr}
        right = said["fault"] == expected["fault"] and said.get("culprits") == expected["culprits"]
        right = right and (not expected["suspects"] or said["suspects"] == expected["suspects"])
        right = right and (not expected["kinds"] or said["kind"] in expected["kinds"])
        if expected["line"]:
            right = right and f":{expected['line']} " in said["sentence"]
        wrong += not right
        at_fault = "nobody" if not expected["fault"] else str(expected["culprits"] or expected["suspects"])
        print(f"| {where.name} | {at_fault} | {'right' if right else 'WRONG'}: {said['sentence']} "
              f"{said.get('trial', '')} | {analyser_words(where)} |")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def main():
    what = sys.argv[1]
    if what == "worker":
        worker(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    elif what == "record":
        record(pathlib.Path(sys.argv[2]), sys.argv[3:])
    elif what == "table":
        return table(sys.argv[2], pathlib.Path(sys.argv[3]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
