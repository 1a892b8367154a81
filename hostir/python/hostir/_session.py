"""An open program or log: run it, step it both ways, query it."""
from __future__ import annotations

import concurrent.futures
import ctypes
import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from . import _library
from ._kernels import raise_failed
from ._library import DLManagedTensorVersioned, Input, library
from ._tensor import InputTensor, Tensor, input_tensor
from .pictures import Picture, layout_picture, timeline_picture

Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Stop:
    """Why a run stopped: `kind` is finished, breakpoint, step, arrived, fault, deadlock, interrupted, begin, ..."""

    kind: str
    sentence: str
    rank: int | None = None
    breakpoint: int | None = None
    value: str | None = None
    element: tuple[int, ...] = ()
    written_by: str | None = None

    @property
    def fault(self) -> bool:
        """Whether the program is at fault: a deadlock, a mismatch, an error."""
        return self.kind in ("fault", "deadlock")


@dataclass(frozen=True)
class Answer:
    """What a command answered: `text` as the terminal prints it, `data` (hostir/api/README.md), `stop` where it ran."""

    text: str
    data: Any
    stop: Stop | None
    moved: Mapping[int, int]
    logged: tuple[Mapping[str, Any], ...]
    position: Mapping[str, int]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Layout:
    """Which part of a value every rank holds. Boxes are global and half-open, one pair per dimension."""

    value: str
    type: str | None
    pytorch: str | None
    boxes: Mapping[int, Box]
    bytes: Mapping[int, int]

    def picture(self) -> Picture:
        """The global tensor with each rank's part, as SVG."""
        return layout_picture(self)


@dataclass(frozen=True)
class Verdict:
    """Who is at fault: `sentence` says it, `culprits` are ranks. `data` holds the rest of the answer."""

    fault: bool
    sentence: str
    culprits: tuple[int, ...]
    data: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.sentence


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


Inputs = Mapping[str | int, Any] | list[Any] | tuple[Any, ...]


def split_inputs(inputs: Inputs) -> tuple[dict[str, str], dict[str, InputTensor]]:
    """Texts (generators, `@file`) go into the options; everything else is a tensor. Positions become names: "0", "1"."""
    if not isinstance(inputs, (Mapping, list, tuple)):
        raise TypeError(f"inputs is a {type(inputs).__name__}; expected a dict by name or position, or a list or a tuple")
    texts: dict[str, str] = {}
    tensors: dict[str, InputTensor] = {}
    for key, value in inputs.items() if isinstance(inputs, Mapping) else enumerate(inputs):
        if not isinstance(key, (str, int)):
            raise TypeError(f"an input is named by {key!r}; expected a parameter's name or its position")
        name = str(key)
        if isinstance(value, str):
            texts[name] = value
        elif isinstance(value, os.PathLike):
            texts[name] = f"@{os.fspath(value)}"
        else:
            tensors[name] = input_tensor(name, value)
    return texts, tensors


