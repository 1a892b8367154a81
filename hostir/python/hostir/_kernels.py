"""Kernels written in numpy for operations that are otherwise known only by their names and types.

The library calls them from its threads while a command runs. It cannot be told that one failed: the result
is NaN or zeros, and the call during which the kernel raised raises the exception.
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable

from . import _library
from ._library import DLTensor, Kernel
from ._tensor import _FORMATS, _TYPES, _widened, numpy

_given: dict[str, Any] = {}  # by operation: the callback, which the library keeps using
_failed: list[BaseException] = []


def _memory(tensor: DLTensor) -> tuple[str, Any]:
    """The dtype of a tensor, and its memory as an array: bits if numpy lacks the dtype."""
    name, letter, typestr = _TYPES[(tensor.dtype.code, tensor.dtype.bits)]
    shape = tuple(tensor.shape[d] for d in range(tensor.ndim))
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return name, numpy.zeros(shape, typestr or f"<u{tensor.dtype.bits // 8}")
    buffer = (ctypes.c_char * (count * tensor.dtype.bits // 8)).from_address(tensor.data)
    return name, numpy.frombuffer(buffer, typestr or f"<u{tensor.dtype.bits // 8}").reshape(shape)


def _read(tensor: DLTensor) -> Any:
    name, memory = _memory(tensor)
    if name == "bf16":
        return (memory.astype("<u4") << 16).view("<f4")
    if name in _FORMATS:
        return numpy.array([_widened(name, bits) for bits in range(256)], "<f4")[memory]
    view = memory.view()
    view.flags.writeable = False
    return view


def _write(tensor: DLTensor, value: Any) -> None:
    name, memory = _memory(tensor)
    value = numpy.asarray(value)
    if value.shape != memory.shape:
        raise ValueError(f"the kernel returned the shape {value.shape}; the result has {memory.shape}")
    if name == "bf16":  # rounded to nearest, ties to even
        bits = numpy.ascontiguousarray(value, "<f4").view("<u4").reshape(value.shape)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        memory[...] = numpy.where(numpy.isnan(value), 0x7FC0, rounded)
    elif name in _FORMATS:
        raise TypeError(f"a kernel cannot return {name}; return f32 and cast in the program")
    else:
        memory[...] = value


def kernel(operation: str, *, parts: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives the decorated function to an operation as its kernel, on the simulator, in all sessions of the process.

        @hostir.kernel("stablehlo.custom_call (@my_rms_norm)", parts=True)
        def my_rms_norm(x, scale):
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True)) * scale

    operation: the name in the notes of `import_text`, which is also `name` of an `opaque` in a program. The function
    gets a rank's parts of the operands as arrays that it may not change (bf16 and 8-bit floats as float32), and
    returns the part of the result, or a tuple if the operation has several. parts: each part of the result needs only
    the same parts of operands of its shape; without it, an import's guess that this is so is refused where it has
    cut them. The function must depend on nothing else, because a
    session that goes back calls it again. What it raises, the call that was running raises.
    """
    if numpy is None:
        raise RuntimeError("numpy is not installed; a kernel needs it")

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(_: Any, result: int, operands: Any, count: int, out: Any) -> None:
            try:
                value = function(*[_read(operands[i]) for i in range(count)])
                _write(out.contents, value[result] if isinstance(value, tuple) else value)
            except BaseException as error:  # ctypes would only print it
                _failed.append(error)
                memory = _memory(out.contents)[1]
                memory[...] = numpy.nan if memory.dtype.kind == "f" else 0

        callback = Kernel(call)
        _library.call("hostir_give_kernel", operation.encode(), callback, None, int(parts))
        _given.setdefault(operation, []).append(callback)  # a session may be calling an earlier one
        return function

    return give


def raise_failed() -> None:
    """Raises the first exception of a kernel since the last call."""
    if _failed:
        error = _failed[0]
        _failed.clear()
        raise error
