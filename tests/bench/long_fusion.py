#!/usr/bin/env python3
"""Prints a fusion of N ops on two ranks: matmul and tanh in turn, the weights cut by columns and by
rows, so that every second pair of ops has a collective. What lower_bench builds, as a file:

    python3 tests/bench/long_fusion.py 1000 > /tmp/f1000.hir
    build/bin/hostir run /tmp/f1000.hir --example-inputs --quiet --trace /tmp/f1000.db
"""
import sys


def main() -> int:
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        print("long_fusion.py: expected the number of ops, as in `long_fusion.py 1000`", file=sys.stderr)
        return 2
    print("mesh @m = <tp=2>\n")
    print("fusion @f(%x: tensor<4x8xf32> <@m, [{}, {}]>, %w0: tensor<8x8xf32> <@m, [{}, {tp}]>,")
    print("          %w1: tensor<8x8xf32> <@m, [{tp}, {}]>) -> (tensor<4x8xf32>) {")
    value = "x"
    for i in range(int(sys.argv[1])):
        op = f"matmul %{value}, %w{i // 2 % 2}" if i % 2 == 0 else f"tanh %{value}"
        value = f"v{i}"
        print(f"  %{value} = {op}")
    print(f"  return %{value}\n}}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
