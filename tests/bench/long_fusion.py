#!/usr/bin/env python3
"""Prints a long fusion.

    python3 tests/bench/long_fusion.py 1000 > /tmp/f1000.hir
    build/bin/hostir run /tmp/f1000.hir --example-inputs --quiet --trace /tmp/f1000.db

1000 ops on two ranks: matmul and tanh in turn, the weights cut by columns and by rows, so that
every second pair of ops has a collective. What lower_bench builds, as a file.

    python3 tests/bench/long_fusion.py --layers 48 > /tmp/gpt48.hir
    build/bin/hostir lower /tmp/gpt48.hir --grad --time-passes > /dev/null

A transformer of 48 blocks like the one of tests/programs/block.hir: data parallel over dp, tensor
and sequence parallel over tp. Each layer has its own weights.
"""
import argparse


def chain(ops: int) -> None:
    print("mesh @m = <tp=2>\n")
    print("fusion @f(%x: tensor<4x8xf32> <@m, [{}, {}]>, %w0: tensor<8x8xf32> <@m, [{}, {tp}]>,")
    print("          %w1: tensor<8x8xf32> <@m, [{tp}, {}]>) -> (tensor<4x8xf32>) {")
    value = "x"
    for i in range(ops):
        op = f"matmul %{value}, %w{i // 2 % 2}" if i % 2 == 0 else f"tanh %{value}"
        value = f"v{i}"
        print(f"  %{value} = {op}")
    print(f"  return %{value}\n}}")


def transformer(a: argparse.Namespace) -> None:
    e, f, dtype = a.hidden, a.features, a.dtype
    acts = f"{a.batch}x{a.sequence}x{e}x{dtype}"
    params = [f"%x: tensor<{acts}> <@m, [{{dp}}, {{tp}}, {{}}]>"]
    body = []
    x = "x"
    for i in range(a.layers):

        def weight(name, shape, dims):
            params.append(f"%{name}_{i}: tensor<{shape}x{dtype}> <@m, [{dims}]>")

        weight("ln1", e, "{}")
        for name in "qkv":
            weight(f"w{name}", f"{a.heads}x{e // a.heads}x{e}", "{tp}, {}, {}")
        weight("wo", f"{a.heads}x{e // a.heads}x{e}", "{tp}, {}, {}")
        weight("ln2", e, "{}")
        weight("w1", f"{f}x{e}", "{tp}, {}")
        weight("w2", f"{e}x{f}", "{}, {tp}")
        body.append(f"%n1_{i} = rms_norm %{x}, %ln1_{i}")
        for name in "qkv":
            body.append(f'%{name}_{i} = einsum %n1_{i}, %w{name}_{i} {{subscripts = "bse,hde->bhsd"}}')
        body += [
            f"%a_{i} = scaled_dot_product_attention %q_{i}, %k_{i}, %v_{i} {{causal = true}}",
            f'%o_{i} = einsum %a_{i}, %wo_{i} {{subscripts = "bhsd,hde->bse"}}',
            f"%h_{i} = add %{x}, %o_{i}",
            f"%n2_{i} = rms_norm %h_{i}, %ln2_{i}",
            f"%f_{i} = linear %n2_{i}, %w1_{i}",
            f"%g_{i} = gelu %f_{i} {{approximate = tanh}}",
            f"%p_{i} = linear %g_{i}, %w2_{i}",
            f"%y_{i} = add %h_{i}, %p_{i}",
        ]
        x = f"y_{i}"
    print(f"mesh @m = <dp={a.dp}, tp={a.tp}>\n")
    print("fusion @gpt(" + ",\n            ".join(params) + ")")
    print(f"    -> (tensor<{acts}> <@m, [{{dp}}, {{tp}}, {{}}]>) {{")
    print("\n".join("  " + line for line in body))
    print(f"  return %{x}\n}}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("ops", type=int, nargs="?", help="length of a chain of matmul and tanh")
    length.add_argument("--layers", type=int, help="blocks of a transformer")
    for name, default in [("batch", 8), ("sequence", 128), ("hidden", 512), ("features", 2048), ("heads", 8), ("dp", 2), ("tp", 4)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dtype", default="f32")
    a = parser.parse_args()
    chain(a.ops) if a.layers is None else transformer(a)


if __name__ == "__main__":
    main()
