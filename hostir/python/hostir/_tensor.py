"""Tensors to and from the library: DLPack, numpy's array interface, buffers, nested lists.

Inputs are copied by the library when a program is opened. Tensors that are read are copies, row-major, in
host memory, and belong to the caller.
"""
from __future__ import annotations

import ctypes
import itertools
import struct
from typing import Any, Sequence

from ._library import DLManagedTensor, DLManagedTensorVersioned, DLTensor, Deleter

try:
    import numpy
except ImportError:  # optional
    numpy = None  # type: ignore[assignment]

_CPU = 1
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # by the letter of an array interface's type
_BFLOAT = 4
_ML_DTYPES = {"bfloat16": _BFLOAT, "float8_e4m3fn": 10, "float8_e5m2": 12}  # numpy gives them no letter
# Our name, letter for `struct`, type in an array interface.
_TYPES = {(2, 64): ("f64", "d", "<f8"), (2, 32): ("f32", "f", "<f4"), (2, 16): ("f16", "e", "<f2"),
          (_BFLOAT, 16): ("bf16", "H", ""), (0, 64): ("i64", "q", "<i8"), (0, 32): ("i32", "i", "<i4"),
          (0, 16): ("i16", "h", "<i2"), (0, 8): ("i8", "b", "|i1"), (1, 64): ("u64", "Q", "<u8"),
          (1, 32): ("u32", "I", "<u4"), (1, 16): ("u16", "H", "<u2"), (1, 8): ("u8", "B", "|u1"),
          (6, 8): ("i1", "?", "|b1"), (10, 8): ("f8e4m3", "B", ""), (12, 8): ("f8e5m2", "B", "")}
# Floats that numpy lacks: bits of the exponent's bias and of the mantissa.
_FORMATS = {"bf16": (127, 7), "f8e4m3": (7, 3), "f8e5m2": (15, 2)}


def _widened(dtype: str, bits: int) -> float:
    bias, mantissa_bits = _FORMATS[dtype]
    width = 16 if dtype == "bf16" else 8
    sign = -1.0 if bits >> (width - 1) else 1.0
    magnitude = bits & ((1 << (width - 1)) - 1)
    exponent, mantissa = magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1)
    if dtype == "f8e4m3" and magnitude == 0x7F:
        return sign * float("nan")
    if dtype != "f8e4m3" and exponent == (1 << (width - 1 - mantissa_bits)) - 1:
        return sign * float("nan" if mantissa else "inf")
    hidden = 1 << mantissa_bits if exponent else 0
    return sign * (hidden + mantissa) * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

# Our tensors that other frameworks hold, by the address of the managed struct.
_exported: dict[int, tuple[Any, ...]] = {}


@Deleter
def _release(address: int) -> None:
    _exported.pop(address, None)


@Deleter
def _drop_capsule(capsule: int) -> None:
    # A consumer renames the capsule and calls the deleter itself.
    for name in (b"dltensor", b"dltensor_versioned"):
        if _api.PyCapsule_IsValid(capsule, name):
            _exported.pop(_api.PyCapsule_GetPointer(capsule, name), None)


