"""Writes Flight Recorder dumps of simulated jobs: a job of many ranks in plain Python, and torch's pickler.

`Job` steps the ranks of a job. Every rank makes its calls in order; a call may block its host; a collective completes
when all members have made the same call as their next one in that group. When no rank can move, the remaining state
is written as torch would write it: one file per rank, in the subset of pickle that torch's C++ pickler uses.
"""
import gzip
import json
import pathlib
import pickle
import struct

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
START_NS = 1767000000000000000


def torch_pickle(value):
    """Protocol 2 as torch's C++ pickler writes it: strings memoised by value, shared dicts memoised once filled."""
    out = bytearray(b"\x80\x02")
    texts, shared, count = {}, {}, 0
    uses = {}
    open_ = [value]
    while open_:
        v = open_.pop()
        if isinstance(v, dict):
            uses[id(v)] = uses.get(id(v), 0) + 1
            open_ += list(v.values())
        elif isinstance(v, (list, tuple)):
            open_ += list(v)

    def put():
        nonlocal count
        out.extend(b"q" + bytes([count]) if count < 256 else b"r" + struct.pack("<I", count))
        count += 1
        return count - 1

    def get(index):
        out.extend(b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index))

    def write(v):
        if v is None:
            out.append(0x4e)
        elif v is True or v is False:
            out.append(0x88 if v else 0x89)
        elif isinstance(v, int):
            if 0 <= v < 256:
                out.extend(b"K" + bytes([v]))
            elif 0 <= v < 65536:
                out.extend(b"M" + struct.pack("<H", v))
            elif -2**31 <= v < 2**31:
                out.extend(b"J" + struct.pack("<i", v))
            else:
                out.extend(b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, float):
            out.extend(b"G" + struct.pack(">d", v))
        elif isinstance(v, str):
            if v in texts:
                get(texts[v])
            else:
                raw = v.encode()
                out.extend(b"X" + struct.pack("<I", len(raw)) + raw)
                texts[v] = put()
        elif isinstance(v, tuple):
            for item in v:
                write(item)
            out.append({1: 0x85, 2: 0x86, 3: 0x87}[len(v)])
        elif isinstance(v, list):
            out.extend(b"](")
            for item in v:
                write(item)
            out.append(ord("e"))
        elif isinstance(v, dict):
            frame = set(v) == {"name", "filename", "line"}
            if frame and id(v) in shared:
                get(shared[id(v)])
                return
            out.extend(b"}(")
            for key, item in v.items():
                write(key)
                write(item)
            out.append(ord("u"))
            if frame and uses[id(v)] > 1:
                shared[id(v)] = put()
        else:
            raise TypeError(type(v))

    write(value)
    put()
    out.extend(b".")
    return bytes(out)


class Call:
    """One call of one rank. `peer` (a global rank) makes it a send or recv; `batch` joins several into one launch."""

    def __init__(self, group, kind, size, line, dtype="Float", out=None, peer=None, batch=None, blocks=False,
                 function="step", agree=None):
        self.group, self.kind, self.line, self.dtype = group, kind, line, dtype
        self.inputs = size if isinstance(size[0] if size else 0, list) else [size]
        out = self.inputs if out is None else out
        self.outputs = out if not out or isinstance(out[0], list) else [out]
        self.peer, self.batch, self.blocks, self.function = peer, batch, blocks, function
        self.state, self.agree = "scheduled", agree
        self.created = self.done = None
        self.ended_late = False

    def end_late(self, after_ns=7 * 10**9):
        """Ends the call as NCCL does when a peer is gone: only the dump notices, not the watchdog."""
        self.state, self.done, self.ended_late = "completed", self.created + after_ns, True

    def key(self):
        """What all members must agree on."""
        if self.agree is not None:
            return self.agree
        n = lambda shapes: [_product(s) for s in shapes]
        if self.kind in ("all_to_all", "gather", "scatter"):
            return (self.kind, self.dtype)
        if self.kind == "_all_gather_base":
            return (self.kind, self.dtype, sum(n(self.outputs)))
        return (self.kind, self.dtype, sum(n(self.inputs)))


def _product(shape):
    p = 1
    for n in shape:
        p *= n
    return p


