#!/usr/bin/env python3
"""Random chains of products whose collectives are overlapped with kernels. Each is run with every `overlap` on all ranks
and compared with its unsharded run; nothing may leak.

    tests/long/random_overlaps.py build-dev/bin/hostir [--seeds 0:300] [--keep DIR]

A chain has matmul and linear layers with biases, activations and residuals, on one or two axes with up to six ranks.
Most shardings follow tensor and sequence parallelism, so that gathers and scatters meet products; the others are
arbitrary. Sizes are small, so parts are uneven or empty.

A failing chain is kept in DIR (default: random_overlaps/ beside the binary's folder). Ends with `N passed, N failed`.
"""
import argparse
import random
import sys

from random_fusions import check

MESHES = [
    [("tp", 1)], [("tp", 2)], [("tp", 2)], [("tp", 3)], [("tp", 3)], [("tp", 4)], [("tp", 4)], [("tp", 5)], [("tp", 6)],
    [("dp", 2), ("tp", 2)], [("dp", 2), ("tp", 3)], [("dp", 3), ("tp", 2)], [("tp", 2), ("dp", 2)], [("dp", 1), ("tp", 4)],
]
SIZES = [1, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13]
ACTIVATIONS = ["relu", "gelu", "silu", "tanh", "neg"]


class Chain:
    """One fusion. Values are rank 2, tokens by features, or rank 3 with a batch in front."""

    def __init__(self, seed):
        self.random = random.Random(f"chain {seed}")
        self.mesh = self.random.choice(MESHES)
        self.dtype = self.random.choice(["f32", "f32", "f64"])
        self.batch = self.random.choice([[], [], [self.random.choice([1, 2, 3])]])
        self.tokens = self.random.choice(SIZES)
        self.parameters = []
        self.lines = []
        self.features = {}  # of every value so far

    def chance(self, probability):
        return self.random.random() < probability

    def type(self, shape):
        return "x".join(str(size) for size in shape) + f"x{self.dtype}"

    def shape(self, features):
        return self.batch + [self.tokens, features]

    def sharding(self, cuts, rank):
        """`cuts`: dimension -> axes."""
        dims = ("{" + ", ".join(cuts.get(d, [])) + "}" for d in range(rank))
        return "<@m, [" + ", ".join(dims) + "]>"

    def any_sharding(self, rank):
        cuts = {}
        for axis, _ in self.mesh:
            if self.chance(0.6):
                cuts.setdefault(self.random.randrange(rank), []).append(axis)
        return self.sharding(cuts, rank)

    def activation_sharding(self, features_cut=None):
        """Tokens cut by tp (sequence parallel), features cut by tp (tensor parallel), or neither."""
        rank = len(self.batch) + 2
        if self.chance(0.15):
            return self.any_sharding(rank)
        cuts = {}
        if any(axis == "dp" for axis, _ in self.mesh) and self.chance(0.6):
            cuts[self.random.randrange(rank - 1)] = ["dp"]
        way = self.random.choice(["tokens", "tokens", "features", "none"])
        if way != "none":
            cuts.setdefault(rank - 2 if way == "tokens" else rank - 1, []).append("tp")
        return self.sharding(cuts, rank)

    def parameter(self, shape, sharding=None):
        name = f"p{len(self.parameters)}"
        self.parameters.append((name, shape, sharding or ""))
        return name

    def weight(self, shape):
        if self.chance(0.15):
            return self.parameter(shape, self.any_sharding(len(shape)))
        if self.chance(0.15):
            return self.parameter(shape)
        return self.parameter(shape, self.sharding({self.random.randrange(len(shape)): ["tp"]}, len(shape)))

    def emit(self, features, text, annotated=0.3, needs_type=False):
        name = f"v{len(self.lines)}"
        suffix = ""
        if self.chance(annotated):
            suffix = f" : tensor<{self.type(self.shape(features))}> {self.activation_sharding()}"
        elif needs_type:
            suffix = f" : tensor<{self.type(self.shape(features))}>"
        self.lines.append(f"  %{name} = {text}{suffix}")
        self.features[name] = features
        return name

    def layer(self, x):
        inner, outer = self.features[x], self.random.choice(SIZES)
        if self.chance(0.3):
            outer = self.random.choice(list(self.features.values()))  # so that residuals fit
        if self.batch or self.chance(0.5):
            w = self.weight([outer, inner])
            bias = f", %{self.weight([outer])}" if self.chance(0.4) else ""
            return self.emit(outer, f"linear %{x}, %{w}{bias}")
        return self.emit(outer, f"matmul %{x}, %{self.weight([inner, outer])}")

    def bias(self, x):
        features = self.features[x]
        b = self.weight([features])
        wide = self.emit(features, f"broadcast_in_dim %{b} {{dims = [{len(self.batch) + 1}]}}", 0.05, needs_type=True)
        del self.features[wide]
        return self.emit(features, f"add %{x}, %{wide}")

    def residual(self, x):
        features = self.features[x]
        fitting = [v for v in self.features if self.features[v] == features]
        y = self.random.choice(fitting)
        if y == x:
            y = self.parameter(self.shape(features), self.activation_sharding())
            self.features[y] = features
        return self.emit(features, f"{self.random.choice(['add', 'add', 'mul'])} %{x}, %{y}")

    def regathered(self, x):
        to = self.activation_sharding()
        return self.emit(self.features[x], f"reshard %{x} {{to = {to}}}", 0)

    def text(self):
        features = self.random.choice(SIZES)
        x = self.parameter(self.shape(features), self.activation_sharding())
        self.features[x] = features
        for _ in range(self.random.randrange(1, 4)):
            if self.chance(0.2):
                x = self.regathered(x)
            first = self.layer(x)
            if self.chance(0.2):
                self.layer(x)  # two products of one gather
            x = first
            for step, probability in ((self.bias, 0.3), (self.activation, 0.5), (self.residual, 0.4)):
                if self.chance(probability):
                    x = step(x)
        outputs = [x]
        if self.chance(0.3):
            outputs.append(self.random.choice([v for v in self.features if v.startswith("v")]))
        outputs = list(dict.fromkeys(outputs))
        return self.program(outputs)

    def activation(self, x):
        return self.emit(self.features[x], f"{self.random.choice(ACTIVATIONS)} %{x}", 0.2)

    def program(self, outputs):
        results = ", ".join(f"%{v}: tensor<{self.type(self.shape(self.features[v]))}> {self.activation_sharding()}"
                            for v in outputs)
        parameters = ",\n    ".join(f"%{n}: tensor<{self.type(s)}> {sharding}" for n, s, sharding in self.parameters)
        inputs = ", ".join(f"normal({i + 1}, {self.type(s)})" for i, (_, s, _) in enumerate(self.parameters))
        axes = ", ".join(f"{axis}={size}" for axis, size in self.mesh)
        body = "\n".join(self.lines)
        returned = ", ".join("%" + v for v in outputs)
        text = f"mesh @m = <{axes}>\nfusion @f({parameters})\n    -> ({results}) {{\n{body}\n  return {returned}\n}}\n"
        for overlap in ("none", "collectives", "ring", "auto"):
            text += (f'test "{overlap}" {{\n  run @f({inputs}) schedules(2) overlap({overlap})\n'
                     "  expect_same_as_unsharded tolerance(atol(1e-3) rtol(1e-4))\n  expect_no_leaks\n}\n")
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    return check(parser, lambda seed, arguments: Chain(seed).text(), "random_overlaps")


if __name__ == "__main__":
    sys.exit(main())
