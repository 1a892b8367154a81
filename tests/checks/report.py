#!/usr/bin/env python3
"""Tests `hostir report`: the file is well-formed, needs no network, holds the verdict's facts, and is safe.

    tests/checks/report.py build-dev/bin/hostir [--keep FOLDER]

Programs, logs, dumps and profiles, each as a report; names that try to become markup or code. Ends with
`N passed, N failed`.
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys

from cases import HOSTIR, ROOT, case, run_cases
from flight_recorder_writer import START_NS, Call, Job

VOID = {"meta", "br", "img", "hr", "input", "link"}
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x"


class Page(html.parser.HTMLParser):
    """Checks nesting; collects the text and the elements."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.sections = [], [], [], {}
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        names = [a for a, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.sections[dict(attrs)["id"]] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)
        if "section" in self.open and self.sections:
            self.sections[list(self.sections)[-1]] += data

    def data(self):
        """What the script draws."""
        ids = [i for i, (tag, attrs) in enumerate(self.tags) if attrs.get("id") == "timeline-data"]
        assert len(ids) == 1
        return json.loads(next(t for t in self.texts if t.startswith('{"end"')))


def report(folder, *arguments):
    path = folder / "report.html"
    done = subprocess.run([HOSTIR, "report", *map(str, arguments), "-o", str(path)], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    # Nothing is loaded from elsewhere, and only the report's own two scripts are there.
    assert not re.search(r"https?://|//[a-z0-9.-]+\.[a-z]{2,}/|@import|url\((?!#)", text), "an external address"
    for tag, attrs in page.tags:
        assert not {"src", "href", "srcset", "action"} & set(attrs), (tag, attrs)
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)
    assert [tag for tag, _ in page.tags].count("script") in (1, 2)
    viewport = [attrs for tag, attrs in page.tags if attrs.get("name") == "viewport"]
    assert viewport and "width=device-width" in viewport[0]["content"]
    assert "prefers-color-scheme" in text
    return page


