#!/usr/bin/env python3
"""Writes the cases of this folder: modules in JAX's print style, inputs, and results in plain Python.

Usage: make.py [FOLDER]. The texts are written by hand after what JAX 0.4 to 0.11 print; the numbers follow from the
definitions, in float64, rounded to float32. Needs nothing but Python.
"""
import itertools
import json
import math
import pathlib
import random
import struct
import sys

MESH = 'sdy.mesh @mesh = <["tp"=4]>'


def flat(x):
    return [v for row in x for v in flat(row)] if isinstance(x, list) else [x]


def shape(x):
    return [len(x)] + shape(x[0]) if isinstance(x, list) else []


def write_npy(path, x, kind):
    code = {"f4": "f", "i2": "h", "i4": "i", "u2": "H", "u1": "B", "u4": "I", "u8": "Q", "b1": "?"}[kind]
    dims = shape(x)
    text = "(" + "".join(f"{d}, " for d in dims) + ")"
    header = f"{{'descr': '{'|' if kind[1] == '1' else '<'}{kind}', 'fortran_order': False, 'shape': {text}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    values = flat(x)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}{code}", *values))


def rounded(v):
    return struct.unpack("f", struct.pack("f", v))[0]


class Numbers:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def normal(self, *dims):
        if not dims:
            return rounded(self.random.gauss(0, 1))
        return [self.normal(*dims[1:]) for _ in range(dims[0])]


def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transpose(a):
    return [list(row) for row in zip(*a)]


def each(f, *xs):
    return [each(f, *rows) for rows in zip(*xs)] if isinstance(xs[0], list) else f(*xs)


def module(name, body, devices=4, mesh=MESH):
    return (f"module @jit_{name} attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
            f"  {mesh}\n{body}}}\n")


def bf16(v):
    bits = struct.unpack("<I", struct.pack("<f", v))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def embed_grad():
    n = Numbers(1)
    ids = [[3, 0, 7, 3], [7, 7, 1, 5]]
    table, dy = n.normal(8, 3), n.normal(2, 4, 3)
    out = [[table[i] for i in row] for row in ids]
    grad = [[0.0] * 3 for _ in range(8)]
    for b, row in enumerate(ids):
        for s, i in enumerate(row):
            for d in range(3):
                grad[i][d] += dy[b][s][d]
    body = """  func.func public @main(%arg0: tensor<2x4xi32>, %arg1: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg2: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32> {jax.result_info = "result[0]"}, tensor<8x3xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x4xi32>) -> tensor<2x4x1xi32>
    %1 = "stablehlo.gather"(%arg1, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %3 = "stablehlo.scatter"(%2, %0, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %4 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<8x3xf32>, tensor<2x4x1xi32>, tensor<2x4x3xf32>) -> tensor<8x3xf32>
    return %1, %3 : tensor<2x4x3xf32>, tensor<8x3xf32>
  }
"""
    return module("embed_grad", body), [(ids, "i4"), (table, "f4"), (dy, "f4")], [(out, "f4"), (grad, "f4")]


def loss_labels():
    """Cross-entropy's look-up: x[arange(N), labels], written with two-component indices."""
    n = Numbers(2)
    x, labels = n.normal(6, 5), [4, 0, 2, 2, 1, 3]
    out = [x[i][j] for i, j in enumerate(labels)]
    body = """  func.func public @main(%arg0: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg1: tensor<6xi32>) -> (tensor<6xf32> {jax.result_info = ""}) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x2xi32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xf32>, tensor<6x2xi32>) -> tensor<6xf32>
    return %4 : tensor<6xf32>
  }
"""
    return module("loss_labels", body), [(x, "f4"), (labels, "i4")], [(out, "f4")]


