#!/usr/bin/python3
"""Tests the Python module as its users do: python_module.py LIBHOSTIR. Prints `N passed, N failed`.

Runs under the system's Python, for which python3-numpy is installed; a second process hides numpy. What IPython and
other frameworks would do is done here by hand: registering the magic, and taking DLPack capsules.
"""
import array
import ctypes
import gc
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

from cases import ENDLESS, check, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRUTH = ROOT / "tests/truth/tp_mlp_w2"
INPUTS = {"x": "x", "w1": "c_fc.weight", "b1": "c_fc.bias", "w2": "c_proj.weight", "b2": "c_proj.bias"}


def refused(what, kind, text, work):
    try:
        work()
    except kind as error:
        check(f"{what} names it", text in str(error), error)
        return error
    check(f"{what} is refused", False)
    return None


def open_mlp(hostir, **options):
    import numpy
    arrays = {name: numpy.load(TRUTH / f"{file}.npy") for name, file in INPUTS.items()}
    arrays["w1"] = numpy.asfortranarray(arrays["w1"])  # strides matter
    arrays["b1"] = TRUTH / "c_fc.bias.npy"
    return hostir.open("tests/programs/tp_mlp.hir", mesh={"tp": 2}, inputs=arrays, **options)


def check_run(hostir, numpy):
    with tempfile.TemporaryDirectory() as folder, open_mlp(hostir, log=f"{folder}/run.db") as session:
        check("what was opened", session.ranks == 2 and session.mesh == {"tp": 2}, session)
        number = session.stop_at("all_reduce", "rank == 1")
        stop = session.run()
        check("a breakpoint", stop.kind == "breakpoint" and stop.rank == 1 and stop.breakpoint == number, stop)
        here, parts = session.position, [session.array("y_product", rank) for rank in (0, 1)]
        check("partial sums", numpy.allclose(parts[0] + parts[1], session["y_product"], atol=1e-6))
        check("they differ", not numpy.allclose(parts[0], parts[1], atol=1e-3))
        session.clear(number)
        check("the run ends", session.run().kind == "finished")
        y = session.tensor("%y")
        expected = numpy.load(TRUTH / "y.npy")
        check("PyTorch's numbers", numpy.abs(y.array() - expected).max() < 1e-5 * max(1, numpy.abs(expected).max()))
        check("lists are the same numbers", numpy.array_equal(numpy.array(y.tolist(), "f4"), y.array()))
        part = session.array("y[1, 2:4, :]", 1)
        check("a slice", part.shape == (1, 2, 24) and numpy.array_equal(part[0], expected[1, 2:4]) or
              numpy.allclose(part[0], expected[1, 2:4], atol=1e-5), part.shape)
        session.goto(here)
        check("backwards to the same bits", numpy.array_equal(session.array("y_product", 1), parts[1]))
        check("one step back", session.back().kind == "step" and session.position < here)
        session.run()
        layout = session.layout("w1")
        check("a layout", layout.pytorch == "S(0)@tp" and len(layout.boxes) == 2, layout)
        check("boxes cut the rows", layout.boxes[0][0][1] == layout.boxes[1][0][0], layout)
        check("all layouts", {"x", "w1", "y"} <= set(session.layouts()), session.layouts())
        rows = session.query("SELECT rank, COUNT(*) AS n FROM event GROUP BY rank ORDER BY rank")
        check("SQL", [row["rank"] for row in rows] == [0, 1] and all(row["n"] > 0 for row in rows), rows)
        check("phases", list(session.phases)[-1] == "lifetimes" and "host @mlp.host" in session.text)
        refused("a value", hostir.RuntimeFailure, "nobody", lambda: session["nobody"])
        refused("SQL that writes", hostir.Error, "", lambda: session.query("DELETE FROM event"))
        refused("a command", hostir.UsageError, "brake", lambda: session.command("brake all_reduce"))
        check_pictures(layout, session)
        check_answers(session)
        session.close()
        check("values outlive the session", y.array().shape == (2, 6, 24))
        refused("a closed session", ValueError, "closed", session.run)
        with hostir.open(f"{folder}/run.db") as log:
            check("the log opens", log.can_run and log.ranks == 2)


