#!/usr/bin/env python3
"""Tests `hostir open` on profiles: recorded ones of real NCCL ranks, and generated jobs whose answers are known.

    tests/checks/profiles.py build-dev/bin/hostir [--keep FOLDER]

Generated jobs have clocks with known offsets and drifts, a rank that is late by a known time, and kernels that hide a
known part of each collective. Ends with `N passed, N failed`.
"""
import gzip
import json
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys

from cases import HOSTIR, ROOT, case, hostir, run_cases

TRUTH = ROOT / "truth" / "flight_recorder" / "healthy"


def opened(*paths):
    return json.loads(hostir("open", "--json", *paths))


class Job:
    """A job of `world` ranks in true time (ns); each rank writes with a clock of its own."""

    def __init__(self, world, clocks=None):
        self.world = world
        self.clocks = clocks or [(0, 0.0)] * world  # (offset ns, drift)
        self.calls = []  # per collective: {rank: (begin, end)}, common facts
        self.kernels = [[] for _ in range(world)]
        self.steps = [[] for _ in range(world)]

    def collective(self, begins, transfer, name="allreduce", group="0", elems=1024, step=None):
        end = max(begins.values()) + transfer
        self.calls.append({"begins": begins, "end": end, "name": name, "group": group, "elems": elems, "step": step})
        return end

    def local(self, rank, ns):
        offset, drift = self.clocks[rank]
        return ns + offset + round(drift * ns)

    def members(self, call):
        return sorted(call["begins"])

    def events(self, rank, sequences=True):
        """Kineto's events of one rank."""
        number = {}
        correlation = 0
        for number_of_step, begin, end in self.steps[rank]:
            yield self.event("user_annotation", f"ProfilerStep#{number_of_step}", rank, 77, begin, end, {})
        for begin, end, name in self.kernels[rank]:
            correlation += 1
            yield self.event("cuda_runtime", "cudaLaunchKernel", rank, 77, begin - 5000, begin - 4000,
                             {"correlation": correlation})
            yield self.event("kernel", name, rank, 7, begin, end, {"correlation": correlation, "stream": 7})
        for call in self.calls:
            if rank not in call["begins"]:
                continue
            group = call["group"]
            number[group] = number.get(group, 0) + 1
            correlation += 1
            args = {"correlation": correlation, "stream": 20, "Collective name": call["name"], "dtype": "Float",
                    "In msg nelems": call["elems"], "Out msg nelems": call["elems"], "Process Group Name": group,
                    "Process Group Description": f"group_{group}", "Group size": len(call["begins"]),
                    "Process Group Ranks": str(self.members(call))}
            if sequences:
                args["Seq"] = number[group]
            begin = call["begins"][rank]
            yield self.event("cuda_runtime", "cudaLaunchKernelExC", rank, 77, begin - 9000, begin - 6000,
                             {"correlation": correlation})
            yield self.event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", rank, 20, begin, call["end"], args)

    def event(self, category, name, rank, thread, begin, end, args):
        begin, end = self.local(rank, begin), self.local(rank, end)
        return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": thread, "ts": begin, "dur": end - begin,
                "args": args}

    def write(self, folder, sequences=True, compress=False, base=1_700_000_000_000_000_000, skip_first=None):
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(self.world):
            parts = []
            dropped = (skip_first or {}).get(rank, 0)
            for event in self.events(rank, sequences):
                if event["cat"] == "kernel" and "Collective name" in event["args"] and dropped:
                    dropped -= 1
                    continue
                ts, dur = event.pop("ts"), event.pop("dur")
                if base is None:
                    ts += 1_700_000_000_000_000_000
                # Three decimals as text: a double would lose them.
                text = json.dumps(event)[:-1]
                parts.append(f'{text}, "ts": {ts // 1000}.{ts % 1000:03}, "dur": {dur // 1000}.{dur % 1000:03}}}')
            info = {"backend": "nccl", "rank": rank, "world_size": self.world, "pg_config": []}
            head = f'"schemaVersion": 1, "traceEvents": [{", ".join(parts)}]'
            if base is not None:
                head += f', "baseTimeNanoseconds": {base}'
            text = "{" + head + f', "distributedInfo": {json.dumps(info)}}}'
            path = folder / f"worker_{rank}.pt.trace.json"
            if compress:
                (folder / (path.name + ".gz")).write_bytes(gzip.compress(text.encode()))
            else:
                path.write_text(text)
        return folder