def attention():
    """Heads cut, a causal mask, batch dimensions that do not lead, a transposed contraction."""
    n = Numbers(3)
    q, k, v = n.normal(5, 4, 2), n.normal(5, 4, 2), n.normal(5, 4, 2)  # [seq, heads, depth]
    out = [[[0.0, 0.0] for _ in range(4)] for _ in range(5)]
    for h in range(4):
        for i in range(5):
            scores = [sum(q[i][h][d] * k[j][h][d] for d in range(2)) for j in range(i + 1)]
            top = max(scores)
            weights = [math.exp(s - top) for s in scores]
            for d in range(2):
                out[i][h][d] = sum(w * v[j][h][d] for j, w in enumerate(weights)) / sum(weights)
    body = """  func.func public @main(%arg0: tensor<5x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {}]>}, %arg1: tensor<5x4x2xf32>, %arg2: tensor<5x4x2xf32>) -> (tensor<5x4x2xf32> {jax.result_info = ""}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<5x4x2xf32>, tensor<5x4x2xf32>) -> tensor<4x5x5xf32>
    %1 = stablehlo.iota dim = 0 : tensor<5xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<5xi32>) -> tensor<5x5xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<5xi32>) -> tensor<5x5xi32>
    %4 = stablehlo.compare  GE, %2, %3,  SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<4x5x5xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = call @_where(%5, %0, %cst) : (tensor<4x5x5xi1>, tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5x5xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x5xf32>
    %9 = stablehlo.subtract %6, %8 : tensor<4x5x5xf32>
    %10 = stablehlo.exponential %9 : tensor<4x5x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) across dimensions = [2] : (tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5xf32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %15 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %15 : tensor<f32>
    }
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x5xf32>
    %13 = stablehlo.divide %10, %12 : tensor<4x5x5xf32>
    %14 = stablehlo.dot_general %13, %arg2, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<4x5x5xf32>, tensor<5x4x2xf32>) -> tensor<4x5x2xf32>
    %16 = stablehlo.transpose %14, dims = [1, 0, 2] : (tensor<4x5x2xf32>) -> tensor<5x4x2xf32>
    return %16 : tensor<5x4x2xf32>
  }
  func.func private @_where(%arg0: tensor<4x5x5xi1>, %arg1: tensor<4x5x5xf32>, %arg2: tensor<f32>) -> tensor<4x5x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x5x5xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x5x5xi1>, tensor<4x5x5xf32>
    return %1 : tensor<4x5x5xf32>
  }
"""
    return module("attention", body), [(q, "f4"), (k, "f4"), (v, "f4")], [(out, "f4")]


def scan_grad():
    """A forward loop that stacks its values, and a backward loop that reads the stack."""
    n = Numbers(4)
    x, ws = n.normal(4, 3), n.normal(3, 3, 3)
    seen, h = [], x
    for w in ws:
        seen.append(h)
        h = each(math.tanh, matmul(h, w))
    hs = seen[1:] + [h]
    g = each(lambda v: 1.0, h)
    dws = [None] * 3
    for i in reversed(range(3)):
        t = each(lambda a, b: a * (1 - b * b), g, hs[i])
        dws[i] = matmul(transpose(seen[i]), t)
        g = matmul(t, transpose(ws[i]))
    body = """  func.func public @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg1: tensor<3x3x3xf32>) -> (tensor<3x3x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %0, %iterArg_2 = %0) : tensor<i32>, tensor<4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.dynamic_slice %arg1, %iterArg, %c_3, %c_3, sizes = [1, 3, 3] : (tensor<3x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
      %6 = stablehlo.reshape %5 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %7 = stablehlo.dot_general %iterArg_0, %6, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
      %8 = stablehlo.tanh %7 : tensor<4x3xf32>
      %9 = stablehlo.broadcast_in_dim %iterArg_0, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
      %10 = stablehlo.dynamic_update_slice %iterArg_1, %9, %iterArg, %c_3, %c_3 : (tensor<3x4x3xf32>, tensor<1x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x3xf32>
      %11 = stablehlo.broadcast_in_dim %8, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
      %12 = stablehlo.dynamic_update_slice %iterArg_2, %11, %iterArg, %c_3, %c_3 : (tensor<3x4x3xf32>, tensor<1x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x3xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %iterArg, %c_4 : tensor<i32>
      stablehlo.return %13, %8, %10, %12 : tensor<i32>, tensor<4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>
    }
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x3xf32>
    %4:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %2, %iterArg_1 = %3) : tensor<i32>, tensor<4x3xf32>, tensor<3x3x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<2> : tensor<i32>
      %5 = stablehlo.subtract %c_3, %iterArg : tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.dynamic_slice %1#3, %5, %c_4, %c_4, sizes = [1, 4, 3] : (tensor<3x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %8 = stablehlo.multiply %7, %7 : tensor<4x3xf32>
      %9 = stablehlo.subtract %2, %8 : tensor<4x3xf32>
      %10 = stablehlo.multiply %iterArg_0, %9 : tensor<4x3xf32>
      %11 = stablehlo.dynamic_slice %1#2, %5, %c_4, %c_4, sizes = [1, 4, 3] : (tensor<3x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
      %12 = stablehlo.reshape %11 : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %13 = stablehlo.dot_general %12, %10, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
      %15 = stablehlo.dynamic_update_slice %iterArg_1, %14, %5, %c_4, %c_4 : (tensor<3x3x3xf32>, tensor<1x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3x3xf32>
      %16 = stablehlo.dynamic_slice %arg1, %5, %c_4, %c_4, sizes = [1, 3, 3] : (tensor<3x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %18 = stablehlo.dot_general %10, %17, contracting_dims = [1] x [1] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg, %c_5 : tensor<i32>
      stablehlo.return %19, %18, %15 : tensor<i32>, tensor<4x3xf32>, tensor<3x3x3xf32>
    }
    return %4#2 : tensor<3x3x3xf32>
  }
"""
    return module("scan_grad", body), [(x, "f4"), (ws, "f4")], [(dws, "f4")]


