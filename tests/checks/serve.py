#!/usr/bin/env python3
"""Tests `hostir serve` as used by another program: serve.py HOSTIR. Prints `N passed, N failed`.

One process; sessions are opened, run, stepped back, read and closed over JSON-RPC lines, and what cannot be
done comes back as an error that names the thing.
"""
import base64
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from cases import ENDLESS, check, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRUTH = "tests/truth/tp_mlp_w2"

# Rank 2 takes the maximum where the others sum.
ONE_OF_FOUR = """mesh @m = <x=4>
host @f on @m (%a: shard<4xf32, @m, [{}]>) -> (shard<4xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "main"
  %p = alloc on %s : shard<4xf32, @m, [{}]>
  where coord(x) == 2 {
    all_reduce max %c ro(%a) wo(%p) on %s
  } else {
    all_reduce sum %c ro(%a) wo(%p) on %s
  }
  return %p
}
"""


def npy(data):
    """dtype text, shape and numbers of an .npy file of floats."""
    length = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + length], {})  # a dictionary of literals, parsed as NumPy does
    count = 1
    for n in head["shape"]:
        count *= n
    kind = {"<f4": "f", "<f8": "d"}[head["descr"]]
    return head["descr"], head["shape"], struct.unpack(f"<{count}{kind}", data[10 + length:])


