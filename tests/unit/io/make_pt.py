#!/usr/bin/env python3
"""Writes tests/unit/io/pt/*.pt in the layout of torch.save(), without torch: good files and hostile ones."""
import collections
import pathlib
import pickle
import posix
import struct
import sys
import types
import zipfile

FOLDER = pathlib.Path(__file__).parent / "pt"


def named(module, name):
    """A class or function that the pickler writes as GLOBAL module.name."""
    made = type(name, (), {"__module__": module, "__qualname__": name})
    holder = sys.modules.setdefault(module, types.ModuleType(module))
    setattr(holder, name, made)
    return made


rebuild = named("torch._utils", "_rebuild_tensor_v2")
parameter = named("torch._utils", "_rebuild_parameter")
STORAGES = {name: named("torch", name) for name in ("FloatStorage", "LongStorage", "ComplexFloatStorage")}


class Storage:
    def __init__(self, kind, key, count):
        self.identity = ("storage", STORAGES[kind], key, "cpu", count)


class Tensor:
    def __init__(self, storage, offset, size, stride):
        self.arguments = (storage, offset, size, stride, False, collections.OrderedDict())

    def __reduce__(self):
        return rebuild, self.arguments


class Parameter(Tensor):
    def __reduce__(self):
        return parameter, (Tensor(*self.arguments[:4]), True, collections.OrderedDict())


class Call:
    def __reduce__(self):
        return posix.system, ("true",)


class Pickler(pickle._Pickler):
    def persistent_id(self, value):
        return value.identity if isinstance(value, Storage) else None


def write(name, value, storages, byteorder="little"):
    import io
    text = io.BytesIO()
    Pickler(text, protocol=2).dump(value)
    with zipfile.ZipFile(FOLDER / f"{name}.pt", "w") as archive:
        members = {"data.pkl": text.getvalue(), "byteorder": byteorder.encode(), "version": b"3\n"}
        members.update({f"data/{key}": data for key, data in storages.items()})
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}/{member}"), data)


def main():
    FOLDER.mkdir(exist_ok=True)
    data = {"0": struct.pack("<6f", *range(1, 7)), "1": struct.pack("<q", 7)}
    floats = Storage("FloatStorage", "0", 6)
    model = collections.OrderedDict(w=Parameter(floats, 0, (2, 3), (3, 1)), turned=Tensor(floats, 0, (3, 2), (1, 3)),
                                    column=Tensor(floats, 1, (2,), (3,)))
    model._metadata = {"version": 1}
    write("state", {"model": model, "steps": [Tensor(Storage("LongStorage", "1", 1), 0, (), ())], "lr": 0.1}, data)
    write("calls_system", {"w": Call()}, data)
    write("outside", Tensor(floats, 1, (2, 3), (3, 1)), data)
    write("negative", Tensor(floats, 0, (2,), (-1,)), data)
    write("repeats", Tensor(floats, 0, (1 << 20, 1 << 20), (0, 0)), data)
    write("missing", Tensor(Storage("FloatStorage", "9", 6), 0, (6,), (1,)), data)
    write("complex", Tensor(Storage("ComplexFloatStorage", "0", 3), 0, (3,), (1,)), data)
    write("big_endian", Tensor(floats, 0, (6,), (1,)), data, byteorder="big")


if __name__ == "__main__":
    main()
