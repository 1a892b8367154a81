#!/usr/bin/env python3
"""Imports texts of other compilers that are written by hand: unusual forms, one per topic. `module_texts.py HOSTIR [CASE...]`.

A case has a text, inputs, and the results it must give; or the message with which it is refused. `layouts` lists the
layouts that the import must find for results of HLO without being told their shapes. Without outputs, it is only imported.
"""
import cmath
import math
import pathlib
import struct
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from cases import run

CASES = {}


def case(name, text, inputs=(), outputs=(), layouts="", refuses="", notes="", options=()):
    assert name not in CASES, name
    CASES[name] = (text.strip() + "\n", inputs, outputs, layouts, refuses, notes, options)


def flat(values):
    return [x for v in values for x in flat(v)] if isinstance(values, list) else [values]


def tensor(values, dtype="f32"):
    """Nested lists as the command line's `2x3xf32=[..]`."""
    dims, at = [], values
    while isinstance(at, list):
        dims.append(len(at))
        at = at[0] if at else 0
    return "x".join(map(str, dims + [dtype])) + "=[" + " ".join(str(v) for v in flat(values)) + "]"


def count(*dims, start=0, by=1):
    """0, 1, 2, ... in this shape."""
    if not dims:
        return start
    step = by
    for d in dims[1:]:
        step *= d
    return [count(*dims[1:], start=start + i * step, by=by) for i in range(dims[0])]


def each(f, *values):
    return [each(f, *v) for v in zip(*values)] if isinstance(values[0], list) else f(*values)


# ---- layouts of HLO results

X = count(8, 4)
TO_COLUMNS = """
HloModule m, is_scheduled=true, num_partitions=4
ENTRY main {
  x = f32[4,2]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}
  apart = f32[4,1,2,1]{2,0,3,1} bitcast(x)
  a = f32[4,1,1,1]{3,2,1,0} slice(apart), slice={[0:4], [0:1], [0:1], [0:1]}
  b = f32[4,1,1,1]{3,2,1,0} slice(apart), slice={[0:4], [0:1], [1:2], [0:1]}
  moved = (f32[4,1,1,1]{3,2,1,0}, f32[4,1,1,1]{3,2,1,0}) all-to-all(a, b), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0)
  c = f32[4,1,1,1]{3,2,1,0} get-tuple-element(moved), index=0
  d = f32[4,1,1,1]{3,2,1,0} get-tuple-element(moved), index=1
  joined = f32[4,1,2,1]{3,2,1,0} concatenate(c, d), dimensions={2}
  turned = f32[2,4,1,1]{3,0,2,1} transpose(joined), dimensions={2,0,1,3}
  copied = f32[2,4,1,1]{3,2,1,0} copy(turned)
"""
case("all_to_all_of_slices", TO_COLUMNS + """
  rows = f32[8,1]{0,1} bitcast(copied)
  ROOT r = f32[8,1]{1,0} negate(rows)
}""", [tensor(X)], [tensor(each(lambda x: -x, X))], layouts="0 as [{}, {a1, a0}]")

case("all_to_all_there_and_back", TO_COLUMNS + """
  rows = f32[1,8,1,1]{1,3,2,0} bitcast(copied)
  twice = f32[1,8,1,1]{3,2,1,0} add(rows, rows)
  back = (f32[1,8,1,1]{3,2,1,0}, f32[1,8,1,1]{3,2,1,0}) all-to-all(rows, twice), channel_id=2, replica_groups=[2,2]<=[2,2]T(1,0)
  e = f32[1,8,1,1]{3,2,1,0} get-tuple-element(back), index=0
  f = f32[1,8,1,1]{3,2,1,0} get-tuple-element(back), index=1
  both = f32[2,8,1,1]{3,2,1,0} concatenate(e, f), dimensions={0}
  placed = f32[8,1,2,1]{3,1,0,2} transpose(both), dimensions={1,2,0,3}
  flat = f32[8,1,2,1]{3,2,1,0} copy(placed)
  ROOT r = f32[8,2]{1,0} bitcast(flat)
}""", [tensor(X)], [tensor(X + each(lambda x: 2 * x, X))], layouts="0 as [{a0}, {a1}]")

case("all_to_all_of_one_operand", """
HloModule m, num_partitions=2
ENTRY main {
  x = f32[2,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  blocks = f32[2,2,2]{2,1,0} reshape(x)
  moved = f32[2,2,2]{2,1,0} all-to-all(blocks), channel_id=1, replica_groups={{0,1}}, dimensions={1}
  turned = f32[2,2,2]{2,1,0} transpose(moved), dimensions={1,0,2}
  ROOT r = f32[4,2]{1,0} reshape(turned)
}""", [tensor(count(4, 4))], [tensor(count(4, 4))], layouts="0 as [{}, {a0}]")

# Groups of two among four devices of one axis; a permutation that turns the order of the axes around.
case("parts_of_an_axis", """
HloModule m, num_partitions=8
ENTRY main {
  x = f32[2,4]{1,0} parameter(0), sharding={devices=[8,1]<=[8]}
  y = f32[2,4]{1,0} parameter(1), sharding={devices=[2,4]<=[8]}
  all = f32[4,4]{1,0} all-gather(x), channel_id=1, replica_groups=[4,2]<=[8], dimensions={0}, use_global_device_ids=true
  turned = f32[2,4]{1,0} collective-permute(x), channel_id=2, source_target_pairs={{0,0},{1,4},{2,1},{3,5},{4,2},{5,6},{6,3},{7,7}}
  ROOT r = (f32[4,4]{1,0}, f32[2,4]{1,0}) tuple(all, turned)
}""", [tensor(count(16, 4)), tensor(count(4, 16))], [tensor(count(16, 4)), tensor(count(16, 4))],
     layouts="0 as [{a0, a1:(1)2}, {}], 1 as [{a1, a0}, {}]")

ROWS = count(8, 2)
case("groups_that_are_no_axis", """
HloModule m, num_partitions=4
ENTRY main {
  x = f32[2,2]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT r = f32[4,2]{1,0} all-gather(x), channel_id=1, replica_groups={{0,2},{1,3}}, dimensions={0}, use_global_device_ids=true
}""", [tensor(ROWS)], [tensor((ROWS[0:2] + ROWS[4:6] + ROWS[2:4] + ROWS[6:8]) * 2)], layouts="0 as [{a0:(2)2}, {}]",
     notes="result 0, %r: in the order of the parameters, dimension 0 is {2, a0:(2)2, 2}, the major part first; no sharding expresses this")

# A sum over the major part of a cut dimension, combined in both orders with values that are still
# cut over the whole axis.
SUMMED = """
HloModule m, is_scheduled=true, num_partitions=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[2,2]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}
  sum = f32[2,2]{1,0} all-reduce(x), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
"""
SUMS = each(lambda a, b: a + b, ROWS, ROWS[4:] + ROWS[:4])
case("a_sum_over_a_major_part_and_a_whole_value", SUMMED + """
  before = f32[2,2]{1,0} multiply(sum, x)
  after = f32[2,2]{1,0} multiply(x, sum)
  side = f32[2,4]{1,0} concatenate(sum, x), dimensions={1}
  zero = s32[] constant(0)
  sums = f32[2,4]{1,0} concatenate(sum, sum), dimensions={1}
  wide = f32[2,4]{1,0} dynamic-update-slice(sums, x, zero, zero)
  ROOT r = (f32[2,2]{1,0}, f32[2,2]{1,0}, f32[2,4]{1,0}, f32[2,4]{1,0}) tuple(before, after, side, wide)
}""", [tensor(ROWS)],
     [tensor(each(lambda a, b: a * b, SUMS, ROWS))] * 2 +
     [tensor([a + b for a, b in zip(SUMS, ROWS)]), tensor([b + a for a, b in zip(SUMS, ROWS)])],
     layouts="0 as [{a0}, {}], 1 as [{a0}, {}], 2 as [{a0}, {}], 3 as [{a0}, {}]")

case("a_batch_that_only_the_second_factor_has_whole", SUMMED + """
  ROOT r = f32[2]{0} dot(sum, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
}""", [tensor(ROWS)], [tensor([a[0] * b[0] + a[1] * b[1] for a, b in zip(SUMS, ROWS)])], layouts="0 as [{a0}]")

case("a_gathered_major_axis_is_a_local_index", """
HloModule m, num_partitions=4
ENTRY main {
  x = f32[2,2]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}
  all = f32[4,2]{1,0} all-gather(x), channel_id=1, replica_groups={{0,2},{1,3}}, dimensions={0}, use_global_device_ids=true
  ROOT r = f32[2,2,2]{2,1,0} reshape(all)
}""", [tensor(ROWS)], [tensor([ROWS[0:4], ROWS[4:8]])], layouts="0 as [{}, {a0:(2)2}, {}]")

case("blocks_of_an_all_to_all_have_gaps", """
HloModule m, num_partitions=2
ENTRY main {
  x = f32[2,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  blocks = f32[2,2,2]{2,1,0} reshape(x)
  ROOT moved = f32[2,2,2]{2,1,0} all-to-all(blocks), channel_id=1, replica_groups={{0,1}}, dimensions={1}
}""", [tensor(count(4, 4))], [tensor([[[4 * (2 * j + r) + 2 * d + c for c in (0, 1)] for d in (0, 1) for j in (0, 1)] for r in (0, 1)])],
     layouts="0 as [{}, {a0}, {}]", notes="dimension 1 is {2, a0}, the major part first; no sharding expresses this")