def adds_up(profile):
    for c in profile["collectives"]:
        assert c["skew_ns"] + c["transfer_ns"] == c["time_ns"], c
        for m in c["members"]:
            assert m["wait_ns"] + m["transfer_ns"] == m["time_ns"] == m["end_ns"] - m["begin_ns"], m
            assert 0 <= m["exposed_ns"] <= m["time_ns"] and m["wait_ns"] >= 0 and m["transfer_ns"] >= 0, m
        if c["ends_together"]:
            assert c["end_spread_ns"] <= profile["alignment"]["error_ns"], c


def late_job(world=4, clocks=None):
    """60 collectives in 3 steps. Rank 3 is 500 us late in 41 of them; in the rest, ranks arrive 20 us apart."""
    job = Job(world, clocks)
    now = 1_000_000
    for i in range(60):
        begins = {r: now + (500_000 if r == 3 else 1000 * r) for r in range(world)}
        if i % 3 == 0 or i in (1,):
            begins = {r: now + (i + r) % world * 7000 for r in range(world)}
            begins[0] = max(begins.values()) + 20_000
        end = job.collective(begins, 100_000, elems=100 + i % 5, step=i // 20)
        for r in range(world):
            # A kernel that hides 30 us of the transfer.
            job.kernels[r].append((max(begins.values()) + 10_000, max(begins.values()) + 40_000, "gemm<float>"))
        now = end + 50_000
    for r in range(world):
        for s in range(3):
            first, last = job.calls[20 * s], job.calls[20 * s + 19]
            job.steps[r].append((s + 5, min(first["begins"].values()) - 20_000, max(last["begins"].values()) + 1))
    return job


@case
def recorded_profiles_add_up(folder):
    for path in TRUTH.glob("kineto_*.json.gz"):
        shutil.copy(path, folder)
    profile = opened(folder)
    adds_up(profile)
    assert [r["rank"] for r in profile["ranks"]] == [0, 1, 2, 3]
    kinds = [c["kind"] for c in profile["collectives"]]
    assert sorted(kinds) == sorted(["all_reduce"] * 5 + ["all_gather", "reduce_scatter", "all_to_all", "send/recv",
                                                        "broadcast"]), kinds
    assert all(c["whole"] for c in profile["collectives"])
    first = profile["collectives"][0]
    assert first["last_rank"] == 0 and first["bytes"] == 4096 * 4 and first["dtype"] == "f32", first
    assert profile["sentence"].startswith("rank 0 arrives last"), profile["sentence"]


@case
def dumps_and_profiles_of_one_folder(_):
    text = hostir("open", TRUTH)
    assert "arrives last" in text and "completed" in text, text


@case
def the_late_rank_is_named(folder):
    for compress in (False, True):
        for base in (1_700_000_000_000_000_000, None):
            profile = opened(late_job().write(folder / f"{compress}{base}", compress=compress, base=base))
            adds_up(profile)
            late = sum(1 for i in range(60) if not (i % 3 == 0 or i == 1))
            assert f"rank 3 arrives last in {late} of 60 collectives" in profile["sentence"], profile["sentence"]
            assert profile["steps"] == 3
            assert profile["alignment"]["error_ns"] == 0


@case
def waits_and_exposed_times_are_exact(folder):
    job = late_job()
    profile = opened(job.write(folder))
    for c, call in zip(profile["collectives"], job.calls):
        arrival = max(call["begins"].values())
        assert c["skew_ns"] == arrival - min(call["begins"].values()), (c, call)
        assert c["transfer_ns"] == 100_000
        for m in c["members"]:
            assert m["wait_ns"] == arrival - call["begins"][m["rank"]]
            assert m["exposed_ns"] == m["time_ns"] - 30_000, m
        assert c["step"] == call["step"] + 5, (c["step"], call["step"])


@case
def clocks_are_aligned(folder):
    clocks = [(0, 0.0), (1_234_567, 0.0), (40_000_000, 20e-6), (300, 0.0)]
    profile = opened(late_job(clocks=clocks).write(folder, sequences=True))
    adds_up(profile)
    assert profile["alignment"]["error_ns"] < 2000, profile["alignment"]
    assert "rank 3 arrives last" in profile["sentence"], profile["sentence"]
    assert abs(profile["ranks"][1]["clock_offset_ns"] + 1_234_567) < 1000
    assert abs(profile["ranks"][2]["clock_drift"] + 20e-6) < 1e-6, profile["ranks"][2]


@case
def one_slow_end_does_not_move_a_clock(folder):
    job = late_job(clocks=[(0, 0.0), (50_000, 0.0), (0, 0.0), (0, 0.0)])
    profile = opened(job.write(folder))
    path = folder / "worker_1.pt.trace.json"
    data = json.loads(path.read_text())
    found = [e for e in data["traceEvents"] if "Seq" in e["args"]]
    found[7]["dur"] += 9000  # us
    path.write_text(json.dumps(data))
    moved = opened(folder)
    adds_up(moved)
    assert abs(moved["ranks"][1]["clock_offset_ns"] - profile["ranks"][1]["clock_offset_ns"]) < 1000
    assert moved["alignment"]["error_ns"] >= 8_999_000 and moved["alignment"]["typical_error_ns"] < 1000


@case
def profiles_that_begin_at_different_calls(folder):
    profile = opened(late_job().write(folder, sequences=False, skip_first={2: 7}))
    adds_up(profile)
    assert sum(c["whole"] for c in profile["collectives"]) == 53
    assert any("matched by kind, size and time" in n for n in profile["notes"]), profile["notes"]
    assert all(c["end_spread_ns"] == 0 for c in profile["collectives"])


@case
def a_rank_without_a_profile(folder):
    """Sentence, table, list and note tell one thing: what the profiles of the other ranks show."""
    late_job().write(folder)
    (folder / "worker_1.pt.trace.json").unlink()
    profile = opened(folder)
    adds_up(profile)
    late = [c["last_rank"] for c in profile["collectives"]]
    rank = max(set(late), key=late.count)
    assert profile["sentence"].startswith(f"as far as the profiles show, rank {rank} arrives last"), profile["sentence"]
    shown = next(r for r in profile["ranks"] if r["rank"] == rank)
    assert shown["last"] == late.count(rank) and shown["caused_wait_ns"] > 0, shown
    assert any("one of the others may arrive later" in note for note in profile["notes"]), profile["notes"]


@case
def groups_are_kept_apart(folder):
    job = Job(4)
    now = 1_000_000
    for i in range(12):
        for name, ranks in (("1", [0, 2]), ("2", [1, 3])):
            job.collective({r: now + 100 * r for r in ranks}, 5000 + i, group=name)
        now += 100_000
    profile = opened(job.write(folder))
    adds_up(profile)
    assert len(profile["collectives"]) == 24 and all(len(c["members"]) == 2 for c in profile["collectives"])


@case
def odd_bytes_and_numbers(folder):
    late_job().write(folder)
    path = folder / "worker_0.pt.trace.json"
    data = path.read_bytes().replace(b"gemm<float>", b"gemm\xff\x01\xc3<float>", 3)
    data = data.replace(b'"pid": 0', b'"pid": 0, "x": NaN, "y": -Infinity, "z": [1e9, inf]', 5)
    path.write_bytes(data)
    assert "rank 3 arrives last" in opened(folder)["sentence"]


@case
def a_log_of_it_answers_questions(folder):
    job = late_job()
    job.write(folder / "p")
    log = folder / "job.db"
    hostir("open", folder / "p", "--trace", log)
    rows = json.loads(hostir("trace", "sql", log, "select count(*) as n, max(skew_ns) as skew from v_collectives",
                             "--format", "json"))
    assert (rows[0]["n"], rows[0]["skew"]) == (60, 500_000), rows
    kernels = json.loads(hostir("trace", "sql", log, "select count(*) as n from v_exposed_communication "
                                "where compute_ns = 60 * 30000", "--format", "json"))
    assert kernels[0]["n"] == 4, kernels
    steps = json.loads(hostir("trace", "sql", log, "select distinct iteration as i from event e join loop_path l on "
                              "l.id = e.loop_path order by 1", "--format", "json"))
    assert [s["i"] for s in steps] == [5, 6, 7], steps
    trace = json.loads(hostir("trace", "export", log))
    assert sum(e["ph"] == "s" for e in trace["traceEvents"]) == 60 * 3
    assert "are intact" in hostir("trace", "info", log, "--check")


def nsys_export(path, world=2):
    """One report with several processes, NCCL's NVTX payloads, and a grouped pair of calls."""
    db = sqlite3.connect(path)
    db.executescript("""
      CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
      CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
      INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
        correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
      CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, streamId INTEGER, correlationId INTEGER,
        globalPid INTEGER, copyKind INTEGER);
      CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, globalTid INTEGER);
      CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT,
        textId INTEGER, binaryData TEXT);
      INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (2, 'gemm'), (3, 'ncclAllReduce'),
        (4, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)');
    """)

    def payload(*fields, format):
        data = struct.pack(format, *fields)
        return struct.pack("<IIIIQQ", 2, 0, 16777221, 0, len(data), 32 + len(data)) + data

    for r in range(world):
        pid = (100 + r) << 24
        thread = pid | 5
        db.execute("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, ?, 'ncclCommInitRank', NULL, ?)",
                   (thread, payload(0x5F1C, world, r, 0, format="<Qiii")))
        for i in range(5):
            begin = 10_000 + 100_000 * i + 3000 * r
            end = 10_000 + 100_000 * i + 3000 * (world - 1) + 20_000
            db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, NULL, 3, ?)",
                       (begin - 2000, begin - 1000, thread, payload(0x5F1C, 4096, 0, format="<QQi")))
            # The third call is in a group: its kernel is launched after the range.
            launch = begin - 500 if i == 2 else begin - 1500
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?)", (launch, launch + 100, 10 + i, thread))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 20, ?, ?, 4, 1)", (begin, end, 10 + i, pid))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 2, 2)",
                       (end - 4000, end + 6000, 50 + i, pid))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 5, 7, 99, ?, 1)", (pid,))
    db.commit()
    db.close()
    return path


