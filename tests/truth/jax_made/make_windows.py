#!/usr/bin/env python3
"""Writes the cases about convolutions, windows and functions that the language lacks, like make.py: make_windows.py [FOLDER]."""
import itertools
import math
import struct

from make import Numbers, module, write_cases

AXIS = 'sdy.mesh @mesh = <["x"=4]>'


def get(x, index):
    for i in index:
        x = x[i]
    return x


def build(dims, f, index=()):
    if len(index) == len(dims):
        return f(index)
    return [build(dims, f, (*index, i)) for i in range(dims[len(index)])]


def ints(values):
    return "[" + ", ".join(map(str, values)) + "]"


def tensor(dims, element="f32"):
    return f"tensor<{''.join(f'{d}x' for d in dims)}{element}>"


class Convolution:
    """One form of stablehlo.convolution. Dimension labels are one letter each, as in HLO: `b01f_01io->b01f`."""

    def __init__(self, left, right, labels, stride, pad, left_step, right_step, reverse=None, groups=1, batches=1):
        self.left, self.right = left, right
        sides, self.out_labels = labels.split("->")
        self.left_labels, self.right_labels = sides.split("_")
        self.n = len(left) - 2
        self.stride, self.pad, self.left_step, self.right_step = stride, pad, left_step, right_step
        self.reverse = reverse or [False] * self.n
        self.groups, self.batches = groups, batches

    def size(self, labels, dims, label):
        return dims[labels.index(label)]

    def places(self, i):
        size = (self.size(self.left_labels, self.left, str(i)) - 1) * self.left_step[i] + 1 + sum(self.pad[i])
        return (size - (self.size(self.right_labels, self.right, str(i)) - 1) * self.right_step[i] - 1) // self.stride[i] + 1

    def out(self):
        sizes = {str(i): self.places(i) for i in range(self.n)}
        sizes["b"] = self.size(self.left_labels, self.left, "b") // self.batches
        sizes["f"] = self.size(self.right_labels, self.right, "o")
        return [sizes[c] for c in self.out_labels]

    def value(self, x, w):
        """By the definition: the sum over the elements of the window and the input features of a group."""
        depth = self.size(self.right_labels, self.right, "i")
        filters = self.size(self.right_labels, self.right, "o")
        rows = self.size(self.left_labels, self.left, "b") // self.batches
        windows = [range(self.size(self.right_labels, self.right, str(i))) for i in range(self.n)]

        def element(index):
            at = dict(zip(self.out_labels, index))
            group = at["f"] // (filters // (self.groups * self.batches))
            total = 0.0
            for offsets in itertools.product(*windows):
                left, right, inside = {}, {"o": at["f"]}, True
                for i, k in enumerate(offsets):
                    place = at[str(i)] * self.stride[i] + k * self.right_step[i] - self.pad[i][0]
                    inside = inside and place % self.left_step[i] == 0
                    left[str(i)] = place // self.left_step[i]
                    inside = inside and 0 <= left[str(i)] < self.size(self.left_labels, self.left, str(i))
                    right[str(i)] = len(windows[i]) - 1 - k if self.reverse[i] else k
                if not inside:
                    continue
                left["b"] = at["b"] + (group * rows if self.batches > 1 else 0)
                for f in range(depth):
                    left["f"], right["i"] = f + (group * depth if self.groups > 1 else 0), f
                    total += get(x, [left[c] for c in self.left_labels]) * get(w, [right[c] for c in self.right_labels])
            return total
        return build(self.out(), element)

    def text(self, result, x, w):
        lists = [ints(labels) for labels in (self.left_labels, self.right_labels, self.out_labels)]
        window = (f"stride = {ints(self.stride)}, pad = {ints([ints(p) for p in self.pad])}, lhs_dilate = {ints(self.left_step)}, "
                  f"rhs_dilate = {ints(self.right_step)}, reverse = {ints([str(r).lower() for r in self.reverse])}")
        return (f"    {result} = stablehlo.convolution({x}, {w}) dim_numbers = {lists[0]}x{lists[1]}->{lists[2]}, window = {{{window}}} "
                f"{{batch_group_count = {self.batches} : i64, feature_group_count = {self.groups} : i64, "
                "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : "
                f"({tensor(self.left)}, {tensor(self.right)}) -> {tensor(self.out())}")