def check_pictures(layout, session):
    for picture in (layout.picture(), session.timeline()):
        drawn = xml.etree.ElementTree.fromstring(picture)
        boxes = [e for e in drawn if e.tag.endswith("rect")]
        check("a picture", len(boxes) >= 2 and picture._repr_svg_() == picture, picture[:200])


def check_answers(session):
    listed = session.command("list 1")
    check("list", listed.data["first"] == 1 and listed.data["lines"][0] in listed.text, listed.data)
    session.goto(0)
    session.command("until all_reduce")
    inside = session.command("inside %y_product[0, 0, 0] at all_reduce#1").data[0]
    check("inside", inside["kind"] == "collective" and len(inside["addends"]) == 2 and
          float(inside["number"]) == float(inside["addends"][-1]["running"]), inside)
    session.goto(3)
    frames = session.command("backtrace all").data
    check("backtrace", [rank["rank"] for rank in frames] == [0, 1] and frames[0]["at"], frames)
    check("steps", session.step(2).kind == "step")


def check_dlpack(hostir, numpy):
    """Exchanges DLPack capsules with other frameworks, both ways."""
    with open_mlp(hostir) as session:
        session.run()
        tensor = session.tensor("y")
        kept = tensor.array().copy()
        taken = numpy.from_dlpack(tensor)  # an unversioned capsule
        check("DLPack out", numpy.array_equal(taken, kept) and tensor.__dlpack_device__() == (1, 0))
        del tensor
        gc.collect()
        check("the consumer keeps it alive", numpy.array_equal(taken, kept))
        exported = sys.modules["hostir._tensor"]._exported
        held = len(exported)
        del taken
        gc.collect()
        check("and gives it back", held == 1 and not exported, (held, len(exported)))
        capsule = session.tensor("y").__dlpack__(max_version=(1, 0))
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        check("a versioned capsule", name(capsule) == b"dltensor_versioned" and len(exported) == 1)
        del capsule
        check("a capsule that nobody takes", not exported)
        refused("another device", BufferError, "host", lambda: session.tensor("y").__dlpack__(dl_device=(2, 0)))

    class Foreign:
        """An object that has only __dlpack__."""

        def __init__(self, value):
            self.value = value

        def __dlpack__(self):
            return self.value.__dlpack__()

    given = {"tensor_a": [1, 2, 3, 4], "tensor_b": [5, 6, 7, 8]}
    program = (ROOT / "tests/programs/simple_add.hir").read_text()
    names = [name for name in ("lhs", "rhs", "a", "b", "x", "y") if f"%{name}:" in program][:2]
    check("simple_add has two parameters", len(names) == 2, program[:400])
    left, right = (numpy.array(v, "f4") for v in given.values())
    wide = numpy.zeros((4, 2), "f4")
    wide[:, 0] = right
    for what, pair in {"DLPack": (Foreign(left), Foreign(wide[:, 0])),
                       "buffers": (array.array("f", left), memoryview(array.array("f", right))),
                       "lists": (left.tolist(), tuple(right.tolist())),
                       "texts": ("4xf32=[1 2 3 4]", "4xf32=[5 6 7 8]"),
                       "negative strides": (left[::-1].copy()[::-1], right)}.items():
        with hostir.open("tests/programs/simple_add.hir", inputs=dict(zip(names, pair))) as session:
            session.run()
            out = session.output().array()
            check(f"inputs as {what}", out.tolist() == [6, 8, 10, 12], out)
    for what, inputs in {"a list": [left, right], "a tuple": (left, right), "positions": {1: right, 0: left}}.items():
        with hostir.open("tests/programs/simple_add.hir", inputs=inputs) as session:
            session.run()
            check(f"inputs as {what}", session.output().array().tolist() == [6, 8, 10, 12])
    refused("an array for all inputs", TypeError, "ndarray",
            lambda: hostir.open("tests/programs/simple_add.hir", inputs=left))
    refused("a ragged list", ValueError, names[0],
            lambda: hostir.open("tests/programs/simple_add.hir", inputs={names[0]: [[1, 2], [3]]}))
    refused("big-endian", TypeError, names[0],
            lambda: hostir.open("tests/programs/simple_add.hir", inputs={names[0]: left.astype(">f4")}))
    refused("complex numbers", TypeError, names[0],
            lambda: hostir.open("tests/programs/simple_add.hir", inputs={names[0]: left.astype("c8")}))