case("indices_from_the_device_number", """
HloModule m, num_partitions=4
ENTRY main {
  x = f32[8]{0} parameter(0), sharding={replicated}
  id = u32[] partition-id()
  n = s32[] convert(id)
  two = s32[] constant(2)
  first = s32[] multiply(n, two)
  firsts = s32[2]{0} broadcast(first), dimensions={}
  iota = s32[2]{0} iota(), iota_dimension=0
  mine = s32[2]{0} add(iota, firsts)
  wide = s32[2,8]{1,0} broadcast(mine), dimensions={0}
  column = s32[2,8]{1,0} iota(), iota_dimension=1
  same = pred[2,8]{1,0} compare(wide, column), direction=EQ
  values = f32[2,8]{1,0} broadcast(x), dimensions={1}
  zero = f32[] constant(0)
  zeros = f32[2,8]{1,0} broadcast(zero), dimensions={}
  ROOT r = f32[2,8]{1,0} select(same, values, zeros)
}""", [tensor(count(8, start=1))],
     [tensor([[i + 1 if i == j else 0 for j in range(8)] for i in range(8)])], layouts="0 as [{a0}, {}]")

case("an_update_at_a_device's_place_is_not_whole", """
HloModule m, num_partitions=2
ENTRY main {
  x = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}
  cache = f32[4,2]{1,0} parameter(1), sharding={devices=[1,2]<=[2]}
  row = f32[1,2]{1,0} reshape(x)
  one = s32[] constant(1)
  zero = s32[] constant(0)
  ROOT r = f32[4,2]{1,0} dynamic-update-slice(cache, row, one, zero)
}""", [tensor([9, 8, 7, 6]), tensor(count(4, 4))], [tensor([[0, 1, 2, 3], [9, 8, 7, 6], *count(2, 4, start=8)])],
     layouts="0 as [{}, {a0}]")

case("written_shardings_of_a_tuple", """
HloModule m, num_partitions=2
ENTRY main {
  p = (f32[2]{0}, f32[2]{0}) parameter(0), sharding={{devices=[2]<=[2]}, {replicated}}
  a = f32[2]{0} get-tuple-element(p), index=0
  b = f32[2]{0} get-tuple-element(p), index=1
  s = f32[2]{0} add(a, b)
  ROOT r = (f32[2]{0}, f32[2]{0}) tuple(s, b), sharding={{devices=[2]<=[2]}, {replicated}}
}""", [tensor([1, 2, 3, 4]), tensor([10, 20])], [tensor([11, 22, 13, 24]), tensor([10, 20])])

case("written_shardings_need_an_axis_of_their_own", """
HloModule m, num_partitions=4
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  ROOT r = f32[2]{0} negate(p), sharding={devices=[4]<=[4]}
}""", [tensor([1, 2, 3, 4])], [tensor([-1, -2, -1, -2, -3, -4, -3, -4])])

case("a_written_sharding_that_cannot_be_read", """
HloModule m, num_partitions=2
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}
  q = f32[2]{0} negate(p)
  ROOT r = (f32[2]{0}, f32[2]{0}) tuple(p, q), sharding={{replicated}, {what}}
}""", refuses="error[import_c8]: sharding={what} of result 1, %q is in a form that cannot be read")

case("a_written_sharding_of_another_mesh", """
HloModule m, num_partitions=6
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2,3]<=[6] last_tile_dim_replicate}
  ROOT r = f32[2]{0} negate(p), sharding={devices=[3,2]<=[6] last_tile_dim_replicate}
}""", refuses="error[import_c8]: the sharding of result 0, %r does not match the mesh that the parameters' shardings use")

case("fewer_written_shardings_than_results", """
HloModule m, num_partitions=2
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}
  ROOT r = (f32[2]{0}, f32[2]{0}) tuple(p, p), sharding={{replicated}}
}""", refuses="error[import_c8]: sharding={{replicated}} of the ROOT instruction is not a sharding for each of its 2 results")

# ---- memory order

case("bitcast_in_equal_tiles", """
HloModule m
ENTRY main {
  x = f32[2,8,128]{2,1,0:T(8,128)} parameter(0)
  ROOT r = f32[2,1,8,128]{3,2,1,0:T(8,128)S(1)} bitcast(x)
}""",
     [tensor(count(2, 8, 128))], [tensor(count(2, 1, 8, 128))])

case("bitcast_between_tiles", """
HloModule m
ENTRY main {
  x = f32[16,256]{1,0:T(8,128)} parameter(0)
  ROOT r = f32[4096]{0:T(1024)} bitcast(x)
}""", refuses="error[import_c8]: %r is a bitcast from f32[16,256]{1,0:T(8,128)} to f32[4096]{0:T(1024)}: "
              "it rearranges elements in tiles, which is not followed")

case("bitcast_turns_memory", """
HloModule m
ENTRY main {
  x = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[3,2]{1,0} bitcast(x)
}""", [tensor(count(2, 3))], [tensor([[0, 3], [1, 4], [2, 5]])])


# ---- bf16


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


HALVES = [bf16(x) for x in (0.01, 0.3, -0.2, 1.7, 0.004, -0.9, 2.3, 0.077)]
case("bf16_arithmetic_is_widened_before_it_is_rounded", """
module @m {
  func.func public @main(%a: tensor<8xbf16>, %b: tensor<8xbf16>) -> (tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>) {
    %0 = stablehlo.multiply %a, %b : tensor<8xbf16>
    %1 = stablehlo.convert %0 : (tensor<8xbf16>) -> tensor<8xf32>
    %2 = stablehlo.add %0, %a : tensor<8xbf16>
    %3 = stablehlo.maximum %2, %2 : tensor<8xbf16>
    %4 = stablehlo.convert %3 : (tensor<8xbf16>) -> tensor<8xf32>
    return %1, %2, %4 : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>
  }
}""", [tensor(HALVES, "bf16"), tensor(HALVES[::-1], "bf16")],
     [tensor([x * y for x, y in zip(HALVES, HALVES[::-1])]),
      tensor([bf16(bf16(x * y) + x) for x, y in zip(HALVES, HALVES[::-1])], "bf16"),
      tensor([bf16(bf16(x * y) + x) for x, y in zip(HALVES, HALVES[::-1])])])

case("bf16_functions_are_rounded_once", """
module @m {
  func.func public @main(%a: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
    %0 = stablehlo.exponential_minus_one %a : tensor<8xbf16>
    %1 = stablehlo.log_plus_one %a : tensor<8xbf16>
    %2 = chlo.atan %a : tensor<8xbf16> -> tensor<8xbf16>
    return %0, %1, %2 : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>
  }
}""", [tensor(HALVES, "bf16")], [tensor([bf16(f(x)) for x in HALVES], "bf16") for f in (math.expm1, math.log1p, math.atan)])


# ---- scatter, and the devices of a collective

case("scatters_that_set_subtract_and_take_the_maximum", """
module @m {
  func.func public @main(%x: tensor<4x2xf32>, %i: tensor<3x1xi32>, %u: tensor<3x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
    %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %2 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %b, %a : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  }
}""", [tensor(count(4,2)), tensor([[2],[7],[0]],"i32"), tensor([[10,1],[30,30],[50,-5]])],
 [tensor([[50,-5],[2,3],[10,1],[6,7]]), tensor([[-50,6],[2,3],[-6,4],[6,7]]), tensor([[50,1],[2,3],[10,5],[6,7]])])

case("a_window_partly_out_of_bounds_is_dropped", """
module @m {
  func.func public @main(%x: tensor<4x4xf32>, %i: tensor<2x2xi32>, %u: tensor<2x2x2xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<2x2xi32>, tensor<2x2x2xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}""", [tensor([[0]*4]*4), tensor([[2,0],[3,1]],"i32"), tensor([[[1,2],[3,4]],[[5,6],[7,8]]])], [tensor([[0,0,1,2],[0,0,3,4],[0,0,0,0],[0,0,0,0]])])

case("starts_and_dones_of_every_collective", """
HloModule m, is_scheduled=true, num_partitions=2
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
%w_rs (p: f32[4]) -> f32[2] {
  %p = f32[4]{0} parameter(0)
  ROOT %rs = f32[2]{0} reduce-scatter(%p), channel_id=4, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true, to_apply=%add
}
%w_a2a (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %rs = f32[4]{0} all-to-all(%p), channel_id=4, replica_groups=[1,2]<=[2], dimensions={0}
}
ENTRY %main (p: f32[4]) -> (f32[4], f32[8], f32[4], f32[2], f32[4]) {
  %p = f32[4]{0} parameter(0), sharding={devices=[2]<=[2]}
  %ars = f32[4]{0} all-reduce-start(%p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%add
  %ags = (f32[4]{0}, f32[8]{0}) all-gather-start(%p), channel_id=2, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  %cps = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(%p), channel_id=3, source_target_pairs={{0,1}}
  %rss = ((f32[4]{0}), f32[2]{0}) async-start(%p), calls=%w_rs
  %a2s = ((f32[4]{0}), f32[4]{0}) async-start(%p), calls=%w_a2a
  %ar = f32[4]{0} all-reduce-done(%ars)
  %ag = f32[8]{0} all-gather-done(%ags)
  %cp = f32[4]{0} collective-permute-done(%cps)
  %rsu = ((f32[4]{0}), f32[2]{0}) async-update(%rss)
  %rs = f32[2]{0} async-done(%rsu)
  %a2 = f32[4]{0} async-done(%a2s)
  ROOT %t = (f32[4]{0}, f32[8]{0}, f32[4]{0}, f32[2]{0}, f32[4]{0}) tuple(%ar, %ag, %cp, %rs, %a2)
}
""", [tensor([1,2,3,4,5,6,7,8])], [tensor([6,8,10,12]), tensor([1,2,3,4,5,6,7,8]), tensor([0,0,0,0,1,2,3,4]), tensor([6,8,10,12]), tensor([1,2,5,6,3,4,7,8])])

