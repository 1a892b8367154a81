#!/usr/bin/env python3
"""Random loops of fusions on random meshes with random shardings, beside the same passes written out.

    tests/long/random_loops.py build-dev/bin/hostir [--seeds 0:300] [--keep DIR]

The outputs of the loop minus those of the written passes are 0, and so are all gradients of that difference: what a
gradient keeps, recomputes, stacks and adds up must not change it. Both also equal their unsharded run, and nothing may
leak. Loops have one or two carried values, stacked parameters and results, a value from outside, no pass to four,
either order, a loop inside, marks for recomputing, and conditions.

A failing fusion is kept in DIR (default: random_loops/ beside the binary's folder). Ends with `N passed, N failed`.
"""
import argparse
import sys

from random_fusions import Generator, SIZES, check

ONE = ["tanh", "sigmoid", "neg", "sin"]
TWO = ["add", "sub", "mul", "maximum"]


def fill(text, i, n):
    return text.replace("{i}", str(i)).replace("{n}", n)


class Loop(Generator):
    def __init__(self, seed):
        super().__init__(seed, models=True)
        self.meshes = self.meshes[:1] if len(self.meshes) == 1 else [("m", self.mesh, None)]
        self.mesh = self.meshes[0][1]
        self.shape = [self.random.choice(SIZES) for _ in range(2)]
        self.lower = self.random.choice([0, 0, 0, 1])
        self.upper = self.lower + self.random.choice([0, 1, 2, 3, 3, 4])
        self.reversed = self.random.random() < 0.3
        self.inner = self.random.choice([0, 0, 0, 2, 3])
        self.stops = self.random.random() < 0.2

    def body(self, start):
        """Lines of one pass, with {i} for the index and {n} after each name of the pass; the names it makes."""
        rows, columns = self.shape
        stack = self.parameter([self.upper + 1] + self.shape)
        weights = self.parameter([max(self.upper, 1), columns, columns])
        outer = self.random.choice([self.parameter(self.shape), start])
        row = self.parameter([columns])
        lines = ["%w{n} = at %" + stack + "[{i}]", "%m{n} = at %" + weights + "[{i}]"]
        names = ["p{n}", "q{n}", "w{n}", outer]
        if self.random.random() < 0.3:
            lines.append("%w2{n} = at %" + stack + "[{i} + 1]")
            names.append("w2{n}")
        for k in range(self.random.randrange(2, 7)):
            made = f"a{k}{{n}}"
            mark = " {recompute = true}" if self.random.random() < 0.2 else ""
            kind = self.random.random()
            x, y = self.random.choice(names), self.random.choice(names)
            if kind < 0.3:
                lines.append(f"%{made} = {self.random.choice(ONE)} %{x}{mark}")
            elif kind < 0.6:
                lines.append(f"%{made} = {self.random.choice(TWO)} %{x}, %{y}{mark}")
            elif kind < 0.7:
                lines.append(f"%{made} = add %{x}, %{row}{mark}")
            else:
                lines.append(f"%{made} = matmul %{x}, %m{{n}}{mark}")
                if self.random.random() < 0.3:
                    lines[-1] += f" : tensor<{self.type(self.shape)}> {self.sharding(2, partial=0.2)}"
            lines.append(f"%{made}_ = tanh %{made}")
            names.append(f"{made}_")
        if self.inner:
            lines.append(self.inner_loop(names))
            names.append("z{n}")
        made = [n for n in names if n.endswith("{n}") or n.endswith("_")]
        return lines, [names[-1], self.random.choice(made), self.random.choice(made)]

    def inner_loop(self, names):
        x, y = self.random.choice(names), self.random.choice(names)
        stack = self.parameter([self.inner] + self.shape)
        pairs = self.parameter([self.upper + 1, self.inner] + self.shape)
        mark = self.random.choice(["", " recompute"])
        return (f"%z{{n}} = for %j in 0..{self.inner} carry(%k{{n}} = %{x}){mark} {{\n"
                f"      %u{{n}} = at %{stack}[%j]\n      %uu{{n}} = at %{pairs}[{{i}}, %j]\n"
                f"      %l{{n}} = mul %k{{n}}, %u{{n}}\n      %ll{{n}} = add %l{{n}}, %uu{{n}}\n"
                f"      %lll{{n}} = add %ll{{n}}, %{y}\n      %o{{n}} = tanh %lll{{n}}\n      yield %o{{n}}\n    }}")

    def text(self):
        start = [self.parameter(self.shape), self.parameter(self.shape)]
        lines, (first, second, stacked) = self.body(start[0])
        order = " reversed" if self.reversed else ""
        mark = " recompute" if self.random.random() < 0.3 else ""
        condition = ""
        if self.stops:
            lines.append("%sum{n} = reduce_sum %p{n} {dims = [0, 1]}")
            lines.append("%more{n} = compare %sum{n}, 0.3 {direction = lt}")
            condition = " while %more{n}"
        out = f"  %y, %z{', %all' if not self.stops else ''} = for %i in {self.lower}..{self.upper} " \
              f"carry(%p = %{start[0]}, %q = %{start[1]}){order}{mark} {{\n"
        out += "".join("    " + fill(line, "%i", "") + "\n" for line in lines)
        yielded = f"%{first}, %{second}" + ("" if self.stops else f", %{stacked}") + condition
        out += f"    yield {fill(yielded, '%i', '')}\n  }}\n"
        # The same passes, one after another.
        now = list(start)
        parts = {}
        runs = None
        indices = list(range(self.lower, self.upper))
        for i in reversed(indices) if self.reversed else indices:
            n = f".{i}"
            for name, value in zip(("p", "q"), now):
                out += f"  %{name}{n} = reshape %{value} : tensor<{self.type(self.shape)}>\n"
            for line in lines:
                out += "  " + fill(line, i, n).replace("%j", f"%j{n}") + "\n"
            after = [fill(first, i, n), fill(second, i, n)]
            if self.stops:
                # What is once false stays false.
                out += f"  %runs{n} = logical_and {runs or '%more' + n}, %more{n}\n"
                runs = f"%runs{n}"
                out += f"  %wide{n} = broadcast_in_dim %runs{n} {{dims = []}} : tensor<{'x'.join(map(str, self.shape))}xi1>\n"
                for k, (name, value) in enumerate(zip(("p", "q"), after)):
                    out += f"  %kept{k}{n} = select %wide{n}, %{value}, %{name}{n}\n"
                    after[k] = f"kept{k}{n}"
            now = after
            parts[i] = fill(stacked, i, n)
        results = [("d0", self.shape), ("d1", self.shape)]
        out += f"  %d0 = sub %y, %{now[0]}\n  %d1 = sub %z, %{now[1]}\n"
        if not self.stops and indices:
            one = f" : tensor<{self.type([1] + self.shape)}>"
            for i in indices:
                out += f"  %row.{i} = reshape %{parts[i]}{one}\n"
            rows = ", ".join(f"%row.{i}" for i in indices)
            out += f"  %rows = concat {rows} {{dim = 0}}\n" if len(indices) > 1 else f"  %rows = reshape %row.{indices[0]}{one}\n"
            out += "  %d2 = sub %all, %rows\n"
            results.append(("d2", [len(indices)] + self.shape))
        parameters = ", ".join(f"%{n}: tensor<{self.type(s)}>{sharding}" for n, s, sharding in self.parameters)
        declared = ", ".join(f"%{n}: tensor<{self.type(s)}>" for n, s in results)
        inputs = [f"normal({i + 1}, {self.type(s)})" for i, (_, s, _) in enumerate(self.parameters)]
        seeds = [f"normal({i + 90}, {self.type(s)})" for i, (_, s) in enumerate(results)]
        zeros = "".join(f"  expect_output %{n} == full(0.0) atol(1e-4)\n" for n, _ in results)
        gradients = "".join(f"  expect_output %d_{n} == full(0.0) atol(1e-3)\n" for n, _, _ in self.parameters)
        both = "  expect_same_as_unsharded tolerance(atol(1e-3) rtol(1e-3))\n  expect_no_leaks\n}\n"
        return (f"mesh @m = <{', '.join(f'{axis}={size}' for axis, size in self.mesh)}>\n"
                f"fusion @f({parameters}) -> ({declared}) {{\n{out}"
                f"  return {', '.join('%' + n for n, _ in results)}\n}}\ngradient @g of @f\n"
                f'test "the loop is its passes" {{\n  run @f({", ".join(inputs)}) schedules(2)\n{zeros}{both}'
                f'test "so is its gradient" {{\n  run @g({", ".join(inputs + seeds)})\n{gradients}{both}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    return check(parser, lambda seed, arguments: Loop(seed).text(), "random_loops")


if __name__ == "__main__":
    sys.exit(main())
