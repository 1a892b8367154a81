#!/usr/bin/env python3
"""The training step as a schedule: when gradients are reduced, what is held at the peak, how long it takes, at real sizes without values.

Usage: training_steps.py HOSTIR. Prints what failed and a count; exit status 1 if anything did.
"""
import re
import subprocess
import sys

HOSTIR = sys.argv[1]
failed = 0
passed = 0


def expect(what, holds, output=""):
    global failed, passed
    if holds:
        passed += 1
        return
    failed += 1
    print(f"FAILED: {what}\n{output[:1500]}")


def predict(text, *arguments, **sizes):
    """What `run` prints, its simulated ms and its peak in MiB per rank."""
    words = [word for name, size in sizes.items() for word in ("--size", f"{name}={size}")]
    done = subprocess.run([HOSTIR, "run", "-", *arguments, *words, "--shapes-only", "--example-inputs"], input=text,
                          capture_output=True, text=True, timeout=300)
    output = done.stdout + done.stderr
    time = re.search(r"([\d.]+) (us|ms|s) of simulated time", output)
    peak = re.search(r"peak memory ([\d.]+) ([MG])iB per rank", output)
    if done.returncode != 0 or not time or not peak:
        expect(f"run {arguments}", False, output)
        return output, float("inf"), float("inf")
    return (output, float(time[1]) * {"us": 1e-3, "ms": 1, "s": 1e3}[time[2]],
            float(peak[1]) * {"M": 1, "G": 1024}[peak[2]])


def layers(count, cut=""):
    """An MLP of some layers, data parallel, and its gradient. `cut`: the sharding of weights."""
    parameters = "".join(f", %w{n}: tensor<?Fx?Exf32>{cut}, %u{n}: tensor<?Ex?Fxf32>{cut}" for n in range(count))
    lines = []
    for n in range(count):
        lines += [f"  %a{n} = linear %h{n}, %w{n}", f"  %g{n} = gelu %a{n}", f"  %y{n} = linear %g{n}, %u{n}",
                  f"  %h{n + 1} = add %h{n}, %y{n}"]
    return ("mesh @m = <dp=8>\n"
            f"fusion @mlp(%h0: tensor<?Bx?Exf32> <@m, [{{dp}}, {{}}]>{parameters}) -> (%loss: tensor<f32>) {{\n" +
            "\n".join(lines) + f"\n  %q = mul %h{count}, %h{count}\n  %loss = reduce_mean %q {{dims = [0, 1]}}\n"
            "  return %loss\n}\n")


FSDP = """mesh @m = <dp=8>
fusion @mlp(%x: tensor<?Bx?Exf32> <@m, [{dp}, {}]>, %w1s: tensor<?Lx?Fx?Exf32> <@m, [{}, {dp}, {}]>,
            %w2s: tensor<?Lx?Ex?Fxf32> <@m, [{}, {dp}, {}]>) -> (%loss: tensor<f32>) {
  %z = for %i in 0..?L carry(%h = %x) recompute {
    %w1 = at %w1s[%i]
    %w2 = at %w2s[%i]
    %a = linear %h, %w1
    %g = gelu %a
    %y = linear %g, %w2
    %n = add %h, %y
    yield %n
  }
  %q = mul %z, %z
  %loss = reduce_mean %q {dims = [0, 1]}
  return %loss
}
"""


def reductions():
    sizes = {"B": 16384, "E": 2048, "F": 8192}
    weights = [word for n in range(6) for word in ("--wrt", f"w{n}", "--wrt", f"u{n}")]
    output, alone, _ = predict(layers(6), "--grad", *weights, "--mesh", "dp=1", B=2048, E=2048, F=8192)
    output, step, _ = predict(layers(6), "--grad", *weights, **sizes)
    # 12 gradients of 64 MiB are 4 ms of all_reduces; only the last may be seen.
    expect(f"the step of one rank takes {alone} ms, of eight {step}: gradients are reduced beside the backward pass",
           step < alone + 0.7, output)
    output, _, peak = predict(FSDP, "--grad", "--wrt", "w1s", "--wrt", "w2s", L=24, **sizes)
    # Whole gradients of all layers would be 3072 MiB.
    expect(f"FSDP holds parts of gradients: peak {peak} MiB", peak < 1500, output)


def written_out():
    sizes = {"B": 32768, "E": 4096, "F": 16384}
    weights = [word for n in range(12) for word in ("--wrt", f"w{n}", "--wrt", f"u{n}")]
    _, _, loop = predict(FSDP.replace(") recompute {", ") {"), "--grad", "--wrt", "w1s", "--wrt", "w2s", L=12, **sizes)
    output, _, peak = predict(layers(12, " <@m, [{dp}, {}]>"), "--grad", *weights, **sizes)
    # The gathered weights of all layers would be 6144 MiB.
    expect(f"FSDP layers written out hold {peak} MiB, as a loop: {loop} MiB", peak < 1.03 * loop, output)