def check_dtypes(hostir, numpy):
    for dtype, kind in {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8",
                        "u32": "u4", "u16": "u2", "u8": "u1", "i1": "?"}.items():
        given = numpy.array([[0, 1, 1], [1, 0, 1]], kind)
        f = hostir.Fusion("copy", mesh={"t": 2})
        f.output(f.transpose(f.input("x", dtype, (2, 3), [("t",), ()]), permutation=[1, 0], name="y"), dtype, (3, 2))
        with hostir.open(f, inputs={"x": given}) as session:
            session.run()
            y = session.tensor("y")
            check(f"{dtype} there and back", y.array().dtype == given.dtype and numpy.array_equal(y.array(), given.T) and
                  y.tolist() == given.T.tolist(), (y, y.tolist()))
    f = hostir.Fusion("narrow", mesh={"t": 2})
    f.output(f.cast(f.input("x", "f32", (3,)), to="bf16", name="y"), "bf16", (3,))
    with hostir.open(f, inputs={"x": [1.0, -0.5, 3.140625]}) as session:
        session.run()
        check("bf16 is widened", session["y"].tolist() == [1.0, -0.5, 3.140625] == session.tensor("y").tolist())
    for dtype, wanted in (("f8e4m3", [1.0, 448.0, -0.001953125]), ("f8e5m2", [1.0, 448.0, -0.001953125])):
        f = hostir.Fusion("eight", mesh={"t": 2})
        f.output(f.cast(f.input("x", "f32", (3,)), to=dtype, name="y"), dtype, (3,))
        with hostir.open(f, inputs={"x": [1.01, 450.0, -0.002]}) as session:
            session.run()
            y = session.tensor("y")
            check(f"{dtype} is widened", y.array().tolist() == wanted == y.tolist(), y.tolist())
    f = hostir.Fusion("none", mesh={"t": 2})
    f.output(f.neg(f.input("x", "f32", (0, 3)), name="y"), "f32", (0, 3))
    with hostir.open(f, inputs={"x": numpy.zeros((0, 3), "f4")}) as session:
        session.run()
        check("nothing is a tensor too", session["y"].shape == (0, 3))


def check_compiler(hostir):
    lowered = hostir.lower("tests/programs/tp_mlp.hir", mesh={"tp": 4}, sizes={"B": 2, "S": 6, "H": 24, "F": 48})
    check("phases", "host @mlp.host" in lowered.text and "host @mlp.host" not in lowered.phases["steps"],
          lowered.phases.keys())
    check("the reasons", any("all_reduce" in r["what"] for r in lowered.explanation), lowered.explanation)
    check("of one value", all(r["value"] == "y" for r in lowered.why("%y")) and lowered.why("y"))
    refused("a function", hostir.UsageError, "@gone",
            lambda: hostir.lower("tests/programs/tp_mlp.hir", function="@gone"))
    error = refused("a text", hostir.InvalidProgram, "tq",
                    lambda: hostir.lower("mesh @m = <tp=2>\nfusion @f(%x: tensor<4xf32> <@m, [{tq}]>) -> "
                                         "(tensor<4xf32>) { return %x }\n"))
    check("its diagnostics", error and error.status == 2 and error.diagnostics[0].line == 2 and
          error.diagnostics[0].id in str(error), error and error.diagnostics)
    text, _ = hostir.import_text("""module @f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
""")
    check("StableHLO", " add " in text and "fusion" in text, text)
    refused("our own text", hostir.UsageError, "import", lambda: hostir.import_text("tests/programs/tp_mlp.hir"))


