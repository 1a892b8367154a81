"""The reference model for random_host_programs.py: a program as a tree, evaluated in plain Python.

Every buffer is i32 and has the same size on every rank; arithmetic wraps. Ranks are coroutines that meet at
collectives in order of issue, so the values are those of any race-free execution. A node is a dict with "op";
regions are lists of nodes. `Wrong` means that the program itself is wrong; it says why in one word.
"""


class Wrong(Exception):
    """undefined, freed, mismatch, stuck, bounds"""


def wrap(value):
    return (value + 2**31) % 2**32 - 2**31


FOLDS = {
    "sum": lambda a, b: wrap(a + b),
    "prod": lambda a, b: wrap(a * b),
    "min": min,
    "max": max,
}
KERNELS = {
    "add": lambda a, b: wrap(a + b),
    "sub": lambda a, b: wrap(a - b),
    "maximum": max,
}


class Comm:
    """groups: lists of ranks; axis: the mesh axis of the communicator, or None."""

    def __init__(self, text, groups, position):
        self.text, self.groups, self.position_text = text, groups, position

    def group_of(self, rank):
        for group in self.groups:
            if rank in group:
                return group
        return None

    def size(self):
        return len(self.groups[0])


class Model:
    def __init__(self, program):
        self.program = program
        self.meetings = {}

    def run(self):
        """Final contents by buffer name and rank; None for undefined elements."""
        ranks = range(self.program["ranks"])
        self.memory = [{name: list(values[r]) for name, values in self.program["inputs"].items()} for r in ranks]
        self.sequence = [{} for _ in ranks]
        self.arrived = {}
        running = {r: self.region(r, self.program["body"], {}) for r in ranks}
        blocked = {}
        while running:
            moved = False
            for rank in list(running):
                if rank in blocked and not self.complete(blocked[rank]):
                    continue
                moved = True
                try:
                    blocked[rank] = next(running[rank])
                except StopIteration:
                    del running[rank]
                    blocked.pop(rank, None)
            if not moved:
                raise Wrong("stuck")
        if self.arrived:
            raise Wrong("stuck")
        return {name: [self.memory[r].get(name) for r in ranks] for name in self.program["outputs"]}

    # ---- memory
    def buffer(self, rank, name):
        memory = self.memory[rank]
        if name not in memory:
            raise Wrong("freed")
        return memory[name]

    def read(self, rank, name, size=None):
        values = self.buffer(rank, name)
        if any(v is None for v in values):
            raise Wrong("undefined")
        return list(values)

    def write(self, rank, name, values):
        old = self.buffer(rank, name)
        if len(old) != len(values):
            raise Wrong("bounds")
        self.memory[rank][name] = list(values)

    # ---- control
    def value(self, rank, text, names):
        return int(eval(text, {"rank": rank, "__builtins__": {}},  # expressions come from our own generator
                        {**names, **{"c_" + a: c for a, c in self.program["coords"][rank].items()}}))

    def region(self, rank, nodes, names):
        for node in nodes:
            yield from self.node(rank, node, names)

    def node(self, rank, node, names):
        op = node["op"]
        if op == "alloc":
            self.memory[rank][node["buffer"]] = [None] * node["size"]
        elif op == "free":
            self.buffer(rank, node["buffer"])
            del self.memory[rank][node["buffer"]]
        elif op == "launch":
            a = self.read(rank, node["ro"][0])
            b = self.read(rank, node["ro"][1] if len(node["ro"]) > 1 else node["rw"])
            if len(a) != len(b):
                raise Wrong("bounds")
            into = node.get("wo") or node.get("rw")
            self.write(rank, into, [KERNELS[node["kernel"]](x, y) for x, y in zip(a, b)])
        elif op == "part":  # a launch on a view of a buffer
            whole = self.read(rank, node["rw"])
            a = self.read(rank, node["ro"][0])
            lo = node["lo"]
            if lo + len(a) > len(whole):
                raise Wrong("bounds")
            for i, x in enumerate(a):
                whole[lo + i] = KERNELS[node["kernel"]](x, whole[lo + i])
            self.write(rank, node["rw"], whole)
        elif op == "for":
            count = node["count"] if "count" in node else self.read(rank, node["counts"])[node["at"]]
            for i in range(count):
                yield from self.region(rank, node["body"], {**names, node["index"]: i})
        elif op == "where":
            taken = "then" if self.value(rank, node["model_condition"], names) else "else"
            yield from self.region(rank, node[taken], names)
        elif op in ("collective", "ring"):
            yield from self.meet(rank, node, names)
        # wait and other ordering ops change no value

    # ---- collectives
    def meet(self, rank, node, names):
        comm = self.program["comms"][node["comm"]]
        group = comm.group_of(rank)
        if group is None:
            raise Wrong("mismatch")
        count = self.sequence[rank].get((node["comm"], op_class(node)), 0)
        self.sequence[rank][(node["comm"], op_class(node))] = count + 1
        key = (node["comm"], op_class(node), tuple(group), count)
        extra = self.value(rank, node["extra_model"], names) if "extra_model" in node else 0
        at_root = group.index(rank) == extra % len(group)
        reads = node["kind"] != "broadcast" or at_root
        source = node.get("ro") or node["rw"]
        values = self.read(rank, source) if reads else None
        size = len(self.buffer(rank, source))
        arrivals = self.arrived.setdefault(key, {})
        arrivals[rank] = (node["kind"], node.get("reduction"), extra, size, values)
        if len(arrivals) < len(group):
            yield key
        if len(arrivals) == len(group) and not arrivals.get("results"):
            arrivals["results"] = self.exchange(group, arrivals)
        result = arrivals["results"][group.index(rank)]
        arrivals.setdefault("left", []).append(rank)
        if len(arrivals["left"]) == len(group):
            del self.arrived[key]
        if result is not None:
            self.write(rank, node.get("wo") or node["rw"], result)

    def complete(self, key):
        arrivals = self.arrived.get(key, {})
        return len([r for r in arrivals if isinstance(r, int)]) == len(key[2])

    @staticmethod
    def exchange(group, arrivals):
        told = [arrivals[r] for r in group]
        if any(t[:4] != told[0][:4] for t in told):
            raise Wrong("mismatch")
        kind, reduction, extra, size, _ = told[0]
        n = len(group)
        data = [t[4] for t in told]
        if kind in ("all_reduce", "reduce", "reduce_scatter"):
            folded = data[0]
            for values in data[1:]:
                folded = [FOLDS[reduction](a, b) for a, b in zip(folded, values)]
            if kind == "all_reduce":
                return [folded] * n
            if kind == "reduce":
                return [folded if i == extra % n else None for i in range(n)]
            return [folded[i * (size // n):(i + 1) * (size // n)] for i in range(n)]
        if kind == "broadcast":
            return [data[extra % n]] * n
        if kind == "all_gather":
            return [sum(data, [])] * n
        if kind == "all_to_all":
            block = size // n
            return [sum((d[i * block:(i + 1) * block] for d in data), []) for i in range(n)]
        shift = 1 if kind == "ring" else extra
        return [data[(i - shift) % n] for i in range(n)]


def op_class(node):
    """send and recv have their own counters."""
    return "ring" if node["op"] == "ring" else "collective"