def branches():
    """case with a data-dependent index, if, and a branch index out of range."""
    n = Numbers(5)
    x = n.normal(4)
    out0 = each(lambda v: v * v, x)
    out1 = each(lambda v: -v, x)
    body = """  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.case"(%arg0) ({
      %3 = stablehlo.sine %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }, {
      %3 = stablehlo.cosine %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }, {
      %3 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %arg0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%1) ({
      stablehlo.return %arg1 : tensor<4xf32>
    }, {
      %3 = stablehlo.negate %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
"""
    return module("branches", body), [(7, "i4"), (x, "f4")], [(out0, "f4"), (out1, "f4")]


def shard_map_all():
    """Every collective of shard_map once, along dimensions that are not the first."""
    n = Numbers(6)
    x = n.normal(4, 8)  # rows over tp: each device has [1, 8]
    total = [[sum(x[r][c] for r in range(4)) for c in range(8)]]
    # reduce_scatter along dimension 1: device d has columns 2d..2d+1 of the sum, as [1, 2].
    scattered = total
    # all_to_all: dimension 1 in four, concatenated along dimension 0: device d gets [4, 2], columns 2d..
    exchanged = [[x[r][2 * d + c] for c in range(2)] for d in range(4) for r in range(4)]
    # all_gather along dimension 1 of the [1, 2] parts gives the sum on every device.
    gathered = total
    # permute by one: device d has the row of d - 1; the first has zeros.
    shifted = [[0.0] * 8] + x[:3]
    body = """  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>) {
    %0:4 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"tp"}, {}]>] out_shardings=[<@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"tp"}, {}]>] manual_axes={"tp"} (%arg1: tensor<1x8xf32>) {
      %1 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %5 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<1x8xf32>) -> tensor<1x2xf32>
      %2 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "tp">]>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<1x8xf32>) -> tensor<4x2xf32>
      %3 = "stablehlo.all_gather"(%1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x2xf32>) -> tensor<1x8xf32>
      %4 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
      sdy.return %1, %2, %3, %4 : tensor<1x2xf32>, tensor<4x2xf32>, tensor<1x8xf32>, tensor<1x8xf32>
    } : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>
  }
"""
    return (module("collectives", body), [(x, "f4")],
            [(scattered, "f4"), (exchanged, "f4"), (gathered, "f4"), (shifted, "f4")])