class Client:
    def __init__(self, hostir):
        self.process = subprocess.Popen([hostir, "serve"], cwd=ROOT, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.last = 0

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def call(self, method, **params):
        self.last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        answer = self.receive()
        check(f"the answer to {method} has its id", answer.get("id") == self.last, answer)
        return answer

    def result(self, method, **params):
        answer = self.call(method, **params)
        check(f"{method} {params}", "result" in answer, answer)
        return answer.get("result", {})

    def refused(self, code, text, method, **params):
        error = self.call(method, **params).get("error", {})
        check(f"{method} {params} is refused", error.get("code") == code and text in error.get("message", ""), error)
        return error


def check_program(client, log):
    inputs = {"x": "x", "w1": "c_fc.weight", "b1": "c_fc.bias", "w2": "c_proj.weight", "b2": "c_proj.bias"}
    opened = client.result("open", path="tests/programs/tp_mlp.hir",
                           options={"mesh": {"tp": 2}, "log": log,
                                    "inputs": {name: f"@{TRUTH}/{file}.npy" for name, file in inputs.items()}})
    check("what was opened", opened["function"] == "mlp.host" and opened["ranks"] == 2, opened)
    session = opened["session"]
    run = client.result("command", session=session, command="continue")
    check("the run ended", run["stop"]["kind"] == "finished" and run["ran"], run)
    y = client.result("tensor", session=session, value="%y global")
    dtype, shape, numbers = npy(base64.b64decode(y["npy"], validate=True))
    _, expected_shape, expected = npy((ROOT / TRUTH / "y.npy").read_bytes())
    largest = max(map(abs, expected))
    worst = max(abs(a - b) for a, b in zip(numbers, expected))
    check("PyTorch's numbers", shape == expected_shape and dtype == "<f4" and worst < 1e-5 * max(1, largest), worst)
    for element in ("[0, 0, 0]", "[1, 5, 0:2]"):  # base64 ends with "==" and "="
        part = client.result("tensor", session=session, value=f"%y{element} rank 1")
        check("a slice", len(npy(base64.b64decode(part["npy"], validate=True))[2]) == len(element.split(":")), part)
    back = client.result("command", session=session, command="reverse-step")
    check("one step back", back["position"]["decision"] < run["position"]["decision"], back)
    ranks = client.result("command", session=session, command="info ranks")["data"]
    check("ranks", [r["rank"] for r in ranks] == [0, 1] and all(r["op"] for r in ranks), ranks)
    rows = client.result("query", session=session, sql="SELECT rank, COUNT(*) AS n FROM event GROUP BY rank")["rows"]
    check("the log", len(rows) == 2 and all(row["n"] > 0 for row in rows), rows)
    return session


def check_interrupt(client):
    """A command that would never end, and one that waits behind it, are stopped; other sessions are not."""
    session = client.result("open", path="endless.hir", options={"text": ENDLESS, "example_inputs": True})["session"]
    other = client.result("open", path="tests/programs/tp_mlp.hir", options={"example_inputs": True})["session"]

    def line(number, method, **params):
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    client.send("\n".join([line("first", "command", session=session, command="continue"),
                           line("second", "command", session=session, command="continue"),
                           line("other", "command", session=other, command="continue"),
                           line("stop", "interrupt", session=session)]))
    answers = [client.receive() for _ in range(4)]
    by_id = {answer["id"]: answer["result"] for answer in answers}
    check("interrupt overtakes", answers[0]["id"] == "stop" and by_id["stop"] == {"interrupted": 2}, answers[0])
    check("both stop", all(by_id[i]["stop"]["kind"] == "interrupted" for i in ("first", "second")), by_id)
    check("the other one ends", by_id["other"]["stop"]["kind"] == "finished", by_id["other"])
    check("nothing runs", client.result("interrupt", session=session) == {"interrupted": 0})
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"
    client.send("\n".join([line("query", "query", session=other, sql=endless), line("stop", "interrupt", session=other)]))
    by_id = {answer["id"]: answer for answer in (client.receive(), client.receive())}
    check("an endless query stops", by_id["stop"]["result"] == {"interrupted": 1} and
          by_id["query"]["error"]["data"]["id"] == "log_cancelled", by_id)
    check("it goes on", client.result("command", session=session, command="step")["stop"]["kind"] == "step")
    client.refused(-32602, "session", "interrupt")
    client.refused(-32602, "open: ", "interrupt", session=99)


def check_what_is_no_file(client):
    """Pipes and devices are refused: reading them may never end. A long request takes a time that grows with its length."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = str(pathlib.Path(folder) / "pipe")
        os.mkfifo(pipe)
        for path, kind in ((pipe, "pipe"), ("/dev/zero", "device")):
            client.refused(3, f"{path}: a {kind}, not a file", "open", path=path)
            client.refused(3, f"{path}: a {kind}, not a file", "diagnose", paths=[path])
    client.refused(3, "No such file", "open", path="/none", more="x" * (8 << 20))


def check_refusals(client, session):
    error = client.refused(64, "brake", "command", session=session, command="brake all_reduce")
    check("an error's data", error.get("data", {}).get("status") == 64 and error["data"]["diagnostics"], error)
    client.refused(3, "nowhere.hir", "open", path="nowhere.hir")
    client.refused(64, "there is no option \"meshes\"", "open", path="x.hir", options={"meshes": {}})
    client.refused(-32602, "open: 1", "command", session=7, command="step")
    client.refused(-32602, "\"command\" must be a string", "command", session=session)
    client.refused(-32601, "there is no method \"run\"", "run")
    text = "mesh @m = <x=2>\nhost @f on @m () {\n  launch @nothing\n}\n"
    error = client.call("open", path="typed.hir", options={"text": text})["error"]
    check("a caret into the text", error["code"] == 2 and "typed.hir:3:" in error["data"]["text"], error)
    client.send("{not JSON")
    answer = client.receive()
    check("a line that is no JSON", answer["id"] is None and answer["error"]["code"] == -32700, answer)
    for deep in ("[" * 200000, '{"id":%s,"method":"open"}' % ("[" * 200000 + "]" * 200000)):
        client.send(deep)
        answer = client.receive()
        check("deep nesting is refused", answer["error"]["code"] == -32700, answer)
    client.send("[]")
    check("a line that is no request", client.receive()["error"]["code"] == -32600)
    client.send(json.dumps({"jsonrpc": "2.0", "method": "command",
                            "params": {"session": session, "command": "goto 0"}}))
    position = client.result("command", session=session, command="info history")["data"]
    check("a notification is carried out and not answered", position["decision"] == 0, position)


def main():
    client = Client(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        log = f"{folder}/run.db"
        session = check_program(client, log)
        check_refusals(client, session)
        check_interrupt(client)
        check_what_is_no_file(client)
        lowered = client.result("lower", path="tests/programs/tp_mlp.hir", options={"mesh": {"tp": 4}})
        check("lowered", lowered["function"] == "mlp.host" and lowered["phases"][-1]["text"] == lowered["text"])
        client.refused(64, "import", "import", path="tests/programs/tp_mlp.hir")
        client.result("close", session=session)
        client.refused(-32602, "open: ", "command", session=session, command="step")
        reopened = client.result("open", path=log)
        check("a log opens", reopened["ranks"] == 2 and reopened["can_run"], reopened)
        check("sessions have numbers of their own", reopened["session"] != session, reopened)
        stuck = client.result("open", path="tests/programs/deadlock.hir", options={"example_inputs": True})["session"]
        stop = client.result("command", session=stuck, command="continue")["stop"]
        check("a deadlock", stop["kind"] == "deadlock" and "rank 1" in stop["sentence"], stop)
        found = client.result("command", session=stuck, command="whatif")["data"]
        check("what if", found["trials"][0]["verdict"] == "completes" and found["trials"][0]["diff"], found)
        crossed = client.result("open", path="four.hir", options={"text": ONE_OF_FOUR, "example_inputs": True})["session"]
        stop = client.result("command", session=crossed, command="continue")["stop"]
        check("a mismatch", stop["kind"] == "fault" and "rank 2" in stop["sentence"], stop)
        waits = client.result("command", session=crossed, command="info waits")["data"]
        check("the rank that calls something else", waits["culprits"] == [2], waits)
        crossed = client.result("open", path="tests/programs/mismatch.hir", options={"example_inputs": True})["session"]
        client.result("command", session=crossed, command="continue")
        waits = client.result("command", session=crossed, command="info waits")["data"]
        check("two ranks without a majority", waits["culprits"] == [0, 1], waits)
        for name, culprit in (("size", 1), ("skip", 2)):
            job = client.result("open", path=f"tests/truth/flight_recorder/{name}")["session"]
            waits = client.result("command", session=job, command="info waits")["data"]
            check("the culprit of other tools' dumps", waits["culprits"] == [culprit], waits)
        verdict = client.result("diagnose", paths=["tests/truth/flight_recorder/size"])
        check("other tools' dumps", verdict["fault"] and verdict["culprits"] == [1], verdict)
        client.process.stdin.close()
        check("the end of the input ends it", client.process.wait(60) == 0)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