def convolution_forms(name, seed, forms, cut, cut_results=None):
    """A module with one result per form; the pairs (operand, dimension) in `cut[i]` are sharded, and dimension
    `cut_results[i]` of the result."""
    n = Numbers(seed)
    params, lines, inputs, outputs, results = [], [], [], [], []
    for i, form in enumerate(forms):
        values = [n.normal(*form.left), n.normal(*form.right)]
        for side, dims in enumerate((form.left, form.right)):
            shards = ", ".join('{"x"}' if (side, d) in cut[i] else "{}" for d in range(len(dims)))
            params.append(f"%arg{2 * i + side}: {tensor(dims)} {{sdy.sharding = #sdy.sharding<@mesh, [{shards}]>}}")
        lines.append(form.text(f"%{i}", f"%arg{2 * i}", f"%arg{2 * i + 1}"))
        inputs += [(v, "f4") for v in values]
        outputs.append((form.value(*values), "f4"))
        results.append(tensor(form.out()))
    said = [f'jax.result_info = "result[{i}]"' for i in range(len(forms))]
    for i, d in enumerate(cut_results or []):
        shards = ", ".join('{"x"}' if d == at else "{}" for at in range(len(forms[i].out())))
        said[i] += f", sdy.sharding = #sdy.sharding<@mesh, [{shards}]>"
    header = ", ".join(f"{t} {{{attributes}}}" for t, attributes in zip(results, said))
    body = (f"  func.func public @main({', '.join(params)}) -> ({header}) {{\n" + "\n".join(lines)
            + f"\n    return {', '.join(f'%{i}' for i in range(len(forms)))} : {', '.join(results)}\n  }}\n")
    return module(name, body, mesh=AXIS), inputs, outputs


def convolutions():
    """A strided one with padding; groups; one filter per feature; dilation; the transpose with a reversed filter; one place."""
    forms = [
        Convolution([4, 6, 5, 3], [3, 2, 3, 4], "b01f_01io->b01f", [2, 1], [[1, 1], [0, 1]], [1, 1], [1, 1]),
        Convolution([4, 4, 5], [3, 2, 6], "bf0_0io->b0f", [1], [[2, 0]], [1], [2], groups=2),
        Convolution([4, 5, 5, 3], [2, 2, 1, 3], "b01f_01io->b01f", [1, 2], [[0, 0], [0, 0]], [1, 1], [1, 1], groups=3),
        Convolution([4, 3, 4, 2], [3, 3, 2, 2], "b01f_01oi->b01f", [1, 1], [[1, 2], [1, 1]], [2, 2], [1, 1], [True, True]),
        Convolution([4, 3, 4, 4], [5, 3, 4, 4], "bf01_oi01->bf01", [1, 1], [[0, 0], [0, 0]], [1, 1], [1, 1]),
        Convolution([4, 5, 2], [1, 2, 3], "b0f_0io->b0f", [2], [[-1, 1]], [1], [1]),
    ]
    return convolution_forms("convolutions", 21, forms, [[(0, 0)]] * 6)


def convolution_gradients():
    """Gradients of filters: the batch is contracted; with a stride the window is dilated; with groups the batch has groups."""
    forms = [
        Convolution([4, 6, 5, 3], [4, 6, 5, 2], "f01b_i01o->01bf", [1, 1], [[1, 1], [1, 1]], [1, 1], [1, 1]),
        Convolution([4, 6, 6, 3], [4, 3, 3, 2], "f01b_i01o->01bf", [1, 1], [[0, 0], [0, 0]], [1, 1], [2, 2]),
        Convolution([4, 5, 8], [4, 5, 6], "f0b_i0o->0bf", [1], [[1, 1]], [1], [1], batches=2),
    ]
    return convolution_forms("convolution_gradients", 22, forms, [[(0, 0)], [(1, 3)], [(1, 0)]])


REGION = """    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      {}
      stablehlo.return %s : tensor<f32>
    }}"""