case("starts_without_a_computation", """
HloModule m, is_scheduled=true, num_partitions=2
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
ENTRY %main (p: f32[4]) -> (f32[2], f32[4], f32[4]) {
  %p = f32[4]{0} parameter(0), sharding={devices=[2]<=[2]}
  %rss = ((f32[4]{0}), f32[2]{0}) reduce-scatter-start(%p), channel_id=4, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true, to_apply=%add
  %a2s = ((f32[4]{0}), f32[4]{0}) all-to-all-start(%p), channel_id=4, replica_groups=[1,2]<=[2], dimensions={0}
  %cb = ((f32[4]{0}), f32[4]{0}) collective-broadcast-start(%p), channel_id=5, replica_groups={{1,0}}
  %rs = f32[2]{0} reduce-scatter-done(%rss)
  %a2 = f32[4]{0} all-to-all-done(%a2s)
  %cbd = f32[4]{0} collective-broadcast-done(%cb)
  ROOT %t = (f32[2]{0}, f32[4]{0}, f32[4]{0}) tuple(%rs, %a2, %cbd)
}
""", [tensor([1,2,3,4,5,6,7,8])], [tensor([6,8,10,12]), tensor([1,2,5,6,3,4,7,8]), tensor([5,6,7,8])])

case("starts_of_several_tensors", """
HloModule m, is_scheduled=true, num_partitions=2
%max (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] maximum(%b, %a)
}
ENTRY %main (p: f32[4], q: s32[2]) -> (f32[4], f32[2,4], f32[8]) {
  %p = f32[4]{0} parameter(0), sharding={devices=[2]<=[2]}
  %q = s32[2]{0} parameter(1), sharding={devices=[2]<=[2]}
  %b = f32[2,4]{1,0} broadcast(%p), dimensions={1}
  %ars = (f32[4]{0}, f32[2,4]{1,0}) all-reduce-start(%p, %b), channel_id=1, replica_groups={}, use_global_device_ids=true, to_apply=%max
  %ar = (f32[4]{0}, f32[2,4]{1,0}) all-reduce-done(%ars)
  %x = f32[4]{0} get-tuple-element(%ar), index=0
  %y = f32[2,4]{1,0} get-tuple-element(%ar), index=1
  %ags = ((f32[4]{0}, s32[2]{0}), (f32[8]{0}, s32[4]{0})) all-gather-start(%p, %q), channel_id=2, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  %ag = (f32[8]{0}, s32[4]{0}) all-gather-done(%ags)
  %g = f32[8]{0} get-tuple-element(%ag), index=0
  ROOT %t = (f32[4]{0}, f32[2,4]{1,0}, f32[8]{0}) tuple(%x, %y, %g)
}
""", [tensor([1,2,3,4,5,6,7,8][::-1]), tensor([1,2,3,4],"i32")], [tensor([8,7,6,5]), tensor([[8,7,6,5]]*2), tensor([8,7,6,5,4,3,2,1])])

case("groups_as_a_turned_iota", """
HloModule m, num_partitions=8
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  p = f32[1]{0} parameter(0), sharding={devices=[8]<=[8]}
  ROOT c = f32[1]{0} all-reduce(p), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, to_apply=add
}
""", [tensor([1,2,3,4,5,6,7,8])], [tensor([16,20]*4)])

case("a_group_of_replicas_has_all_their_devices", """
HloModule m, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}
  ROOT c = f32[2]{0} all-reduce(p), channel_id=1, replica_groups={{0}}, to_apply=add
}
""", [tensor([1,2,3,4])], [tensor([4,6,4,6])])

case("without_a_channel_every_device_is_a_replica_alone", """
HloModule m, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  p = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}
  ROOT c = f32[2]{0} all-reduce(p), replica_groups={}, to_apply=add
}
""", [tensor([1,2,3,4])], [tensor([1,2,3,4])])

case("several_replicas", """
HloModule m, replica_count=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  p = f32[2]{0} parameter(0)
  ROOT c = f32[2]{0} all-reduce(p), replica_groups={}, to_apply=add
}
""", refuses="error[import_c8]: replica_count=2: the text does not say what each replica gets; compile for one replica of 2 partitions")


# ---- reducers and comparisons


def reduces(name, body, values, indices):
    """A reduction of two rows with their indices: `body` makes %8 and %9 of (%a, %c) and (%b, %d)."""
    case(name, """
module @m {
  func.func public @main(%%x: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %%i = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %%n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %%z = stablehlo.constant dense<0> : tensor<i32>
    %%0:2 = stablehlo.reduce(%%x init: %%n), (%%i init: %%z) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%%a: tensor<f32>, %%b: tensor<f32>) (%%c: tensor<i32>, %%d: tensor<i32>)  {
%s
      stablehlo.return %%8, %%9 : tensor<f32>, tensor<i32>
    }
    return %%0#0, %%0#1 : tensor<2xf32>, tensor<2xi32>
  }
}""" % body, [tensor([[1, 5, 5, 2], [7, 0, 7, 7]])], [tensor(values), tensor(indices, "i32")])


reduces("the_last_of_the_largest", """      %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %n5 = stablehlo.not %5 : tensor<i1>
      %6 = stablehlo.and %4, %n5 : tensor<i1>
      %7 = stablehlo.or %1, %6 : tensor<i1>
      %8 = stablehlo.select %7, %a, %b : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %7, %c, %d : tensor<i1>, tensor<i32>""", [5, 7], [2, 3])

reduces("the_first_of_the_largest", """      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.minimum %c, %d : tensor<i32>
      %6 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
      %9 = stablehlo.select %4, %5, %6 : tensor<i1>, tensor<i32>""", [5, 7], [1, 0])

reduces("the_largest_value_and_the_largest_index", """      %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %8 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %5, %d, %c : tensor<i1>, tensor<i32>""", [5, 7], [3, 3])



def argmax(name, row, indices, index_type, init, outputs):
    """JAX's argmax of `row`, with these indices and the initial index `init`."""
    case(name, f"""
module @m {{
  func.func public @main(%x: tensor<2x4xf32>, %i: tensor<2x4x{index_type}>) -> (tensor<2xf32>, tensor<2x{index_type}>) {{
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<{init}> : tensor<{index_type}>
    %0:2 = stablehlo.reduce(%x init: %n), (%i init: %z) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4x{index_type}>, tensor<f32>, tensor<{index_type}>) -> (tensor<2xf32>, tensor<2x{index_type}>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<{index_type}>, %d: tensor<{index_type}>)  {{
      %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.or %1, %2 : tensor<i1>
      %4 = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %c, %d : (tensor<{index_type}>, tensor<{index_type}>) -> tensor<i1>
      %6 = stablehlo.and %4, %5 : tensor<i1>
      %7 = stablehlo.or %3, %6 : tensor<i1>
      %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %7, %c, %d : tensor<i1>, tensor<{index_type}>
      stablehlo.return %8, %9 : tensor<f32>, tensor<{index_type}>
    }}
    return %0#0, %0#1 : tensor<2xf32>, tensor<2x{index_type}>
  }}
}}""", [tensor(row), tensor(indices, index_type)], outputs)


argmax("an_initial_index_wins_in_a_row_of_initial_values", [["-inf"] * 4, [3, "-inf", 4, 4]], [[0, 1, 2, 3]] * 2, "i32", -1,
       [tensor(["-inf", 4]), tensor([-1, 2], "i32")])
argmax("an_initial_index_above_the_others", [["-inf"] * 4, [3, "nan", 4, "nan"]], [[7, 6, 8, 9]] * 2, "i32", 7,
       [tensor(["-inf", "nan"]), tensor([6, 6], "i32")])
argmax("indices_of_f32", [[1, 5, 5, 2], [7, 0, 7, 7]], [[0.5, 1.5, 2.5, 3.5]] * 2, "f32", "0.0",
       [tensor([5, 7]), tensor([1.5, 0.5])])

case("the_first_positive_is_not_the_largest", """
module @m {
  func.func public @main(%x: tensor<2x4xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
    %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %n = stablehlo.constant dense<-2147483648> : tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%x init: %n), (%i init: %z) across dimensions = [1] : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
     reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>)  {
      %k = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare GT, %a, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %2 = stablehlo.compare GT, %b, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.not %2 : tensor<i1>
      %4 = stablehlo.and %1, %3 : tensor<i1>
      %5 = stablehlo.xor %1, %3 : tensor<i1>
      %6 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %s = stablehlo.and %5, %6 : tensor<i1>
      %7 = stablehlo.or %4, %s : tensor<i1>
      %8 = stablehlo.select %7, %a, %b : tensor<i1>, tensor<i32>
      %9 = stablehlo.select %7, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %8, %9 : tensor<i32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
  }
}""", [tensor([[0, 2, 5, 1], [-3, 0, 7, 9]], "i32")], [tensor([2, 7], "i32"), tensor([1, 2], "i32")])

case("total_order_and_unsigned_order", """
module @m {
  func.func public @main(%x: tensor<3xui32>, %y: tensor<3xui32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xi1>, tensor<3xi1>) {
    %0 = stablehlo.compare  LT, %x, %y,  UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
    %1 = stablehlo.compare  LT, %a, %b,  TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    return %0, %1 : tensor<3xi1>, tensor<3xi1>
  }
}""", ["3xu32=[1 4294967295 2147483648]", "3xu32=[2 1 1]", "3xf32=[-0 1 nan]", "3xf32=[0 2 1]"], ["3xi1=[1 0 0]", "3xi1=[1 1 0]"])


