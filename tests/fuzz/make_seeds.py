#!/usr/bin/env python3
"""Writes the binary seeds of tests/fuzz/corpus: small arrays of every kind, archives of them, and a log.

    tests/fuzz/make_seeds.py build-dev/bin/hostir

Texts need no seeds: run.sh reads tests/programs and tests/scripts directly.
"""
import io
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(__file__).parent / "corpus"
PROGRAM = """mesh @m = <r=2>
kernel @twice(%x: tensor<2xf32>) -> (%y: tensor<2xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<2xf32>) -> (%b: tensor<2xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %b = alloc on %s : tensor<2xf32>
  for %i in 0..2 {
    launch @twice ro(%a) wo(%b) on %s
    all_reduce sum %c rw(%b) on %s
  }
  return %b
}
"""


def npy(descr, shape, data, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    prefix = 10 if version == 1 else 12
    header += " " * (63 - (prefix + len(header)) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def arrays():
    yield "f4", npy("<f4", (2, 3), struct.pack("<6f", 1, 2, 3, 4, 5, 6))
    yield "f8_big_endian", npy(">f8", (2,), struct.pack(">2d", 1.5, float("inf")))
    yield "f2_fortran", npy("<f2", (2, 2), struct.pack("<4e", 1, 2, 3, 4), fortran=True)
    yield "bf16", npy("<V2", (2,), b"\x80\x3f\x00\x40")
    yield "b1", npy("|b1", (3,), b"\x01\x00\x01")
    yield "i2_widens", npy("<i2", (2,), struct.pack("<2h", -1, 5))
    yield "u8_version_2", npy("<u8", (1,), struct.pack("<Q", 7), version=2)
    yield "scalar_version_3", npy("<i8", (), struct.pack("<q", -7), version=3)
    yield "empty", npy("<i4", (0, 4), b"")


def archives():
    for name, compression in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", compression) as archive:
            for member, (_, data) in zip("xyz", arrays()):
                info = zipfile.ZipInfo(member + ".npy", (1980, 1, 1, 0, 0, 0))
                info.compress_type = compression
                archive.writestr(info, data)
        yield name, out.getvalue()


def log(hostir):
    """Drops the space reserved by the writer and uses the smallest pages: 40 KB instead of a megabyte."""
    with tempfile.TemporaryDirectory() as folder:
        program, path = pathlib.Path(folder) / "p.hir", pathlib.Path(folder) / "log.db"
        program.write_text(PROGRAM)
        subprocess.run([hostir, "run", program, "f", "--input", "a=2xf32=1", "-q", "--trace", path, "--trace-values",
                        "data=*"], check=True)
        connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("PRAGMA journal_mode=DELETE", "PRAGMA page_size=512", "VACUUM"):
            connection.execute(pragma)
        connection.close()
        return path.read_bytes()


def write(target, name, data):
    folder = FOLDER / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main():
    for name, data in arrays():
        write("npy_fuzz", name, data)
    for name, data in archives():
        write("npz_fuzz", name, data)
    write("log_fuzz", "small_log", log(sys.argv[1]))


if __name__ == "__main__":
    main()
