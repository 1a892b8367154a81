#!/usr/bin/env python3
"""Tests `hostir serve --dap` as an editor uses it: dap.py HOSTIR. Prints `N passed, N failed`.

A client of the Debug Adapter Protocol launches programs, sets breakpoints, steps both ways, reads frames and
variables, pauses a run, and sends what no editor should send.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

from cases import ENDLESS, check, finish

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Editor:
    def __init__(self, hostir):
        self.process = subprocess.Popen([hostir, "serve", "--dap"], cwd=ROOT, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.sequence = 0
        self.events = []
        self.watchdog = threading.Timer(120, self.process.kill)
        self.watchdog.start()

    def send(self, command, **arguments):
        self.sequence += 1
        text = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments})
        self.raw(f"Content-Length: {len(text.encode())}\r\n\r\n{text}".encode())
        return self.sequence

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            length = int(line.split(b":")[1])

    def answer(self, sequence):
        while True:
            message = self.receive()
            if message is None:
                return {}
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == sequence:
                return message

    def call(self, command, **arguments):
        answer = self.answer(self.send(command, **arguments))
        check(f"{command} {arguments} succeeds", answer.get("success"), answer)
        return answer.get("body", {})

    def refused(self, text, command, **arguments):
        answer = self.answer(self.send(command, **arguments))
        check(f"{command} {arguments} is refused", answer.get("success") is False and text in answer["message"], answer)

    def event(self, name):
        """The body of the next event of this name; earlier ones are dropped."""
        while True:
            while self.events:
                event = self.events.pop(0)
                if event["event"] == name:
                    return event.get("body", {})
            message = self.receive()
            if message is None:
                check(f"the event {name} comes", False)
                return {}
            if message["type"] == "event":
                self.events.append(message)

    def run(self, command, **arguments):
        self.call(command, **arguments)
        return self.event("stopped")

    def launch(self, program, breakpoints=(), **arguments):
        self.call("initialize", adapterID="hostir")
        self.call("launch", program=str(program), **arguments)
        self.event("initialized")
        for set_request, body in breakpoints:
            yield self.call(set_request, **body)
        self.call("configurationDone")

    def top(self, thread):
        return self.call("stackTrace", threadId=thread)["stackFrames"][0]

    def scope(self, frame, name):
        for scope in self.call("scopes", frameId=frame["id"])["scopes"]:
            if scope["name"] == name:
                return {v["name"]: v for v in self.call("variables", variablesReference=scope["variablesReference"])
                        ["variables"]}
        check(f"frame {frame['name']} has the scope {name}", False)
        return {}

    def close(self):
        self.call("disconnect")
        self.process.stdin.close()
        check("the server ends with status 0", self.process.wait(30) == 0, self.process.returncode)
        self.watchdog.cancel()


HOST = """mesh @w = <x=2>

kernel @double(%a: tensor<4x3xf32>) -> (%r: tensor<4x3xf32>) {
  %r = add %a, %a : tensor<4x3xf32>
  return %r
}

host @main on @w (%a: shard<4x3xf32, @w, [{x}, {}]>) -> (shard<4x3xf32, @w, [{x}, {}]>) {
  %s = stream "s"
  %b = alloc on %s : shard<4x3xf32, @w, [{x}, {}]>
  for %i in 0..3 {
    launch @double ro(%a) wo(%b) on %s
  }
  return %b
}
"""


def check_stablehlo(hostir):
    """StableHLO: breakpoints in the module's lines, whose frame is in the module too."""
    program = ROOT / "tests/truth/jax/tp_mlp/stablehlo.mlir"
    lines = program.read_text().splitlines()
    line = next(i + 1 for i, text in enumerate(lines) if "stablehlo.dot_general" in text)
    inputs = {str(i): f"@{program.parent}/in{i}.npy" for i in range(5)}
    editor = Editor(hostir)
    sets = list(editor.launch(
        program, [("setBreakpoints", {"source": {"path": str(program)},
                                      "breakpoints": [{"line": line}, {"line": len(lines) + 100}]})],
        options={"inputs": inputs}))
    placed = sets[0]["breakpoints"]
    check("a line of the module is verified", placed[0]["verified"] and placed[0]["line"] == line, placed)
    check("a line after its end is not", not placed[1]["verified"], placed)
    stop = editor.event("stopped")
    check("the module's line stops the run", stop["reason"] == "breakpoint", stop)
    frames = editor.call("stackTrace", threadId=1)["stackFrames"]
    check("the module's line is a frame", frames[1]["source"].get("path") == str(program) and frames[1]["line"] == line, frames)
    editor.close()


