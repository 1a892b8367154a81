#!/usr/bin/env python3
"""Prints a host program on N ranks that runs every collective of the language, even and uneven.

Usage: gpu_collectives.py N [f32|bf16|i32]. `hostir launch -n N run - --backend cuda --reference sim` compares NCCL's
results with the simulator's.
"""
import sys

n = int(sys.argv[1])
dtype = sys.argv[2] if len(sys.argv) > 2 else "f32"
even, uneven = 4 * n, 5 * n - 1  # the last rank has one row less
last = n - 1


def sharded(rows, columns):
    return f"shard<{rows}x{columns}x{dtype}, @m, [{{r}}, {{}}]>"


def whole(*extents):
    return f"tensor<{'x'.join(map(str, extents))}x{dtype}>"


results = [
    ("sum", whole(6, 2)), ("most", whole(6, 2)), ("gathered", whole(even, 2)), ("uneven_gathered", whole(uneven, 3)),
    ("scattered", sharded(even, 2)), ("uneven_scattered", sharded(uneven, 3)), ("told", whole(6, 2)),
    ("exchanged", sharded(even * n, 2)), ("shifted", sharded(even, 2)), ("passed", sharded(even, 2)),
    ("collected", whole(even, 2)), ("dealt", sharded(even, 2)), ("reduced", whole(6, 2)), ("inplace", whole(6, 2)),
]
print(f"mesh @m = <r={n}>")
print(f"host @all on @m (%x: {sharded(even, 2)}, %u: {sharded(uneven, 3)}, %w: {whole(6, 2)}, %many: {sharded(even * n, 2)})"
      f" -> ({', '.join(f'%{name}: {t}' for name, t in results)}) {{")
print('  %c = comm over {r}\n  %s = stream "s"')
for name, t in results:
    print(f"  %{name} = alloc on %s : {t}")
print(f"""  all_reduce sum %c ro(%w) wo(%sum) on %s
  all_reduce max %c ro(%w) wo(%most) on %s
  all_gather %c ro(%x) wo(%gathered) on %s
  all_gather %c ro(%u) wo(%uneven_gathered) on %s
  reduce_scatter sum %c ro(%gathered) wo(%scattered) on %s
  reduce_scatter sum %c ro(%uneven_gathered) wo(%uneven_scattered) on %s
  broadcast %c root({last}) ro(%w) wo(%told) on %s
  all_to_all %c ro(%many) wo(%exchanged) on %s
  permute %c shift(1) ro(%x) wo(%shifted) on %s
  group {{
    send %c peer((coord(r) + 1) % {n}) ro(%x) on %s
    recv %c peer((coord(r) + {n - 1}) % {n}) wo(%passed) on %s
  }}
  where coord(r) == 0 {{
    gather %c root(0) ro(%x) wo(%collected) on %s
    scatter %c root(0) ro(%gathered) wo(%dealt) on %s
    reduce sum %c root(0) ro(%w) wo(%reduced) on %s
  }} else {{
    gather %c root(0) ro(%x) wo(none) on %s
    scatter %c root(0) ro(none) wo(%dealt) on %s
    reduce sum %c root(0) ro(%w) wo(none) on %s
  }}
  broadcast %c root(0) rw(%collected) on %s
  broadcast %c root(0) rw(%reduced) on %s
  broadcast %c root(0) ro(%w) wo(%inplace) on %s
  %e = all_reduce sum %c rw(%inplace) on %s
  wait %e on host
  return {', '.join(f'%{name}' for name, _ in results)}
}}""")