def pipeline():
    """Four stages, four steps: each passes its activation on; the device number picks who starts."""
    n = Numbers(7)
    x, ws = n.normal(2, 3), n.normal(4, 3, 3)
    h = x
    for w in ws:
        h = matmul(h, w)
    out = h
    body = """  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}, {}]>}) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"tp"}, {}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"tp"} (%arg2: tensor<2x3xf32>, %arg3: tensor<1x3x3xf32>) {
      %1 = stablehlo.partition_id : tensor<ui32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.compare EQ, %4, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
      %6 = stablehlo.select %5, %arg2, %cst : tensor<i1>, tensor<2x3xf32>
      %7 = stablehlo.reshape %arg3 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %8:2 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %6) : tensor<i32>, tensor<2x3xf32>
      cond {
        %c_3 = stablehlo.constant dense<4> : tensor<i32>
        %11 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %11 : tensor<i1>
      } do {
        %11 = stablehlo.dot_general %iterArg_2, %7, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
        %12 = "stablehlo.collective_permute"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
        %c_3 = stablehlo.constant dense<1> : tensor<i32>
        %13 = stablehlo.add %iterArg, %c_3 : tensor<i32>
        stablehlo.return %13, %12 : tensor<i32>, tensor<2x3xf32>
      }
      %9 = stablehlo.select %5, %8#1, %cst : tensor<i1>, tensor<2x3xf32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %11 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      sdy.return %10 : tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
"""
    return module("pipeline", body), [(x, "f4"), (ws, "f4")], [(out, "f4")]


def bf16_mlp():
    """bfloat16 in and out, products given in float32, hex splats, converts."""
    n = Numbers(8)
    x = each(bf16, n.normal(3, 4))
    w = each(bf16, n.normal(4, 8))
    out = each(lambda v: bf16(rounded(max(v, 0.0))), matmul(x, w))
    body = """  func.func public @main(%arg0: tensor<3x4xbf16>, %arg1: tensor<4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<3x8xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xbf16>, tensor<4x8xbf16>) -> tensor<3x8xf32>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.convert %cst : (tensor<bf16>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.maximum %1, %cst_0 : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %4 = stablehlo.maximum %0, %3 : tensor<3x8xf32>
    %5 = stablehlo.convert %4 : (tensor<3x8xf32>) -> tensor<3x8xbf16>
    return %5 : tensor<3x8xbf16>
  }
"""
    return module("bf16_mlp", body), [(x, "f4"), (w, "f4")], [(out, "f4")]