def check_verdicts(hostir):
    with hostir.open("tests/programs/deadlock.hir", example_inputs=True) as stuck:
        stop = stuck.run()
        check("a deadlock", stop.kind == "deadlock" and stop.fault, stop)
        verdict = stuck.diagnose()
        check("who", verdict.fault and verdict.culprits == (1,) and "rank 1" in verdict.sentence, verdict)
        found = stuck.what_if()
        check("a repair", found["completes"] > 0 and found["trials"][0]["verdict"] == "completes" and
              any(line["kind"] == "added" for line in found["trials"][0]["diff"]), found["conclusion"])
    verdict = hostir.diagnose("tests/truth/flight_recorder/size")
    check("dumps", verdict.fault and verdict.culprits == (1,), verdict)
    check("nobody", not hostir.diagnose("tests/truth/flight_recorder/healthy").fault)
    refused("nothing to read", hostir.Error, "", lambda: hostir.diagnose("tests/programs"))
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(4):
            name = f"kineto_{rank}.json.gz"
            shutil.copy(ROOT / "tests/truth/flight_recorder/healthy" / name, folder)
        profile = hostir.diagnose(folder)
    check("profiles accuse nobody", not profile.fault and profile.culprits == () and "last" in profile.sentence, profile)
    check("their tables", len(profile.data["ranks"]) == 4 and all("skew_ns" in c for c in profile.data["collectives"]),
          list(profile.data))


def check_interrupts(hostir):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    with hostir.open(ENDLESS, inputs={"x": [1.0, 2.0]}) as session:
        timer = threading.Timer(0.3, session.interrupt)
        timer.start()
        check("an interrupt", session.run().kind == "interrupted")
        timer.join()
        begin = session.position
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        refused("Ctrl-C", KeyboardInterrupt, "", session.run)
        check("the session goes on", session.position > begin and session.back().kind == "step")


def check_jax(hostir, numpy):
    """JAX numbers its values: %20 is read like any other."""
    case = ROOT / "tests/truth/jax/tp_mlp"
    inputs = {i: case / f"in{i}.npy" for i in range(5)}
    with hostir.open(case / "stablehlo.mlir", inputs=inputs) as session:
        session.run()
        expected = numpy.load(case / "out0.npy")
        name = session.text.split("return %")[-1].split()[0]
        check("the result has a number", name.isdigit(), name)
        for what, got in (("by position", session.output(0)), ("by name", session.tensor(name)),
                          ("as an item", session[name])):
            check(f"a JAX result {what}", numpy.allclose(numpy.asarray(got.array() if hasattr(got, "array") else got),
                                                         expected, rtol=1e-5, atol=1e-5), what)


CUSTOM_CALL = """module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x3xbf16> {
    %0:2 = stablehlo.custom_call @min_max(%arg0) : (tensor<4x3xf32>) -> (tensor<4x3xbf16>, tensor<4x3xi32>)
    %1 = stablehlo.convert %0#1 : (tensor<4x3xi32>) -> tensor<4x3xbf16>
    %2 = stablehlo.add %0#0, %1 : tensor<4x3xbf16>
    return %2 : tensor<4x3xbf16>
  }
}
"""