class Tensor:
    """A tensor that was read: `numpy.asarray(t)`, `torch.from_dlpack(t)` and `t.tolist()` take it.

    `shape`, `dtype` ("f32"), and what was read: `value`, `rank` (None: global), `type`, `pytorch`
    ("S(0)@tp"), `box` (the part of the global tensor, half-open per dimension), `version`, `notes`.
    """

    def __init__(self, managed: Any, facts: dict[str, Any]):
        self._managed = managed  # a pointer to DLManagedTensorVersioned, which we own
        self.shape: tuple[int, ...] = tuple(facts["shape"])
        self.dtype: str = facts["dtype"]
        self.value: str = facts["value"]
        self.rank: int | None = facts["rank"]
        self.type: str = facts["type"]
        self.pytorch: str | None = facts["pytorch"]
        self.box = tuple(tuple(pair) for pair in facts["box"])
        self.version: int = facts["version"]
        self.notes: tuple[str, ...] = tuple(facts["notes"])

    def __del__(self) -> None:
        managed, self._managed = getattr(self, "_managed", None), None
        if managed:
            managed.contents.deleter(ctypes.cast(managed, ctypes.c_void_p).value)

    @property
    def _dl(self) -> DLTensor:
        return self._managed.contents.dl_tensor

    def _kind(self) -> tuple[str, str, str]:
        return _TYPES[(self._dl.dtype.code, self._dl.dtype.bits)]

    @property
    def __array_interface__(self) -> dict[str, Any]:
        typestr = self._kind()[2]
        if not typestr:
            raise AttributeError(f"numpy has no {self.dtype}; array() widens it")
        somewhere = ctypes.addressof(self._managed.contents)  # an empty tensor has no data; numpy wants an address
        return {"version": 3, "shape": self.shape, "typestr": typestr, "strides": None,
                "data": (self._dl.data or somewhere, False)}

    def array(self) -> Any:
        """As a numpy array without a copy; bf16 and 8-bit floats are widened to float32. Without numpy: nested lists."""
        if numpy is None:
            return self.tolist()
        if self.dtype not in _FORMATS:
            return numpy.asarray(self)
        if self.dtype != "bf16":
            table = numpy.array([_widened(self.dtype, bits) for bits in range(256)], dtype="<f4")
            return table[numpy.frombuffer(self.tobytes(), dtype="|u1")].reshape(self.shape)
        bits = numpy.frombuffer(self.tobytes(), dtype="<u2").astype("<u4") << 16
        return bits.view("<f4").reshape(self.shape)

    def tobytes(self) -> bytes:
        """The elements as they lie in memory."""
        count = 1
        for extent in self.shape:
            count *= extent
        return ctypes.string_at(self._dl.data, count * self._dl.dtype.bits // 8) if count else b""

    def tolist(self) -> Any:
        """Nested lists of numbers; one number for a tensor without dimensions."""
        data = self.tobytes()
        letter = self._kind()[1]
        flat = list(struct.unpack(f"={len(data) // struct.calcsize('=' + letter)}{letter}", data))
        if self.dtype in _FORMATS:
            flat = [_widened(self.dtype, bits) for bits in flat]
        return _nest(flat, self.shape)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:
        """A capsule that shares the memory and keeps it alive. Errors: BufferError for other devices."""
        if dl_device is not None and tuple(dl_device) != (_CPU, 0):
            raise BufferError("the tensor is in host memory; copy it to the device afterwards")
        versioned = max_version is not None and max_version[0] >= 1
        managed: Any = DLManagedTensorVersioned(major=1, minor=0) if versioned else DLManagedTensor()
        managed.dl_tensor = self._dl
        managed.deleter = _release
        address = ctypes.addressof(managed)
        _exported[address] = (managed, self)
        name = b"dltensor_versioned" if versioned else b"dltensor"
        return _api.PyCapsule_New(address, name, ctypes.cast(_drop_capsule, ctypes.c_void_p))

    def __repr__(self) -> str:
        where = "global" if self.rank is None else f"rank {self.rank}"
        return f"Tensor(%{self.value} {where}: {self.type})"


def _nest(flat: list[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nest(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _extents(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    inner = {_extents(item) for item in value}
    if len(inner) > 1:
        raise ValueError("the rows of a nested list have different lengths")
    return (len(value), *(inner.pop() if inner else ()))


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value]
    return list(itertools.chain.from_iterable(map(_flat, value)))


class InputTensor:
    """A DLTensor over the caller's memory, and what keeps that alive."""

    def __init__(self, data: int | None, code: int, bits: int, shape: Sequence[int], strides: Sequence[int] | None,
                 keep: Any):
        self.keep = keep
        self.dl = DLTensor(data=data, ndim=len(shape))
        self.dl.device.device_type = _CPU
        self.dl.dtype.code, self.dl.dtype.bits, self.dl.dtype.lanes = code, bits, 1
        self.dl.shape = (ctypes.c_int64 * len(shape))(*shape)
        if strides is not None:
            self.dl.strides = (ctypes.c_int64 * len(strides))(*strides)


def _from_interface(name: str, value: Any) -> InputTensor:
    facts = value.__array_interface__
    typestr = facts["typestr"]
    size = int(typestr[2:])
    named = _ML_DTYPES.get(str(getattr(value, "dtype", "")))
    if named is not None:
        code = named
    elif typestr[1] in _CODES and (typestr[0] in "<|" or size == 1):
        code = _CODES[typestr[1]]
    else:
        raise TypeError(f"input {name} has the element type {typestr}; numbers in little-endian order can be read")
    strides = facts.get("strides")
    if strides is not None and any(stride % size for stride in strides):
        raise ValueError(f"input {name} has strides {strides} in bytes, which are not multiples of its element "
                         f"size {size}; pass a copy")
    data = facts.get("data")
    if data is None:  # the object is its own buffer
        return _from_buffer(name, value)
    return InputTensor(data[0], code, 8 * size, facts["shape"],
                       None if strides is None else [stride // size for stride in strides], value)


def _from_dlpack(value: Any) -> InputTensor:
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # an older producer
        capsule = value.__dlpack__()
    address = id(capsule)
    for name, struct_type in ((b"dltensor_versioned", DLManagedTensorVersioned), (b"dltensor", DLManagedTensor)):
        if not _api.PyCapsule_IsValid(address, name):
            continue
        managed = struct_type.from_address(_api.PyCapsule_GetPointer(address, name))
        out = InputTensor.__new__(InputTensor)
        out.keep = capsule  # not consumed: its destructor gives the tensor back
        out.dl = managed.dl_tensor
        return out
    raise TypeError("__dlpack__() returned no DLPack capsule")


def _from_buffer(name: str, value: Any) -> InputTensor:
    view = memoryview(value)
    letters = {kind[1]: key for key, kind in _TYPES.items() if key[0] != _BFLOAT}
    letters.update({"l": (0, 64), "L": (1, 64)})
    if view.format.lstrip("@=<") not in letters:
        raise TypeError(f"input {name} is a buffer of \"{view.format}\"; numbers can be read")
    code, bits = letters[view.format.lstrip("@=<")]
    copy = ctypes.create_string_buffer(view.tobytes(), max(view.nbytes, 1))
    return InputTensor(ctypes.addressof(copy), code, bits, view.shape or (), None, copy)


def _from_lists(name: str, value: Any) -> InputTensor:
    try:
        shape = _extents(value)
    except ValueError as error:
        raise ValueError(f"input {name}: {error}") from None
    flat = _flat(value)
    if not all(isinstance(item, (bool, int, float)) for item in flat):
        raise TypeError(f"input {name} holds a {next(type(i) for i in flat if not isinstance(i, (int, float)))}; "
                        "numbers, arrays, DLPack tensors, paths and texts as of --input can be given")
    if flat and all(isinstance(item, bool) for item in flat):
        code, bits = 6, 8
    elif flat and all(isinstance(item, int) for item in flat):
        code, bits = 0, 64
    else:
        code, bits = 2, 32
    data = struct.pack(f"={len(flat)}{_TYPES[(code, bits)][1]}", *flat)
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    return InputTensor(ctypes.addressof(buffer), code, bits, shape, None, buffer)


def input_tensor(name: str, value: Any) -> InputTensor:
    """`value` as the library reads it. Arrays are not copied here.

    Nested lists become i1 (all bool), i64 (all int) or f32. Errors: TypeError, ValueError naming the input.
    """
    if isinstance(value, Tensor):
        dl = value._dl
        return InputTensor(dl.data, dl.dtype.code, dl.dtype.bits, value.shape, None, value)
    if hasattr(value, "__array_interface__"):
        return _from_interface(name, value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    if isinstance(value, (list, tuple, int, float)):
        return _from_lists(name, value)
    try:
        return _from_buffer(name, value)
    except TypeError:
        return _from_lists(name, value)