def check_manual_stablehlo(hostir):
    """A module that becomes a host program with a loop: lines of collectives, and of operations inside kernels."""
    program = ROOT / "tests/truth/jax_made/manual_converge/stablehlo.mlir"
    lines = program.read_text().splitlines()
    gather, root = (next(i + 1 for i, text in enumerate(lines) if op in text) for op in ("all_gather", "sqrt"))
    inputs = {str(i): f"@{program.parent}/in{i}.npy" for i in range(2)}
    editor = Editor(hostir)
    sets = list(editor.launch(program, [("setBreakpoints", {"source": {"path": str(program)},
                                                            "breakpoints": [{"line": gather}, {"line": root}]})],
                              options={"inputs": inputs}))
    placed = sets[0]["breakpoints"]
    check("both lines are verified", [(p["verified"], p["line"]) for p in placed] == [(True, gather), (True, root)], placed)
    for breakpoint, name in ((0, "all_gather"), (1, "launch"), (0, "all_gather")):  # then a pass of the loop
        stop = editor.event("stopped")
        check("its breakpoint stops the run", stop["hitBreakpointIds"] == [placed[breakpoint]["id"]], stop)
        frames = editor.call("stackTrace", threadId=1)["stackFrames"]
        source = frames[1]["source"].get("path"), frames[1]["line"] <= (gather, root)[breakpoint]
        check(f"the frame of {name} is in the module", source == (str(program), True), frames)
        editor.call("continue", threadId=1)
    editor.close()