def check_kernels(hostir, numpy):
    """Kernels in numpy for operations that are known only by name."""
    x = numpy.arange(12, dtype="f4").reshape(4, 3) * 1.001

    def run():
        with hostir.open(CUSTOM_CALL, inputs={"arg0": x}) as session:
            session.run()
            return session.output(0).array()

    refused("an operation without a kernel", hostir.RuntimeFailure, "hostir.kernel", run)
    name = next(line.split(": ")[0].split(" x ", 1)[1] for line in hostir.import_text(CUSTOM_CALL)[1].splitlines())
    seen = []

    @hostir.kernel(name)
    def min_max(a):
        seen.append((a.shape, a.dtype.str, a.flags.writeable))
        return numpy.minimum(a, 6), numpy.maximum(a, 6).astype("i4")

    wanted = numpy.minimum(x, 6) + numpy.maximum(x, 6).astype("i4")
    refused("parts by a guess", hostir.RuntimeFailure, "parts=True", run)
    hostir.kernel(name, parts=True)(min_max)
    check("its two results in bf16", numpy.allclose(run(), wanted, rtol=2 ** -7), wanted)
    check("what it is given", set(seen) == {((2, 3), "<f4", False)}, seen)
    hostir.kernel(name, parts=True)(lambda a: (a[:1], a))
    refused("another shape", ValueError, "(1, 3)", run)
    hostir.kernel(name, parts=True)(lambda a: 1 // 0)
    refused("an exception", ZeroDivisionError, "division", run)
    hostir.kernel(name, parts=True)(min_max)
    check("a kernel that replaces another", numpy.allclose(run(), wanted, rtol=2 ** -7))


def check_notebook(hostir):
    class Shell:
        def __init__(self):
            self.magics, self.user_ns = {}, {"mine": [1.0, 2.0, 3.0, 4.0]}

        def register_magic_function(self, function, magic_kind):
            self.magics[function.__name__, magic_kind] = function

        def push(self, names):
            self.user_ns.update(names)

    shell = Shell()
    hostir.load_ipython_extension(shell)
    cell = shell.magics["hostir", "cell"]
    text = "mesh @t = <tp=2>\nfusion @f(%x: tensor<4xf32> <@t, [{tp}]>) -> (%y: tensor<4xf32>) {\n" \
           "  %y = mul %x, 2.0\n  return %y\n}"
    shown = cell("--input x=mine --show y --layout x --name run", text)
    page = shown._repr_html_()
    check("a cell", "8" in shown.values["y"] and page.count("<svg") == 2 and "ended" in shown.verdict, page[:300])
    check("a result that another value holds", shell.user_ns["run"].outputs["y"] != "y",
          shell.user_ns["run"].outputs)
    check("its session", shell.user_ns["run"]["y"][3] == 8 and shell.user_ns["run"].mesh == {"tp": 2})
    shell.user_ns["run"].close()
    shown = cell("--no-timeline", (ROOT / "tests/programs/deadlock.hir").read_text())
    check("a verdict", "rank 1" in shown.verdict and "<svg" not in shown._repr_html_(), shown.verdict)
    refused("a variable", ValueError, "nobody", lambda: cell("--input x=nobody", text))
    refused("an option", ValueError, "--colour", lambda: cell("--colour", text))


def captured(rank, *nodes):
    """A record of hostir_capture, as rank `rank` of two makes it."""
    def node(name, target, *args, shape=(4,)):
        return {"name": name, "target": target, "phase": "forward", "args": list(args),
                "out": [{"dtype": "f32", "shape": list(shape)}], "source": {"file": "m.py", "line": 7, "function": "forward"}}
    made = [node(*n[0], **n[1]) for n in nodes]
    return {"world_size": 2, "rank": rank, "torch": "2.11", "mesh": [["tp", 2]], "device_ids": [0, 1], "groups": {"0": [0, 1]},
            "inputs": [{"name": "x", "kind": "input", "dtype": "f32", "shape": [4], "node": "x", "varies": ["tp"]}],
            "nodes": made, "outputs": [{"name": "y", "kind": "output", "node": made[-1]["name"], **made[-1]["out"][0]}]}


def check_capture():
    """What hostir_capture refuses, and numbers that differ between ranks; tests/checks/truth.sh has its programs."""
    import hostir_capture as capture
    x = {"n": "x"}

    def text(of_rank):
        return capture.to_text(capture.merge([captured(rank, *of_rank(rank)) for rank in (0, 1)]))
    wrong = capture.CaptureError
    refused("ranks that differ", wrong, "rank 1 differs from rank 0: %a is aten.exp.default there, but %a is aten.log.default",
            lambda: text(lambda rank: [(("a", ("aten.exp.default", "aten.log.default")[rank], x), {})]))
    refused("unequal shards", wrong, "shards of unequal sizes",
            lambda: text(lambda rank: [(("a", "aten.exp.default", x), {"shape": (4 - rank,)})]))
    refused("an unknown operation", wrong, "aten.lgamma.default: 2 x, first at m.py:7",
            lambda: text(lambda rank: [(("a", "aten.lgamma.default", x), {}), (("b", "aten.lgamma.default", {"n": "a"}), {})]))
    def run(program):
        import hostir
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "step.hir"
            path.write_text(program)
            with hostir.open(path, inputs={"x": "8xf32=[1 2 3 4 10 20 30 40]"}) as session:
                session.run()
                return list(session["y"])
    y = run(text(lambda rank: [
        (("a", "aten.neg.default", x), {}), (("v", "aten.slice.Tensor", {"n": "a"}, 0, 1, 3), {"shape": (2,)}),
        (("c", "aten.add_.Tensor", {"n": "a"}, 1.0), {}), (("z", "aten.neg.default", {"n": "v"}), {"shape": (2,)})]))
    check("a view of what changed since", y == [1.0, 2.0, 19.0, 29.0], y)
    program = text(lambda rank: [(("a", "aten.add.Tensor", x, 3.0 * rank), {}),
                                 (("m", "aten.mul_.Tensor", {"n": "a"}, 2.0), {}),
                                 (("r", "_c10d_functional.all_reduce.default", {"n": "a"}, "sum", "0"), {}),
                                 (("w", "_c10d_functional.wait_tensor.default", {"n": "r"}), {}),
                                 (("y", "aten.add.Tensor", {"n": "w"}, 1), {})])
    y = run(program)
    check("numbers that differ between ranks", y == [29.0, 51.0, 73.0, 95.0], y)


def check_without_numpy(library):
    script = """
import sys
sys.modules["numpy"] = None
import hostir
with hostir.open("tests/programs/deadlock.hir", example_inputs=True) as s:
    assert s.run().kind == "deadlock"
f = hostir.Fusion("twice", mesh={"t": 2})
x = f.input("x", "f32", (2, 2), [("t",), ()])
f.output(f.op("add", x, x, name="y"), "f32", (2, 2))
with hostir.open(f, inputs={"x": [[1.0, 2.0], [3.0, 4.0]]}) as s:
    s.run()
    assert s["y"] == [[2.0, 4.0], [6.0, 8.0]] and s.array("y", 1) == [[6.0, 8.0]], s["y"]
print("fine")
"""
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    check("without numpy", run.stdout == "fine\n", run.stderr)
    run = subprocess.run([sys.executable, "hostir/python/tutorial.py"], cwd=ROOT, capture_output=True, text=True,
                         timeout=120)
    check("the tutorial", run.returncode == 0 and "rank 1" in run.stdout, run.stderr)
    missing = subprocess.run([sys.executable, "-c", "import hostir"], cwd=ROOT, capture_output=True, text=True,
                             env={**os.environ, "HOSTIR_LIBRARY": "/nowhere/libhostir.so"}, timeout=60)
    check("a library that is missing", "HOSTIR_LIBRARY" in missing.stderr and missing.returncode == 1, missing.stderr)


def main():
    os.environ["HOSTIR_LIBRARY"] = str(pathlib.Path(sys.argv[1]).resolve())
    os.environ["PYTHONPATH"] = str(ROOT / "hostir/python")
    sys.path.insert(0, os.environ["PYTHONPATH"])
    os.chdir(ROOT)
    import numpy

    import hostir
    check("the version", len(hostir.version) >= 5, hostir.version)
    check_run(hostir, numpy)
    check_dlpack(hostir, numpy)
    check_dtypes(hostir, numpy)
    check_compiler(hostir)
    check_verdicts(hostir)
    check_interrupts(hostir)
    check_notebook(hostir)
    check_jax(hostir, numpy)
    check_kernels(hostir, numpy)
    check_capture()
    check_without_numpy(sys.argv[1])
    return finish()


if __name__ == "__main__":
    sys.exit(main())