def reduce_window(result, x, init, form, dims, out, region):
    width, stride, pad, inside, apart = form
    return (f'    {result} = "stablehlo.reduce_window"({x}, {init}) <{{base_dilations = array<i64: {str(inside)[1:-1]}>, '
            f"padding = dense<{pad}> : tensor<{len(width)}x2xi64>, window_dilations = array<i64: {str(apart)[1:-1]}>, "
            f"window_dimensions = array<i64: {str(width)[1:-1]}>, window_strides = array<i64: {str(stride)[1:-1]}>}}> ({{\n"
            + REGION.format(region) + f") : ({tensor(dims)}, tensor<f32>) -> {tensor(out)}")


def windows_of(x, dims, form, fill):
    """The values in each window, in row-major order, and the index of each, None for padding."""
    width, stride, pad, inside, apart = form
    out = [((n - 1) * i + 1 + sum(p) - (w - 1) * a - 1) // s + 1
           for n, w, s, p, i, a in zip(dims, width, stride, pad, inside, apart)]

    def window(index):
        found = []
        for offsets in itertools.product(*map(range, width)):
            place = [at * s + k * a - p[0] for at, s, k, a, p in zip(index, stride, offsets, apart, pad)]
            good = all(p % i == 0 and 0 <= p // i < n for p, i, n in zip(place, inside, dims))
            source = tuple(p // i for p, i in zip(place, inside))
            found.append((get(x, source) if good else fill, source if good else None))
        return found
    return out, window


def window_reducers():
    """Windows with strides, both dilations and padding; an initial value that is not the identity; a reducer of several ops."""
    n = Numbers(23)
    dims = [4, 7, 6]
    x = n.normal(*dims)
    forms = [([1, 3, 2], [1, 2, 1], [[0, 0], [1, 2], [0, 0]], [1, 1, 1], [1, 1, 2]),
             ([1, 3, 2], [1, 1, 2], [[0, 0], [2, 0], [1, 1]], [1, 2, 1], [1, 1, 1]),
             ([1, 1, 4], [1, 1, 1], [[0, 0], [0, 0], [3, 0]], [1, 1, 1], [1, 1, 1])]
    regions = ["%s = stablehlo.maximum %l, %r : tensor<f32>", "%s = stablehlo.add %l, %r : tensor<f32>",
               "\n      ".join(["%m = stablehlo.maximum %l, %r : tensor<f32>", "%n = stablehlo.minimum %l, %r : tensor<f32>",
                                "%d = stablehlo.subtract %n, %m : tensor<f32>", "%e = stablehlo.exponential %d : tensor<f32>",
                                "%p = stablehlo.log_plus_one %e : tensor<f32>", "%s = stablehlo.add %m, %p : tensor<f32>"])]
    fills = [0.5, 2.0, -50.0]

    def log_sum(values):
        return math.log(sum(map(math.exp, values)))
    combine = [max, sum, log_sum]
    lines, outputs, types = [], [], []
    for i, form in enumerate(forms):
        out, window = windows_of(x, dims, form, fills[i])
        outputs.append((build(out, lambda at: combine[i]([fills[i]] + [v for v, _ in window(at)])), "f4"))
        lines.append(f"    %c{i} = stablehlo.constant dense<{fills[i]:e}> : tensor<f32>")
        lines.append(reduce_window(f"%{i}", "%arg0", f"%c{i}", form, dims, out, regions[i]))
        types.append(tensor(out))
    lines.append("    %3 = stablehlo.reduce(%arg0 init: %c2) across dimensions = [0, 2] : (tensor<4x7x6xf32>, tensor<f32>) -> "
                 "tensor<7xf32>\n     reducer(%l: tensor<f32>, %r: tensor<f32>)  {\n      " + regions[2]
                 + "\n      stablehlo.return %s : tensor<f32>\n    }")
    outputs.append(([log_sum([x[a][b][c] for a in range(4) for c in range(6)]) for b in range(7)], "f4"))
    types.append("tensor<7xf32>")
    header = ", ".join(f'{t} {{jax.result_info = "result[{i}]"}}' for i, t in enumerate(types))
    body = (f'  func.func public @main(%arg0: {tensor(dims)} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}, {{}}]>}}) -> ({header}) {{\n'
            + "\n".join(lines) + f"\n    return %0, %1, %2, %3 : {', '.join(types)}\n  }}\n")
    return module("window_reducers", body, mesh=AXIS), [(x, "f4")], outputs


def pooling_gradients():
    """select_and_scatter over windows that overlap, with padding and ties; the smallest element, over an initial value."""
    n = Numbers(24)
    dims = [4, 6, 5]
    x = [[[round(v) * 1.0 for v in row] for row in plane] for plane in n.normal(*dims)]  # with ties
    forms = [([1, 3, 3], [1, 2, 1], [[0, 0], [1, 0], [1, 1]], [1, 1, 1], [1, 1, 1]),
             ([1, 2, 2], [1, 2, 2], [[0, 0], [0, 0], [0, 1]], [1, 1, 1], [1, 1, 1])]
    lines, inputs, outputs, params = [], [(x, "f4")], [], []
    for i, (form, direction, init) in enumerate(zip(forms, ("GE", "LE"), (0.0, 0.25))):
        better = (lambda a, b: a >= b) if direction == "GE" else (lambda a, b: a <= b)
        out, window = windows_of(x, dims, form, None)
        dy = n.normal(*out)
        dx = build(dims, lambda at: init)
        for at in itertools.product(*map(range, out)):
            best = None
            for value, source in window(at):
                if source is not None and (best is None or not better(best[0], value)):
                    best = (value, source)
            a, b, c = best[1]
            dx[a][b][c] += get(dy, at)
        inputs.append((dy, "f4"))
        outputs.append((dx, "f4"))
        params.append(f"%arg{i + 1}: {tensor(out)}")
        width, stride, pad = form[:3]
        lines.append(f"""    %c{i} = stablehlo.constant dense<{init:e}> : tensor<f32>
    %{i} = "stablehlo.select_and_scatter"(%arg0, %arg{i + 1}, %c{i}) <{{padding = dense<{pad}> : tensor<3x2xi64>, window_dimensions = array<i64: {str(width)[1:-1]}>, window_strides = array<i64: {str(stride)[1:-1]}>}}> ({{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  {direction}, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }}, {{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) : ({tensor(dims)}, {tensor(out)}, tensor<f32>) -> {tensor(dims)}""")
    T = tensor(dims)
    body = (f'  func.func public @main(%arg0: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}, {{}}]>}}, {", ".join(params)}) -> '
            f'({T} {{jax.result_info = "result[0]"}}, {T} {{jax.result_info = "result[1]"}}) {{\n' + "\n".join(lines)
            + f"\n    return %0, %1 : {T}, {T}\n  }}\n")
    return module("pooling_gradients", body, mesh=AXIS), inputs, outputs


def convolutions_along_cuts():
    """Cut along the windows: centred, causal by channel, in a plane, with stride, patches, the gradient of filters, and transposed."""
    forms = [
        Convolution([2, 16, 4], [3, 4, 5], "b0f_0io->b0f", [1], [[1, 1]], [1], [1]),
        Convolution([2, 16, 4], [4, 1, 4], "b0f_0io->b0f", [1], [[3, 0]], [1], [1], groups=4),
        Convolution([2, 8, 5, 3], [3, 3, 3, 2], "b01f_01io->b01f", [1, 1], [[1, 1], [1, 1]], [1, 1], [1, 1]),
        Convolution([2, 16, 4], [3, 4, 2], "b0f_0io->b0f", [2], [[1, 0]], [1], [1]),
        Convolution([2, 16, 4], [2, 4, 2], "b0f_0io->b0f", [2], [[0, 0]], [1], [1]),
        Convolution([2, 16, 4], [2, 16, 5], "f0b_i0o->0bf", [1], [[1, 1]], [1], [1]),
        Convolution([2, 8, 4], [4, 4, 6], "b0f_0io->b0f", [1], [[2, 2]], [2], [1]),
    ]
    return convolution_forms("convolutions_along_cuts", 29, forms, [[(0, 1)]] * 5 + [[(0, 1), (1, 1)], [(0, 1)]],
                             [1] * 5 + [None, 1])


def windows_along_cuts():
    """Cut along the windows: many elements side by side, and three that overlap."""
    n = Numbers(30)
    dims = [320, 2]
    x = n.normal(*dims)
    forms = [([40, 1], [40, 1], [[0, 0], [0, 0]], [1, 1], [1, 1]), ([3, 1], [2, 1], [[0, 1], [0, 0]], [1, 1], [1, 1])]
    regions = ["%s = stablehlo.add %l, %r : tensor<f32>", "%s = stablehlo.maximum %l, %r : tensor<f32>"]
    cut = 'sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>'
    lines, outputs, types = [], [], []
    for i, (form, region, combine, init) in enumerate(zip(forms, regions, (sum, max), (0.0, -1e30))):
        out, window = windows_of(x, dims, form, init)
        outputs.append((build(out, lambda at: combine([v for v, _ in window(at)])), "f4"))
        lines.append(f"    %c{i} = stablehlo.constant dense<{init:e}> : tensor<f32>")
        lines.append(reduce_window(f"%{i}", "%arg0", f"%c{i}", form, dims, out, region))
        types.append(tensor(out))
    header = ", ".join(f'{t} {{jax.result_info = "result[{i}]", {cut}}}' for i, t in enumerate(types))
    body = (f"  func.func public @main(%arg0: {tensor(dims)} {{{cut}}}) -> ({header}) {{\n" + "\n".join(lines)
            + f"\n    return %0, %1 : {', '.join(types)}\n  }}\n")
    return module("windows_along_cuts", body, mesh=AXIS), [(x, "f4")], outputs


def manual_convolution():
    """shard_map over dp alone: a convolution, pooling and its gradient on each device; tp stays with the partitioner."""
    n = Numbers(25)
    conv = Convolution([2, 6, 3], [3, 3, 4], "b0f_0io->b0f", [1], [[1, 1]], [1], [1])
    x, w = n.normal(4, 6, 3), n.normal(3, 3, 4)
    y = conv.value(x[:2], w) + conv.value(x[2:], w)
    pooled = [[[max(plane[2 * i][f], plane[2 * i + 1][f]) for f in range(4)] for i in range(3)] for plane in y]
    back = [[[2 * v if v == max(plane[i // 2 * 2][f], plane[i // 2 * 2 + 1][f]) else 0.0 for f, v in enumerate(row)]
             for i, row in enumerate(plane)] for plane in y]
    form = ([1, 2, 1], [1, 2, 1], [[0, 0]] * 3, [1, 1, 1], [1, 1, 1])
    shard = '<@mesh, [{"dp"}, {}, {}]>'
    body = f"""  func.func public @main(%arg0: tensor<4x6x3xf32> {{sdy.sharding = #sdy.sharding{shard}}}, %arg1: tensor<3x3x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{"tp"}}]>}}) -> (tensor<4x3x4xf32> {{jax.result_info = "result[0]"}}, tensor<4x6x4xf32> {{jax.result_info = "result[1]"}}) {{
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[{shard}, <@mesh, [{{}}, {{}}, {{}}]>] out_shardings=[{shard}, {shard}] manual_axes={{"dp"}} (%arg2: tensor<2x6x3xf32>, %arg3: tensor<3x3x4xf32>) {{
{conv.text("%1", "%arg2", "%arg3")}
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
{reduce_window("%2", "%1", "%cst", form, [2, 6, 4], [2, 3, 4], "%s = stablehlo.maximum %l, %r : tensor<f32>")}
    %3 = stablehlo.add %2, %2 : tensor<2x3x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = "stablehlo.select_and_scatter"(%1, %3, %cst_0) <{{padding = dense<0> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}}> ({{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  GE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }}, {{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) : (tensor<2x6x4xf32>, tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x6x4xf32>
    sdy.return %2, %4 : tensor<2x3x4xf32>, tensor<2x6x4xf32>
    }} : (tensor<4x6x3xf32>, tensor<3x3x4xf32>) -> (tensor<4x3x4xf32>, tensor<4x6x4xf32>)
    return %0#0, %0#1 : tensor<4x3x4xf32>, tensor<4x6x4xf32>
  }}
"""
    mesh = 'sdy.mesh @mesh = <["dp"=2, "tp"=2]>'
    return module("manual_convolution", body, mesh=mesh), [(x, "f4"), (w, "f4")], [(pooled, "f4"), (back, "f4")]


def conv_net_step():
    """Loss and gradients of a convolution, relu, max pooling and a matrix product, data-parallel."""
    n = Numbers(26)
    conv = Convolution([8, 6, 6, 2], [3, 3, 2, 4], "b01f_01io->b01f", [1, 1], [[1, 1], [1, 1]], [1, 1], [1, 1])
    filters = Convolution([8, 6, 6, 2], [8, 6, 6, 4], "f01b_i01o->01bf", [1, 1], [[1, 1], [1, 1]], [1, 1], [1, 1])
    x, w, v = n.normal(8, 6, 6, 2), n.normal(3, 3, 2, 4), n.normal(36, 3)
    y = conv.value(x, w)
    r = build([8, 6, 6, 4], lambda at: max(get(y, at), 0.0))
    form = ([1, 2, 2, 1], [1, 2, 2, 1], [[0, 0]] * 4, [1] * 4, [1] * 4)
    out, window = windows_of(r, [8, 6, 6, 4], form, None)
    best = build(out, lambda at: max(window(at), key=lambda pair: pair[0]))  # the first of equal ones
    flat = [[best[b][i // 12][i // 4 % 3][i % 4][0] for i in range(36)] for b in range(8)]
    logits = [[sum(row[i] * v[i][c] for i in range(36)) for c in range(3)] for row in flat]
    loss = sum(z * z for row in logits for z in row) / 8
    dz = [[z / 4 for z in row] for row in logits]
    dv = [[sum(flat[b][i] * dz[b][c] for b in range(8)) for c in range(3)] for i in range(36)]
    dflat = [[sum(row[c] * v[i][c] for c in range(3)) for i in range(36)] for row in dz]
    dy = build([8, 6, 6, 4], lambda at: 0.0)
    for b, i, j, f in itertools.product(range(8), range(3), range(3), range(4)):
        (_, p, q, _) = best[b][i][j][f][1]
        if y[b][p][q][f] > 0:
            dy[b][p][q][f] = dflat[b][i * 12 + j * 4 + f]
    Y, P, Z = tensor([8, 6, 6, 4]), tensor([8, 3, 3, 4]), tensor([8, 3])
    W, V, F = tensor([3, 3, 2, 4]), tensor([36, 3]), tensor([8, 36])
    full = "<@mesh, [{}, {}, {}, {}]>"
    body = f"""  func.func public @main(%arg0: {W} {{sdy.sharding = #sdy.sharding{full}}}, %arg1: {V} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}, %arg2: tensor<8x6x6x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}, {{}}, {{}}]>}}) -> (tensor<f32> {{jax.result_info = "result[0]"}}, {W} {{jax.result_info = "result[1]"}}, {V} {{jax.result_info = "result[2]"}}) {{
{conv.text("%0", "%arg2", "%arg0")}
    %1 = call @relu(%0) : ({Y}) -> {Y}
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
{reduce_window("%2", "%1", "%cst", form, [8, 6, 6, 4], out, "%s = stablehlo.maximum %l, %r : tensor<f32>")}
    %3 = stablehlo.reshape %2 : ({P}) -> {F}
    %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : ({F}, {V}) -> {Z}
    %5 = stablehlo.multiply %4, %4 : {Z}
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : ({Z}, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %7 = stablehlo.divide %6, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> {Z}
    %9 = stablehlo.multiply %8, %4 : {Z}
    %10 = stablehlo.dot_general %9, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : ({Z}, {F}) -> tensor<3x36xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<3x36xf32>) -> {V}
    %12 = stablehlo.dot_general %9, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : ({Z}, {V}) -> {F}
    %13 = stablehlo.reshape %12 : ({F}) -> {P}
    %14 = stablehlo.pad %1, %cst, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : ({Y}, tensor<f32>) -> {Y}
    %15 = "stablehlo.select_and_scatter"(%14, %13, %cst_0) <{{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}}> ({{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  GE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }}, {{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) : ({Y}, {P}, tensor<f32>) -> {Y}
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> {Y}
    %17 = stablehlo.compare  GT, %0, %16,  FLOAT : ({Y}, {Y}) -> tensor<8x6x6x4xi1>
    %18 = stablehlo.select %17, %15, %16 : tensor<8x6x6x4xi1>, {Y}
{filters.text("%19", "%arg2", "%18")}
    return %7, %19, %11 : tensor<f32>, {W}, {V}
  }}
  func.func private @relu(%arg0: {Y}) -> {Y} {{
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> {Y}
    %1 = stablehlo.maximum %arg0, %0 : {Y}
    return %1 : {Y}
  }}
"""
    results = [(loss, "f4"), (filters.value(x, dy), "f4"), (dv, "f4")]
    return module("conv_net_step", body, mesh=AXIS), [(w, "f4"), (v, "f4"), (x, "f4")], results


def bits(v):
    return struct.unpack("<I", struct.pack("<f", v))[0]


def from_bits(b):
    return struct.unpack("<f", struct.pack("<I", b))[0]


def next_after(x, y):
    if x == y:
        return y
    if x == 0:
        return math.copysign(from_bits(1), y)
    return from_bits(bits(x) + (1 if (y > x) == (x > 0) else -1))


def reduced(v, exponent, mantissa):
    """Rounds in 64 bits, ties to even; then too large becomes infinite and too small becomes zero."""
    if v == 0 or math.isinf(v):
        return v
    power = math.frexp(v)[1] - 1
    v = round(v / 2.0**(power - mantissa)) * 2.0**(power - mantissa)
    power = math.frexp(v)[1] - 1
    limit = 2**(exponent - 1) - 1
    return math.copysign(math.inf if power > limit else 0.0 if power <= -limit else abs(v), v)


def digamma(z):
    if z < 0.5:
        return digamma(1 - z) - math.pi / math.tan(math.pi * z)
    if z < 10:
        return digamma(z + 1) - 1 / z
    return math.log(z) - 1 / (2 * z) - 1 / (12 * z**2) + 1 / (120 * z**4) - 1 / (252 * z**6)


def special_functions():
    """chlo.lgamma, chlo.digamma and chlo.next_after; reduce_precision to formats without a dtype."""
    x = [0.3, 1.5, -2.25, 7.75, 30.0, -0.4, 1e-3, 0.5]
    y = [1.0, -1.0, -2.0, -8.0, 31.0, 0.0, 0.0, 0.5]
    edge = [0.0, -0.0, 65519.0, 65520.0, -7e-5, 6.2e-5, 3.0000002, 1e30]
    T = "tensor<8xf32>"
    lines = [f"    %0 = chlo.lgamma %arg0 : {T} -> {T}", f"    %1 = chlo.digamma %arg0 : {T} -> {T}",
             f"    %2 = chlo.next_after %arg0, %arg1 : {T}, {T} -> {T}", f"    %3 = chlo.next_after %arg2, %arg1 : {T}, {T} -> {T}",
             f"    %4 = stablehlo.reduce_precision %arg2, format = e5m10 : {T}", f"    %5 = stablehlo.reduce_precision %arg2, format = e4m3 : {T}",
             f"    %6 = stablehlo.reduce_precision %arg2, format = e8m2 : {T}"]
    x, y, edge = ([from_bits(bits(v)) for v in values] for values in (x, y, edge))
    outputs = [[math.lgamma(v) for v in x], [digamma(v) for v in x], [next_after(a, b) for a, b in zip(x, y)],
               [next_after(a, b) for a, b in zip(edge, y)]]
    outputs += [[reduced(v, e, m) for v in edge] for e, m in ((5, 10), (4, 3), (8, 2))]
    header = ", ".join(f'{T} {{jax.result_info = "result[{i}]"}}' for i in range(7))
    body = (f'  func.func public @main(%arg0: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}, %arg1: {T}, %arg2: {T}) -> ({header}) {{\n'
            + "\n".join(lines) + f"\n    return {', '.join(f'%{i}' for i in range(7))} : {', '.join([T] * 7)}\n  }}\n")
    return module("special_functions", body, mesh=AXIS), [(x, "f4"), (y, "f4"), (edge, "f4")], [(v, "f4") for v in outputs]


def bitwise_reducers():
    """`and`, `or` and `xor` of integers work bit by bit; a select region with swapped operands; an empty dimension is padded."""
    x, y, source = [[1, 2], [4, 8], [5, 3]], [2.0, 6.0, 3.0, 5.0], [10.0, 20.0, 30.0]
    X, Y, R = "tensor<3x2xi32>", "tensor<4xf32>", "tensor<2xi32>"
    region = lambda kind, op: f"""{{
    ^bb0(%a: tensor<{kind}>, %b: tensor<{kind}>):
      %s = {op}
      stablehlo.return %s : tensor<{"i1" if "compare" in op else kind}>
    }}"""
    lines = [f"    %zero = stablehlo.constant dense<0> : tensor<i32>", "    %ones = stablehlo.constant dense<-1> : tensor<i32>",
             "    %one = stablehlo.constant dense<1> : tensor<i32>", "    %none = stablehlo.constant dense<0.0> : tensor<f32>"]
    for i, (op, init) in enumerate((("or", "%zero"), ("and", "%ones"), ("xor", "%zero"), ("and", "%one"))):
        lines.append(f"    %{i} = stablehlo.reduce(%arg0 init: {init}) applies stablehlo.{op} across dimensions = [0] : ({X}, tensor<i32>) -> {R}")
    lines += [f"""    %4 = "stablehlo.reduce_window"(%arg0, %zero) <{{window_dimensions = array<i64: 2, 1>}}> ({region("i32", "stablehlo.or %a, %b : tensor<i32>")}) : ({X}, tensor<i32>) -> tensor<2x2xi32>""",
              f"""    %5 = "stablehlo.select_and_scatter"(%arg1, %arg2, %none) <{{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}> ({region("f32", "stablehlo.compare LE, %b, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>")}, {region("f32", "stablehlo.add %a, %b : tensor<f32>")}) : ({Y}, tensor<3xf32>, tensor<f32>) -> {Y}""",
              "    %6 = stablehlo.slice %arg0 [0:0, 0:2] : (tensor<3x2xi32>) -> tensor<0x2xi32>",
              "    %7 = stablehlo.pad %6, %one, low = [2, 0], high = [1, 0], interior = [3, 0] : (tensor<0x2xi32>, tensor<i32>) -> tensor<3x2xi32>"]
    types = [R, R, R, R, "tensor<2x2xi32>", Y, "tensor<3x2xi32>"]
    names = ["%0", "%1", "%2", "%3", "%4", "%5", "%7"]
    header = ", ".join(f'{t} {{jax.result_info = "result[{i}]"}}' for i, t in enumerate(types))
    body = (f'  func.func public @main(%arg0: {X} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %arg1: {Y}, %arg2: tensor<3xf32>) -> ({header}) {{\n'
            + "\n".join(lines) + f"\n    return {', '.join(names)} : {', '.join(types)}\n  }}\n")
    columns = list(zip(*x))
    results = [[a | b | c for a, b, c in columns], [a & b & c for a, b, c in columns], [a ^ b ^ c for a, b, c in columns],
               [a & b & c & 1 for a, b, c in columns], [[a | b for a, b in zip(x[i], x[i + 1])] for i in range(2)]]
    outputs = [(v, "i4") for v in results] + [([10.0, 20.0, 0.0, 30.0], "f4"), ([[1, 1]] * 3, "i4")]
    return module("bitwise_reducers", body, mesh=AXIS), [(x, "i4"), (y, "f4"), (source, "f4")], outputs


if __name__ == "__main__":
    write_cases([convolutions, convolution_gradients, convolutions_along_cuts, windows_along_cuts, window_reducers, pooling_gradients, manual_convolution, conv_net_step,
                 special_functions, bitwise_reducers])