# ---- complex numbers

A = [[1, 2, -1, 0.5], [0.25, -3, 2, 1]]
B = [[0.5, 1, 1, -2], [1, 0.1, -0.2, 3]]
Z = each(lambda a, b: complex(a, b), A, B)
RE = lambda v: each(lambda z: z.real, v)
IM = lambda v: each(lambda z: z.imag, v)
W = each(lambda z: (z * (2 - 1j) + z.conjugate()) / (0.5 + 1j), Z)
case("complex_arithmetic", """
module @m {
  func.func public @main(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x4xi1>) {
    %z = stablehlo.complex %a, %b : tensor<2x4xcomplex<f32>>
    %c = stablehlo.constant dense<(2.0,-1.0)> : tensor<complex<f32>>
    %cb = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<complex<f32>>) -> tensor<2x4xcomplex<f32>>
    %d = stablehlo.constant dense<[[(0.5,1.0), (0.5,1.0), (0.5,1.0), (0.5,1.0)], [(0.5,1.0), (0.5,1.0), (0.5,1.0), (0.5,1.0)]]> : tensor<2x4xcomplex<f32>>
    %0 = stablehlo.multiply %z, %cb : tensor<2x4xcomplex<f32>>
    %n = stablehlo.negate %b : tensor<2x4xf32>
    %conj = stablehlo.complex %a, %n : tensor<2x4xcomplex<f32>>
    %1 = stablehlo.add %0, %conj : tensor<2x4xcomplex<f32>>
    %2 = stablehlo.divide %1, %d : tensor<2x4xcomplex<f32>>
    %re = stablehlo.real %2 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %im = stablehlo.imag %2 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %abs = stablehlo.abs %z : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %e = stablehlo.exponential %z : tensor<2x4xcomplex<f32>>
    %l = stablehlo.log %e : tensor<2x4xcomplex<f32>>
    %lr = stablehlo.imag %l : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %zero = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f32>>
    %s = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %si = stablehlo.imag %s : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %dot = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    %di = stablehlo.imag %dot : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
    %eq = stablehlo.compare EQ, %z, %conj : (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) -> tensor<2x4xi1>
    return %re, %im, %abs, %lr, %si, %di, %eq : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x4xi1>
  }
}""", [tensor(A), tensor(B)], [tensor(RE(W)), tensor(IM(W)), tensor(each(abs, Z)), tensor(B), tensor([sum(r) for r in B]),
  tensor([[sum(x * y for x, y in zip(p, q)).imag for q in Z] for p in Z]), "2x4xi1=[0 0 0 0 0 0 0 0]"])

def pairs(values):
    """Complex numbers as the command line takes them: a last dimension for the real and imaginary part."""
    return tensor(each(lambda z: [z.real, z.imag], values))


# A complex parameter or result counts once in positions, as in the module.
case("positions_count_complex_values_once", """
module @m {
  func.func public @main(%a: tensor<2x4xcomplex<f32>>, %b: tensor<2x4xf32>, %c: tensor<2x4xcomplex<f32>>) -> (tensor<2x4xf32>, tensor<2x4xcomplex<f32>>, tensor<2x4xf32>) {
    %0 = stablehlo.add %a, %c : tensor<2x4xcomplex<f32>>
    %1 = stablehlo.negate %b : tensor<2x4xf32>
    %2 = stablehlo.imag %c : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    return %1, %0, %2 : tensor<2x4xf32>, tensor<2x4xcomplex<f32>>, tensor<2x4xf32>
  }
}""", [pairs(Z), tensor(B), pairs(W)],
     [tensor(each(lambda b: -b, B)), pairs(each(lambda z, w: z + w, Z, W)), tensor(IM(W))],
     notes="two tensors instead of parameter 0, parameter 2, result 1 of @main")

case("complex_results_of_hlo", """
HloModule m, num_partitions=2
ENTRY main {
  z = c64[1,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  x = f32[1,4]{1,0} parameter(1), sharding={devices=[2,1]<=[2]}
  w = c64[1,4]{1,0} add(z, z)
  y = f32[1,4]{1,0} negate(x)
  ROOT r = (c64[1,4]{1,0}, f32[1,4]{1,0}) tuple(w, y)
}""", [pairs(Z), tensor(B)], [pairs(each(lambda z: z + z, Z)), tensor(each(lambda b: -b, B))])

case("complex_parameters_are_pairs", """
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%z: tensor<2x4xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x2xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %i = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%k = %i, %y = %z) : tensor<i32>, tensor<2x4xcomplex<f32>>
     cond {
      %p = stablehlo.compare LT, %k, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %k, %one : tensor<i32>
      %m = func.call @square(%y) : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
      stablehlo.return %n, %m : tensor<i32>, tensor<2x4xcomplex<f32>>
    }
    %1 = stablehlo.transpose %0#1, dims = [1, 0] : (tensor<2x4xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
    return %1 : tensor<4x2xcomplex<f32>>
  }
  func.func private @square(%z: tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>> {
    %0 = chlo.square %z : tensor<2x4xcomplex<f32>> -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
}""", [pairs(Z)], [pairs([[Z[i][j]**8 for i in range(2)] for j in range(4)])],
 notes="two tensors instead of parameter 0, result 0 of @main")

# Every rank of x sends its row to the next, and exchanges columns for rows; y is not manual.
case("complex_collectives_over_some_axes", """
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %z = stablehlo.complex %a, %b : tensor<2x4xcomplex<f32>>
    %0:2 = sdy.manual_computation(%z) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>] manual_axes={"x"} (%p: tensor<1x4xcomplex<f32>>) {
      %n = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<1x4xcomplex<f32>>) -> tensor<1x4xcomplex<f32>>
      %e = "stablehlo.all_to_all"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<1x4xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
      sdy.return %n, %e : tensor<1x4xcomplex<f32>>, tensor<2x2xcomplex<f32>>
    } : (tensor<2x4xcomplex<f32>>) -> (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>)
    %re = stablehlo.real %0#0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %im = stablehlo.imag %0#0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %ie = stablehlo.imag %0#1 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    return %re, %im, %ie : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
}""", [tensor(A), tensor(B)], [tensor(A[::-1]), tensor(B[::-1]), tensor(B)])

# Starts of complex values: both parts are in flight until the -done.
case("complex_collectives_that_start_early", """
HloModule m, is_scheduled=true, num_partitions=2
ENTRY main {
  x = f32[1,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  y = f32[1,4]{1,0} parameter(1), sharding={devices=[2,1]<=[2]}
  z = c64[1,4]{1,0} complex(x, y)
  gs = (c64[1,4]{1,0}, c64[2,4]{1,0}) all-gather-start(z), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  ps = (c64[1,4]{1,0}, c64[1,4]{1,0}) collective-permute-start(z), channel_id=2, source_target_pairs={{0,1},{1,0}}
  p = c64[1,4]{1,0} collective-permute-done(ps)
  g = c64[2,4]{1,0} all-gather-done(gs)
  re = f32[2,4]{1,0} real(g)
  im = f32[2,4]{1,0} imag(g)
  pi = f32[1,4]{1,0} imag(p)
  ROOT r = (f32[2,4]{1,0}, f32[2,4]{1,0}, f32[1,4]{1,0}) tuple(re, im, pi)
}""", [tensor(A), tensor(B)], [tensor(A), tensor(B), tensor(B[::-1])], layouts="2 as [{a0}, {}]")

case("complex_functions_without_counterpart", """
module @m {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %z = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>
    %t = stablehlo.cbrt %z : tensor<4xcomplex<f32>>
    %r = stablehlo.real %t : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}""", [], None, notes="1 x stablehlo.cbrt of complex numbers: no counterpart, kept as opaque")

def dft(x, sign=-1):
    n = len(x)
    return [sum(v * cmath.exp(sign * 2j * math.pi * i * k / n) for i, v in enumerate(x)) for k in range(n)]
def turned(m): return [list(r) for r in zip(*m)]
X2 = [[1, 2, 0, -1, 3], [0.5, 0, 1, 1, -2], [2, 2, -2, 0, 1], [0, 1, 0, 1, 0]]
F2 = turned([dft(c) for c in turned([dft(r)[:3] for r in X2])])
case("fourier_transforms", """
module @m {
  func.func public @main(%x: tensor<4x5xf32>, %y: tensor<6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x5xf32>, tensor<6xf32>) {
    %0 = stablehlo.fft %x, type = RFFT, length = [4, 5] : (tensor<4x5xf32>) -> tensor<4x3xcomplex<f32>>
    %re = stablehlo.real %0 : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
    %im = stablehlo.imag %0 : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 4, 5>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<4x3xcomplex<f32>>) -> tensor<4x5xf32>
    %2 = stablehlo.convert %y : (tensor<6xf32>) -> tensor<6xcomplex<f32>>
    %3 = stablehlo.fft %2, type = FFT, length = [6] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
    %4 = stablehlo.fft %3, type = IFFT, length = [6] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    return %re, %im, %1, %5 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x5xf32>, tensor<6xf32>
  }
}""", [tensor(X2), tensor([1, -2, 3, 0, 5, 1])], [tensor(RE(F2)), tensor(IM(F2)), tensor(X2), tensor([1, -2, 3, 0, 5, 1])])

