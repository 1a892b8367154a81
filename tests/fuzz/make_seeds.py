#!/usr/bin/env python3
"""Writes the binary seeds of tests/fuzz/corpus: small arrays of every kind, archives of them, and a log.

    tests/fuzz/make_seeds.py build-dev/bin/hostir

Texts need no seeds: run.sh reads tests/programs and tests/scripts directly.
"""
import io
import json
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
    yield "f8_named", npy("float8_e4m3fn", (2,), b"\x38\x7f")
    yield "i2", npy("<i2", (2,), struct.pack("<2h", -1, 5))
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


def kineto():
    """Two collectives, one kernel and one step, with everything that a reader looks at."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 1.5, "dur": 90}]
    for i in range(2):
        args = {"External id": i, "correlation": i + 1, "stream": 20, "Collective name": "allreduce", "dtype": "Float",
                "In msg nelems": 4, "Out msg nelems": 4, "Group size": 2, "Process Group Name": "0",
                "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]", "Seq": i + 1}
        events += [{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 2 + i, "dur": 1, "args": args},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "ts": 2 + i, "dur": 1,
                    "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0,
                    "tid": 20, "ts": 10.125 + 30 * i, "dur": 20, "args": args}]
    events.append({"ph": "X", "cat": "kernel", "name": "gemm", "ts": "15.5", "dur": 5, "args": {"stream": 7}})
    info = {"rank": 0, "world_size": 2, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}]}
    return json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": events,
                       "distributedInfo": info}).encode()


def nsys():
    """The smallest pages, so that the file has few bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.sqlite"
        connection = sqlite3.connect(path, isolation_level=None)
        payload = struct.pack("<IIIIQQQQi", 2, 0, 16777221, 0, 20, 52, 0x5F1C, 4096, 0)
        for statement in ("PRAGMA page_size=512", "CREATE TABLE StringIds (id, value)",
                          "INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')",
                          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, streamId, correlationId, globalPid, shortName)",
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 20, 1, 0x1000000, 1)",
                          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid)",
                          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 1, 0x1000001)",
                          "CREATE TABLE NVTX_EVENTS (start, end, globalTid, text, binaryData)"):
            connection.execute(statement)
        connection.execute("INSERT INTO NVTX_EVENTS VALUES (4, 6, 0x1000001, 'ncclAllReduce', ?)", (payload,))
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
    write("profile_fuzz", "kineto", kineto())
    write("profile_fuzz", "nsys", nsys())
    write("log_fuzz", "small_log", log(sys.argv[1]))


if __name__ == "__main__":
    main()
