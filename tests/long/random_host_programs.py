#!/usr/bin/env python3
"""Random host programs, correct and slightly wrong: streams, events, loops that carry events, branches, collectives on
groups, allocations and frees.

    tests/long/random_host_programs.py build-dev/bin/hostir [--seeds 0:300] [--keep DIR] [--jobs 2]

Each seed gives one correct program and three with a single mistake (an instruction missing, duplicated, moved, or with
another operand). For all of them: no crash and no hang; the verdict is reproducible, and the same under every schedule
unless there is a race; the text prints and reparses; running forwards, backwards and forwards again gives the same run;
the log replays. Correct programs run without faults under every schedule and give the values of host_program_model.py.
A wrong program must fail if the model says that it reads undefined or freed data or that members disagree; if it runs,
and the model too, the values are equal. Failing programs are kept in DIR. Ends with `N passed, N failed`.
"""
import argparse
import concurrent.futures
import copy
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from host_program_model import FOLDS, KERNELS, Comm, Model, Wrong

MESHES = [[("a", 2)], [("a", 3)], [("a", 4)], [("a", 2), ("b", 2)], [("a", 2), ("b", 3)], [("a", 1)], [("a", 5)]]
SIZES = [1, 2, 3, 4, 6]
COUNTS = [0, 1, 2, 3]


