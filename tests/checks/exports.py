#!/usr/bin/env python3
"""Tests what `hostir trace export` writes beside Perfetto's JSON: CSV, Chakra, and a value as .npy; results as .pt.

    tests/checks/exports.py build-dev/bin/hostir

Chakra's protobuf is decoded here, with the field numbers of mlcommons/chakra et_def.proto. Ends with
`N passed, N failed`.
"""
import collections
import csv
import io
import json
import pickle
import re
import struct
import sys
import zipfile

from cases import ROOT, case, hostir, run_cases

PROGRAMS = ROOT / "programs"


def log(folder, program="tp_mlp.hir", *arguments):
    path = folder / "run.db"
    hostir("run", PROGRAMS / program, "--example-inputs", "-q", "--trace", path, "--trace-values", "data=y", *arguments)
    return path


def sql(path, query):
    return json.loads(hostir("trace", "sql", path, query, "--format", "json"))


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def fields(data):
    """{field: [values]} of a message; numbers and bytes."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        out.setdefault(key >> 3, []).append(value)
    return out


def chakra(path):
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        messages.append(fields(data[at:at + size]))
        at += size
    assert at == len(data)
    return messages[0], messages[1:]


def attributes(node):
    out = {}
    for attribute in map(fields, node[10]):
        (member,) = set(attribute) - {1}
        out[attribute[1][0].decode()] = (member, attribute[member][0])
    return out


@case
def csv_has_every_event(folder):
    path = log(folder, "tp_mlp.hir", "--mesh", "tp=4")
    rows = list(csv.DictReader(io.StringIO(hostir("trace", "export", path, "--format", "csv"))))
    assert len(rows) == sql(path, "select count(*) as n from event")[0]["n"]
    assert {r["rank"] for r in rows} == {"0", "1", "2", "3"} and any(r["op"] == "all_reduce" for r in rows)


@case
def chakra_has_the_device_work_in_order(folder):
    path = log(folder, "tp_mlp.hir", "--mesh", "tp=4")
    hostir("trace", "export", path, "--format", "chakra", "-o", folder / "job")
    groups = json.loads((folder / "job.groups.json").read_text())
    assert list(groups.values()) == [[0, 1, 2, 3]], groups
    for rank in range(4):
        metadata, nodes = chakra(folder / f"job.{rank}.et")
        assert metadata[1], metadata
        want = sql(path, "select i.op, i.kernel, e.bytes, e.stream from event e join instruction i on i.id = "
                         f"e.instruction where e.rank = {rank} and e.stream is not null and (i.kernel is not null or "
                         "i.op_class = 'communication') order by e.id")
        assert [n[2][0].decode() for n in nodes] == [w["kernel"] or w["op"] for w in want]
        last = {}
        for number, (node, w) in enumerate(zip(nodes, want), 1):
            assert node[1] == [number]
            before = [varint(d, 0)[0] for d in node.get(4, [])]
            assert before == ([last[w["stream"]]] if w["stream"] in last else []), (node, w)
            last[w["stream"]] = number
            a = attributes(node)
            assert a["is_cpu_op"] == (27, 0)
            if w["op"] == "all_reduce":
                assert node[3] == [7] and a["comm_type"] == (9, 0) and a["comm_size"] == (9, w["bytes"]), a
                assert groups[a["pg_name"][1].decode()] == [0, 1, 2, 3]
            else:
                assert node[3] == [4] and a["num_ops"][0] == 9 and a["tensor_size"][0] == 13 and a["tensor_size"][1] > 0
            assert node[7][0] >= 1


@case
def a_value_as_npy(folder):
    path = log(folder, "tp_mlp.hir", "--mesh", "tp=4", "--output", f"y=@{folder}/run.npy")
    hostir("trace", "export", path, "--value", "%y", "--rank", 1, "-o", folder / "y.npy")
    # y is replicated: every rank's part is the output.
    assert (folder / "y.npy").read_bytes() == (folder / "run.npy").read_bytes()


def npy(path):
    """Shape and values of a file of f32."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + size].decode()
    shape = [int(n) for n in re.findall(r"\d+", header[header.index("'shape'"):])]
    return shape, struct.unpack(f"<{(len(data) - 10 - size) // 4}f", data[10 + size:])