@case
def nsight_systems(folder):
    profile = opened(nsys_export(folder / "report.sqlite", 3))
    adds_up(profile)
    assert [r["rank"] for r in profile["ranks"]] == [0, 1, 2], profile["ranks"]
    assert len(profile["collectives"]) == 5
    for c in profile["collectives"]:
        assert (c["kind"], c["reduction"], c["bytes"], c["skew_ns"], c["transfer_ns"]) == \
            ("all_reduce", "sum", 4096, 6000, 20_000), c
        assert [m["exposed_ns"] for m in c["members"]] == [m["time_ns"] - 4000 for m in c["members"]]
        assert c["communicator"] == "communicator 5f1c" and c["whole"]
    assert "rank 2 arrives last in 5 of 5 collectives" in profile["sentence"], profile["sentence"]


@case
def communicators_of_one_call_keep_their_members(folder):
    for path in TRUTH.glob("kineto_*.json.gz"):
        (folder / "p").mkdir(exist_ok=True)
        shutil.copy(path, folder / "p")
    hostir("open", folder / "p", "--trace", folder / "job.db")
    rows = json.loads(hostir("trace", "sql", folder / "job.db", "select arrived, member_count from v_collectives",
                             "--format", "json"))
    assert len(rows) == 10 and all(r["arrived"] == r["member_count"] for r in rows), rows