class Generator:
    """A correct program. `pool` has the buffers in scope; clocks per stream track the ordering."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES)
        self.ranks = 1
        for _, size in self.mesh:
            self.ranks *= size
        self.coords = []
        for rank in range(self.ranks):
            rest, coords = rank, {}
            for name, size in reversed(self.mesh):
                coords[name], rest = rest % size, rest // size
            self.coords.append(coords)
        self.names = 0
        self.pool = {}
        self.last = {}      # stream -> event of its last task in this region
        self.known = {}     # stream -> {stream: number of its last task known to be complete}
        self.issued = {}    # stream -> tasks so far
        self.writes = {}    # buffer -> (stream, number, event)
        self.reads = {}     # buffer -> [(stream, number, event)]
        self.loops = []

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # ---- order: every task waits for what it must, and sometimes for more
    def task(self, out, node, stream, reads, writes):
        for buffer in reads + writes:
            self.wait_for(out, stream, self.writes.get(buffer))
        for buffer in writes:
            for access in self.reads.get(buffer, []):
                self.wait_for(out, stream, access)
        node["stream"] = stream
        node["event"] = self.fresh("e")
        out.append(node)
        self.issued[stream] += 1
        me = (stream, self.issued[stream], node["event"])
        self.known[stream][stream] = self.issued[stream]
        node["clock"] = dict(self.known[stream])
        self.clocks[node["event"]] = node["clock"]
        self.last[stream] = node["event"]
        for buffer in reads:
            self.reads.setdefault(buffer, []).append(me)
        for buffer in writes:
            self.writes[buffer] = me
            self.reads[buffer] = []

    def wait_for(self, out, stream, access):
        if access is None:
            return
        other, number, event = access
        if self.known[stream].get(other, 0) >= number:
            return
        out.append({"op": "wait", "event": event, "on": stream})
        for s, n in self.clocks[event].items():
            self.known[stream][s] = max(self.known[stream].get(s, 0), n)

    def join(self, out):
        """Returns an event that follows everything so far (`none`: the host waited)."""
        events = {s: e for s, e in self.last.items() if e != "none"}
        if self.random.random() < 0.3:
            for event in events.values():
                out.append({"op": "wait", "event": event, "on": "host"})
            joined = "none"
        else:
            main = self.random.choice(self.streams)
            for stream, event in events.items():
                if stream != main:
                    out.append({"op": "wait", "event": event, "on": main})
            joined = self.fresh("e")
            out.append({"op": "touch", "stream": main, "event": joined})
        return joined

    def begin(self, out, event):
        """Orders everything from here on after `event`."""
        for stream in self.streams:
            if event != "none":
                out.append({"op": "wait", "event": event, "on": stream})
        self.last = {s: event for s in self.streams}
        self.known = {s: {} for s in self.streams}
        self.issued = {s: 0 for s in self.streams}
        self.clocks = {}
        self.writes, self.reads = {}, {}

    # ---- buffers
    def pick(self, active, size=None, defined=True, but=(), writable=False):
        names = [n for n, b in self.pool.items() if (size is None or b["size"] == size) and n not in but
                 and (not defined or active <= b["defined"]) and (b["writable"] or not writable)]
        return self.random.choice(names) if names else None

    def target(self, out, active, size, but):
        """A buffer to overwrite: one in scope or a new one in this region."""
        name = self.pick(active, size, defined=False, but=but, writable=True)
        if name is None or self.random.random() < 0.3:
            name = self.alloc(out, size)
        return name

    def alloc(self, out, size):
        name = self.fresh("t")
        self.pool[name] = {"size": size, "defined": set(), "writable": True}
        self.mine[-1].append(name)
        self.task(out, {"op": "alloc", "buffer": name, "size": size}, self.random.choice(self.streams), [], [name])
        return name

    def free(self, out, name):
        self.task(out, {"op": "free", "buffer": name}, self.random.choice(self.streams), [], [name])
        self.mine[-1].remove(name)
        del self.pool[name]

    # ---- ops
    def launch(self, out, active):
        a = self.pick(active)
        size = self.pool[a]["size"]
        b = self.pick(active, size)
        kernel = self.random.choice(list(KERNELS))
        stream = self.random.choice(self.streams)
        into = self.pick(active, size, but=(a,), writable=True)
        if into and self.random.random() < 0.4:
            self.task(out, {"op": "launch", "kernel": kernel, "ro": [a], "rw": into}, stream, [a], [into])
            return
        into = self.target(out, active, size, (a, b))
        self.task(out, {"op": "launch", "kernel": kernel, "ro": [a, b], "wo": into}, stream, [a, b], [into])
        self.pool[into]["defined"] |= active

    def part(self, out, active):
        whole = self.pick(active, writable=True)
        if whole is None:
            return
        a = self.pick(active, but=(whole,))
        if a is None or self.pool[a]["size"] > self.pool[whole]["size"]:
            return
        lo = self.random.randrange(self.pool[whole]["size"] - self.pool[a]["size"] + 1)
        view = self.fresh("v")
        self.task(out, {"op": "part", "kernel": self.random.choice(list(KERNELS)), "ro": [a], "rw": whole, "lo": lo,
                        "size": self.pool[a]["size"], "view": view},
                  self.random.choice(self.streams), [a], [whole])

    def collective(self, out, active):
        index = self.random.randrange(len(self.comms))
        comm = self.comms[index]
        if any(comm.group_of(r) is None for r in active) or any(
                set(g) & active and not set(g) <= active for g in comm.groups):
            return
        n = comm.size()
        kinds = ["all_reduce", "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all",
                 "permute", "ring"]
        kind = self.random.choice([k for k in kinds if comm.position_text or k not in ("ring", "reduce")])
        a = self.pick(active)
        size = self.pool[a]["size"]
        node = {"op": "ring" if kind == "ring" else "collective", "kind": kind, "comm": index, "ro": a}
        if kind in ("reduce_scatter", "all_to_all") and size % n:
            return
        wanted = {"all_gather": size * n, "reduce_scatter": size // n}.get(kind, size)
        if wanted > 64:
            return
        if kind in ("all_reduce", "reduce", "reduce_scatter"):
            node["reduction"] = self.random.choice(list(FOLDS))
        if kind in ("broadcast", "reduce", "permute"):
            loop = self.random.choice(self.loops) if self.loops and self.random.random() < 0.4 else None
            number = self.random.randrange(n)
            node["extra"] = f"(%{loop} + {number}) % {n}" if loop else str(number)
            node["extra_model"] = f"({loop} + {number}) % {n}" if loop else str(number)
        stream = self.random.choice(self.streams)
        if kind in ("all_reduce", "broadcast", "permute") and self.pool[a]["writable"] and self.random.random() < 0.4:
            node["rw"] = node.pop("ro")
            self.task(out, node, stream, [], [a])
            return
        into = self.target(out, active, wanted, (a,))
        node["wo"] = into
        self.task(out, node, stream, [a], [into])
        if kind != "reduce":
            self.pool[into]["defined"] |= active
        elif self.loops:
            self.pool[into]["defined"] -= active  # the root may change with the loop index
        else:
            roots = {g[int(node["extra_model"]) % n] for g in comm.groups if set(g) <= active}
            self.pool[into]["defined"] |= roots

    def loop(self, out, active, depth):
        dynamic = self.random.random() < 0.25
        node = {"op": "for", "index": self.fresh("i"), "carried": self.fresh("p"), "event": self.fresh("e"),
                "body": []}
        if dynamic:
            node.update(counts="counts", at=self.random.randrange(4), number=self.fresh("n"))
        else:
            node["count"] = self.random.choice(COUNTS)
        node["from"] = self.join(out)
        before = {n: set(b["defined"]) for n, b in self.pool.items()}
        self.begin(node["body"], node["carried"])
        self.loops.append(node["index"])
        node["yield"] = self.region(node["body"], active, depth + 1, dynamic)
        self.loops.pop()
        for name, buffer in self.pool.items():
            if dynamic or node["count"] == 0:
                buffer["defined"] &= before[name]
        # A later iteration may undefine what an earlier one defined: keep only what holds after both.
        out.append(node)
        self.begin(out, node["event"])

    def where(self, out, active, depth):
        axis, size = self.random.choice(self.mesh)
        number = self.random.randrange(size)
        node = {"op": "where", "condition": f"coord({axis}) == {number}", "model_condition": f"c_{axis} == {number}",
                "event": self.fresh("e"), "then": [], "else": []}
        joined = self.join(out)
        taken = {r for r in active if self.coords[r][axis] == number}
        for branch, inside in (("then", taken), ("else", active - taken)):
            self.begin(node[branch], joined)
            node["yield_" + branch] = self.region(node[branch], inside, depth + 1) if inside else joined
        out.append(node)
        self.begin(out, node["event"])

    def region(self, out, active, depth, only_launches=False):
        """Generates a region and frees its own buffers; returns an event after all of it."""
        self.mine.append([])
        for _ in range(self.random.randrange(1, 9 if depth == 0 else 5)):
            choice = self.random.random()
            if choice < 0.3 or only_launches:
                self.random.choice([self.launch, self.part])(out, active)
            elif choice < 0.7:
                self.collective(out, active)
            elif choice < 0.78 and depth < 2:
                self.loop(out, active, depth)
            elif choice < 0.88 and depth < 2:
                self.where(out, active, depth)
            elif choice < 0.93 and self.mine[-1]:
                self.free(out, self.random.choice(self.mine[-1]))
            else:
                event = self.random.choice(list(self.last.values()))
                out.append({"op": "wait", "event": event, "on": self.random.choice(self.streams + ["host"])})
        if depth == 0:
            for name in self.outputs:
                missing = set(range(self.ranks)) - self.pool[name]["defined"]
                if missing:
                    self.task(out, {"op": "launch", "kernel": "maximum", "ro": [name + "_in"] * 2, "wo": name},
                              self.streams[0], [name + "_in"], [name])
        for name in list(self.mine[-1]):
            self.free(out, name)
        self.mine.pop()
        return self.join(out) if depth else "none"

    def make_comms(self):
        comms = []
        for name, size in self.mesh:
            groups = {}
            for rank in range(self.ranks):
                key = tuple(c for a, c in self.coords[rank].items() if a != name)
                groups.setdefault(key, []).append(rank)
            comms.append(Comm(f"over {{{name}}}", list(groups.values()), f"coord({name})"))
        everybody = list(range(self.ranks))
        comms.append(Comm("over {" + ", ".join(n for n, _ in self.mesh) + "}", [everybody], "rank"))
        mixed = everybody[:]
        self.random.shuffle(mixed)
        size = self.random.choice([s for s in (1, 2, 3) if s <= self.ranks])
        groups = [mixed[i:i + size] for i in range(0, self.ranks - size + 1, size)]
        groups = groups[:self.random.randrange(1, len(groups) + 1)]
        comms.append(Comm("groups " + str(groups), groups, ""))
        return comms

    def program(self):
        self.streams = ["s", "t", "u"][:self.random.randrange(1, 4)]
        self.comms = self.make_comms()
        self.mine = [[]]
        everybody = set(range(self.ranks))
        inputs, outputs, parameters = {}, [], {}
        for i in range(self.random.randrange(2, 4)):
            parameters[f"x{i}"] = (self.random.choice(SIZES), False)
        for i in range(self.random.randrange(1, 3)):
            size = self.random.choice(SIZES)
            parameters[f"y{i}"] = (size, True)
            outputs.append(f"y{i}")
            parameters[f"y{i}_in"] = (size, False)
        self.outputs = outputs
        for name, (size, writable) in parameters.items():
            inputs[name] = [[self.random.randrange(-9, 10) for _ in range(size)] for _ in range(self.ranks)]
            self.pool[name] = {"size": size, "defined": set(everybody), "writable": writable}
        body = []
        self.begin(body, "none")
        self.region(body, everybody, 0)
        counts = [[self.random.randrange(3) for _ in range(4)] for _ in range(self.ranks)]
        inputs["counts"] = counts
        return {"ranks": self.ranks, "coords": self.coords, "mesh": self.mesh, "streams": self.streams,
                "comms": self.comms, "inputs": inputs, "outputs": outputs, "parameters": parameters, "body": body}


# ---- text
def print_nodes(program, nodes, indent):
    return "".join(print_node(program, node, " " * indent, indent) for node in nodes)


def named(node):
    return f"%{node['event']} = " if node.get("event") else ""


def print_node(program, node, pad, indent):
    op = node["op"]
    on = f"on %{node['stream']}" if "stream" in node else ""
    if op == "wait":
        event = node["event"] if node["event"] == "none" else "%" + node["event"]
        return f"{pad}wait {event} on {node['on'] if node['on'] == 'host' else '%' + node['on']}\n"
    if op == "alloc":
        event = f", %{node['event']}" if node.get("event") else ""
        return f"{pad}%{node['buffer']}{event} = alloc {on} : tensor<{node['size']}xi32>\n"
    if op == "free":
        return f"{pad}{named(node)}free %{node['buffer']} {on}\n"
    if op == "touch":
        return f"{pad}{named(node)}launch @touch rw(%scratch) {on}\n"
    if op == "launch":
        reads = ", ".join("%" + n for n in node["ro"])
        into = f"wo(%{node['wo']})" if "wo" in node else f"rw(%{node['rw']})"
        return f"{pad}{named(node)}launch @{node['kernel']} ro({reads}) {into} {on}\n"
    if op == "part":
        return (f"{pad}%{node['view']} = subview %{node['rw']}[{node['lo']}:{node['lo'] + node['size']}]\n"
                f"{pad}{named(node)}launch @{node['kernel']} ro(%{node['ro'][0]}) rw(%{node['view']}) {on}\n")
    if op == "for":
        text = ""
        bound = node.get("count")
        if bound is None:
            text = f"{pad}%{node['number']} = read %counts_mine[{node['at']}]\n"
            bound = "%" + node["number"]
        carried = node["from"] if node["from"] == "none" else "%" + node["from"]
        text += f"{pad}{named(node)}for %{node['index']} in 0..{bound} carry(%{node['carried']} = {carried}) {{\n"
        return text + print_nodes(program, node["body"], indent + 2) + print_yield(node["yield"], pad) + pad + "}\n"
    if op == "where":
        return (f"{pad}{named(node)}where {node['condition']} {{\n" + print_nodes(program, node["then"], indent + 2)
                + print_yield(node["yield_then"], pad) + pad + "} else {\n"
                + print_nodes(program, node["else"], indent + 2) + print_yield(node["yield_else"], pad) + pad + "}\n")
    return print_collective(program, node, pad, on)


def print_yield(event, pad):
    return f"{pad}  yield {event if event == 'none' else '%' + event}\n"


def print_collective(program, node, pad, on):
    comm = program["comms"][node["comm"]]
    c = f"%c{node['comm']}"
    n = comm.size()
    if node["op"] == "ring":
        p = comm.position_text
        return (f"{pad}{named(node)}group {{\n{pad}  send {c} peer(({p} + 1) % {n}) ro(%{node['ro']}) {on}\n"
                f"{pad}  recv {c} peer(({p} + {n - 1}) % {n}) wo(%{node['wo']}) {on}\n{pad}}}\n")
    head = f"{node['kind']} {node['reduction']} {c}" if "reduction" in node else f"{node['kind']} {c}"
    if node["kind"] in ("broadcast", "reduce"):
        head += f" root({node['extra']})"
    if node["kind"] == "permute":
        head += f" shift({node['extra']})"
    operands = f"rw(%{node['rw']})" if "rw" in node else f"ro(%{node['ro']}) wo(%{node['wo']})"
    if node["kind"] != "reduce":
        return f"{pad}{named(node)}{head} {operands} {on}\n"
    event = node.get("event") or f"r{id(node)}"
    return (f"{pad}%{event} = where {comm.position_text} == {node['extra']} {{\n"
            f"{pad}  %{event}a = {head} {operands} {on}\n{pad}  yield %{event}a\n{pad}}} else {{\n"
            f"{pad}  %{event}b = {head} ro(%{node['ro']}) wo(none) {on}\n{pad}  yield %{event}b\n{pad}}}\n")


def inline(values):
    rows = "".join("[" + " ".join(str(v) for v in row) + "]" for row in values)
    return f"{len(values)}x{len(values[0])}xi32={rows}"


def print_program(program, expected=None):
    mesh = ", ".join(f"{name}={size}" for name, size in program["mesh"])
    axes = ", ".join(name for name, _ in program["mesh"])
    ranks = program["ranks"]
    shard = lambda size: f"shard<{ranks}x{size}xi32, @m, [{{{axes}}}, {{}}]>"
    text = f"mesh @m = <{mesh}>\n"
    for kernel in KERNELS:
        text += (f"kernel @{kernel}(%x: tensor<?Nxi32>, %y: tensor<?Nxi32>) -> (%z: tensor<?Nxi32>) {{\n"
                 f"  %z = {kernel} %x, %y\n  return %z\n}}\n")
    text += "kernel @touch(%x: tensor<1xi32>) -> (%y: tensor<1xi32>) {\n  %y = neg %x\n  return %y\n}\n"
    parameters = [f"%{n}_: {shard(size)}" if not writable else f"inout %{n}_: {shard(size)}"
                  for n, (size, writable) in program["parameters"].items()]
    parameters += [f"%counts: {shard(4)}", "inout %scratch: tensor<1xi32>"]
    results = ", ".join(f"%{n}_: {shard(program['parameters'][n][0])}" for n in program["outputs"])
    text += f"host @f on @m ({', '.join(parameters)}) -> ({results}) {{\n"
    for i, comm in enumerate(program["comms"]):
        text += f"  %c{i} = comm {comm.text}\n"
    for stream in program["streams"]:
        text += f"  %{stream} = stream \"{stream}\"\n"
    for name, (size, _) in program["parameters"].items():
        text += f"  %{name} = reinterpret %{name}_ : tensor<{size}xi32>\n"
    text += "  %counts_mine = reinterpret %counts : tensor<4xi32>\n"
    text += print_nodes(program, program["body"], 2)
    text += "  return " + ", ".join(f"%{n}_" for n in program["outputs"]) + "\n}\n"
    if expected is None:
        return text
    arguments = ", ".join(f'"{v}"' for _, v in input_texts(program))
    text += f'test "as the model says" {{\n  run @f({arguments}) schedules(4)\n  expect_no_leaks\n'
    for name in program["outputs"]:
        text += f'  expect_output %{name}_ == "{inline(expected[name])}" exact\n'
    return text + "}\n"


def input_texts(program):
    out = [(n + "_", inline(program["inputs"][n])) for n in program["parameters"]]
    return out + [("counts", inline(program["inputs"]["counts"])), ("scratch", "1xi32=1")]


# ---- mistakes
def lists_of(nodes):
    yield nodes
    for node in nodes:
        for key in ("body", "then", "else"):
            if key in node:
                yield from lists_of(node[key])


def mistaken(program, rng):
    """A copy with one change, which may turn out to be harmless."""
    out = copy.deepcopy(program)
    places = [(nodes, i) for nodes in lists_of(out["body"]) for i in range(len(nodes))]
    if not places:
        return out
    nodes, i = rng.choice(places)
    node = nodes[i]
    kind = rng.choice(["drop", "double", "swap", "change", "change", "change"])
    if kind == "drop":
        nodes.pop(i)
    elif kind == "double":
        twin = copy.deepcopy(node)
        if twin["op"] not in ("alloc", "wait", "part"):
            twin.pop("event", None)
        nodes.insert(rng.randrange(i, len(nodes)) + 1, twin)
    elif kind == "swap":
        j = rng.randrange(len(nodes))
        nodes[i], nodes[j] = nodes[j], nodes[i]
    else:
        change(out, node, rng)
    return out


def change(program, node, rng):
    buffers = list(program["parameters"]) + [n["buffer"] for ns in lists_of(program["body"]) for n in ns
                                             if n["op"] == "alloc"]
    what = rng.choice(list(node))
    if what in ("ro", "wo", "rw", "buffer"):
        if isinstance(node[what], list):
            node[what][rng.randrange(len(node[what]))] = rng.choice(buffers)
        else:
            node[what] = rng.choice(buffers)
    elif what == "stream":
        node[what] = rng.choice(program["streams"])
    elif what == "on":
        node[what] = rng.choice(program["streams"] + ["host"])
    elif what == "comm" and node["op"] != "ring" and node["kind"] != "reduce":
        node[what] = rng.randrange(len(program["comms"]))
    elif what == "reduction":
        node[what] = rng.choice(list(FOLDS))
    elif what in ("extra", "extra_model"):
        node["extra"] = node["extra_model"] = str(rng.randrange(3))
    elif what in ("count", "size", "lo"):
        node[what] = max(0, node[what] + rng.choice([-1, 1]))
    elif what in ("yield", "yield_then", "yield_else", "from"):
        node[what] = "none"


# ---- the properties
class Failed(Exception):
    pass


class Checker:
    def __init__(self, hostir, folder):
        self.hostir, self.folder = hostir, folder

    def call(self, *arguments, timeout=60):
        try:
            out = subprocess.run([str(self.hostir), *map(str, arguments)], capture_output=True, text=True,
                                 timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failed("hangs: " + " ".join(map(str, arguments))[:200])
        if out.returncode < 0 or out.returncode >= 70 or "Sanitizer" in out.stderr:
            raise Failed(f"crashes ({out.returncode}): {' '.join(map(str, arguments))[:200]}\n{out.stderr[-1500:]}")
        return out

    def inputs(self, program):
        return [a for n, v in input_texts(program) for a in ("--input", f"{n}={v}")]

    def verdict(self, file, inputs, *more):
        out = self.call("run", file, "f", *inputs, *more)
        return out.returncode, sorted(set(re.findall(r"error\[(\w+)\]|^(\w+): rank", out.stderr, re.M))), out

    def right(self, program, file):
        expected = Model(program).run()
        file.write_text(print_program(program, expected))
        out = self.call("test", file)
        if out.returncode != 0:
            raise Failed("not as the model says\n" + out.stdout[:2000])
        self.travels(program, file)

    def wrong(self, program, file):
        try:
            expected, reason = Model(program).run(), None
        except Wrong as error:
            expected, reason = None, str(error)
        file.write_text(print_program(program))
        fixpoint = self.call("test", file)
        if "does not read back" in fixpoint.stdout or "prints differently" in fixpoint.stdout:
            raise Failed("prints and does not read back\n" + fixpoint.stdout[:1500])
        inputs = self.inputs(program)
        status, kinds, out = self.verdict(file, inputs)
        again = self.verdict(file, inputs)
        if (out.stdout, out.stderr) != (again[2].stdout, again[2].stderr):
            raise Failed("another verdict of the same run\n" + out.stderr[:700] + "\nagain\n" + again[2].stderr[:700])
        if status == 0 and reason not in (None, "stuck"):
            raise Failed(f"runs, but the model says: {reason}")
        if status == 0 and reason == "stuck":
            raise Failed("runs, but the model does not come to an end")
        if status == 0:
            self.compare(program, expected, file, inputs)
        races = "race" in out.stderr or "in_flight" in out.stderr
        scheduled = self.verdict(file, inputs, "--schedules", "4", "--seed", "5")
        if not races and scheduled[0] != status:
            raise Failed(f"under other schedules another verdict: {status} and {scheduled[0]}\n"
                         + out.stderr[:700] + "\nother schedules\n" + scheduled[2].stderr[:700])
        if not re.search(r"error\[(\w+_c\d+|kernel_\w+)\]", out.stderr):  # nothing ran, nothing to replay
            self.travels(program, file, status)

    def compare(self, program, expected, file, inputs):
        for name in program["outputs"]:
            if any(v is None for row in expected[name] for v in (row or [None])):
                continue
            out = self.call("run", file, "f", *inputs, "-q", "--expect", f"{name}_={inline(expected[name])}")
            if out.returncode != 0:
                raise Failed(f"%{name}_ is not as the model says: {inline(expected[name])}\n" + out.stdout[:1500])

    def travels(self, program, file, status=0):
        """Runs forwards, backwards, forwards; replays the log of that session and of a plain run."""
        inputs = self.inputs(program)
        log = file.with_suffix(".db")
        rng = random.Random(file.name)
        n, back = rng.randrange(5, 60), rng.randrange(1, 40)
        look = ["info ranks", "info memory", "info streams", "info colls", "info faults"]
        look += [f"print %{name}_ global" for name in program["outputs"]]
        commands = ["rank all", f"step {n}", *look, f"reverse-step {back}", *look, f"step {back}", *look, *["continue"] * 5,
                    *look, "goto 0", *["continue"] * 5, *look]
        script = file.with_suffix(".txt")
        script.write_text("\n".join(commands) + "\n")
        out = self.call("debug", file, "f", *inputs, "-x", script, "--trace", log)
        looks = self.looks(out.stdout, len(look))
        # If a fault or the end stopped the first pass, the second may be shorter: compare only equal positions.
        if len(looks) == 5:
            if looks[3] != looks[4]:
                raise Failed("from the start again to another end\n" + difference(looks[3], looks[4]))
            if looks[0][0] == looks[2][0] and looks[0] != looks[2]:
                raise Failed("backwards and forwards to another state\n" + difference(looks[0], looks[2]))
        for path, arguments in ((log, None), (file.with_suffix(".run.db"), ["run", file, "f", *inputs, "-q"])):
            if arguments:
                self.call(*arguments, "--trace", path)
            if path.exists():
                replayed = self.call("replay", path)
                if replayed.returncode != 0:
                    raise Failed(f"the log does not replay ({path.name})\n{replayed.stdout[-700:]}{replayed.stderr[-700:]}")
                path.unlink()
        script.unlink()

    @staticmethod
    def looks(text, length):
        """The outputs of the `look` commands, in order."""
        answers = re.split(r"^\(hostir\) ", text, flags=re.M)
        out = []
        for i, answer in enumerate(answers):
            if answer.startswith("info ranks"):
                out.append(answers[i:i + length])
        return out


def difference(one, two):
    return "\n".join(f"{a}\nagainst\n{b}" for a, b in zip(one, two) if a != b)[:2000]


def check_seed(checker, seed, folder):
    failures = []
    program = Generator(seed).program()
    rng = random.Random(seed * 7919 + 1)
    for turn in range(4):
        file = folder / f"host_{seed}_{turn}.hir"
        try:
            if turn == 0:
                checker.right(program, file)
            else:
                checker.wrong(mistaken(program, rng), file)
            file.unlink()
        except Failed as error:
            failures.append(f"== {file}\n{error}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("hostir")
    parser.add_argument("--seeds", default="0:300", help="FIRST:BEHIND_LAST")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="random_host_programs_"))
    folder.mkdir(parents=True, exist_ok=True)
    first, behind = (int(n) for n in arguments.seeds.split(":"))
    checker = Checker(pathlib.Path(arguments.hostir).resolve(), folder)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for failures in pool.map(lambda seed: check_seed(checker, seed, folder), range(first, behind)):
            failed += len(failures)
            for failure in failures:
                print(failure, flush=True)
    print(f"{4 * (behind - first) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
