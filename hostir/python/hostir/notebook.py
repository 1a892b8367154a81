"""`%%hostir`: a cell that holds a program, runs it and shows the verdict, values and pictures.

    %load_ext hostir
    %%hostir --mesh tp=2 --input x=my_x --show y --layout w1 --name session
    mesh @m = <tp=2>
    fusion @mlp(...) ...

`--input x=my_x` binds a parameter to a variable of the notebook (`--input x`: of the same name); what no input binds
is made up. With `--name` the session stays open under that name, else it is closed.
"""
from __future__ import annotations

import argparse
import html
import shlex
from typing import Any, Mapping

from ._errors import Error
from ._session import Session
from .pictures import Picture


class Shown:
    """What a cell shows: `verdict`, `values` (texts by name), `pictures`."""

    def __init__(self, verdict: str, values: Mapping[str, str], pictures: list[Picture]):
        self.verdict = verdict
        self.values = dict(values)
        self.pictures = pictures

    def __repr__(self) -> str:
        return "\n".join([self.verdict, *self.values.values()])

    def _repr_html_(self) -> str:
        values = "".join(f"<pre>{html.escape(text)}</pre>" for text in self.values.values())
        pictures = "".join(f"<div>{picture}</div>" for picture in self.pictures)
        return f"<p><b>{html.escape(self.verdict)}</b></p>{values}{pictures}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise ValueError(f"%%hostir: {message}\n{self.format_usage()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%hostir", add_help=False)
    parser.add_argument("--mesh", action="append", default=[], metavar="AXIS=SIZE")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=SIZE")
    parser.add_argument("--input", action="append", default=[], metavar="PARAMETER[=VARIABLE]")
    parser.add_argument("--function")
    parser.add_argument("--show", action="append", default=[], metavar="VALUE")
    parser.add_argument("--layout", action="append", default=[], metavar="VALUE")
    parser.add_argument("--no-timeline", action="store_true")
    parser.add_argument("--name")
    return parser


def _numbers(option: str, pairs: list[str]) -> dict[str, int]:
    out = {}
    for pair in pairs:
        name, equals, number = pair.partition("=")
        if not equals or not number.isdigit():
            raise ValueError(f"{option} takes NAME=NUMBER, not \"{pair}\"")
        out[name] = int(number)
    return out


def _inputs(names: list[str], variables: Mapping[str, Any]) -> dict[str, Any]:
    out = {}
    for item in names:
        parameter, _, variable = item.partition("=")
        variable = variable or parameter
        if variable not in variables:
            raise ValueError(f"--input {item}: the notebook has no variable {variable}")
        out[parameter] = variables[variable]
    return out


def _shown(session: Session, arguments: argparse.Namespace) -> Shown:
    stop = session.run()
    verdict = session.diagnose()
    values = {}
    for name in arguments.show:
        try:
            value = name.removeprefix("%")
            values[name] = session.command(f"print %{session.outputs.get(value, value)} global").text
        except Error as error:
            values[name] = str(error)
    pictures = [session.layout(name).picture() for name in arguments.layout]
    if not arguments.no_timeline:
        pictures.append(session.timeline())
    return Shown(verdict.sentence if verdict.fault else stop.sentence, values, pictures)


def run_cell(line: str, cell: str, variables: Mapping[str, Any]) -> tuple[Shown, Session, str | None]:
    """Runs a cell's text with the options of its first line; the name under which the session is to be kept."""
    arguments = _parser().parse_args(shlex.split(line))
    from . import open as open_program

    session = open_program(cell + "\n", mesh=_numbers("--mesh", arguments.mesh) or None,
                           sizes=_numbers("--size", arguments.size) or None, function=arguments.function,
                           inputs=_inputs(arguments.input, variables), example_inputs=True)
    try:
        shown = _shown(session, arguments)
    except BaseException:
        session.close()
        raise
    if arguments.name is None:
        session.close()
    return shown, session, arguments.name


def load(ipython: Any) -> None:
    """Registers the magic with an IPython shell."""

    def hostir(line: str, cell: str) -> Shown:
        shown, session, name = run_cell(line, cell, ipython.user_ns)
        if name is not None:
            ipython.push({name: session})
        return shown

    ipython.register_magic_function(hostir, magic_kind="cell")