def run(program, folder, *arguments, status=0):
    log = folder / "run.db"
    done = subprocess.run([HOSTIR, "run", str(program), "-q", "--trace", str(log), *arguments], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    return log


@case
def a_run_with_shards(folder):
    page = report(folder, run(ROOT / "programs" / "tp_mlp.hir", folder, "--mesh", "tp=4", "--example-inputs"))
    assert list(page.sections)[0] == "verdict"
    for name in ("waits", "timeline", "collectives", "layouts", "memory", "program"):
        assert name in page.sections or name == "waits", (name, list(page.sections))
    assert "all_reduce" in page.sections["collectives"] and "4 of 4" in page.sections["collectives"]
    assert "completed" in page.sections["verdict"]
    tracks = page.data()["tracks"]
    assert {t["rank"] for t in tracks} == {0, 1, 2, 3}
    assert all(len(t["s"]) % 4 == 0 for t in tracks)
    layout = [a for t, a in page.tags if t == "svg" and a.get("class") == "layout"]
    assert layout, "no layout is drawn"


@case
def a_program_that_hangs(folder):
    page = report(folder, ROOT / "programs" / "deadlock.hir")
    log = run(ROOT / "programs" / "deadlock.hir", folder, "--example-inputs", status=4)
    sentence = json.loads(subprocess.run([HOSTIR, "trace", "sql", str(log), "select sentence from fault limit 1",
                                          "--format", "json"], capture_output=True, text=True, check=True).stdout)
    assert sentence[0]["sentence"] in page.sections["verdict"], (sentence, page.sections["verdict"])
    marked = [a for t, a in page.tags if t == "span" and a.get("class") == "fault"]
    assert marked, "no instruction at fault is marked"
    assert "waits" in page.sections
    unfinished = [t["rank"] for t in page.data()["tracks"] if 1 in t["w"][2::3]]
    assert unfinished == [0], page.data()["tracks"]


@case
def dumps_of_a_hang(folder):
    page = report(folder, ROOT / "truth" / "flight_recorder" / "skip")
    assert "fr.py:33" in page.sections["verdict"] and "rank 2" in page.sections["verdict"]
    assert any(a.get("class") == "bad" for t, a in page.tags if a.get("id") == "verdict")


@case
def dumps_before_the_timeout(folder):
    """Nobody is accused yet; who would be at fault, the repaired run and the call are shown all the same."""
    job = Job(4)
    for line in (10, 11, 12):
        job.all_reduce(line, ranks=[r for r in range(4) if (r, line) != (2, 12)])
    job.run().write(folder / "dumps")
    for path in (folder / "dumps").iterdir():
        os.utime(path, ns=(START_NS + 90 * 10**9, START_NS + 90 * 10**9))
    page = report(folder, folder / "dumps")
    verdict = page.sections["verdict"]
    assert "nobody is accused yet: the oldest call is 90 s old and its timeout is 600 s. If the job is stuck: rank 2" in verdict
    assert "train.py:12" in verdict and "completes" in verdict, verdict
    assert any(a.get("class") == "open" for t, a in page.tags if a.get("id") == "verdict")
    assert [a for t, a in page.tags if t == "tr" and a.get("class") == "fault"], "no row is marked"
    subprocess.run([HOSTIR, "open", str(folder / "dumps"), "--trace", str(folder / "job.db"), "--no-trial"],
                   capture_output=True, check=True)
    page = report(folder, folder / "job.db")  # the log keeps the verdict
    assert ". If the job is stuck: rank 2" in page.sections["verdict"], page.sections["verdict"]
    assert any(a.get("class") == "open" for t, a in page.tags if a.get("id") == "verdict")


@case
def dumps_of_a_mismatch(folder):
    """The repaired run is told, and the differing call is marked in the table of collectives."""
    page = report(folder, ROOT / "truth" / "flight_recorder" / "size")
    assert "tried in a simulation: " in page.sections["verdict"] and "completes" in page.sections["verdict"], page.sections["verdict"]
    assert "rank 1: all_reduce f32[100] at" in page.sections["collectives"], page.sections["collectives"][:500]
    assert "ranks 0, 2, 3: all_reduce f32[128] at" in page.sections["collectives"]
    assert [a for t, a in page.tags if t == "tr" and a.get("class") == "fault"], "no row is marked"


@case
def sends_of_dumps(folder):
    """Each send in the table says which rank sends to which."""
    job = Job(4, {"pp": [0, 1, 2, 3]})
    for _ in range(3):
        for r in range(4):
            job.calls[r] += [Call("pp", "recv", [16], 20, peer=r - 1, blocks=True)] if r > 0 else []
            job.calls[r] += [Call("pp", "send", [16], 21, peer=r + 1, blocks=True)] if r < 3 else []
    job.run().write(folder / "dumps")
    table = report(folder, folder / "dumps").sections["collectives"]
    for r in range(3):
        assert table.count(f"send/recv, rank {r} to {r + 1}") == 3, table


@case
def a_log_of_dumps_tells_what_its_folder_tells(folder):
    """Verdict, trial, profiles beside the dumps, and a file that cannot be read; the call at fault is marked."""
    dumps = folder / "dumps"
    shutil.copytree(ROOT / "truth" / "flight_recorder" / "size", dumps)
    for path in (ROOT / "truth" / "flight_recorder" / "healthy").glob("kineto_*"):
        shutil.copy(path, dumps)
    cut = dumps / "kineto_3.json.gz"
    cut.write_bytes(cut.read_bytes()[:2000])
    subprocess.run([HOSTIR, "open", str(dumps), "--trace", str(folder / "job.db")], capture_output=True, check=False)
    direct, logged = report(folder, dumps), report(folder, folder / "job.db")
    assert list(direct.sections) == list(logged.sections)
    for name in direct.sections:
        assert direct.sections[name] == logged.sections[name], (direct.sections[name], logged.sections[name])
    for told in ("tried in a simulation: ", "profiles: ", "kineto_3.json.gz: compressed data: it ends too early"):
        assert told in direct.sections["verdict"], direct.sections["verdict"]
    assert "rank 1: all_reduce f32[100] at" in logged.sections["collectives"]


@case
def a_colour_and_its_word_stay_together(folder):
    """On a phone the key of the timeline takes two lines; it breaks between its entries only."""
    page = report(folder, ROOT / "truth" / "flight_recorder" / "skip")
    at = [i for i, (tag, a) in enumerate(page.tags) if tag == "span" and a.get("class") == "key"]
    assert [page.tags[i + 1] for i in at] == [("i", {"class": f"k{k}"}) for k in range(5)], page.tags
    style = next(t for t in page.texts if ".key{" in t)
    assert "white-space:nowrap" in style[style.index(".key{"):].split("}")[0]


@case
def profiles(folder):
    (folder / "p").mkdir(exist_ok=True)
    for path in (ROOT / "truth" / "flight_recorder" / "healthy").glob("kineto_*"):
        shutil.copy(path, folder / "p")
    page = report(folder, folder / "p")
    assert "rank 0 arrives last" in page.sections["verdict"]
    assert "722.3 ms" in page.sections["collectives"], page.sections["collectives"][:500]
    assert any("ncclDevKernel" in n[0] or n[0] == "all_reduce" for n in page.data()["names"])


@case
def hostile_names_stay_text(folder):
    events = [{"ph": "X", "cat": "kernel", "name": EVIL + "\u2028", "pid": 0, "tid": 7, "ts": 5, "dur": 900, "args": {}}]
    for i in range(3):
        events.append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32(x)", "pid": 0, "tid": 20,
                       "ts": 10 + 100 * i, "dur": 50,
                       "args": {"Collective name": EVIL, "Process Group Name": EVIL,
                                "Process Group Description": EVIL, "Process Group Ranks": "[0, 1]", "Seq": i + 1,
                                "stream": 20}})
    for rank in range(2):
        for event in events[1:]:
            event["ts"] += 5 * rank
        text = json.dumps({"schemaVersion": 1, "traceEvents": events, "distributedInfo": {"rank": rank}})
        target = folder / f"p{EVIL.replace('/', '_')}"
        target.mkdir(exist_ok=True)
        (target / f"{rank}.json").write_text(text)
    page = report(folder, target)
    joined = "".join(page.texts)
    assert "alert(1)" in joined, "the name itself is shown"
    assert not any(tag == "img" for tag, _ in page.tags)
    assert any(EVIL[:100] in n[0] for n in page.data()["names"])


@case
def what_cannot_be_reported_gets_a_sentence(folder):
    for path in (folder / "missing.db", folder):
        done = subprocess.run([HOSTIR, "report", str(path)], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode not in (0, -11, -6) and done.stderr.strip(), (path, done.returncode)


if __name__ == "__main__":
    sys.exit(run_cases())