@case
def our_own_logs_are_no_profiles(folder):
    late_job().write(folder / "p")
    hostir("open", folder / "p", "--trace", folder / "job.db")
    assert "is a log of this program" in hostir("open", folder / "job.db", status=2)
    (folder / "logs").mkdir()
    shutil.copy(folder / "job.db", folder / "logs" / "rank_0.db")
    assert "holds logs of this program; hostir gui, debug and report open" in hostir("open", folder / "logs", status=2)


@case
def hostile_files_get_a_sentence(folder):
    event = '{"ph":"X","cat":"kernel","name":"k","ts":%s,"dur":%s,"tid":7,"args":{}}'
    texts = {
        "deep": '{"traceEvents":[' + '{"args":' * 100_000,
        "huge_number": '{"traceEvents":[' + event % ("9" * 400, "1e308") + "]}",
        "negative": '{"traceEvents":[' + event % ("-5.5", "-3.25") + "]}",
        "no_events": '{"traceEvents":null,"schemaVersion":1}',
        "cut": '{"traceEvents":[' + event % (1, 1),
        "empty_fields": '{"traceEvents":[{},{"ph":"X"},{"ph":"X","cat":"kernel"},{"ph":1,"cat":[],"name":{}},7,null]}',
        "wrong_types": '{"traceEvents":[{"ph":"X","cat":"kernel","name":7,"ts":"x","dur":[],"args":"none"}],'
                       '"distributedInfo":[1],"baseTimeNanoseconds":"now"}',
        "ranks": '{"distributedInfo":{"rank":-7,"world_size":99999999999,"pg_config":[{"pg_name":3,"ranks":[1e9]},4]},'
                 '"traceEvents":[' + event % (1, 1) + "]}",
    }
    for name, text in texts.items():
        path = folder / f"{name}.json"
        path.write_text(text)
        done = subprocess.run([HOSTIR, "open", path], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 2), (name, done.returncode, done.stderr)
        assert (done.stdout + done.stderr).strip(), name
    bomb = folder / "cut.json.gz"
    bomb.write_bytes(gzip.compress(texts["negative"].encode())[:-9])
    assert "damaged" in hostir("open", bomb, status=2)
    damaged = nsys_export(folder / "damaged.sqlite")
    data = bytearray(damaged.read_bytes())
    data[5000:9000] = b"\xff" * 4000
    damaged.write_bytes(data)
    done = subprocess.run([HOSTIR, "open", damaged], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 2, 3) and (done.stdout + done.stderr).strip()