class Session:
    """An open program or log; `hostir.open()` makes one. A context manager.

    Methods raise `hostir.Error`. One thread at a time, except for `interrupt()`. Ctrl-C during a run stops it between
    two instructions; the session can be used afterwards.
    """

    def __init__(self, path: str, inputs: Inputs, options: Mapping[str, Any]):
        self._handle: ctypes.c_void_p | None = None
        texts, tensors = split_inputs(inputs)
        wanted = _options(options)
        if texts:
            wanted["inputs"] = texts
        array = (Input * len(tensors))(*[Input(name.encode(), ctypes.pointer(tensor.dl))
                                         for name, tensor in tensors.items()])
        handle = ctypes.c_void_p()
        opened = _library.call("hostir_open", os.fsencode(path), json.dumps(wanted).encode(), array, len(tensors),
                               ctypes.byref(handle))
        self._handle = handle
        self.function: str = opened["function"]
        self.ranks: int = opened["ranks"]
        self.mesh: dict[str, int] = opened["mesh"]
        self.outputs: dict[str, str] = opened["outputs"]  # by result: the value that is returned for it
        self.can_run: bool = opened["can_run"]
        self.why_not: str | None = opened["why_not"]
        self.notice: str = opened["notice"]
        self.warning: str = opened["warning"]

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the session and completes its log, if that is kept. Tensors that were read stay valid."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            library.hostir_close(handle)

    def _open_handle(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ValueError("the session is closed")
        return self._handle

    def _call(self, name: str, *arguments: Any) -> Any:
        answer = self._interruptible(name, *arguments)
        raise_failed()
        return answer

    def _interruptible(self, name: str, *arguments: Any) -> Any:
        handle = self._open_handle()
        # Signals reach Python only between calls: another thread makes the call, so that Ctrl-C ends it early.
        if threading.current_thread() is not threading.main_thread():
            return _library.call(name, handle, *arguments)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(_library.call, name, handle, *arguments)
            try:
                return future.result()
            except KeyboardInterrupt:
                library.hostir_interrupt(handle)
                future.exception()  # ends between two instructions
                raise

    # ---- running

    def command(self, text: str) -> Answer:
        """Executes one command of `hostir debug`, such as "break all_reduce if rank == 1"."""
        answer = self._call("hostir_command", text.encode())
        stop = answer["stop"]
        return Answer(text=answer["text"], data=answer["data"],
                      stop=Stop(**{**stop, "element": tuple(stop["element"])}) if stop else None,
                      moved={move["rank"]: move["steps"] for move in answer["moved"]},
                      logged=tuple(answer["logged"]), position=answer["position"])

    def _run(self, text: str) -> Stop:
        stop = self.command(text).stop
        assert stop is not None
        return stop

    def run(self) -> Stop:
        """Runs to the end, a breakpoint, a fault or a deadlock."""
        return self._run("continue")

    def step(self, count: int = 1) -> Stop:
        """Steps `count` instructions forwards."""
        return self._run(f"step {count}")

    def back(self, count: int = 1) -> Stop:
        """Steps `count` instructions backwards; the state is then what it was, bit for bit."""
        return self._run(f"reverse-step {count}")

    def run_back(self) -> Stop:
        """Runs backwards to a breakpoint or to the beginning."""
        return self._run("reverse-continue")

    def goto(self, decision: int) -> Stop:
        """Goes to a point of the history; 0 is the beginning."""
        return self._run(f"goto {decision}")

    def stop_at(self, place: str, condition: str = "") -> int:
        """Sets a breakpoint, as in stop_at("all_reduce", "rank == 1"); returns its number."""
        self.command(f"break {place}" + (f" if {condition}" if condition else ""))
        return self.command("info break").data[-1]["number"]

    def clear(self, number: int) -> None:
        """Deletes a breakpoint."""
        self.command(f"delete {number}")

    def interrupt(self) -> None:
        """Stops the command that another thread is running, soon and between two instructions."""
        library.hostir_interrupt(self._open_handle())

    @property
    def position(self) -> int:
        """Where the run stands in its history: the number of decisions made so far."""
        return self.command("info history").data["decision"]

    # ---- reading

    def tensor(self, value: str, rank: int | str = "global") -> Tensor:
        """Reads a value, with or without '%', as in tensor("y"), tensor("y", 1) or tensor("y[0:2, :]", 1).

        "global": assembled from all ranks, partial values reduced. Errors: `not_written` and what `print` refuses.
        """
        name = value if value.startswith("%") else f"%{value}"
        where = "global" if rank == "global" else f"rank {rank}"
        managed = ctypes.c_void_p()
        facts = self._call("hostir_tensor", f"{name} {where}".encode(), ctypes.byref(managed))
        return Tensor(ctypes.cast(managed, ctypes.POINTER(DLManagedTensorVersioned)), facts)

    def array(self, value: str, rank: int | str = "global") -> Any:
        """As `tensor()`, as a numpy array (nested lists where numpy is not installed)."""
        return self.tensor(value, rank).array()

    def output(self, name: str | int = 0) -> Tensor:
        """A result of the program by name or position, assembled from all ranks; it is there once the run has ended.

        Errors: KeyError, IndexError where there is no such result.
        """
        return self.tensor(list(self.outputs.values())[name] if isinstance(name, int) else self.outputs[name])

    def __getitem__(self, name: str) -> Any:
        """An array: of the result with this name, else of the value."""
        name = name.removeprefix("%")
        return self.array(self.outputs.get(name, name))

    def layouts(self) -> dict[str, Layout]:
        """The layouts of all values that the focus rank holds."""
        return {item["value"]: _layout(item) for item in self.command("info layout").data}

    def layout(self, value: str) -> Layout:
        """The layout of one value. Errors: KeyError where no rank holds it."""
        name = value.removeprefix("%")
        item = self.command(f"info layout %{name}").data[0]
        if not item["ranks"]:
            raise KeyError(f"no rank holds %{name} now")
        return _layout(item)

    @property
    def phases(self) -> dict[str, str]:
        """The text after every pass of the lowering, in order."""
        return {phase["name"]: phase["text"] for phase in self.command("info program").data["phases"]}

    @property
    def text(self) -> str:
        """The host program that runs."""
        return self.command("info program").data["text"]

    def info(self, topic: str) -> Any:
        """What `info TOPIC` shows, as data: ranks, colls, waits, streams, events, memory, break, faults, history."""
        return self.command(f"info {topic}").data

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Read-only SQL on the session's log (`hostir trace schema`), one dict per row; blobs are hexadecimal."""
        return self._call("hostir_query", sql.encode())["rows"]

    def frame(self, sql: str) -> Any:
        """As `query()`, as a pandas DataFrame. Errors: ImportError without pandas."""
        import pandas

        table = self._call("hostir_query", sql.encode())
        return pandas.DataFrame(table["rows"], columns=table["columns"])

    # ---- judging

    def diagnose(self) -> Verdict:
        """Who is at fault at the current position, from the run's faults and from who waits for whom."""
        waits, faults = self.info("waits"), self.info("faults")
        errors = [fault for fault in faults if fault["severity"] == "error"]
        stuck = bool(waits["culprits"] or waits["cycle"]) and bool(errors)
        if errors:
            culprits = waits["culprits"] if stuck and waits["culprits"] else errors[0]["ranks"]
            return Verdict(True, errors[0]["sentence"], tuple(culprits), {"waits": waits, "faults": faults})
        return Verdict(False, waits["sentence"], (), {"waits": waits, "faults": faults})

    def what_if(self) -> Mapping[str, Any]:
        """Small edits of a hanging program, each tried in its own run: `conclusion` and `trials`.

        Errors: `what_if` where nothing hangs.
        """
        return self.command("whatif").data

    def timeline(self, limit: int = 5000) -> Picture:
        """An SVG of what each stream and host did: the first `limit` events of the log by start time."""
        return timeline_picture(self.query(
            "SELECT t.rank, t.track, t.op, i.op_class, t.address, t.begin_ns, t.end_ns, t.text "
            "FROM v_timeline t JOIN event e ON e.id = t.event LEFT JOIN instruction i ON i.id = e.instruction "
            f"WHERE t.end_ns IS NOT NULL ORDER BY t.begin_ns LIMIT {int(limit)}"))

    def __repr__(self) -> str:
        return f"Session(@{self.function} on {self.ranks} ranks)" if self._handle else "Session(closed)"


def _layout(item: Mapping[str, Any]) -> Layout:
    boxes = {part["rank"]: tuple(tuple(pair) for pair in part["box"]) for part in item["ranks"]}
    return Layout(item["value"], item["type"], item["pytorch"], boxes,
                  {part["rank"]: part["bytes"] for part in item["ranks"]})


def verdict_of(paths: Iterable[str | os.PathLike[str]]) -> Verdict:
    """See `hostir.diagnose`."""
    texts = [os.fsencode(path) for path in paths]
    answer = _library.call("hostir_diagnose", (ctypes.c_char_p * len(texts))(*texts), len(texts))
    # Profiles accuse nobody: their answer has tables instead.
    return Verdict(answer.get("fault", False), answer["sentence"], tuple(answer.get("culprits", ())), answer)
