#!/usr/bin/env python3
"""PyTorch's times for the cases of cuda_kernel_bench: the same sizes, also captured in graphs.

Usage: cuda_kernels.py [--compile]. Prints one line per case: eager, and torch.compile with --compile.
"""
import sys
import torch
import torch.nn.attention
import torch.nn.functional as F


def graph_us(f, repeat=20):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            f()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeat):
            f()
    best = 1e30
    for _ in range(10):
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before.record()
        graph.replay()
        after.record()
        torch.cuda.synchronize()
        best = min(best, before.elapsed_time(after) * 1000 / repeat)
    return best


def rand(*shape):
    return torch.rand(*shape, device="cuda", dtype=torch.float32).mul_(2).sub_(1).bfloat16()


def chain(x):
    return torch.maximum(torch.tanh(x * 1.5 + x) * x - 1.5, x)


def main():
    compiles = "--compile" in sys.argv
    x, g, b = rand(16384, 4096), rand(4096), rand(4096)
    y = torch.empty_like(x)
    cases = [
        ("copy 64M bf16", lambda: y.copy_(x), False),
        ("chain of 6 with tanh 64M", lambda: chain(x), True),
        ("rms norm 16384x4096", lambda: F.rms_norm(x, (4096,), g, 1e-5), True),
        ("layer norm 16384x4096", lambda: F.layer_norm(x, (4096,), g, b, 1e-5), True),
        ("softmax 16384x4096", lambda: torch.softmax(x, 1), True),
        ("column sum 16384x4096", lambda: x.sum(0), False),
        ("transpose 16384x4096", lambda: x.t().contiguous(), False),
        ("dropout 64M", lambda: F.dropout(x, 0.1), False),
    ]
    for name, f, may_compile in cases:
        line = f"{name:34} {graph_us(f):9.1f} us"
        if compiles and may_compile:
            line += f"  compiled {graph_us(torch.compile(f)):9.1f} us"
        print(line, flush=True)
    for m, n, k in [(8192, 8192, 8192), (4096, 4096, 4096), (128, 4096, 16384), (16, 8192, 8192)]:
        a, w = rand(m, k), rand(n, k)
        us = graph_us(lambda: F.linear(a, w), 5)
        print(f"{f'linear {m}x{n}x{k}':34} {us:9.1f} us  {2 * m * n * k / us * 1e-6:5.0f} TFLOP/s", flush=True)
    for b, s in [(4, 2048), (1, 8192)]:
        q, k, v = (rand(b, 32, s, 128) for _ in range(3))
        for backend in (torch.nn.attention.SDPBackend.FLASH_ATTENTION, torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            with torch.nn.attention.sdpa_kernel(backend):
                us = graph_us(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), 5)
            print(f"{f'causal attention {b}x32x{s}x128':34} {us:9.1f} us  {2 * b * 32 * s * s * 128 / us * 1e-6:5.0f} "
                  f"TFLOP/s  {backend.name}", flush=True)
    for t, h in [(128, 1024), (1, 4096), (128, 4096), (2048, 4096), (2048, 8192)]:
        a, w, bw, v, bv = rand(t, h), rand(4 * h, h), rand(4 * h), rand(h, 4 * h), rand(h)
        us = graph_us(lambda: F.linear(F.gelu(F.linear(a, w, bw), approximate="tanh"), v, bv), 10)
        print(f"{f'mlp H={h} T={t}':34} {us:9.1f} us", flush=True)


if __name__ == "__main__":
    main()