@case
def a_damaged_profile_does_not_hide_the_others(folder):
    late_job().write(folder)
    expected = hostir("open", folder)
    files = sorted(folder.iterdir())
    (folder / "worker_9.pt.trace.json").write_text('{"traceEvents": [{"ph": "X",')
    (folder / "cut.json.gz").write_bytes(gzip.compress(files[0].read_bytes())[:400])
    nsys_export(folder / "report_8.sqlite")
    (folder / "report_8.sqlite").write_bytes((folder / "report_8.sqlite").read_bytes()[:2000])
    for paths in ([folder], sorted(folder.iterdir())):  # a folder, and the same files by name
        text = hostir("open", *paths)
        assert text.startswith(expected), text
        for name in ("worker_9.pt.trace.json", "cut.json.gz", "report_8.sqlite"):
            assert len(re.findall(f"^note: .*{name}\\W", text, re.M)) == 1, text
    skipped = json.loads(hostir("open", folder, "--json"))["skipped"]
    assert sorted(pathlib.Path(s["file"]).name for s in skipped) == ["cut.json.gz", "report_8.sqlite",
                                                                     "worker_9.pt.trace.json"], skipped


@case
def two_profiles_of_one_rank(folder):
    late_job().write(folder)
    shutil.copy(folder / "worker_1.pt.trace.json", folder / "again.json")
    assert "are both of rank 1" in hostir("open", folder, status=2)


if __name__ == "__main__":
    sys.exit(run_cases())