case("complex_constants_and_transforms_of_hlo", """
HloModule m, num_partitions=2
ENTRY main {
  x = f32[1,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  c = c64[1,3]{1,0} constant({ { (1, 0), (0, 2), (-1, 0.5) } })
  z = c64[1,3]{1,0} fft(x), fft_type=RFFT, fft_length={4}
  p = c64[1,3]{1,0} multiply(z, c)
  all = c64[2,3]{1,0} all-gather(p), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  re = f32[2,3]{1,0} real(all)
  im = f32[2,3]{1,0} imag(all)
  back = f32[1,4]{1,0} fft(z), fft_type=IRFFT, fft_length={4}
  ROOT r = (f32[2,3]{1,0}, f32[2,3]{1,0}, f32[1,4]{1,0}) tuple(re, im, back)
}""", [tensor(A)], [tensor([[(v * c).real for v, c in zip(dft(r), (1, 2j, -1 + 0.5j))] for r in A]),
                    tensor([[(v * c).imag for v, c in zip(dft(r), (1, 2j, -1 + 0.5j))] for r in A]), tensor(A)])


# ---- batch normalisation

BATCH = [[[1, -2], [0.5, 3]], [[2, 2], [-1, 0]], [[0, 1], [4, -3]], [[1.5, -1], [0.25, 2]]]
BY_Y = [[[0.5, 1], [-1, 2]], [[1, 0], [0.25, -0.5]], [[-2, 1], [1, 1]], [[0, -1], [2, 0.75]]]
SCALE, SHIFT, EPSILON = [1.5, -0.5], [0.25, 2], 0.001
FEATURE = lambda v, f: [row[f] for item in v for row in item]
PER_FEATURE = len(BATCH) * len(BATCH[0])
MEAN = [sum(FEATURE(BATCH, f)) / PER_FEATURE for f in range(2)]
VARIANCE = [sum((x - MEAN[f]) ** 2 for x in FEATURE(BATCH, f)) / PER_FEATURE for f in range(2)]


def normed(mean, variance):
    return [[[SCALE[f] * (x - mean[f]) / math.sqrt(variance[f] + EPSILON) + SHIFT[f] for f, x in enumerate(row)]
             for row in item] for item in BATCH]


def norm_loss(x, scale, shift):
    """The sum of BY_Y times the normalised values, whose derivatives batch_norm_grad gives."""
    total = 0
    for f in range(2):
        column = FEATURE(x, f)
        mean = sum(column) / PER_FEATURE
        deviation = math.sqrt(sum((v - mean) ** 2 for v in column) / PER_FEATURE + EPSILON)
        total += sum(g * (scale[f] * (v - mean) / deviation + shift[f]) for g, v in zip(FEATURE(BY_Y, f), column))
    return total


def slope(f, at, *index):
    """The derivative of f by one element of a nested list, as a central difference."""
    def moved(values, index, by):
        return values + by if not index else [moved(v, index[1:], by) if i == index[0] else v for i, v in enumerate(values)]
    return (f(moved(at, index, 1e-5)) - f(moved(at, index, -1e-5))) / 2e-5


BY_X = [[[slope(lambda x: norm_loss(x, SCALE, SHIFT), BATCH, i, j, f) for f in range(2)] for j in range(2)] for i in range(4)]
BY_SCALE = [slope(lambda s: norm_loss(BATCH, s, SHIFT), SCALE, f) for f in range(2)]
BY_SHIFT = [slope(lambda s: norm_loss(BATCH, SCALE, s), SHIFT, f) for f in range(2)]
NORM = """<{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : """
case("batch_norm_and_its_gradient", """
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %s: tensor<2xf32>, %b: tensor<2xf32>, %g: tensor<4x2x2xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>) -> (tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2x2xf32>, tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0:3 = "stablehlo.batch_norm_training"(%x, %s, %b) """ + NORM + """(tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %1 = "stablehlo.batch_norm_inference"(%x, %s, %b, %m, %v) """ + NORM + """(tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2x2xf32>
    %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %0#1, %0#2, %g) """ + NORM + """(tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2x2xf32>) -> (tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    return %0#0, %0#1, %0#2, %1, %2#0, %2#1, %2#2 : tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2x2xf32>, tensor<4x2x2xf32>, tensor<2xf32>, tensor<2xf32>
  }
}""",
     [tensor(BATCH), tensor(SCALE), tensor(SHIFT), tensor(BY_Y), tensor([0.5, -1]), tensor([2, 0.75])],
     [tensor(normed(MEAN, VARIANCE)), tensor(MEAN), tensor(VARIANCE), tensor(normed([0.5, -1], [2, 0.75])),
      tensor(BY_X), tensor(BY_SCALE), tensor(BY_SHIFT)])

def column_normed(column):
    mean = sum(column) / len(column)
    return [(v - mean) / math.sqrt(sum((w - mean) ** 2 for w in column) / len(column) + EPSILON) for v in column]


HALF_NORM = NORM.replace("feature_index = 2", "feature_index = 1")
case("batch_norm_of_bf16_on_each_device", """
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<4x1xbf16>) {
      %one = stablehlo.constant dense<1.0> : tensor<1xbf16>
      %zero = stablehlo.constant dense<0.0> : tensor<1xbf16>
      %1:3 = "stablehlo.batch_norm_training"(%y, %one, %zero) """ + HALF_NORM + """(tensor<4x1xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> (tensor<4x1xbf16>, tensor<1xbf16>, tensor<1xbf16>)
      sdy.return %1#0 : tensor<4x1xbf16>
    } : (tensor<8x1xbf16>) -> tensor<8x1xbf16>
    return %0 : tensor<8x1xbf16>
  }
}""", [tensor([[v] for v in HALVES], "bf16")],
     [tensor([[bf16(v)] for v in column_normed(HALVES[:4]) + column_normed(HALVES[4:])], "bf16")])

# ---- shard_map before Shardy, without a call

FULL = """%{0}c = stablehlo.custom_call @Sharding(%{0}) {{backend_config = "", mhlo.sharding = "{1}"}} : (tensor<{2}>) -> tensor<{2}>
    %{0}l = stablehlo.custom_call @SPMDFullToShardShape(%{0}c) {{backend_config = "", mhlo.sharding = "{{manual}}"}} : (tensor<{2}>) -> tensor<{3}>"""