ADAM = """mesh @m = <dp=2>
fusion @adam(%w: tensor<?Ex?Fxf32>, %g: tensor<?Ex?Fxf32>, %m: tensor<?Ex?Fxf32>, %v: tensor<?Ex?Fxf32>)
    -> (%wn: tensor<?Ex?Fxf32> alias(%w), %mn: tensor<?Ex?Fxf32> alias(%m), %vn: tensor<?Ex?Fxf32> alias(%v)) {
  %a = mul %m, 0.9
  %b = mul %g, 0.1
  %mn = add %a, %b
  %c = mul %v, 0.99
  %q = mul %g, %g
  %d = mul %q, 0.01
  %vn = add %c, %d
  %r = sqrt %vn
  %e = add %r, 1e-8
  %u = div %mn, %e
  %l = mul %u, 0.001
  %wn = sub %w, %l
  return %wn, %mn, %vn
}
fusion @cached(%k: tensor<?Bx?Gx1x?Dxbf16>, %pos: tensor<i32>, %kc: tensor<?Bx?Gx?Tx?Dxbf16>)
    -> (%kn: tensor<?Bx?Gx?Tx?Dxbf16> alias(%kc)) {
  %kn = dynamic_update_slice %kc, %k, 0, 0, %pos, 0
  return %kn
}
"""


def aliases():
    output, _, peak = predict(ADAM, "@adam", E=8192, F=8192)
    expect(f"AdamW holds w, g, m and v of 256 MiB once: peak {peak} MiB", peak == 1024, output)
    output, time, peak = predict(ADAM, "@cached", B=16, G=8, T=8192, D=128)
    # Reading and writing the cache once would take 0.1 ms.
    expect(f"one token is written into a cache of 256 MiB in place: {time} ms, peak {peak} MiB",
           time < 0.04 and peak < 257, output)


def reduced_once():
    text = """mesh @m = <dp=2>
fusion @losses(%x: tensor<?Bx?Cxf32> <@m, [{}, {dp}]>, %t: tensor<?Bxi32>) -> (%a: tensor<?Bx?Cxf32> <@m, [{}, {dp}]>,
    %b: tensor<?Bxf32>, %p: tensor<?Bx?Cxf32> <@m, [{}, {dp}]>) {
  %a = log_softmax %x
  %p = softmax %x
  %b = cross_entropy %x, %t
  return %a, %b, %p
}
"""
    output, _, _ = predict(text, B=16384, C=128256)
    expect("log_softmax, softmax and cross_entropy share the maximum and the sum",
           "1 x all_reduce max over {dp}, 64 KiB per rank" in output and "1 x all_reduce sum of 2 tensors" in output,
           output)


def attention():
    text = """fusion @a(%q: tensor<?Bx?Hx?Sx?Dxbf16>, %k: tensor<?Bx?Hx?Sx?Dxbf16>, %v: tensor<?Bx?Hx?Sx?Dxbf16>)
    -> (%y: tensor<?Bx?Hx?Sx?Dxbf16>) {
  %y = scaled_dot_product_attention %q, %k, %v {causal = true}
  return %y
}
"""
    output, _, peak = predict(text, "--grad", B=1, H=32, S=8192, D=128)
    # The scores of all heads are 8 GiB.
    expect(f"the gradient of attention does not hold the scores: peak {peak} MiB", peak < 700, output)


STAGES = """mesh @m = <dp=2>
fusion @first(%x: tensor<?Bx?Exf32> <@m, [{dp}, {}]>, %w: tensor<?Ex?Exf32>) -> (%y: tensor<?Bx?Exf32> <@m, [{dp}, {}]>) {
  %y = linear %x, %w
  return %y
}
fusion @last(%x: tensor<?Bx?Exf32> <@m, [{dp}, {}]>, %w: tensor<?Ex?Exf32>, %cut: tensor<?Exf32> <@m, [{dp}]>)
    -> (%loss: tensor<f32>) {
  %y = linear %x, %w
  %n = rms_norm %y, %cut
  %q = mul %n, %n
  %loss = reduce_mean %q {dims = [0, 1]}
  return %loss
}
"""


def pipelines():
    done = subprocess.run([HOSTIR, "pipeline", "-", "--stages", "first,last", "--data", "x", "--micro-batches", "4"],
                          input=STAGES, capture_output=True, text=True, timeout=300)
    output, _, _ = predict(done.stdout, "@pipeline", B=4096, E=4096)
    expect("each gradient of 64 MiB is reduced once, not for each of 4 micro-batches",
           "1 x all_reduce sum over {dp}, 64 MiB per rank" in output, done.stderr + output)
    expect("the pipeline says so", "weights: summed over {dp} once, after the last micro-batch" in done.stdout, done.stdout)


reductions()
written_out()
aliases()
reduced_once()
attention()
pipelines()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
