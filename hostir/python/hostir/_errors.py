"""Exceptions. The library's status decides the class; all are `hostir.Error`."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning. `line` and `column` count from 1; None where there is no source."""

    id: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    notes: tuple[str, ...]


class Error(Exception):
    """An error of the library. `str()` is what the command would print, with source lines and carets."""

    def __init__(self, error: Mapping[str, Any]):
        self.status: int = error["status"]
        self.id: str = error["id"]
        self.message: str = error["message"]
        self.diagnostics = tuple(Diagnostic(**{**item, "notes": tuple(item["notes"])})
                                 for item in error["diagnostics"])
        super().__init__(error["text"].rstrip() or self.message)


class InvalidProgram(Error):
    """A text that does not parse or verify (status 2)."""


class RuntimeFailure(Error):
    """A file, a shape, memory, or a value that cannot be read (status 3)."""


class UsageError(Error):
    """A wrong argument, option or command (status 64)."""


_BY_STATUS = {2: InvalidProgram, 3: RuntimeFailure, 64: UsageError}


def error_of(error: Mapping[str, Any]) -> Error:
    """The exception for the `error` member of an answer."""
    return _BY_STATUS.get(error["status"], Error)(error)