ROWS8 = count(8, 2, start=1)
WEIGHT = [[1, 2], [3, 4]]
PRODUCT = [[sum(a * b for a, b in zip(row, column)) for column in zip(*WEIGHT)] for row in ROWS8]
case("manual_values_between_cuts_and_joins", """
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x2xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %w: tensor<2x2xf32>) -> (tensor<8x2xf32>, tensor<2xf32>, tensor<8x2xf32>) {
    """ + FULL.format("x", "{devices=[4,1]<=[4]}", "8x2xf32", "2x2xf32") + """
    """ + FULL.format("w", "{replicated}", "2x2xf32", "2x2xf32") + """
    %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %id = stablehlo.partition_id : tensor<ui32>
    %idf = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %ids = stablehlo.broadcast_in_dim %idf, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %0 = stablehlo.dot_general %xl, %wl, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.add %0, %ids : tensor<2x2xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.custom_call @Sharding(%1) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {backend_config = "", mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x2xf32>) -> tensor<8x2xf32>
    %6 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
    %h = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %7 = stablehlo.multiply %5, %h : tensor<8x2xf32>
    """ + FULL.format("7", "{devices=[4,1]<=[4]}", "8x2xf32", "2x2xf32") + """
    %8 = "stablehlo.collective_permute"(%7l) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %9 = stablehlo.custom_call @SPMDShardToFullShape(%8) {backend_config = "", mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x2xf32>) -> tensor<8x2xf32>
    return %5, %6, %9 : tensor<8x2xf32>, tensor<2xf32>, tensor<8x2xf32>
  }
}""", [tensor(ROWS8), tensor(WEIGHT)],
     [tensor([[v + i // 2 for v in row] for i, row in enumerate(PRODUCT)]),
      tensor([sum(v + i // 2 for i, v in enumerate(column)) for column in zip(*PRODUCT)]),
      tensor([[(v + i // 2) / 2 for v in PRODUCT[i]] for i in (6, 7, 0, 1, 2, 3, 4, 5)])])

case("a_value_of_one_device_that_is_not_joined", """
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x2xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> tensor<2x2xf32> {
    """ + FULL.format("x", "{devices=[4,1]<=[4]}", "8x2xf32", "2x2xf32") + """
    %0 = stablehlo.negate %xl : tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}""", [], None, notes="1 x stablehlo.custom_call (@SPMDFullToShardShape between full and local shapes): no counterpart")


case("manual_computation_without_a_return_after_it", """
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
      %1 = stablehlo.negate %y : tensor<2xf32>
      sdy.return %1 : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
  }
}""", refuses="error[import_c2]: @main does not end with a return of its manual computation's results")


# XLA's integers: a division by 0 has all bits set, the remainder is the dividend; the lowest by -1 wraps.
case("integers_divided_by_zero", """
module @m {
  func.func public @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<3xui32>, %d: tensor<3xui32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<3xui32>, tensor<3xui32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %0 = stablehlo.divide %a, %b : tensor<4xi32>
    %1 = stablehlo.remainder %a, %b : tensor<4xi32>
    %2 = stablehlo.divide %c, %d : tensor<3xui32>
    %3 = stablehlo.remainder %c, %d : tensor<3xui32>
    %4 = stablehlo.divide %five, %zero : tensor<i32>
    return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi32>, tensor<3xui32>, tensor<3xui32>, tensor<i32>
  }
}""", ["4xi32=[7 -7 -2147483648 0]", "4xi32=[0 0 -1 0]", "3xu32=[7 0 5]", "3xu32=[0 0 4294967295]"],
     ["4xi32=[-1 -1 -2147483648 -1]", "4xi32=[7 -7 0 0]", "3xu32=[4294967295 4294967295 0]", "3xu32=[7 0 5]", "i32=-1"])


# In a module for one device, loops run until their conditions fail.
case("a_loop_whose_bound_is_a_parameter", """
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32>, %x: tensor<2xf32>, %end: tensor<f32>) -> (tensor<2xf32> {jax.result_info = "result['sum']"}, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @body(%i, %a) : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<2xf32>
    }
    %3 = stablehlo.while(%v = %zero) : tensor<i32>
    cond {
      %4 = stablehlo.convert %v : (tensor<i32>) -> tensor<f32>
      %5 = stablehlo.compare LT, %4, %end, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %4 = stablehlo.add %v, %one : tensor<i32>
      stablehlo.return %4 : tensor<i32>
    }
    return %0#1, %3 : tensor<2xf32>, tensor<i32>
  }
  func.func private @body(%i: tensor<i32>, %a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.add %a, %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}""", ["i32=200", "2xf32=[1 -1]", "f32=130.5"], ["2xf32=[19901 19899]", "i32=131"])

case("a_loop_inside_calls_whose_bound_is_a_parameter", """
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%n: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = func.call @outer(%n, %x) : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = func.call @outer(%n, %0) : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @outer(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    %1:2 = func.call @loop(%n, %0) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    return %1#1 : tensor<2xf32>
  }
  func.func private @loop(%n: tensor<i32>, %x: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<2xf32>
    %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %a, %half : tensor<2xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<2xf32>
    }
    return %0#0, %0#1 : tensor<i32>, tensor<2xf32>
  }
}""", ["i32=200", "2xf32=[1 -1]"], ["2xf32=[99 101]", "2xf32=[1 -1]"])

# ---- library calls in HLO that was compiled for a device

# The operands, the fields of the configuration, the result's elements and the number of further results.
def library_call(target, operands, config, element="f32", more="", extra=""):
    shapes = {"x": "f32[2,3]{1,0}", "w": "f32[3,2]{1,0}", "v": "f32[2,3]{1,0}", "bias": "f32[2]{0}", "c": "f32[2,2]{1,0}",
              "s": "f32[]", "t": "f32[]"}
    lines = [f"  {name} = {shapes[name]} parameter({i})" for i, name in enumerate(operands)]
    result = f"({element}[2,2]{{1,0}}{more}, s8[4194304]{{0}})"
    return "\n".join(["HloModule m, is_scheduled=true", "ENTRY main {"] + lines + [
        f"  call = {result} custom-call({', '.join(operands)}), custom_call_target=\"{target}\", backend_config={config}{extra}",
        f"  y = {element}[2,2]{{1,0}} get-tuple-element(call), index=0"])


def gemm(fields, right="0"):
    return ('{"operation_queue_id":"0","gemm_backend_config":{' + fields + ',"alpha_imag":0,"dot_dimension_numbers":'
            '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["' + right + '"],"lhs_batch_dimensions":[],'
            '"rhs_batch_dimensions":[]},"precision_config":{"operand_precision":["DEFAULT","DEFAULT"]},"lhs_stride":"6"}}')


GX = [[1, -2, 3], [0.5, 4, -1]]
GW = [[1, 2], [0, -1], [-2, 1]]
GB = [0.5, -1.5]
GC = [[1, 2], [3, 4]]
PRODUCT_OF = [[sum(a * b for a, b in zip(row, column)) for column in zip(*GW)] for row in GX]
BIASED = [[v + b for v, b in zip(row, GB)] for row in PRODUCT_OF]


def gelu(v):
    return 0.5 * v * (1 + math.tanh(0.7978845608028654 * (v + 0.044715 * v ** 3)))


ROOT_Y = "\n  ROOT r = f32[2,2]{1,0} copy(y)\n}"
case("cublas_product", library_call("__cublas$gemm", ["x", "w"], gemm('"alpha_real":1,"beta":0,"epilogue":"DEFAULT"')) + ROOT_Y,
     [tensor(GX), tensor(GW)], [tensor(PRODUCT_OF)])
case("cublas_product_of_a_transposed_factor_in_a_quoted_configuration",
     library_call("__cublas$gemm", ["x", "v"], '"' + gemm('"alpha_real":1,"beta":0', "1").replace('"', '\\"') + '"') + ROOT_Y,
     [tensor(GX), tensor([list(column) for column in zip(*GW)])], [tensor(PRODUCT_OF)])
case("cublas_product_scaled_and_added",
     library_call("__cublas$lt$matmul", ["x", "w", "c", "bias"], gemm('"alpha_real":2,"beta":0.5,"epilogue":"BIAS_RELU"')) + ROOT_Y,
     [tensor(GX), tensor(GW), tensor(GC), tensor(GB)],
     [tensor([[max(2 * p + 0.5 * c + b, 0) for p, c, b in zip(*rows, GB)] for rows in zip(PRODUCT_OF, GC)])])
case("cublas_gelu_gives_its_operand_too",
     library_call("__cublas$lt$matmul", ["x", "w", "bias"], gemm('"alpha_real":1,"beta":0,"epilogue":"BIAS_GELU_AUX"'),
                  more=", f32[2,2]{1,0}") + """
  aux = f32[2,2]{1,0} get-tuple-element(call), index=1
  ROOT r = (f32[2,2]{1,0}, f32[2,2]{1,0}) tuple(y, aux)
}""", [tensor(GX), tensor(GW), tensor(GB)], [tensor(each(gelu, BIASED)), tensor(BIASED)])
case("cublas_product_with_scales_of_its_factors",
     library_call("__cublas$lt$matmul$f8", ["x", "w", "s", "t", "bias"], gemm('"alpha_real":1,"beta":0,"epilogue":"BIAS"')) + ROOT_Y,
     [tensor(GX), tensor(GW), "f32=2", "f32=0.25", tensor(GB)],
     [tensor([[0.5 * v + b for v, b in zip(row, GB)] for row in PRODUCT_OF])])
# bf16: the sum is rounded once, after the bias. 257 is not a number of bf16: rounded first it gives 256 and then 255.
case("cublas_product_is_rounded_once", """
HloModule m, is_scheduled=true
ENTRY main {
  x = bf16[1,2]{1,0} parameter(0)
  w = bf16[2,1]{1,0} parameter(1)
  b = bf16[1]{0} parameter(2)
  ROOT r = bf16[1,1]{1,0} custom-call(x, w, b), custom_call_target="__cublas$lt$matmul", backend_config=""" +
     gemm('"alpha_real":1,"beta":0,"epilogue":"BIAS"') + """
}""", ["1x2xbf16=[256 1]", "2x1xbf16=[1 1]", "1xbf16=[-2]"], ["1x1xbf16=[255]"])
case("cublas_epilogue_that_is_not_known",
     library_call("__cublas$lt$matmul", ["x", "w"], gemm('"alpha_real":1,"beta":0,"epilogue":"SOFTMAX"')) + ROOT_Y,
     [], None, notes="1 x stablehlo.custom_call (@__cublas$lt$matmul): no counterpart")
case("cublas_product_on_two_devices", """
HloModule m, is_scheduled=true, num_partitions=2
ENTRY main {
  x = f32[1,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  w = f32[3,2]{1,0} parameter(1), sharding={replicated}
  call = (f32[1,2]{1,0}, s8[33554432]{0}) custom-call(x, w), custom_call_target="__cublas$gemm", backend_config=""" +
     gemm('"alpha_real":1,"beta":0') + """
  ROOT r = f32[1,2]{1,0} get-tuple-element(call), index=0
}""", [tensor(GX), tensor(GW)], [tensor(PRODUCT_OF)], layouts="0 as [{a0}, {}]")
case("onednn_product_with_a_bias", """
HloModule m, is_scheduled=true
ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  v = f32[2,3]{1,0} parameter(1)
  b = f32[2]{0} parameter(2)
  ROOT r = f32[2,2]{1,0} custom-call(x, v, b), custom_call_target="__onednn$matmul", backend_config={"outer_dimension_partitions":[],"onednn_matmul_config":{"fusions":{"ops":["BIAS","RELU"]},"transpose_a":false,"transpose_b":true}}
}""", [tensor(GX), tensor([list(column) for column in zip(*GW)]), tensor(GB)], [tensor(each(lambda v: max(v, 0), BIASED))])
case("cudnn_convolution_with_bias_and_activation", """
HloModule m, is_scheduled=true
ENTRY main {
  x = f32[1,1,1,4]{3,2,1,0} parameter(0)
  w = f32[2,1,1,3]{3,2,1,0} parameter(1)
  b = f32[2]{0} parameter(2)
  side = f32[1,2,1,4]{3,2,1,0} parameter(3)
  call = (f32[1,2,1,4]{3,2,1,0}, u8[0]{0}) custom-call(x, w, b, side), window={size=1x3 pad=0_0x1_1}, dim_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convBiasActivationForward", backend_config={"cudnn_conv_backend_config":{"conv_result_scale":2,"activation_mode":"kRelu","side_input_scale":0.5,"leakyrelu_alpha":0}}
  ROOT r = f32[1,2,1,4]{3,2,1,0} get-tuple-element(call), index=0
}""", ["1x1x1x4xf32=[1 2 3 4]", "2x1x1x3xf32=[1 0 -1 0 1 0]", tensor(GB), "1x2x1x4xf32=[8 8 8 8 2 2 2 2]"],
     ["1x2x1x4xf32=[0.5 0.5 0.5 10.5 1.5 3.5 5.5 7.5]"])


# ---- operations written out

def raised(base, exponent, bits=32):
    """Integers as XLA raises them: modulo 2^bits; a negative power is 0, except of 1 and -1."""
    if exponent < 0:
        return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
    power = base ** exponent % 2 ** bits
    return power - 2 ** bits if power >= 2 ** (bits - 1) else power


BASES = [2, -3, 5, -1, -1, 1, 7, 0, 0, 3]
EXPONENTS = [10, 3, 20, -3, -4, -5, -1, 0, 3, 31]
case("powers_of_integers", """
module @m {
  func.func public @main(%a: tensor<10xi32>, %b: tensor<10xi32>, %u: tensor<2xui8>) -> (tensor<10xi32>, tensor<10xi32>, tensor<2xui8>) {
    %three = stablehlo.constant dense<3> : tensor<10xi32>
    %0 = stablehlo.power %a, %b : tensor<10xi32>
    %1 = stablehlo.power %a, %three : tensor<10xi32>
    %2 = stablehlo.power %u, %u : tensor<2xui8>
    return %0, %1, %2 : tensor<10xi32>, tensor<10xi32>, tensor<2xui8>
  }
}""", [tensor(BASES, "i32"), tensor(EXPONENTS, "i32"), "2xu8=[5 255]"],
     [tensor([raised(b, e) for b, e in zip(BASES, EXPONENTS)], "i32"), tensor([b ** 3 for b in BASES], "i32"),
      f"2xu8=[{5 ** 5 % 256} {255 ** 255 % 256}]"])

ROOTS = [[4, -4, 3 + 4j, -1 - 1j], [-2 + 1e-3j, 0.5j, 1 - 2j, -3]]
EXPONENTS_Z = [[0.5, 2, 1j, 1 + 1j], [-1, 0.25, 2 - 1j, 3]]
case("functions_of_complex_numbers", """
module @m {
  func.func public @main(%z: tensor<2x4xcomplex<f32>>, %w: tensor<2x4xcomplex<f32>>) -> (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) {
    %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<2x4xcomplex<f32>>
    %0 = stablehlo.sqrt %z : tensor<2x4xcomplex<f32>>
    %1 = stablehlo.rsqrt %z : tensor<2x4xcomplex<f32>>
    %2 = stablehlo.tanh %z : tensor<2x4xcomplex<f32>>
    %3 = stablehlo.power %z, %w : tensor<2x4xcomplex<f32>>
    %4 = stablehlo.sine %z : tensor<2x4xcomplex<f32>>
    %5 = stablehlo.cosine %z : tensor<2x4xcomplex<f32>>
    %6 = stablehlo.sign %z : tensor<2x4xcomplex<f32>>
    %7 = stablehlo.power %zero, %w : tensor<2x4xcomplex<f32>>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>
  }
}""", [pairs(ROOTS), pairs(EXPONENTS_Z)],
     [pairs(each(f, ROOTS)) for f in (cmath.sqrt, lambda z: 1 / cmath.sqrt(z), cmath.tanh)] +
     [pairs(each(lambda z, w: cmath.exp(w * cmath.log(z)), ROOTS, EXPONENTS_Z))] +
     [pairs(each(f, ROOTS)) for f in (cmath.sin, cmath.cos, lambda z: z / abs(z), lambda z: 0j)])

# exp(-|x|) I1(x) from the series of I1, which has no cancellation.
def i1e(x):
    return math.copysign(sum((abs(x) / 2) ** (2 * k + 1) / (math.factorial(k) * math.factorial(k + 1)) for k in range(80)), x) * math.exp(-abs(x))


BESSEL = [-20, -7.5, -1, -1e-3, 0, 0.25, 3, 8, 8.5, 30]
case("bessel_functions_and_sizes", """
module @m {
  func.func public @main(%x: tensor<10xf64>) -> (tensor<10xf64>, tensor<i32>) {
    %0 = chlo.bessel_i1e %x : tensor<10xf64> -> tensor<10xf64>
    %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<10xf64>) -> tensor<i32>
    return %0, %1 : tensor<10xf64>, tensor<i32>
  }
}""", [tensor(BESSEL, "f64")], [tensor([i1e(x) for x in BESSEL], "f64"), "i32=10"])

TOP = [[3, 1, 2, 1], [0, 5, -1, 5]]
APPROX = """
module @m {
  func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
    %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %c, %m) {called_computations = [@order], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
  }
  func.func private @order(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare DIRECTION, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}"""
case("approximate_top_k", APPROX.replace("DIRECTION", "GT"), [tensor(TOP)], [tensor([[3, 2], [5, 5]]), "2x2xi32=[0 2 1 3]"])
case("approximate_top_k_of_the_smallest", APPROX.replace("DIRECTION", "LT"), [tensor(TOP)], [tensor([[1, 1], [-1, 0]]), "2x2xi32=[1 3 2 0]"])
case("approximate_top_k_in_another_order", APPROX.replace("DIRECTION", "GE"), [], None,
     notes="1 x hostir.approx_top_k (@ApproxTopK in an unknown form): no counterpart")
case("topk_of_hlo", """
HloModule m, is_scheduled=true
order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT g = pred[] compare(a, b), direction=GT, type=TOTALORDER
}
ENTRY main {
  x = f32[2,4]{1,0} parameter(0)
  ROOT r = (f32[2,2]{1,0}, s32[2,2]{1,0}) topk(x), k=2, largest=true, to_apply=order
}""", [tensor(TOP)], [tensor([[3, 2], [5, 5]]), "2x2xi32=[0 2 1 3]"])

# Device s sends COUNTS[s][r] rows from FIRSTS[s][r] on to device r, which writes them at TARGETS[s][r]; other rows stay.
RAGGED_ROWS, RAGGED_OLD = count(8, 2, start=1), each(lambda v: -v, count(10, 2))
FIRSTS, COUNTS, TARGETS = [[0, 1], [2, 0]], [[1, 3], [2, 0]], [[1, 0], [3, 4]]


def ragged():
    out = [list(row) for row in RAGGED_OLD]
    for s in (0, 1):
        for r in (0, 1):
            for k in range(COUNTS[s][r]):
                out[5 * r + TARGETS[s][r] + k] = RAGGED_ROWS[4 * s + FIRSTS[s][r] + k]
    return out


RAGGED_INPUTS = [tensor(RAGGED_ROWS), tensor(RAGGED_OLD), *(tensor(flat(v), "i32") for v in (FIRSTS, COUNTS, TARGETS, [list(c) for c in zip(*COUNTS)]))]
case("ragged_all_to_all_of_a_manual_computation", """
module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8x2xf32>, %o: tensor<10x2xf32>, %io: tensor<4xi32>, %ss: tensor<4xi32>, %oo: tensor<4xi32>, %rs: tensor<4xi32>) -> (tensor<10x2xf32>) {
    %0 = sdy.manual_computation(%x, %o, %io, %ss, %oo, %rs) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x2xf32>, %b: tensor<5x2xf32>, %c: tensor<2xi32>, %d: tensor<2xi32>, %e: tensor<2xi32>, %f: tensor<2xi32>) {
      %1 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %c, %d, %e, %f) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4x2xf32>, tensor<5x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x2xf32>
      sdy.return %1 : tensor<5x2xf32>
    } : (tensor<8x2xf32>, tensor<10x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<10x2xf32>
    return %0 : tensor<10x2xf32>
  }
}""", RAGGED_INPUTS, [tensor(ragged())])
case("ragged_all_to_all_of_hlo", """
HloModule m, is_scheduled=true, num_partitions=2
ENTRY main {
  x = f32[4,2]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  o = f32[5,2]{1,0} parameter(1), sharding={devices=[2,1]<=[2]}
  io = s32[2]{0} parameter(2), sharding={devices=[2]<=[2]}
  ss = s32[2]{0} parameter(3), sharding={devices=[2]<=[2]}
  oo = s32[2]{0} parameter(4), sharding={devices=[2]<=[2]}
  rs = s32[2]{0} parameter(5), sharding={devices=[2]<=[2]}
  ROOT r = f32[5,2]{1,0} ragged-all-to-all(x, o, io, ss, oo, rs), channel_id=1, replica_groups={{0,1}}
}""", RAGGED_INPUTS, [tensor(ragged())])

# ---- operations that nothing can compute are opaque; the rest of the module is imported

case("floats_without_a_dtype_are_opaque", """
module @m {
  func.func public @main(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FNUZ>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf8E4M3FNUZ>) -> tensor<3x2xf8E4M3FNUZ>
    %2 = stablehlo.convert %1 : (tensor<3x2xf8E4M3FNUZ>) -> tensor<3x2xf32>
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf4E2M1FN>
    %3 = stablehlo.convert %one : (tensor<2x3xf4E2M1FN>) -> tensor<2x3xf32>
    %half = stablehlo.constant dense<0.5> : tensor<2x3xf32>
    %4 = stablehlo.convert %half : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FNUZ>
    %5 = stablehlo.convert %4 : (tensor<2x3xf8E4M3FNUZ>) -> tensor<2x3xf32>
    %6 = stablehlo.add %3, %5 : tensor<2x3xf32>
    return %2, %6 : tensor<3x2xf32>, tensor<2x3xf32>
  }
}""", [], None, notes="4 x stablehlo.convert (elements of type f8E4M3FNUZ): no counterpart")

SENT = """
HloModule m, is_scheduled=true, num_partitions=2
ENTRY main {
  x = f32[2,2]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  start = token[] after-all()
  recv = (f32[2,2]{1,0}, u32[], token[]) recv(start), channel_id=1PAIRS
  y = f32[2,2]{1,0} add(x, x)
  send = (f32[2,2]{1,0}, u32[], token[]) send(y, start), channel_id=1PAIRS
  got = (f32[2,2]{1,0}, token[]) recv-done(recv), channel_id=1
  end = token[] send-done(send), channel_id=1
  value = f32[2,2]{1,0} get-tuple-element(got), index=0
  ROOT r = f32[2,2]{1,0} add(value, x)
}"""
case("send_and_recv_are_a_permutation", SENT.replace("PAIRS", ", frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}},_xla_send_recv_pipeline=\"0\"}"),
     [tensor(count(4, 2))], [tensor(count(4, 2)[:2] + each(lambda a, b: 2 * a + b, count(4, 2)[:2], count(4, 2)[2:]))])
case("recv_from_an_unknown_place_is_opaque", SENT.replace("PAIRS", ", is_host_transfer=true"), [], None,
     notes="1 x stablehlo.recv: no counterpart")


case("a_token_is_no_result", SENT.replace("PAIRS", ", is_host_transfer=true").replace(
    "ROOT r = f32[2,2]{1,0} add(value, x)", "ROOT r = token[] get-tuple-element(got), index=1"),
     refuses="error[import_c3]: a value of type token has no counterpart")
case("a_library_call_that_gives_a_token", """
HloModule m, is_scheduled=true
ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  w = f32[3,2]{1,0} parameter(1)
  call = (token[], s8[64]{0}) custom-call(x, w), custom_call_target="__cublas$gemm", backend_config=""" +
     gemm('"alpha_real":1,"beta":0') + """
  ROOT r = token[] get-tuple-element(call), index=0
}""", refuses="error[import_c3]: a value of type token has no counterpart")

# ---- other compilers' Python

case("an_nvfuser_trace", """
import torch
from nvfuser import FusionDefinition, DataType

def nvfuser_fusion_id0(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, is_cpu=False)
    T1 = fd.ops.cast(T0, dtype=DataType.Float)
    fd.add_output(T1)
""", refuses="error[import_c8]: this is a trace that nvFuser printed as Python, which cannot be read; capture the model")
case("a_thunder_trace", """
import thunder
import thunder.torch as ltorch
import torch

@torch.no_grad()
def computation(t0, t1):
  t2 = ltorch.add(t0, t1, alpha=None)  # t2
  return (t2, ())
""", refuses="error[import_c8]: this is a trace that Thunder printed as Python")

# ---- loops whose end depends on data

def shrinking(bound):
    """On four devices, x is multiplied by 0.99 until the sum of its squares is at most 1, up to `bound` times."""
    counter = f"""
      %cb = stablehlo.constant dense<{bound}> : tensor<i32>
      %cc = stablehlo.compare LT, %i, %cb, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %cd = stablehlo.and %4, %cc : tensor<i1>""" if bound else ""
    return f"""
module @m attributes {{mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> (tensor<4xf32>, tensor<i32>) {{
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%x = %arg0, %i = %c) : tensor<4xf32>, tensor<i32>
    cond {{
      %1 = stablehlo.multiply %x, %x : tensor<4xf32>
      %cst = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.constant dense<1.0> : tensor<f32>
      %4 = stablehlo.compare GT, %2, %3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>{counter}
      stablehlo.return {"%cd" if bound else "%4"} : tensor<i1>
    }} do {{
      %cst = stablehlo.constant dense<0.99> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %2 = stablehlo.multiply %x, %1 : tensor<4xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %i, %c_1 : tensor<i32>
      stablehlo.return %2, %3 : tensor<4xf32>, tensor<i32>
    }}
    return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
  }}
}}"""


def rounded(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def shrunk(start, most):
    passes = 0
    while 4 * start * start > 1 and passes < most:
        start, passes = rounded(rounded(0.99) * start), passes + 1
    return [tensor([start] * 4), f"i32={passes}"]


case("a_loop_of_200_passes_with_a_bound", shrinking(200), [tensor([5] * 4)], shrunk(5, 200))
case("a_loop_that_ends_before_its_bound", shrinking(400), [tensor([5] * 4)], shrunk(5, 400))
case("a_loop_whose_bound_is_too_far", shrinking(5000), [tensor([5] * 4)], None,
     notes="depends on data, and it then compares its counter, 1024 with 5000: 1024 iterations are unrolled")
case("a_loop_without_a_bound", shrinking(0), [tensor([5] * 4)], None,
     notes="depends on data and has no bound: 128 iterations are unrolled")
case("a_loop_without_a_bound_unrolled_further", shrinking(0), [tensor([5] * 4)], shrunk(5, 300), options=("--loop-passes", "300"))

# ---- manual computations and replicas

PSUM = """({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : """
# Shardy's own form: the axes along which a part is replicated are named.
case("a_manual_computation_with_replicated_axes", """
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}], replicated={"b"}>] out_shardings=[<@mesh, [{"a"}], replicated={"b"}>] manual_axes={"a", "b"} (%y: tensor<4xf32>) {
      %1 = stablehlo.add %y, %y : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}""", inputs=[tensor(count(8))], outputs=[tensor(count(8, by=2))])

# The parts of an unreduced operand add up to it. They leave as terms of the result, too.
case("a_manual_computation_of_unreduced_values", """
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %w: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a"}>]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1:2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {}], unreduced={"a"}>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}], unreduced={"a"}>] manual_axes={"a"} (%y: tensor<8x4xf32>) {
      %2 = "stablehlo.reduce_scatter"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> """ +
     PSUM + """(tensor<8x4xf32>) -> tensor<2x4xf32>
      %3 = stablehlo.slice %2 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x4xf32>) -> tensor<4xf32>
      sdy.return %2, %4 : tensor<2x4xf32>, tensor<4xf32>
    } : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
    return %1#0, %1#1 : tensor<8x4xf32>, tensor<4xf32>
  }
}""", inputs=[tensor(count(8, 4)), tensor([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]])],
     outputs=[tensor(count(8, 4, by=2)), tensor([96, 104, 112, 120])])

# pmap: each replica has a row of %x, an element of %s and all of %w.
case("replicas", """
module @pmap_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(%x: tensor<1x3xf32>, %s: tensor<f32>, %w: tensor<3xf32> {mhlo.is_same_data_across_replicas = true}) -> (tensor<1x3xf32>, tensor<f32>, tensor<ui32>) {
    %0 = stablehlo.reshape %x : (tensor<1x3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> """ +
     PSUM + """(tensor<3xf32>) -> tensor<3xf32>
    %2 = stablehlo.add %1, %w : tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %4 = stablehlo.subtract %3, %x : tensor<1x3xf32>
    %5 = stablehlo.add %s, %s : tensor<f32>
    %6 = stablehlo.replica_id : tensor<ui32>
    return %4, %5, %6 : tensor<1x3xf32>, tensor<f32>, tensor<ui32>
  }
}""", inputs=[tensor(count(4, 3)), tensor(count(4)), tensor([100, 200, 300])],
     outputs=[tensor([[118 - 3 * r, 221 - 3 * r, 324 - 3 * r] for r in range(4)]), tensor(count(4, by=2)),
              tensor(count(4), "u32")])

case("replicas_of_partitions", """
module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}""", refuses="error[import_c8]: mhlo.num_replicas = 4: replicas of a module that is itself partitioned")


def check(hostir, name, folder):
    text, inputs, outputs, layouts, refuses, notes, options = CASES[name]
    path = pathlib.Path(folder) / (name + (".hlo" if text.startswith("HloModule") else ".mlir"))
    path.write_text(text)
    status, said = run(hostir, "import", path, "-o", path.with_suffix(".hir"), *options)
    if refuses:
        return "" if status != 0 and refuses in said else f"is not refused with {refuses!r}: {said}"
    if status != 0:
        return f"import ends with status {status}: {said}"
    for wanted in (layouts, notes):
        if wanted not in said:
            return f"the import does not say {wanted!r}: {said}"
    status, said = run(hostir, "fmt", "--check", path.with_suffix(".hir"))
    if status != 0:
        return f"the imported text is not canonical: {said}"
    if outputs is None:
        return ""
    command = [hostir, "run", path, "--rtol", "1e-5", "--atol", "1e-5", *options]
    for i, value in enumerate(inputs):
        command += ["--input", f"{i}={value}"]
    for i, value in enumerate(outputs):
        command += ["--expect", f"{i}={value}"]
    status, said = run(*command)
    if status != 0 or "two tensors instead of" not in notes:
        return "" if status == 0 else f"run ends with status {status}: {said[-1500:]}"
    # Complex numbers also in files.
    files = [f"{i}=@{path.with_suffix('')}.{i}.npy" for i in range(len(outputs))]
    for option in ("--output", "--expect"):
        status, said = run(*command, *(part for file in files for part in (option, file)))
        if status != 0:
            return f"{option} ends with status {status}: {said[-1500:]}"
    kinds = [pathlib.Path(file.split("@")[1]).read_bytes()[:60].count(b"'<c8'") for file in files]
    return "" if sum(kinds) == text.split("-> (")[1].split(") {")[0].count("complex<f32>") else f"kinds of files: {kinds}"


def main():
    hostir, names = sys.argv[1], sys.argv[2:] or list(CASES)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for name, wrong in zip(names, pool.map(lambda n: check(hostir, n, folder), names)):
            if wrong:
                failed += 1
                print(f"FAILED: {name}: {wrong}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