@case
def a_whole_value_as_npy(folder):
    """Cut over three ranks, the last with a smaller part; and partial sums, which are added."""
    path = folder / "whole.db"
    hostir("run", PROGRAMS / "tp_mlp.hir", "--example-inputs", "-q", "--mesh", "tp=3", "--trace", path, "--trace-values",
           "data=*")
    hostir("trace", "export", path, "--value", "g", "-o", folder / "g.npy")
    shape, values = npy(folder / "g.npy")
    parts = []
    for rank in range(3):
        hostir("trace", "export", path, "--value", "g", "--rank", rank, "-o", folder / "part.npy")
        parts.append(npy(folder / "part.npy"))
    assert shape[-1] == sum(s[-1] for s, _ in parts) and shape[:-1] == parts[0][0][:-1], (shape, parts)
    rows = len(values) // shape[-1]
    assert list(values) == [v for row in range(rows) for s, p in parts for v in p[row * s[-1]:(row + 1) * s[-1]]]
    hostir("trace", "export", path, "--value", "%y_product", "-o", folder / "sum.npy")
    assert npy(folder / "sum.npy")[0] == [1, 6, 8]


@case
def inputs_as_npy(folder):
    """What a run was given, although nothing writes it: from the log, a generator and a file."""
    path = log(folder, "simple_add.hir", "--input", "a=4xf32=[1 2 3 4]", "--input", "b=iota(4xf32)")
    hostir("trace", "export", path, "--value", "%a", "-o", folder / "a.npy")
    hostir("trace", "export", path, "--value", "b", "-o", folder / "b.npy")
    assert npy(folder / "a.npy") == ([4], (1, 2, 3, 4)) and npy(folder / "b.npy") == ([4], (0, 1, 2, 3))
    path = log(folder, "simple_add.hir", "--input", f"a=@{folder}/a.npy", "--input", "b=iota(4xf32)")
    hostir("trace", "export", path, "--value", "a", "-o", folder / "again.npy")
    assert (folder / "again.npy").read_bytes() == (folder / "a.npy").read_bytes()


class TorchUnpickler(pickle.Unpickler):
    """What torch.load(weights_only=True) does with a file: (storage class, key, count), offset, size, stride."""

    def persistent_load(self, pid):
        kind, storage, key, device, count = pid
        assert (kind, device) == ("storage", "cpu"), pid
        return storage, key, count

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, gradient, hooks: (storage, offset, size, stride, gradient, dict(hooks))
        assert module == "torch", (module, name)
        return name


@case
def results_as_a_state_dict_of_pytorch(folder):
    hostir("run", "tests/programs/simple_add.hir", "--input", "a=full(2)", "--input", "b=full(3)", "-q",
           "--output", f"@{folder / 'sum.pt'}")
    archive = zipfile.ZipFile(folder / "sum.pt")
    assert {i.compress_type for i in archive.infolist()} == {zipfile.ZIP_STORED}
    assert archive.read("sum/byteorder") == b"little" and archive.read("sum/version") == b"3\n"
    tensors = TorchUnpickler(io.BytesIO(archive.read("sum/data.pkl"))).load()
    (name, (storage, offset, size, stride, gradient, hooks)), = tensors.items()
    data = archive.read(f"sum/data/{storage[1]}")
    assert storage[0] == "FloatStorage" and len(data) == 4 * storage[2], storage
    assert (offset, gradient, hooks) == (0, False, {}) and len(size) == len(stride), tensors
    assert set(struct.unpack(f"<{storage[2]}f", data)) == {5.0}, data


@case
def a_group_is_communication(folder):
    program = folder / "group.hir"
    program.write_text("""mesh @m = <r=2>
host @f on @m (inout %x: tensor<64xf32>, inout %y: tensor<64xf32>) -> (%x: tensor<64xf32>, %y: tensor<64xf32>) {
  %c = comm over {r}
  %s = stream "s"
  group {
    all_reduce sum %c rw(%x) on %s
    all_reduce sum %c rw(%y) on %s
  }
  return %x, %y
}
""")
    path = folder / "group.db"
    hostir("run", program, "--example-inputs", "-q", "--trace", path)
    group, = json.loads(hostir("trace", "sql", path, "select max(e.finish_ns - e.start_ns) as ns from event e join instruction i on i.id = e.instruction where i.op = 'group'",
                               "--format", "json"))
    for row in json.loads(hostir("trace", "sql", path, "select communication_ns from v_exposed_communication", "--format", "json")):
        assert row["communication_ns"] == group["ns"] > 0, (row, group)


@case
def what_is_not_there_gets_a_sentence(folder):
    path = log(folder, "simple_add.hir")
    assert "leave out --rank" in hostir("trace", "export", path, "--value", "a", "--rank", 0, "-o", folder / "a.npy", status=3)
    assert "--trace-values data=g" in hostir("trace", "export", log(folder), "--value", "g", "-o", folder / "g.npy", status=3)
    path = log(folder, "simple_add.hir")
    assert "prefix" in hostir("trace", "export", path, "--format", "chakra", status=64)
    assert "-o y.npy" in hostir("trace", "export", path, "--value", "a", status=64)


if __name__ == "__main__":
    sys.exit(run_cases())
