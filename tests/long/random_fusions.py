#!/usr/bin/env python3
"""Random fusions with random meshes and shardings. Each is lowered, run on all ranks under five schedules and compared
with its unsharded run; nothing may leak.

    tests/long/random_fusions.py build-dev/bin/hostir [--seeds 0:300] [--keep DIR] [--models] [--units]

Shardings use parts of axes in any dimension, and leave values unreduced over several axes with every reduction. Sums
and extrema sharded over different axes meet in one op. Values go through chains of reshards. Every fourth fusion has
values on two or three meshes: the same ranks in another shape or order, disjoint or overlapping ranks.
With --units, dimensions are also cut between runs of elements (`{a} of 3`), and reshapes split and merge dimensions.

A failing fusion is kept in DIR (default: random_fusions/ beside the binary's folder) as a separate script. Ends with
`N passed, N failed`. Sizes are small and awkward on purpose: 1, primes, fewer rows than ranks.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys

MESHES = [
    [("a", 2), ("b", 3)], [("a", 4)], [("a", 3)], [("a", 2), ("b", 2)], [("a", 5)],
    [("a", 2), ("b", 1), ("c", 3)], [("a", 2), ("b", 2), ("c", 2)], [("a", 1)],
    [("a", 6)], [("a", 8)], [("a", 4), ("b", 2)], [("a", 2), ("b", 4)], [("a", 6), ("b", 2)],
    [("a", 4), ("b", 3)], [("a", 2), ("b", 2), ("c", 3)],
]
# Meshes of one fusion: name, axes, device_ids; or a whole mesh and its halves.
SEVERAL = [
    [("m", [("a", 2), ("b", 3)], None), ("n", [("x", 6)], None)],
    [("m", [("a", 2), ("b", 2)], None), ("n", [("a", 2), ("b", 2)], [3, 2, 1, 0])],
    [("m", [("a", 4)], None), ("n", [("c", 2), ("d", 2)], [3, 1, 2, 0])],
    [("m", [("a", 2)], None), ("n", [("c", 2)], [2, 3])],
    [("m", [("a", 2), ("b", 2)], None), ("n", [("c", 3)], [4, 5, 6])],
    [("m", [("a", 3)], None), ("n", [("c", 4)], [2, 1, 5, 3])],
    [("m", [("a", 2)], [1, 0]), ("n", [("c", 1)], [1]), ("k", [("c", 3)], [2, 3, 4])],
    [("m", [("a", 4)], None), ("n", [("a", 2), ("b", 1)], [0, 2])],
    [("m", [("a", 2), ("b", 4)], None), ("n", [("c", 2), ("d", 2)], [7, 1, 4, 2])],
    [("m", [("a", 6)], None), ("n", [("c", 5)], [9, 8, 7, 6, 5]), ("k", [("e", 2), ("f", 3)], [8, 0, 9, 1, 2, 5])],
]
KINDS = ["", "", "", "max", "min", "prod"]  # reductions of unreduced values; sums are most common
SIZES = [1, 2, 3, 4, 5, 6, 7, 8]
UNARY = ["neg", "tanh", "relu", "abs", "sigmoid", "gelu", "silu"]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]


class Generator:
    """One fusion. `shapes` has the shape of every value so far; all are f32."""

    def __init__(self, seed, models=False, units=False):
        self.models = models
        self.units = units
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES)
        self.meshes = [("m", self.mesh, None)]
        if seed % 4 == 3:
            self.meshes = self.random.choice(SEVERAL)
        self.mesh_of = {}  # of values that are tied to a mesh
        self.booleans = set()  # i1 values, which cannot be unreduced
        self.shapes = {}
        self.ranks = {}  # shapes, of helpers too
        self.parameters = []
        self.lines = []

    def pieces(self):
        """The axes, some of them split into parts (name, pre, size); all can be used in one sharding."""
        out = []
        for name, size in self.mesh:
            pre = 1
            while pre < size:
                rest = size // pre
                part = rest
                if self.random.random() < 0.3:
                    part = self.random.choice([d for d in range(2, rest + 1) if rest % d == 0])
                out.append((name, pre, part))
                pre *= part
            if size == 1:
                out.append((name, 1, 1))
        self.random.shuffle(out)
        return out

    def axes_text(self, pieces):
        """A list of axes in the language's canonical form: adjacent parts that form a larger part are merged."""
        merged = []
        for name, pre, size in pieces:
            if merged and merged[-1][0] == name and merged[-1][1] * merged[-1][2] == pre:
                pre, size = merged[-1][1], merged[-1][2] * size
                merged.pop()
            merged.append((name, pre, size))
        whole = dict(self.mesh)
        return [name if size == whole[name] else f"{name}:({pre}){size}" for name, pre, size in merged]

    def sharding(self, rank, may_be_open=True, partial=0.0, on=None):
        """`partial`: the probability that the value is unreduced over the axes that the dimensions leave free.
        `on`: a mesh, else any."""
        if len(self.meshes) > 1:
            on = on or self.random.choice(self.meshes)[0]
            self.mesh = next(axes for name, axes, _ in self.meshes if name == on)
        else:
            on = "m"
        self.on = on
        dims = [[] for _ in range(rank)]
        left = []
        for piece in self.pieces():
            if rank and self.random.random() < 0.6:
                dims[self.random.randrange(rank)].append(piece)
            else:
                left.append(piece)
        texts = []
        for dim in dims:
            is_open = may_be_open and self.random.random() < 0.3
            texts.append("{" + ", ".join(self.axes_text(dim) + (["?"] if is_open else [])) + "}")
            if self.units and dim and self.random.random() < 0.3:
                texts[-1] += f" of {self.random.choice([2, 3, 4])}"
        unreduced = ""
        left = [piece for piece in left if self.random.random() < 0.8]
        if left and self.random.random() < partial:
            # Parts of one axis must be listed in order.
            names = self.axes_text(sorted(left))
            unreduced = f", unreduced={self.random.choice(KINDS)}{{{', '.join(names)}}}"
        return f"<@{on}, [" + ", ".join(texts) + "]" + unreduced + ">"

    def on_one_mesh(self, text):
        """The op's text with its operands on one mesh, and that mesh; None if nothing ties it to one."""
        names = list(dict.fromkeys(re.findall(r"%(\w+)", text)))
        meshes = sorted({self.mesh_of[n] for n in names if n in self.mesh_of})
        if len(meshes) <= 1:
            return text, meshes[0] if meshes else None
        target = self.random.choice(meshes)
        for n in names:
            if self.mesh_of.get(n, target) == target:
                continue
            moved = f"v{len(self.lines)}"
            to = self.sharding(len(self.ranks[n]), partial=0.0 if n in self.booleans else 0.2, on=target)
            self.lines.append(f"  %{moved} = reshard %{n} {{to = {to}}}")
            self.mesh_of[moved] = target
            self.ranks[moved] = self.ranks[n]
            text = re.sub(rf"%{n}\b", f"%{moved}", text)
        return text, target

    @staticmethod
    def type(shape):
        return "".join(f"{s}x" for s in shape) + "f32"

    def parameter(self, shape):
        name = f"p{len(self.parameters)}"
        sharding = " " + self.sharding(len(shape), partial=0.15) if self.random.random() < 0.8 else ""
        if sharding:
            self.mesh_of[name] = self.on
        self.parameters.append((name, shape, sharding))
        self.ranks[name] = shape
        self.shapes[name] = shape
        return name

    def emit(self, shape, text, needs_type=False):
        """`%v = text`, sometimes with a sharding, which the compiler must honour."""
        text, mesh = self.on_one_mesh(text)
        name = f"v{len(self.lines)}"
        annotated = self.random.random() < 0.25
        suffix = ""
        if annotated or needs_type:
            suffix = f" : tensor<{self.type(shape)}>"
            if annotated:
                suffix += " " + self.sharding(len(shape), partial=0.2)
                mesh = self.on
        if mesh and not text.startswith(("constant", "iota")):
            self.mesh_of[name] = mesh
        self.shapes[name] = self.ranks[name] = shape
        self.lines.append(f"  %{name} = {text}{suffix}")
        return name

    def pick(self, wanted=lambda shape: True):
        names = [n for n, shape in self.shapes.items() if wanted(shape)]
        return self.random.choice(names) if names else None

    # Each of these adds one op, or nothing if no value fits.
    def unary(self):
        x = self.pick()
        self.emit(self.shapes[x], f"{self.random.choice(UNARY)} %{x}")

    def binary(self):
        x = self.pick()
        y = self.pick(lambda shape: shape == self.shapes[x])
        self.emit(self.shapes[x], f"{self.random.choice(BINARY)} %{x}, %{y}")

    def select(self):
        x = self.pick()
        y = self.pick(lambda shape: shape == self.shapes[x])
        text, mesh = self.on_one_mesh(f"compare %{x}, %{y} {{direction = lt}}")
        name = f"v{len(self.lines)}"
        self.lines.append(f"  %{name} = {text}")
        self.ranks[name] = self.shapes[x]
        self.booleans.add(name)
        if mesh:
            self.mesh_of[name] = mesh
        self.emit(self.shapes[x], f"select %{name}, %{y}, %{x}")

    def matmul(self):
        x = self.pick(lambda shape: len(shape) == 2)
        if x is None:
            return
        rows, inner = self.shapes[x]
        w = self.pick(lambda shape: len(shape) == 2 and shape[0] == inner)
        if w is None:
            w = self.parameter([inner, self.random.choice(SIZES)])
        self.emit([rows, self.shapes[w][1]], f"matmul %{x}, %{w}")

    def linear(self):
        x = self.pick(lambda shape: len(shape) >= 1)
        outputs = self.random.choice(SIZES)
        w = self.parameter([outputs, self.shapes[x][-1]])
        bias = f", %{self.parameter([outputs])}" if self.random.random() < 0.6 else ""
        self.emit(self.shapes[x][:-1] + [outputs], f"linear %{x}, %{w}{bias}")

    def reduce(self):
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = self.shapes[x]
        dim = self.random.randrange(len(shape))
        op = self.random.choice(["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"])
        keep = self.random.random() < 0.3
        self.emit(shape[:dim] + ([1] if keep else []) + shape[dim + 1:],
                  f"{op} %{x} {{dims = [{dim}]" + (", keep_dims = true" if keep else "") + "}")

    def transpose(self):
        x = self.pick(lambda shape: len(shape) >= 2)
        if x is None:
            return
        order = list(range(len(self.shapes[x])))
        self.random.shuffle(order)
        self.emit([self.shapes[x][d] for d in order], f"transpose %{x} {{permutation = {order}}}")

    def reshape(self):
        x = self.pick()
        count = 1
        for size in self.shapes[x]:
            count *= size
        first = self.random.choice([d for d in range(1, count + 1) if count % d == 0])
        shape = self.random.choice([[count], [first, count // first]])
        self.emit(shape, f"reshape %{x}", needs_type=True)

    def split_or_merge(self):
        """Splits a dimension in two, or merges two, as heads are made of columns and put together again."""
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = list(self.shapes[x])
        dim = self.random.randrange(len(shape))
        if dim + 1 < len(shape) and self.random.random() < 0.5:
            shape[dim:dim + 2] = [shape[dim] * shape[dim + 1]]
        else:
            first = self.random.choice([d for d in range(1, shape[dim] + 1) if shape[dim] % d == 0])
            shape[dim:dim + 1] = [first, shape[dim] // first]
        if len(shape) <= 4:
            self.emit(shape, f"reshape %{x}", needs_type=True)

    def broadcast(self):
        x = self.pick(lambda shape: len(shape) <= 2)
        if x is None:
            return
        shape = self.shapes[x]
        new = self.random.choice(SIZES)
        at_end = self.random.random() < 0.5
        dims = list(range(len(shape))) if at_end else list(range(1, len(shape) + 1))
        self.emit(shape + [new] if at_end else [new] + shape,
                  f"broadcast_in_dim %{x} {{dims = {dims}}}", needs_type=True)

    def concat(self):
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = self.shapes[x]
        dim = self.random.randrange(len(shape))
        y = self.pick(lambda other: len(other) == len(shape) and all(
            other[d] == shape[d] for d in range(len(shape)) if d != dim))
        joined = list(shape)
        joined[dim] += self.shapes[y][dim]
        self.emit(joined, f"concat %{x}, %{y} {{dim = {dim}}}")

    def slice(self):
        x = self.pick(lambda shape: len(shape) >= 1)
        starts, limits = [], []
        for size in self.shapes[x]:
            start = self.random.randrange(size)
            starts.append(start)
            limits.append(self.random.randrange(start + 1, size + 1))
        self.emit([b - a for a, b in zip(starts, limits)],
                  f"slice %{x} {{start = {starts}, limit = {limits}}}")

    def taps(self):
        """Several shifted slices of one value, padded or not, as in a convolution."""
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = self.shapes[x]
        if self.random.random() < 0.7:
            low, high = ([self.random.choice([0, 0, 1, 2, 3]) for _ in shape] for _ in range(2))
            shape = [a + n + b for a, n, b in zip(low, shape, high)]
            value = self.random.choice(["", ", value = 0.5"])
            x = self.emit(shape, f"pad %{x} {{low = {low}, high = {high}{value}}}")
        least = self.random.choice([1, 1, 2, 3])
        size = [self.random.randrange((n + least - 1) // least, n + 1) for n in shape]
        size = [max(1, n) for n in size]
        strides = [self.random.choice([1, 1, 2, 3]) if self.random.random() < 0.3 else 1 for _ in shape]
        made = [(n - 1) // stride + 1 for n, stride in zip(size, strides)]
        total = None
        for _ in range(self.random.randrange(1, 5)):
            starts = [self.random.randrange(a - b + 1) for a, b in zip(shape, size)]
            limits = [a + b for a, b in zip(starts, size)]
            tap = self.emit(made, f"slice %{x} {{start = {starts}, limit = {limits}, stride = {strides}}}")
            total = tap if total is None else self.emit(made, f"{self.random.choice(BINARY)} %{total}, %{tap}")

    def rolls(self):
        """One to three rolls of one value, along any dimensions."""
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = self.shapes[x]
        total = None
        for _ in range(self.random.randrange(1, 4)):
            dim = self.random.randrange(len(shape))
            tap = self.emit(shape, f"roll %{x} {{shift = {self.random.randint(-shape[dim], shape[dim])}, dim = {dim}}}")
            total = tap if total is None else self.emit(shape, f"{self.random.choice(BINARY)} %{total}, %{tap}")

    def placed(self):
        """The sum of values at different places, with elements spread apart or cut off, as in a gradient."""
        x = self.pick(lambda shape: len(shape) >= 1)
        shape = self.shapes[x]
        inside = [self.random.choice([0, 0, 0, 1, 2]) for _ in shape]
        total = None
        reach = self.random.choice([1, 2, 3])
        for _ in range(self.random.randrange(1, 4)):
            y = self.emit(shape, f"{self.random.choice(BINARY)} %{x}, %{self.pick(lambda other: other == shape)}")
            low = [self.random.randint(-1 if (n - 1) * (i + 1) > 1 else 0, reach) for n, i in zip(shape, inside)]
            high = [reach - a for a in low]
            size = [(n - 1) * (i + 1) + 1 + reach for n, i in zip(shape, inside)]
            part = self.emit(size, f"pad %{y} {{low = {low}, high = {high}, interior = {inside}}}")
            total = part if total is None else self.emit(size, f"add %{total}, %{part}")
        if self.random.random() < 0.6:
            start = [self.random.randrange(0, min(n, 2)) for n in size]
            stride = [self.random.choice([1, 1, 1, 2]) for _ in size]
            made = [(n - a - 1) // s + 1 for n, a, s in zip(size, start, stride)]
            self.emit(made, f"slice %{total} {{start = {start}, limit = {size}, stride = {stride}}}")

    def scaled(self):
        x = self.pick()
        c = self.emit(self.shapes[x], "constant {value = 0.5}", needs_type=True)
        self.emit(self.shapes[x], f"mul %{x}, %{c}")

    def reshards(self):
        """Reshards a value one to three times."""
        x = self.pick()
        shape = self.shapes[x]
        for _ in range(self.random.randrange(1, 4)):
            to = self.sharding(len(shape), may_be_open=False, partial=0.4)
            name = f"v{len(self.lines)}"
            self.lines.append(f"  %{name} = reshard %{x} {{to = {to}}}")
            self.mesh_of[name] = self.on
            self.shapes[name] = self.ranks[name] = shape
            x = name

    def addends(self):
        """Two or three reductions with one shape and different shardings that meet in one op."""
        rows, columns = self.random.choice(SIZES), self.random.choice(SIZES)
        kind, meet = self.random.choice([("sum", ["add", "sub"]), ("sum", ["add", "sub"]), ("max", ["maximum"]),
                                         ("min", ["minimum"]), ("prod", ["mul"])])
        last = None
        for _ in range(self.random.randrange(2, 4)):
            inner = self.random.choice(SIZES)
            if kind == "sum" and self.random.random() < 0.7:
                x, w = self.parameter([rows, inner]), self.parameter([inner, columns])
                made = self.emit([rows, columns], f"matmul %{x}, %{w}")
            else:
                x = self.parameter([rows, inner, columns])
                made = self.emit([rows, columns], f"reduce_{kind} %{x} {{dims = [1]}}")
            last = made if last is None else self.emit(
                [rows, columns], f"{self.random.choice(meet)} %{last}, %{made}")

    # Ops of whole models, with --models. Indices come from iota, so they are in bounds.
    def model_ops(self):
        def last(op, attributes=""):
            def emit():
                x = self.pick(lambda shape: len(shape) >= 1)
                self.emit(self.shapes[x], f"{op} %{x}{attributes}")
            return emit

        def take():
            x = self.pick(lambda shape: len(shape) == 2)
            if x is None:
                return
            n, dim = self.random.choice(SIZES), self.random.randrange(2)
            ids = f"v{len(self.lines)}"
            self.lines.append(f"  %{ids} = iota {{dim = 0}} : tensor<{n}xi32>")
            self.ranks[ids] = [n]
            shape = list(self.shapes[x])
            shape[dim] = n
            self.emit(shape, f"take %{x}, %{ids} {{dim = {dim}}}")

        def along(op, attributes=""):
            """Along any dimension, cut or not."""
            def emit():
                x = self.pick(lambda shape: len(shape) >= 1)
                dim = self.random.randrange(len(self.shapes[x]))
                self.emit(self.shapes[x], f"{op} %{x} {{dim = {dim}{attributes}}}")
            return emit

        def topk():
            x = self.pick(lambda shape: len(shape) >= 1)
            shape = list(self.shapes[x])
            dim = self.random.randrange(len(shape))
            shape[dim] = self.random.randrange(1, min(3, shape[dim]) + 1)
            self.emit(shape, f"topk %{x} {{dim = {dim}, k = {shape[dim]}}}")

        def dynamic_slice():
            x = self.pick(lambda shape: len(shape) >= 1)
            starts = []
            for size in self.shapes[x]:
                starts.append(f"v{len(self.lines)}")
                self.lines.append(f"  %{starts[-1]} = constant {{value = {self.random.randrange(size)}}} : tensor<i32>")
                self.ranks[starts[-1]] = []
            shape = [self.random.randrange(1, size + 1) for size in self.shapes[x]]
            self.emit(shape, f"dynamic_slice %{x}, {', '.join('%' + s for s in starts)} {{sizes = {shape}}}")

        def attention():
            x = self.pick(lambda shape: len(shape) == 2)
            if x is None:
                return
            rows, columns = self.shapes[x]
            heads = self.parameter([self.random.choice([1, 2, 3, 4]), rows, columns])
            causal = self.random.choice(["", " {causal = true}"])
            self.emit(self.shapes[heads], f"scaled_dot_product_attention %{heads}, %{heads}, %{heads}{causal}")

        def dot_general():
            x = self.pick(lambda shape: len(shape) == 2)
            if x is None:
                return
            w = self.parameter([self.shapes[x][0], self.random.choice(SIZES)])
            self.emit([self.shapes[x][1], self.shapes[w][1]],
                      f"dot_general %{x}, %{w} {{lhs_contracting = [0], rhs_contracting = [0]}}")

        def pad():
            x = self.pick(lambda shape: len(shape) >= 1)
            shape = self.shapes[x]
            low, high = ([self.random.randrange(3) for _ in shape] for _ in range(2))
            self.emit([a + n + b for a, n, b in zip(low, shape, high)], f"pad %{x} {{low = {low}, high = {high}}}")

        def widened():
            x = self.pick(lambda shape: len(shape) >= 1)
            row = self.parameter([self.random.choice([1, self.shapes[x][-1]])])
            self.emit(self.shapes[x], f"mul %{x}, %{row}")

        return [last("softmax"), last("softmax", " {dim = 0}"), last("log_softmax"), last("layer_norm"),
                last("rms_norm"), along("cumsum"), along("cumsum", ", reverse = true"), topk, dynamic_slice, last("reverse", " {dims = [0]}"), last("sort"), take, attention,
                dot_general, pad, widened]

    def text(self):
        rows, inner, columns = (self.random.choice(SIZES) for _ in range(3))
        for shape in ([rows, inner], [inner, columns], [rows, columns]):
            self.parameter(shape)
        ops = [self.unary, self.binary, self.binary, self.select, self.matmul, self.matmul,
               self.linear, self.reduce, self.transpose, self.reshape, self.broadcast, self.concat,
               self.slice, self.taps, self.rolls, self.placed, self.scaled, self.reshards, self.reshards, self.addends, self.addends]
        if self.models:
            ops += self.model_ops()
        if self.units:
            ops += 4 * [self.split_or_merge]
        for _ in range(self.random.randrange(2, 9)):
            self.random.choice(ops)()
        made = [n for n in self.shapes if n.startswith("v")] or list(self.shapes)
        # Values that no output depends on never run.
        outputs = [made[-1], self.random.choice(list(self.shapes))]
        outputs += [self.random.choice(made) for _ in range(self.random.randrange(3))]
        outputs = list(dict.fromkeys(outputs))
        results = []
        for name in outputs:
            sharding = ""
            if self.random.random() < 0.7:
                sharding = " " + self.sharding(len(self.shapes[name]), partial=0.3)
            results.append(f"%{name}: tensor<{self.type(self.shapes[name])}>{sharding}")
        parameters = ", ".join(f"%{n}: tensor<{self.type(s)}>{sharding}"
                               for n, s, sharding in self.parameters)
        inputs = ", ".join(f"normal({i + 1}, {self.type(s)})"
                           for i, (_, s, _) in enumerate(self.parameters))
        meshes = ""
        for name, axes, ids in self.meshes:
            mesh = ", ".join(f"{axis}={size}" for axis, size in axes)
            meshes += f"mesh @{name} = <{mesh}" + (f", device_ids={ids}" if ids else "") + ">\n"
        body = "\n".join(self.lines)
        returned = ", ".join("%" + name for name in outputs)
        return (meshes +
                f"fusion @f({parameters}) -> ({', '.join(results)}) {{\n{body}\n  return {returned}\n}}\n"
                f'test "as the unsharded run" {{\n  run @f({inputs}) schedules(5)\n'
                "  expect_same_as_unsharded tolerance(atol(1e-4) rtol(1e-4))\n  expect_no_leaks\n}\n"
                + (self.gradient_text(inputs, outputs) if self.models and len(self.meshes) == 1 else ""))

    def gradient_text(self, inputs, outputs):
        seeds = [f"normal({i + 90}, {self.type(self.shapes[n])})" for i, n in enumerate(outputs)]
        if len(outputs) == 1 and not self.shapes[outputs[0]]:
            seeds = []  # a scalar is a loss
        return ("gradient @g of @f\n"
                f'test "gradients as the unsharded run" {{\n  run @g({", ".join([inputs] + seeds)})\n'
                "  expect_same_as_unsharded tolerance(atol(1e-3) rtol(1e-3))\n  expect_no_leaks\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", action="store_true", help="with the ops of whole models, and gradients")
    parser.add_argument("--units", action="store_true", help="with cuts between runs of elements, and reshapes")
    return check(parser, lambda seed, arguments: Generator(seed, arguments.models, arguments.units).text(),
                 "random_fusions")


def check(parser, text_of, default_folder):
    """Runs the text of every seed, `text_of(seed, arguments)`, keeps those that fail, and returns the exit status."""
    parser.add_argument("hostir")
    parser.add_argument("--seeds", default="0:300", help="FIRST:BEHIND_LAST")
    parser.add_argument("--keep", default=None)
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.hostir)
    folder = pathlib.Path(arguments.keep) if arguments.keep else binary.parent.parent / default_folder
    folder.mkdir(parents=True, exist_ok=True)
    first, behind = (int(n) for n in arguments.seeds.split(":"))
    files = []
    for seed in range(first, behind):
        files.append(folder / f"seed_{seed}.hir")
        files[-1].write_text(text_of(seed, arguments))
    failed = []
    batch = 50
    for i in range(0, len(files), batch):
        group = files[i:i + batch]
        if run(binary, group).returncode == 0:
            continue
        for file in group:
            result = run(binary, [file])
            if result.returncode != 0:
                failed.append(file)
                print(f"== {file} ({result.returncode})\n{(result.stdout + result.stderr)[:1500]}")
    for file in files:
        if file not in failed:
            file.unlink()
    print(f"{len(files) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def run(binary, files):
    try:
        return subprocess.run([str(binary), "test", "-j", "2"] + [str(f) for f in files],
                              capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, 124, "", "timeout")


if __name__ == "__main__":
    sys.exit(main())