class Job:
    def __init__(self, world, groups=None):
        self.world = world
        self.groups = {"0": list(range(world)), **(groups or {})}
        self.calls = [[] for _ in range(world)]  # the calls in each rank's program
        self.issued = [[] for _ in range(world)]
        self.dead = set()      # ranks that stop at the end of their program without a dump

    def each(self, ranks, make):
        for r in ranks:
            call = make(r) if callable(make) else make
            self.calls[r].append(call)
        return self

    def all_reduce(self, line, size=(64, 64), group="0", ranks=None, **more):
        for r in (self.groups[group] if ranks is None else ranks):
            self.calls[r].append(Call(group, "all_reduce", list(size), line, **more))
        return self

    def run(self, step_ns=100000):
        position = [0] * self.world
        clock = [START_NS + 1000 * r for r in range(self.world)]
        moved = True
        while moved:
            moved = False
            for r in range(self.world):
                while position[r] < len(self.calls[r]):
                    if any(c.blocks and c.state != "completed" for c in self.issued[r]):
                        break
                    call = self.calls[r][position[r]]
                    batch = [call]
                    while call.batch is not None and position[r] + len(batch) < len(self.calls[r]):
                        following = self.calls[r][position[r] + len(batch)]
                        if following.batch != call.batch:
                            break
                        batch.append(following)
                    for c in batch:
                        clock[r] += step_ns
                        c.created = clock[r]
                        self.issued[r].append(c)
                    position[r] += len(batch)
                    moved = True
            moved |= self._complete(clock)
        return self

    def _queue(self, r, call):
        return (call.group, "p2p", frozenset((r, call.peer))) if call.peer is not None else (call.group,)

    def _head(self, r, call):
        """Whether the call is at the head of its queue, ignoring calls issued in the same batch."""
        for c in self.issued[r]:
            if c is call or (c.batch is not None and c.batch == call.batch):
                return True
            if self._queue(r, c) == self._queue(r, call) and c.state != "completed":
                return False
        return False

    def _complete(self, clock):
        moved = False
        for r in range(self.world):
            for call in self.issued[r]:
                if call.state == "completed" or not self._head(r, call):
                    continue
                parts = self._partners(r, call)
                if parts is None or any(not self._head(m, c) for m, c in parts):
                    continue
                if len({c.key() for _, c in parts}) > 1:
                    continue
                when = max(c.created for _, c in parts) + 50000
                for m, c in parts:
                    c.state, c.done = "completed", when
                    clock[m] = max(clock[m], when)
                moved = True
        return moved

    def _partners(self, r, call):
        if call.peer is not None:
            other = "recv" if call.kind == "send" else "send"
            mine = [c for c in self.issued[r] if c.kind == call.kind and c.peer == call.peer and c.group == call.group]
            theirs = [c for c in self.issued[call.peer] if c.kind == other and c.peer == r and c.group == call.group]
            k = mine.index(call)
            if k >= len(theirs):
                return None
            pair = [(r, call), (call.peer, theirs[k])]
            for _, c in pair:
                c.agree = (sum(map(_product, c.inputs)), c.dtype)
            return pair
        index = self._number(r, call)
        parts = []
        for m in self.groups[call.group]:
            same = [c for c in self.issued[m] if c.peer is None and c.group == call.group]
            if index >= len(same):
                return None
            parts.append((m, same[index]))
        return parts

    def _number(self, r, call):
        return [c for c in self.issued[r] if c.peer is None and c.group == call.group].index(call)

    # ---- dumps

    def size_of_batch(self, r, call, calls=None):
        return sum(c.batch == call.batch for c in calls or self.calls[r])

    def entries(self, r, frames=True, version="2.10"):
        seq, p2p, op, out, shared = {}, {}, 0, [], {}
        batches = {}
        calls = self.issued[r]

        def frame(name, filename, line):
            return shared.setdefault((name, filename, line), {"name": name, "filename": filename, "line": line})

        def entry(call, kind, sizes_in, sizes_out, state):
            retired = state == "completed" and not call.ended_late
            record = {"frames": [frame(kind.split()[0], TORCH, 3068), frame("wrapper", TORCH, 83),
                                 frame(call.function, "/home/ada/train.py", call.line),
                                 frame("<module>", "/home/ada/train.py", 90)]} if frames else {}
            record.update({
                "record_id": len(out), "pg_id": list(self.groups).index(call.group),
                "process_group": (call.group, "default_pg" if call.group == "0" else "undefined"),
                "collective_seq_id": seq.get(call.group, 0), "p2p_seq_id": p2p.get(call.group, 0), "op_id": op,
                "profiling_name": "nccl:" + kind, "time_created_ns": call.created + r,
                "input_sizes": sizes_in, "input_dtypes": [call.dtype] * len(sizes_in),
                "output_sizes": sizes_out, "output_dtypes": [call.dtype] * len(sizes_out),
                "state": state, "time_discovered_started_ns": None,
                "time_discovered_completed_ns": call.done, "retired": retired,
                "timeout_ms": 600000, "is_p2p": call.peer is not None})
            out.append(record)

        for i, call in enumerate(calls):
            op += 1
            first_of_batch = call.batch is None or call.batch not in batches
            if call.peer is None:
                if first_of_batch:
                    seq[call.group] = seq.get(call.group, 0) + 1
                kind = call.kind
            else:
                if first_of_batch:
                    p2p[call.group] = p2p.get(call.group, 0) + 1
                members = self.groups[call.group]
                arrow = "->" if call.kind == "send" else "<-"
                kind = f"{call.kind} {members.index(r)}{arrow}{members.index(call.peer)}"
            if call.batch is not None:
                batches[call.batch] = True
            entry(call, kind, call.inputs, call.outputs, call.state if call.batch is None else "scheduled")
            last_of_batch = call.batch is not None and (i + 1 == len(calls) or calls[i + 1].batch != call.batch)
            # While the launch is being issued, its end is not recorded.
            last_of_batch &= i + 1 < len(calls) or self.size_of_batch(r, call) == self.size_of_batch(r, call, calls)
            if last_of_batch:
                whole = [c for c in calls if c.batch == call.batch]
                entry(call, "coalesced", [], [], "completed" if all(c.state == "completed" for c in whole) else "scheduled")
        return out

    def dump(self, r, frames=True, version="2.10", ring=None, only_active=False):
        entries = self.entries(r, frames, version)
        if ring is not None:
            entries = entries[-ring:]
        status = {}
        for name, members in self.groups.items():
            if r not in members:
                continue
            made = [c for c in self.issued[r] if c.group == name and c.peer is None]
            done = [i for i, c in enumerate(made, 1) if c.state == "completed"]
            status[str(list(self.groups).index(name))] = {
                "last_enqueued_collective": len(made) or -1, "last_started_collective": -1,
                "last_completed_collective": done[-1] if done else -1}
        if only_active:
            entries = [e for e in entries if e["state"] != "completed"]
        return {"version": version,
                "pg_config": {n: {"name": n, "desc": "default_pg" if n == "0" else "undefined", "ranks": str(m)}
                              for n, m in self.groups.items() if r in m},
                "comm_lib_version": "2.28.9", "pg_status": status, "entries": entries}

    def write(self, folder, missing=(), form="pickle", **how):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for r in range(self.world):
            if r in missing or r in self.dead:
                continue
            write_dump(self.dump(r, **how), folder, r, form)
        return folder


def as_json(dump):
    """torch's JSON: no frames, 0 for unknown times, the numbers of the status as strings."""
    dump = {**dump, "entries": [dict(e) for e in dump["entries"]]}
    for entry in dump["entries"]:
        entry.pop("frames", None)
        entry["process_group"] = list(entry["process_group"])
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[key] = entry[key] or 0
    dump["pg_status"] = {k: {n: str(x) for n, x in v.items()} for k, v in dump["pg_status"].items()}
    return json.dumps(dump)


def write_dump(dump, folder, r, form="pickle"):
    if form == "pickle":
        (folder / f"trace_{r}").write_bytes(torch_pickle(dump))
    elif form == "python":
        (folder / f"nccl_trace_rank_{r}.pkl").write_bytes(pickle.dumps(dump, protocol=4))
    elif form == "json":
        (folder / f"trace_{r}.json").write_text(as_json(dump))
    elif form == "gz":
        (folder / f"trace_node7_{r}.json.gz").write_bytes(gzip.compress(as_json(dump).encode()))
    else:
        raise ValueError(form)
