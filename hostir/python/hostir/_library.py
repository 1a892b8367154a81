"""libhostir.so through ctypes: finding it, its structs, and calls whose answers are JSON.

The structs are those of DLPack 1.0. The library is looked for in $HOSTIR_LIBRARY, beside an installed
package, in the build folders of a checkout (the newest one), and where the loader looks.
"""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
from typing import Any

from ._errors import error_of

ABI_VERSION = 1


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32),
                ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    """DLPack before 1.0."""

    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", Deleter)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
                ("deleter", Deleter), ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor)]


class Input(ctypes.Structure):
    """`hostir_input`."""

    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(DLTensor))]


Kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(DLTensor), ctypes.c_size_t,
                          ctypes.POINTER(DLTensor))  # `hostir_kernel`


def _candidates() -> list[str]:
    if "HOSTIR_LIBRARY" in os.environ:
        return [os.environ["HOSTIR_LIBRARY"]]
    found = []
    for folder in pathlib.Path(__file__).resolve().parents[1:4]:
        found += folder.glob("libhostir.so")
        found += folder.glob("build-*/hostir/api/c/libhostir.so")
    found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [str(path) for path in found] + ["libhostir.so.1"]


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
            continue
        found = library.hostir_abi_version()
        if found != ABI_VERSION:
            raise ImportError(f"{path} has version {found} of the C interface; this module needs {ABI_VERSION}")
        return library
    raise ImportError("libhostir.so cannot be loaded; build it (preset `release`) or set HOSTIR_LIBRARY to its "
                      "path: " + "; ".join(tried))


def _declare(library: ctypes.CDLL) -> None:
    text, size, session = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    answer = ctypes.POINTER(ctypes.c_void_p)
    status = ctypes.c_int
    for name, result, arguments in [
            ("hostir_version", text, []),
            ("hostir_open", status, [text, text, ctypes.POINTER(Input), size, answer, answer]),
            ("hostir_command", status, [session, text, answer]),
            ("hostir_query", status, [session, text, answer]),
            ("hostir_tensor", status, [session, text, answer, answer]),
            ("hostir_interrupt", None, [session]),
            ("hostir_close", None, [session]),
            ("hostir_lower", status, [text, text, answer]),
            ("hostir_import", status, [text, text, answer]),
            ("hostir_diagnose", status, [ctypes.POINTER(text), size, answer]),
            ("hostir_give_kernel", status, [text, Kernel, ctypes.c_void_p, ctypes.c_int32, answer]),
            ("hostir_free", None, [ctypes.c_void_p])]:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


library = _load()
_declare(library)


def call(name: str, *arguments: Any) -> Any:
    """Calls a function whose last argument is the answer, and returns the answer. Raises `Error`."""
    answer = ctypes.c_void_p()
    status = getattr(library, name)(*arguments, ctypes.byref(answer))
    if not answer:
        raise MemoryError(f"{name}: no memory for the answer (status {status})")
    try:
        parsed = json.loads(ctypes.string_at(answer))
    finally:
        library.hostir_free(answer)
    if status != 0:
        raise error_of(parsed["error"])
    return parsed
