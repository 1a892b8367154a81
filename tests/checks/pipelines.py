#!/usr/bin/env python3
"""Pipelines from `hostir pipeline`: equal to the same stages without a pipeline, with any p2p buffer; mistakes are found.

Usage: pipelines.py HOSTIR. Prints what failed and a count; exit status 1 if anything did.
"""
import concurrent.futures
import re
import subprocess
import sys
import tempfile

HOSTIR = sys.argv[1]
STAGES = "tests/programs/pipeline_stages.hir"
SHARDED = "tests/programs/pipeline_sharded_stages.hir"
TIED = "tests/programs/pipeline_tied_stages.hir"
GPT = "tests/programs/gpt_stages.hir"
SWEPT = "completes without p2p buffers, whatever the size of the messages\n"
failures = []
passed = 0


def run(arguments, text=None):
    done = subprocess.run([HOSTIR, *arguments], input=text, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def expect(what, holds, output=""):
    global passed
    if holds:
        passed += 1
    else:
        failures.append(what)
        print(f"FAILED: {what}\n{output[:1500]}")


def generate(file, schedule, ranks, stages, micro_batches, *more):
    first, last, data = ("embed", "head", "ids,targets") if file == TIED else ("first", "last", "x,target")
    names = [first] + ["middle"] * (stages - 2) + [last]
    if file == TIED:
        more = (*more, "--tied", "table")
    status, text = run(["pipeline", file, "--stages", ",".join(names), "--data", data, "--schedule", schedule,
                        "--ranks", str(ranks), "--micro-batches", str(micro_batches), "--reference", *more])
    return text if status == 0 else f"exit status {status}: {text}"


def compare(text, directory):
    """The loss and gradients of @pipeline in text, in 3 orders, against those of the same stages without a pipeline."""
    host = text[text.index("host @pipeline on"):]
    header = host[:host.index(" {\n")]
    names = re.findall(r"%([\w.]+): shard<", header[:header.index("->")])
    numbers = {name: f"uniform({n}, 0.0, 10.0)" if name.endswith(("ids", "targets")) else f"normal({n})"
               for n, name in enumerate(names)}
    inputs = [word for name in names for word in ("--input", f"{name}={numbers[name]}")]
    files = [f"{n}=@{directory}/{n}.npy" for n in range(header[header.index("->"):].count(": shard<"))]
    wanted = [word for file in files for word in ("--output", file)]
    status, output = run(["run", "-", "@pipeline.whole.gradient", "-q", *inputs, *wanted], text)
    if status != 0:
        return status, f"the reference: {output}"
    found = [word for file in files for word in ("--expect", file)]
    return run(["run", "-", "@pipeline", "-q", "--p2p-sweep", "--schedules", "3", "--atol", "1e-5", "--rtol", "1e-5",
                *inputs, *found], text)


def prove(text):
    return run(["verify", "-", "@pipeline", "--against", "@pipeline.whole.gradient"], text)


def check(case):
    """One pipeline: proven equal to the reference, equal on inputs, needs no p2p buffer, reports nothing (such as a leak)."""
    text = generate(*case)
    status, output = prove(text)
    if status != 0:
        return case, False, output
    with tempfile.TemporaryDirectory() as directory:
        status, output = compare(text, directory)
    return case, status == 0 and output == SWEPT, output


def tied():
    """Both stages of a tied weight return the same gradient, and a missing sum is detected."""
    text = generate(TIED, "1f1b", 3, 3, 2)
    with tempfile.TemporaryDirectory() as directory:
        status, output = compare(text, directory)
        expect("tied: as without a pipeline", status == 0, output)
        kernel = r"(?s)(kernel @add_whole_2d_f32\(.*? = add %before, )%\w+"
        wrong, changed = re.subn(kernel, r"\1%before", text)
        expect("tied: gradients are added up", changed == 1 and "launch @add_whole_2d_f32 " in text, text)
        status, output = compare(wrong, directory)
        expect("tied: a missing sum is found", status in (1, 3, 4) and "instead of" in output, output)


# Each mistake as a change of the text, and the expected message.
MISTAKES = {
    "a gradient is not added": (r"\n    launch @add_2d_f32 [^\n]*", "", "instead of"),
    "a transfer is not received": (r"\n      recv %c [^\n]*", "", "deadlock|blocked|never"),
    "a transfer is not sent": (r"\n      send %c [^\n]*", "", "deadlock|blocked|never"),
    "a stage gets another micro-batch": (r"%s0\.x\[1:2", "%s0.x[0:1", "instead of"),
    "a group is two steps, receives first":
        (r"(%\S+ = )?group \{\n      (send [^\n]*)\n      (recv [^\n]*)\n    \}", r"\1\3\n    \2", "deadlock|blocked"),
}


def plant(schedule):
    text = generate(STAGES, schedule, 2, 4 if schedule in ("interleaved", "zb-h1") else 2, 4)
    for what, (pattern, change, says) in MISTAKES.items():
        count = 0 if "group" in what else 1
        wrong, changed = re.subn(pattern, change, text, count=count)
        if changed == 0:  # GPipe never sends both ways at once
            expect(f"{schedule}: {what}: the text has nothing to change", "group" in what and schedule == "gpipe")
            continue
        with tempfile.TemporaryDirectory() as directory:
            status, output = compare(wrong, directory)
        expect(f"{schedule}: {what}: found", status in (1, 3, 4) and re.search(says, output), output)
        status, output = prove(wrong)
        expect(f"{schedule}: {what}: not proven, but named", status in (1, 3, 4), f"exit status {status}: {output}")


def gpt():
    """A training step of the GPT, with attention in a ring, equals the same stages without a pipeline."""
    sizes = [word for size in ("B=1", "S=8", "E=8", "V=11", "X=2", "F=6") for word in ("--size", size)]
    pipeline = ["pipeline", GPT, "--stages", "embed,attention,experts,head", "--data", "ids,targets", "--schedule",
                "interleaved", "--ranks", "2", "--micro-batches", "2", "--reference", *sizes]
    status, output = prove(run(pipeline)[1])
    expect("gpt: proven, but for the ring", status == 0, output)
    status, text = run([*pipeline, "--overlap", "ring"])
    expect("gpt: keys and values travel over cp", status == 0 and " permute %c_cp pairs " in text, text)
    status, output = run(["test", "-", "--filter", "without a pipeline"], text)
    expect("gpt: as without a pipeline", status == 0 and output.startswith("1 passed"), output)


def main():
    gpt()
    tied()
    cases = []
    for micro_batches in (1, 2, 5):
        for ranks in (2, 4):
            cases += [(STAGES, schedule, ranks, ranks, micro_batches) for schedule in ("gpipe", "1f1b", "zb-h1")]
        for ranks, stages in ((2, 4), (3, 6)):
            cases += [(STAGES, schedule, ranks, stages, micro_batches) for schedule in ("interleaved", "zb-h1")]
    for schedule in ("gpipe", "1f1b", "interleaved", "zb-h1"):
        cases.append((SHARDED, schedule, 2, 4 if schedule == "interleaved" else 2, 3))
        cases.append((TIED, schedule, 2, 4 if schedule == "interleaved" else 2, 3))
        if schedule in ("interleaved", "zb-h1"):
            cases.append((STAGES, schedule, 1, 3, 2))
            cases.append((TIED, schedule, 1, 3, 2))
    cases.append((STAGES, "1f1b", 8, 8, 16))
    cases.append((STAGES, "1f1b", 3, 3, 4, "--batch", "sum"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, holds, output in pool.map(check, cases):
            expect(f"pipeline {case}", holds, output)
    for schedule in ("gpipe", "1f1b", "interleaved", "zb-h1"):
        plant(schedule)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
