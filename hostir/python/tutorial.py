# %% [markdown]
# # The workbench from Python
# Run it from the top of a checkout, cell by cell or as a script: `PYTHONPATH=hostir/python python3
# hostir/python/tutorial.py`. It needs libhostir.so (preset `release`) and numpy.

# %% A tensor-parallel MLP on two simulated ranks, with inputs of our own
import numpy

import hostir

rng = numpy.random.default_rng(0)
inputs = {"x": rng.standard_normal((2, 6, 24), dtype=numpy.float32),
          "w1": rng.standard_normal((96, 24), dtype=numpy.float32) * 0.05,
          "b1": numpy.zeros(96, numpy.float32),
          "w2": rng.standard_normal((24, 96), dtype=numpy.float32) * 0.05,
          "b2": numpy.zeros(24, numpy.float32)}
session = hostir.open("tests/programs/tp_mlp.hir", mesh={"tp": 2}, inputs=inputs)
print(session.run().sentence)

# %% The output equals numpy's
hidden = inputs["x"] @ inputs["w1"].T
gelu = 0.5 * hidden * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (hidden + 0.044715 * hidden**3)))
numpy.testing.assert_allclose(session["y"], gelu @ inputs["w2"].T, atol=1e-5)

# %% Who holds what: the first weight is cut by rows, one part per rank
layout = session.layout("w1")
print(layout.pytorch, dict(layout.boxes))
assert layout.boxes[1] == ((48, 96), (0, 24))
picture = layout.picture()  # SVG; a notebook draws it

# %% Backwards, to where all ranks have reached the all_reduce: every rank holds addends
session.goto(0)
number = session.stop_at("rendezvous")
print(session.run().sentence)
parts = [session.array("y_product", rank) for rank in range(2)]
numpy.testing.assert_allclose(sum(parts), session.array("y_product"), atol=1e-6)
session.clear(number)
session.run()

# %% Why is the all_reduce there?
lowered = hostir.lower("tests/programs/tp_mlp.hir", mesh={"tp": 4}, sizes={"B": 2, "S": 6, "H": 24, "F": 96})
for record in lowered.why("%y"):
    print(record["pass"], record["what"], "-", record["sentence"])
assert "host @mlp.host" in lowered.text and "host @mlp.host" not in lowered.phases["steps"]

# %% The log answers SQL; `session.frame(sql)` is the same as a pandas DataFrame
for row in session.query("SELECT rank, op, duration_ns FROM v_timeline WHERE op = 'all_reduce'"):
    print(row)
timeline = session.timeline()
session.close()

# %% A fusion built op by op; every op of `hostir ops` is a method
f = hostir.Fusion("norm", mesh={"dp": 2})
x = f.input("x", "f32", (4, 8), [("dp",), ()])
f.output(f.mul(f.rms_norm(x, f.input("scale", "f32", (8,)), dims=[1]), 2.0, name="y"), "f32", (4, 8))
x_array = rng.standard_normal((4, 8), dtype=numpy.float32)
with hostir.open(f, inputs={"x": x_array, "scale": [1.0] * 8}) as norm:
    norm.run()
    print(norm.layout("y").pytorch, norm["y"].shape)

# %% A kernel written in numpy, for an operation that is known only by its name; the rule is ours too
@hostir.kernel("softcap")
def softcap(x):
    return 5 * numpy.tanh(x / 5)


own = """mesh @m = <tp=2>
kernel @softcap(%x: tensor<?Mx?Nxf32>) -> (%y: tensor<?Mx?Nxf32>) rule "([m,n])->([m,n])" {
  %y = opaque %x {name = "softcap"} : tensor<?Mx?Nxf32>
  return %y
}
fusion @f(%x: tensor<4x8xf32> <@m, [{tp}, {}]>) -> (%y: tensor<4x8xf32> <@m, [{tp}, {}]>) {
  %y = apply @softcap(%x)
  return %y
}
"""
with hostir.open(own, inputs={"x": x_array}) as capped:
    capped.run()
    numpy.testing.assert_allclose(capped["y"], softcap(x_array), rtol=1e-6)
    print(capped.array("y", 1).shape, "of", capped["y"].shape, "on rank 1")

# %% A hang: who is at fault, and what would repair it
with hostir.open("tests/programs/deadlock.hir", example_inputs=True) as stuck:
    print(stuck.run().kind)
    print(stuck.diagnose())
    repair = stuck.what_if()
    print(repair["conclusion"])

# %% The same question about a real job, from its PyTorch Flight Recorder dumps
verdict = hostir.diagnose("tests/truth/flight_recorder/size")
print(verdict.culprits, verdict)

# %% A mistake raises an exception with diagnostics
try:
    hostir.open("mesh @m = <tp=2>\nfusion @f(%x: tensor<4xf32> <@m, [{tq}]>) -> (tensor<4xf32>) { return %x }\n")
except hostir.InvalidProgram as error:
    print(error)
    assert error.diagnostics[0].line == 2