def check_fusion(hostir):
    """A fusion: breakpoints in the user's file, frames in the lowered text and in the file, both directions."""
    program = ROOT / "tests/programs/tp_mlp.hir"
    lines = program.read_text().splitlines()
    matmul = next(i + 1 for i, line in enumerate(lines) if "%h = linear" in line or "matmul" in line)
    editor = Editor(hostir)
    sets = list(editor.launch(
        program, [("setBreakpoints", {"source": {"path": str(program)},
                                      "breakpoints": [{"line": matmul}, {"line": matmul, "condition": "1 +"}]}),
                  ("setFunctionBreakpoints", {"breakpoints": [{"name": "all_reduce"}, {"name": "%nothing"}]})],
        options={"mesh": {"tp": 2}}))
    lined, functions = sets[0]["breakpoints"], sets[1]["breakpoints"]
    check("a line of the fusion is verified", lined[0]["verified"] and lined[0]["line"] >= matmul, lined)
    check("a bad condition is refused, and the message says why", not lined[1]["verified"] and lined[1]["message"], lined)
    check("an op is a function breakpoint", functions[0]["verified"] and not functions[1]["verified"], functions)
    stop = editor.event("stopped")
    check("the line stops the run", stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] == [lined[0]["id"]], stop)
    threads = editor.call("threads")["threads"]
    check("ranks are threads", [t["name"] for t in threads] == ["rank 0 (tp=0)", "rank 1 (tp=1)"], threads)
    rest = editor.call("stackTrace", threadId=1, startFrame=1, levels=2**63 - 1)
    check("frames from the second on", len(rest["stackFrames"]) == rest["totalFrames"] - 1, rest)
    frames = editor.call("stackTrace", threadId=1)["stackFrames"]
    check("the lowered text can be fetched by its number", frames[0]["source"].get("sourceReference") == 1, frames)
    check("the fusion's line is a frame", frames[1]["source"].get("path") == str(program) and frames[1]["line"] == lined[0]["line"],
          frames)
    text = editor.call("source", sourceReference=1)["content"].splitlines()
    check("the frame's line is in that text", frames[0]["name"].split()[0] in text[frames[0]["line"] - 1], text[frames[0]["line"] - 1])
    sources = [s["name"] for s in editor.call("loadedSources")["sources"]]
    check("phases are sources", "host.hir" in sources, sources)
    tensors = editor.scope(frames[0], "Tensors")
    check("inputs are tensors", {"%x", "%w1"} <= set(tensors), tensors.keys())
    stop = editor.run("continue", threadId=1)
    check("then the collective", stop["reason"] == "function breakpoint", stop)
    at = editor.top(1)["line"]
    check("a step moves on", editor.run("next", threadId=1)["reason"] == "step" and editor.top(1)["line"] > at)
    editor.run("stepBack", threadId=1)
    check("and back", editor.top(1)["line"] == at)
    stop = editor.run("reverseContinue", threadId=1)
    check("backwards to the breakpoint before", stop["reason"] == "breakpoint", stop)
    check("and to the start", editor.run("reverseContinue", threadId=1)["reason"] == "entry")
    editor.call("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    editor.call("setFunctionBreakpoints", breakpoints=[])
    stop = editor.run("continue")
    check("the end is a stop", stop["reason"] == "pause" and "ended" in stop["description"], stop)
    answer = editor.call("evaluate", expression="info break", context="repl")
    check("an empty set removed its breakpoints", "all_reduce" not in answer["result"], answer)
    answer = editor.call("evaluate", expression="goto start", context="repl")
    check("console commands that move tell the editor", editor.event("stopped")["threadId"] == 1, answer)
    editor.close()


def check_host(hostir, folder):
    """A host program: loops as frames, integers, elements of tensors, watches, log points, edits."""
    program = folder / "loop.hir"
    program.write_text(HOST)
    launch_line = next(i + 1 for i, line in enumerate(HOST.splitlines()) if "launch @double" in line)
    editor = Editor(hostir)
    sets = list(editor.launch(program, [("setBreakpoints", {
        "source": {"path": str(program)},
        "breakpoints": [{"line": launch_line, "hitCondition": "2"},
                        {"line": launch_line, "logMessage": "pass {iteration} of {rank}"},
                        {"line": launch_line, "hitCondition": "often"}]})],
        options={"inputs": {"a": "iota"}}, stopOnEntry=True))
    placed = sets[0]["breakpoints"]
    check("hit conditions are counts", [b["verified"] for b in placed] == [True, True, False], placed)
    check("it stops on entry", editor.event("stopped")["reason"] == "entry")
    stop = editor.run("continue", threadId=2)
    check("the second pass stops", stop["reason"] == "breakpoint", stop)
    frames = editor.call("stackTrace", threadId=2)["stackFrames"]
    check("the loop is a frame", frames[1]["name"].startswith("for %i = 1"), frames)
    check("the user's file is shown", frames[0]["source"]["path"] == str(program) and frames[0]["line"] == launch_line, frames)
    check("integers", editor.scope(frames[0], "Integers")["%i"]["value"] == "1")
    tensor = editor.scope(frames[0], "Tensors")["%a"]
    check("rank 1 holds two of the rows", tensor["indexedVariables"] == 2, tensor)
    rows = editor.call("variables", variablesReference=tensor["variablesReference"], filter="indexed")["variables"]
    check("rows are counted in the whole tensor", [r["name"] for r in rows] == ["[2]", "[3]"], rows)
    elements = editor.call("variables", variablesReference=rows[1]["variablesReference"], start=1, count=1)["variables"]
    check("elements", [(e["name"], float(e["value"]), e["evaluateName"]) for e in elements] == [("[1]", 10.0, "%a[3, 1]")],
          elements)
    facts = editor.call("variables", variablesReference=tensor["variablesReference"], filter="named")["variables"]
    check("what is held", {"name": "held", "value": "[[2,4],[0,3]]", "variablesReference": 0} in facts, facts)
    value = editor.call("setVariable", variablesReference=rows[1]["variablesReference"], name="[1]", value="0.5")
    check("an element is set", float(value["value"]) == 0.5, value)
    for text, want in (("%a[3, 1]", 0.5), ("max(%a)", 11.0)):
        got = editor.call("evaluate", expression=text, context="watch", frameId=frames[0]["id"])
        check(f"{text} is evaluated on the frame's rank", float(got["result"]) == want, got)
    check("a word under the pointer", "0.5" in editor.call("evaluate", expression="a", context="hover",
                                                             frameId=frames[0]["id"])["result"])
    info = editor.call("dataBreakpointInfo", name="%b")
    watch = editor.call("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["breakpoints"]
    check("a write can be watched", watch[0]["verified"], watch)
    reasons, logged = set(), []
    while True:
        editor.call("continue")
        while (message := (editor.events.pop(0) if editor.events else editor.receive()))["event"] != "stopped":
            if message["event"] == "output" and message["body"]["category"] == "stdout":
                logged.append(message["body"]["output"])
        if "ended" in message["body"]["description"]:
            break
        reasons.add(message["body"]["reason"])
    check("and stops the run", "data breakpoint" in reasons, reasons)
    check("log points write", "rank 1: pass 2 of 1\n" in logged, logged)
    completions = editor.call("completions", text="pri", column=4)["targets"]
    check("commands complete", [t["label"] for t in completions] == ["print"], completions)
    editor.refused("the run has moved", "variables", variablesReference=999)
    editor.refused("error[dap_request]: there is no thread 7", "stackTrace", threadId=7)
    editor.refused("unknown command", "evaluate", expression="frobnicate", context="repl")
    editor.close()


def check_hang(hostir, folder):
    editor = Editor(hostir)
    for _ in editor.launch("tests/programs/deadlock.hir"):
        pass
    stop = editor.event("stopped")
    check("a hang is an exception", stop["reason"] == "exception" and "text" in stop, stop)
    fault = editor.call("exceptionInfo", threadId=stop["threadId"])
    check("with the verdict's sentence", fault["exceptionId"] == "deadlock" and fault["details"]["message"], fault)
    pending = editor.scope(editor.top(1), "Pending")
    check("the pending collective is listed", any("all_reduce" in task["value"] for task in pending.values()), pending)
    tried = editor.call("evaluate", expression="whatif", context="repl")["result"]
    check("whatif works in the console", "all_reduce" in tried, tried)
    editor.close()


def check_pause(hostir, folder):
    program = folder / "endless.hir"
    program.write_text(ENDLESS)
    editor = Editor(hostir)
    for _ in editor.launch(program):
        pass
    editor.call("pause", threadId=1)
    check("pause stops a run", editor.event("stopped")["reason"] == "pause")
    editor.call("continue")
    editor.close()


def check_gone(hostir, folder):
    """An editor that disconnects right after continue, or dies, leaves nothing running."""
    program = folder / "endless.hir"
    for ending in ("disconnect", "death"):
        editor = Editor(hostir)
        for _ in editor.launch(program, stopOnEntry=True):
            pass
        editor.event("stopped")
        editor.send("continue", threadId=1)
        if ending == "disconnect":
            editor.send("disconnect")
        editor.process.stdin.close()
        check(f"nothing runs after the editor's {ending}", editor.process.wait(60) == 0, editor.process.returncode)
        editor.watchdog.cancel()


def check_refusals(hostir, folder):
    editor = Editor(hostir)
    editor.refused("send launch first", "threads")
    editor.refused("does not know", "fly")
    editor.refused("has no \"program\"", "launch")
    editor.refused("No such file", "launch", program="no/such.hir")
    editor.refused("there is no option", "launch", program="x.hir", options={"mash": 1})
    bad = folder / "bad.hir"
    bad.write_text("fusion @f(%x : 4xf32) -> (%y : 4xf32) {\n  %y = addd %x, %x\n  return %y\n}\n")
    editor.refused("bad.hir:2:", "launch", program=str(bad))
    editor.raw(b"Content-Length: 5\r\n\r\n[1,2]")
    message = editor.receive()
    check("a list is no message", message["success"] is False, message)
    editor.raw(b"Content-Length: 3\r\n\r\n{{{")
    check("nor is broken JSON", editor.receive()["success"] is False)
    editor.close()
    editor = Editor(hostir)
    editor.raw(b"GET / HTTP/1.1\r\n\r\n")
    editor.process.stdin.close()
    check("a header without a length ends it", editor.process.wait(30) == 0)
    editor.watchdog.cancel()


def main():
    hostir = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_manual_stablehlo(hostir)
        check_stablehlo(hostir)
        check_fusion(hostir)
        for part in (check_host, check_hang, check_pause, check_gone, check_refusals):
            part(hostir, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