def adamw():
    """One step of an optimiser: powers, square roots, donated arguments, named results."""
    n = Numbers(9)
    w, g, m, v = n.normal(8, 3), n.normal(8, 3), n.normal(8, 3), each(abs, n.normal(8, 3))
    m1 = each(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v1 = each(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    scale_m, scale_v = 1 - 0.9 ** 3, 1 - 0.999 ** 3
    w1 = each(lambda a, b, c: a - 0.01 * (b / scale_m / (math.sqrt(c / scale_v) + 1e-8) + 0.1 * a), w, m1, v1)
    cut = ' {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>, tf.aliasing_output = %d : i32}'
    out = ' {jax.result_info = "result[\'%s\']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}'
    T = "tensor<8x3xf32>"
    lines = [f"  func.func public @main(%arg0: {T}{cut % 0}, %arg1: {T}, %arg2: {T}{cut % 1}, %arg3: {T}{cut % 2}, %arg4: tensor<i32>)"
             f" -> ({T}{out % 'w'}, {T}{out % 'm'}, {T}{out % 'v'}) {{"]

    def constant(name, value):
        lines.append(f"    %{name} = stablehlo.constant dense<{value:e}> : tensor<f32>")
        lines.append(f"    %{name}_b = stablehlo.broadcast_in_dim %{name}, dims = [] : (tensor<f32>) -> {T}")

    for name, value in (("b1", 0.9), ("c1", 0.1), ("b2", 0.999), ("c2", 0.001), ("lr", 0.01), ("eps", 1e-8), ("wd", 0.1)):
        constant(name, value)
    lines.append(f"""    %0 = stablehlo.multiply %b1_b, %arg2 : {T}
    %1 = stablehlo.multiply %c1_b, %arg1 : {T}
    %2 = stablehlo.add %0, %1 : {T}
    %3 = chlo.square %arg1 : {T} -> {T}
    %4 = stablehlo.multiply %b2_b, %arg3 : {T}
    %5 = stablehlo.multiply %c2_b, %3 : {T}
    %6 = stablehlo.add %4, %5 : {T}
    %7 = stablehlo.convert %arg4 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.power %b1, %7 : tensor<f32>
    %9 = stablehlo.power %b2, %7 : tensor<f32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %one, %8 : tensor<f32>
    %11 = stablehlo.subtract %one, %9 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> {T}
    %13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> {T}
    %14 = stablehlo.divide %2, %12 : {T}
    %15 = stablehlo.divide %6, %13 : {T}
    %16 = stablehlo.sqrt %15 : {T}
    %17 = stablehlo.add %16, %eps_b : {T}
    %18 = stablehlo.divide %14, %17 : {T}
    %19 = stablehlo.multiply %wd_b, %arg0 : {T}
    %20 = stablehlo.add %18, %19 : {T}
    %21 = stablehlo.multiply %lr_b, %20 : {T}
    %22 = stablehlo.subtract %arg0, %21 : {T}
    return %22, %2, %6 : {T}, {T}, {T}
  }}
""")
    return (module("adamw", "\n".join(lines)), [(w, "f4"), (g, "f4"), (m, "f4"), (v, "f4"), (3, "i4")],
            [(w1, "f4"), (m1, "f4"), (v1, "f4")])


def sort_topk():
    """sort of keys with values, arg max, top_k, a running sum, reverse, pad, clamp."""
    x = [[3.0, -1.0, 2.0, 2.5], [0.5, 4.0, -2.0, 1.0]]
    index = [sorted(range(4), key=lambda i: row[i]) for row in x]
    keys = [sorted(row) for row in x]
    best = [max(range(4), key=lambda i: row[i]) for row in x]
    top = [sorted(row, reverse=True)[:2] for row in x]
    where = [sorted(range(4), key=lambda i: -row[i])[:2] for row in x]
    padded = [[2.0] + [min(max(v, -1.0), 2.0) for v in reversed(row)] + [2.0] for row in x]
    body = """  func.func public @main(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<2x4xf32>, tensor<2x4xi32>, tensor<2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x6xf32>) {
    %0 = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.compare  EQ, %arg1, %cst_9,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst_9, %arg1 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare  EQ, %arg2, %cst_9,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %cst_9, %arg2 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare  LT, %8, %10,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %7 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %9 = stablehlo.or %7, %8 : tensor<i1>
      %10 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.and %10, %11 : tensor<i1>
      %13 = stablehlo.or %9, %12 : tensor<i1>
      %14 = stablehlo.select %9, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %15 = stablehlo.select %13, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %14, %15 : tensor<f32>, tensor<i32>
    }
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %3 = stablehlo.reverse %arg0, dims = [1] : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %3, %cst_0, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_1 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.clamp %cst_1, %4, %cst_2 : (tensor<f32>, tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    return %1#0, %1#1, %2#1, %values, %indices, %5 : tensor<2x4xf32>, tensor<2x4xi32>, tensor<2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x6xf32>
  }
"""
    return (module("sort_topk", body), [(x, "f4")],
            [(keys, "f4"), (index, "i4"), (best, "i4"), (top, "f4"), (where, "i4"), (padded, "f4")])


def moe_dense():
    """A mixture of experts by one-hot dispatch: products over several dimensions, integer one-hot, hex data."""
    n = Numbers(10)
    x, w = n.normal(6, 3), n.normal(4, 3, 2)
    expert = [1, 3, 0, 0, 2, 1]
    out = [matmul([x[t]], w[e])[0] for t, e in enumerate(expert)]
    weights = [1.0, 0.5, 2.0, -1.0]
    hexed = struct.pack("<4f", *weights).hex().upper()
    out = [[v * weights[e] for v in row] for row, e in zip(out, expert)]
    body = f"""  func.func public @main(%arg0: tensor<6x3xf32>, %arg1: tensor<4x3x2xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"tp"}}, {{}}, {{}}]>}}, %arg2: tensor<6xi32>) -> (tensor<6x2xf32> {{jax.result_info = "result"}}) {{
    %cst = stablehlo.constant dense<"0x{hexed}"> : tensor<4xf32>
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<6xi32>) -> tensor<6x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<6x4xi32>
    %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<6x4xi32>, tensor<6x4xi32>) -> tensor<6x4xi1>
    %3 = stablehlo.convert %2 : (tensor<6x4xi1>) -> tensor<6x4xf32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<4xf32>) -> tensor<6x4xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<6x4xf32>
    %6 = stablehlo.dot_general %5, %arg0, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<6x4x3xf32>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [1, 2] x [0, 1] : (tensor<6x4x3xf32>, tensor<4x3x2xf32>) -> tensor<6x2xf32>
    return %7 : tensor<6x2xf32>
  }}
"""
    return module("moe_dense", body), [(x, "f4"), (w, "f4"), (expert, "i4")], [(out, "f4")]


def threefry2x32(key, x):
    """Random123's generator: https://doi.org/10.1145/2063384.2063405, section 4.1."""
    mask = 0xFFFFFFFF
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    a, b = (x[0] + keys[0]) & mask, (x[1] + keys[1]) & mask
    for i in range(5):
        for r in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            a = (a + b) & mask
            b = ((b << r | b >> (32 - r)) & mask) ^ a
        a, b = (a + keys[(i + 1) % 3]) & mask, (b + keys[(i + 2) % 3] + i + 1) & mask
    return a, b


def threefry():
    """jax.random.bits: rotations and sums of ui32, sharded; then unsigned quotients and comparisons."""
    assert threefry2x32((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3)) == (0xC4923A9C, 0x483DF7A0)
    key = [0x13198A2E, 0x03707344]
    first = [0x243F6A88, 0, 0xFFFFFFFF, 7, 8]
    second = [0x85A308D3, 0, 0xFFFFFFFF, 0x80000000, 9]
    pairs = [threefry2x32(key, x) for x in zip(first, second)]
    T, cut = "tensor<5xui32>", ' {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}'
    lines = [f"  func.func public @main(%arg0: tensor<2xui32>, %arg1: {T}{cut}, %arg2: {T}{cut})"
             f" -> ({T}{cut}, {T}{cut}, {T}{cut}, tensor<5xi1>{cut}) {{"]

    def emit(name, text):
        lines.append(f"    %{name} = stablehlo.{text} : {T}")
        return name

    def constant(value):
        name = f"c{len(lines)}"
        lines.append(f"    %{name} = stablehlo.constant dense<{value}> : {T}")
        return name

    for i in range(2):
        lines.append(f"    %s{i} = stablehlo.slice %arg0 [{i}:{i + 1}] : (tensor<2xui32>) -> tensor<1xui32>")
        lines.append(f"    %r{i} = stablehlo.reshape %s{i} : (tensor<1xui32>) -> tensor<ui32>")
        lines.append(f"    %k{i} = stablehlo.broadcast_in_dim %r{i}, dims = [] : (tensor<ui32>) -> {T}")
    emit("kx", "xor %k0, %k1")
    emit("k2", f"xor %kx, %{constant(0x1BD11BDA)}")
    a, b = emit("a", "add %arg1, %k0"), emit("b", "add %arg2, %k1")
    for i in range(5):
        for j, r in enumerate(((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]):
            n = f"{i}_{j}"
            a = emit(f"a{n}", f"add %{a}, %{b}")
            left = emit(f"l{n}", f"shift_left %{b}, %{constant(r)}")
            right = emit(f"h{n}", f"shift_right_logical %{b}, %{constant(32 - r)}")
            b = emit(f"o{n}", f"or %{left}, %{right}")
            b = emit(f"b{n}", f"xor %{b}, %{a}")
        a = emit(f"a{i}", f"add %{a}, %k{(i + 1) % 3}")
        b = emit(f"b{i}", f"add %{b}, %k{(i + 2) % 3}")
        b = emit(f"d{i}", f"add %{b}, %{constant(i + 1)}")
    emit("q", f"remainder %{a}, %{constant(3000000000)}")
    lines.append(f"    %p = stablehlo.compare LT, %{a}, %{b}, UNSIGNED : ({T}, {T}) -> tensor<5xi1>")
    lines.append(f"    return %{a}, %{b}, %q, %p : {T}, {T}, {T}, tensor<5xi1>")
    outs = [[x for x, _ in pairs], [y for _, y in pairs], [x % 3000000000 for x, _ in pairs], [x < y for x, y in pairs]]
    return (module("threefry", "\n".join(lines) + "\n  }\n"), [(key, "u4"), (first, "u4"), (second, "u4")],
            [(outs[0], "u4"), (outs[1], "u4"), (outs[2], "u4"), (outs[3], "b1")])


def threefry_bits():
    """Bits of Threefry in every width: two per counter, side by side along an even dimension or the longest; one of 64."""
    state = [0x0123456789ABCDEF, 0xFFFFFFFE]

    def words(counter):
        return threefry2x32((state[0] & 0xFFFFFFFF, state[0] >> 32), (counter & 0xFFFFFFFF, counter >> 32))

    def bits(dims, width):
        """Row-major; `d` is the dimension along which the words of a counter follow each other."""
        if width == 64:
            return [(lambda w: w[0] | w[1] << 32)(words(state[1] + i)) for i in range(math.prod(dims))], math.prod(dims)
        d = next((i for i, n in enumerate(dims) if n % 2 == 0), dims.index(max(dims)) if dims else 0)
        half = [(n + 1) // 2 if i == d else n for i, n in enumerate(dims)]
        out = []
        for index in itertools.product(*(range(n) for n in dims)):
            counter = 0
            for i, n in enumerate(half):
                counter = counter * n + (index[i] // 2 if i == d else index[i])
            out.append(words(state[1] + counter)[index[d] % 2 if dims else 0] & (1 << width) - 1)
        return out, math.prod(half)

    def nested(values, dims):
        if not dims:
            return values[0]
        step = len(values) // dims[0]
        return [nested(values[i * step:(i + 1) * step], dims[1:]) for i in range(dims[0])]

    forms = [([4, 6], 32), ([3, 5], 32), ([3, 5, 2], 32), ([2, 3], 64), ([5], 16), ([8], 8), ([], 32)]
    lines, types, outputs = [], [], []
    for i, (dims, width) in enumerate(forms):
        types.append(f"tensor<{''.join(f'{n}x' for n in dims)}ui{width}>")
        lines.append(f"    %{2 * i}, %{2 * i + 1} = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY "
                     f": (tensor<2xui64>) -> (tensor<2xui64>, {types[-1]})")
        values, count = bits(dims, width)
        outputs.append(([state[0], state[1] + count], "u8"))
        outputs.append((nested(values, dims), f"u{width // 8}"))
    results = ", ".join(f"tensor<2xui64>, {t}" for t in types)
    names = ", ".join(f"%{i}" for i in range(2 * len(forms)))
    body = (f"  func.func public @main(%arg0: tensor<2xui64>) -> ({results}) {{\n" + "\n".join(lines)
            + f"\n    return {names} : {results}\n  }}\n")
    return module("threefry_bits", body), [(state, "u8")], outputs


def loop_bounded_by_argument():
    """fori_loop(0, n) on four devices, with n an argument: as many all_reduces as passes. The value of n is an input."""
    passes, x = 7, Numbers(61).normal(8, 4)
    body = """  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg1: tensor<i32>)
      -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<8x4xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%iterArg_0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %cst_1 = stablehlo.constant dense<1.562500e-02> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %4 = stablehlo.multiply %2, %3 : tensor<8x4xf32>
      %5 = stablehlo.subtract %iterArg_0, %4 : tensor<8x4xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %6, %5 : tensor<i32>, tensor<8x4xf32>
    }
    return %0#1, %0#0 : tensor<8x4xf32>, tensor<i32>
  }
"""
    y = x
    for _ in range(passes):
        total = sum(flat(y))
        y = each(lambda v: v - total / 64, y)
    return module("loop_bounded_by_argument", body), [(x, "f4"), (passes, "i4")], [(y, "f4"), (passes, "i4")]


def narrow():
    """Element types that JAX uses beside f32: fp8 constants and conversions, ui64, i16, ui16, shifts that cross signs."""
    x = [0.3, -1.0625, 448.0, 500.0, 1e-3, 70000.0]
    big = [2**64 - 1, 2**63, 5, 2**40 + 3, 1, 0]
    short = [-32768, 32767, -1, 300, 0, 7]
    e4m3 = [0.3125, -1.0, 448.0, math.nan, 0.001953125, math.nan]
    e5m2 = [0.3125, -1.0, 448.0, 512.0, 0.0009765625, math.inf]
    scaled = [v * 1.5 for v in (1.0, 2.0, -0.5, 448.0, 0.0, 3.0)]
    U, S = "tensor<6xui64>", "tensor<6xi16>"
    body = f"""  func.func public @main(%arg0: tensor<6xf32>, %arg1: {U}, %arg2: {S}) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, {U}, {U}, {S}, tensor<6xui16>) {{
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %2 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf8E5M2>
    %3 = stablehlo.convert %2 : (tensor<6xf8E5M2>) -> tensor<6xf32>
    %cst = stablehlo.constant dense<"0x3840B07E0044"> : tensor<6xf8E4M3FN>
    %4 = stablehlo.convert %cst : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<6xf32>
    %5 = stablehlo.multiply %4, %cst_0 : tensor<6xf32>
    %c = stablehlo.constant dense<3> : {U}
    %6 = stablehlo.divide %arg1, %c : {U}
    %7 = stablehlo.maximum %6, %arg1 : {U}
    %8 = stablehlo.negate %arg1 : {U}
    %c_1 = stablehlo.constant dense<4> : {S}
    %9 = stablehlo.shift_right_logical %arg2, %c_1 : {S}
    %10 = stablehlo.convert %arg2 : ({S}) -> tensor<6xui16>
    %c_2 = stablehlo.constant dense<1> : tensor<6xui16>
    %11 = stablehlo.shift_right_arithmetic %10, %c_2 : tensor<6xui16>
    return %1, %3, %5, %7, %8, %9, %11 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, {U}, {U}, {S}, tensor<6xui16>
  }}
"""
    return (module("narrow", body), [(x, "f4"), (big, "u8"), (short, "i2")],
            [(e4m3, "f4"), (e5m2, "f4"), (scaled, "f4"), (big, "u8"), ([-v % 2**64 for v in big], "u8"),
             ([(v % 2**16) >> 4 for v in short], "i2"), ([(v >> 1) % 2**16 for v in short], "u2")])


CASES = [embed_grad, loss_labels, attention, scan_grad, branches, shard_map_all, pipeline, bf16_mlp, adamw, sort_topk,
         moe_dense, threefry, threefry_bits, loop_bounded_by_argument, narrow]
# The minimum that XLA would need, as the limit for imports: collectives in the text or implied by the shardings.
COLLECTIVES = {"embed_grad": 1, "attention": 2, "shard_map_all": 4, "pipeline": 5, "moe_dense": 1, "scan_grad": 1,
               "convolutions_along_cuts": 11, "windows_along_cuts": 1, "loop_bounded_by_argument": 7}
# Bytes per rank of XLA's collectives. Along a cut dimension each sends the elements that the next part lacks.
BYTES = {"convolutions_along_cuts": 4 * (2 * 8 + 24 + 2 * 30 + 8 + 2 * 8 + 60 + 2 * 8), "windows_along_cuts": 4 * 2}
ATOL = {"adamw": 3e-5, "bf16_mlp": 1e-2}


def write_cases(cases):
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for make in cases:
        text, inputs, outputs = make()
        folder = root / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stablehlo.mlir").write_text(text)
        for i, (value, kind) in enumerate(inputs):
            write_npy(folder / f"in{i}.npy", value, kind)
        for i, (value, kind) in enumerate(outputs):
            write_npy(folder / f"out{i}.npy", value, kind)
        about = {"note": " ".join((make.__doc__ or "").split()), "atol": ATOL.get(make.__name__, 1e-5)}
        if make.__name__ in COLLECTIVES:
            about["compiled_collectives"] = {"any": COLLECTIVES[make.__name__]}
        if make.__name__ in BYTES:
            about["compiled_bytes"] = BYTES[make.__name__]
        (folder / "case.json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    write_cases(CASES)
