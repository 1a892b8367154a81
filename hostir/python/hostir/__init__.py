"""The Host-IR Workbench from Python: open a program or a log, run it, step it, query it.

    import hostir
    with hostir.open("mlp.hir", mesh={"tp": 2}, inputs={"x": x, "w": w}) as session:
        print(session.run().sentence)
        print(session["y"])                    # a numpy array
        print(session.layout("w").boxes)       # which part every rank holds
        print(session.query("SELECT * FROM v_collectives"))

Everything goes through libhostir.so (hostir/api/c/hostir.h); numpy, pandas and IPython are used where they are
installed. `%load_ext hostir` adds the cell magic `%%hostir` to a notebook.
"""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _library
from ._errors import Diagnostic, Error, InvalidProgram, RuntimeFailure, UsageError
from ._kernels import kernel
from ._session import Answer, Inputs, Layout, Session, Stop, Verdict, _options, verdict_of
from ._tensor import Tensor
from .build import Fusion, Value
from .pictures import Picture

__all__ = ["Answer", "Diagnostic", "Error", "Fusion", "InvalidProgram", "Layout", "Lowered", "Picture",
           "RuntimeFailure", "Session", "Stop", "Tensor", "UsageError", "Value", "Verdict", "diagnose", "import_text",
           "kernel", "lower", "open", "version"]

version: str = _library.library.hostir_version().decode()

Path = "str | os.PathLike[str]"


def _program(program: Any, options: dict[str, Any]) -> str:
    """The path; a text (more than one line) or a `Fusion` goes into the options."""
    if isinstance(program, Fusion):
        options["text"] = program.text()
        return f"{program.name}.hir"
    path = os.fspath(program)
    if "\n" in path:
        options["text"] = path
        return "<text>"
    return path


def open(program: str | os.PathLike[str] | Fusion, *, inputs: Inputs | None = None,  # noqa: A001
         mesh: Mapping[str, int] | None = None, ranks: int | None = None, sizes: Mapping[str, int] | None = None,
         function: str | None = None, example_inputs: bool | None = None, keep: Sequence[str] | None = None,
         grad: bool | None = None, wrt: Sequence[str] | None = None, breakpoints: Sequence[str] | None = None,
         log: str | os.PathLike[str] | None = None, **options: Any) -> Session:
    """Opens a program (a path, a text, a `Fusion`), a log, or the folder of a run's logs.

    program: .hir, StableHLO as JAX prints it, scheduled HLO; what has a line break is the text itself.
    inputs: global tensors by name or position of the parameter, or a list or tuple of them in order: numpy arrays,
        DLPack tensors, buffers, nested lists, paths of .npy files, or texts as of --input ("normal(1)"). They are copied.
    mesh: sizes of mesh axes; sizes: of symbolic sizes that no input binds; example_inputs: make up what is missing.
    grad, wrt: open the gradient instead; keep: values that must get a buffer; log: keep the log there.
    options: the other members of hostir_open's options: backend, machine, kernels, seed, log_values, ...
    Errors: `InvalidProgram` with diagnostics, `UsageError`, `RuntimeFailure`; TypeError for inputs.
    """
    wanted = dict(options, mesh=mesh, ranks=ranks, sizes=sizes, function=function, example_inputs=example_inputs,
                  keep=keep, grad=grad, wrt=wrt, breakpoints=breakpoints,
                  log=None if log is None else os.fspath(log))
    path = _program(program, wanted)
    return Session(path, {} if inputs is None else inputs, wanted)


@dataclass(frozen=True)
class Lowered:
    """A lowered program: the text after every pass, in order; `text` is the last one.

    `explanation`: per decision {value, what, sentence, from, pass}: why a value is sharded as it is, why a collective
    is there.
    """

    function: str
    phases: Mapping[str, str]
    text: str
    explanation: Sequence[Mapping[str, str]]

    def why(self, value: str) -> list[Mapping[str, str]]:
        """The decisions about one value."""
        return [record for record in self.explanation if record["value"] == value.removeprefix("%")]


def lower(program: str | os.PathLike[str] | Fusion, *, mesh: Mapping[str, int] | None = None,
          sizes: Mapping[str, int] | None = None, **options: Any) -> Lowered:
    """Lowers a fusion to host IR without running it; needs no inputs, but every symbolic size.

    options: function, ranks, keep, grad, wrt, machine. Errors: as of `open`.
    """
    wanted = dict(options, mesh=mesh, sizes=sizes)
    path = _program(program, wanted)
    answer = _library.call("hostir_lower", os.fsencode(path), json.dumps(_options(wanted)).encode())
    return Lowered(answer["function"], {phase["name"]: phase["text"] for phase in answer["phases"]}, answer["text"],
                   answer["explanation"])


def import_text(program: str | os.PathLike[str]) -> tuple[str, str]:
    """StableHLO or HLO (a path or the text) as our text, and notes on what was guessed. Errors: as of `open`."""
    wanted: dict[str, Any] = {}
    path = _program(program, wanted)
    answer = _library.call("hostir_import", os.fsencode(path), json.dumps(wanted).encode())
    return answer["text"], answer["notes"]


def diagnose(*paths: str | os.PathLike[str]) -> Verdict:
    """Who is at fault in a job that hangs, from the dumps of other tools (files or folders).

    PyTorch Flight Recorder, clog, NCCL Inspector, RAS and NCCL_DEBUG. Profiles (Kineto, nsys) accuse nobody; `data`
    then has `ranks`, `waited_for` and `collectives`: who waits, skew, transfer and exposed time, as lists of dicts that
    a DataFrame takes. Errors: nothing there can be read.
    """
    return verdict_of(paths)


def load_ipython_extension(ipython: Any) -> None:
    """Adds `%%hostir` (see `hostir.notebook`)."""
    from . import notebook

    notebook.load(ipython)
