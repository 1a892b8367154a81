#!/usr/bin/env python3
"""Checks the Perfetto export against the rules of Chrome's "Trace Event Format" document.

  chrome_trace.py HOSTIR          runs programs, exports their logs, checks the files and their units
  chrome_trace.py FILE.json...    checks any such files

The rules: the file has the JSON object form; only documented phases, each with its required fields; times are in
microseconds; B/E pairs and complete slices nest on each thread, and only work in flight at its end has no E; a flow
has one start and one end, in order, each inside a slice of its thread; counters are numbers; metadata has one of the
five names; colours have reserved names.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

PHASES = set('BEXiICbneSTpFstfPNODMVvRc(),')
METADATA = {'process_name': ('name', str), 'process_labels': ('labels', str), 'thread_name': ('name', str),
            'process_sort_index': ('sort_index', int), 'thread_sort_index': ('sort_index', int)}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def ns(microseconds):
    return round(microseconds * 1000)


class Checker:
    def __init__(self):
        self.problems = []
        self.slices = collections.defaultdict(list)  # (pid, tid) -> [(begin, end)]
        self.open = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        self.named = {'process_name': set(), 'thread_name': set()}
        self.counts = collections.Counter()

    def bad(self, why, event=None):
        self.problems.append(why + ('' if event is None else ': ' + json.dumps(event)[:200]))

    def file(self, document):
        if isinstance(document, list):
            events = document
        elif not isinstance(document, dict) or not isinstance(document.get('traceEvents'), list):
            return self.bad('neither a list of events nor an object with traceEvents')
        else:
            events = document['traceEvents']
            if document.get('displayTimeUnit', 'ms') not in ('ms', 'ns'):
                self.bad('displayTimeUnit is neither ms nor ns')
            for key, kind in (('otherData', dict), ('stackFrames', dict), ('samples', list)):
                if key in document and not isinstance(document[key], kind):
                    self.bad(key + ' has the wrong type')
        for event in events:
            self.event(event)
        self.nesting()
        self.flow_ends()
        for pid, tid in self.slices:
            if pid not in self.named['process_name']:
                self.bad(f'process {pid} has no name')
            if (pid, tid) not in self.named['thread_name']:
                self.bad(f'thread {pid}/{tid} has no name')

    def event(self, e):
        if not isinstance(e, dict):
            return self.bad('an event is no object', e)
        phase = e.get('ph')
        if not isinstance(phase, str) or len(phase) != 1 or phase not in PHASES:
            return self.bad('unknown phase', e)
        self.counts[phase] += 1
        if not isinstance(e.get('name'), str) and phase != 'E':
            self.bad('no name', e)
        if not is_integer(e.get('pid')) or not is_integer(e.get('tid')):
            return self.bad('pid and tid must be integers', e)
        if 'args' in e and not isinstance(e['args'], dict):
            return self.bad('args must be an object', e)
        if 'cat' in e and not isinstance(e['cat'], str):
            self.bad('cat must be a string', e)
        if phase == 'M':
            return self.metadata(e)
        if not is_number(e.get('ts')):
            return self.bad('no ts', e)
        thread = (e['pid'], e['tid'])
        if phase == 'X':
            if not is_number(e.get('dur')) or e['dur'] < 0:
                return self.bad('a complete event needs a dur', e)
            self.slices[thread].append((ns(e['ts']), ns(e['ts']) + ns(e['dur'])))
        elif phase == 'B':
            self.open[thread].append(e)
        elif phase == 'E':
            if not self.open[thread]:
                return self.bad('an end without a beginning', e)
            self.slices[thread].append((ns(self.open[thread].pop()['ts']), ns(e['ts'])))
        elif phase == 'C':
            if not e.get('args') or not all(is_number(v) for v in e['args'].values()):
                self.bad('a counter needs numbers', e)
        elif phase in 'iI':
            if e.get('s', 't') not in ('g', 'p', 't'):
                self.bad('scope of an instant event', e)
        elif phase in 'stf':
            if 'id' not in e and 'id2' not in e:
                return self.bad('a flow needs an id', e)
            if 'bp' in e and (phase != 'f' or e['bp'] != 'e'):
                self.bad('bp is "e" and stands at the end of a flow', e)
            self.flows[(e.get('cat'), e.get('name'), str(e.get('id', e.get('id2'))))].append(e)

    def metadata(self, e):
        rule = METADATA.get(e['name'])
        if rule is None:
            return self.bad('unknown metadata', e)
        value = e.get('args', {}).get(rule[0])
        if not isinstance(value, rule[1]):
            return self.bad(f'metadata needs args.{rule[0]}', e)
        if e['name'] == 'process_name':
            self.named['process_name'].add(e['pid'])
        if e['name'] == 'thread_name':
            self.named['thread_name'].add((e['pid'], e['tid']))

    def nesting(self):
        for thread, stack in self.open.items():
            if len(stack) > 1 or any(not e['name'].endswith(' (in flight)') for e in stack):
                self.bad(f'{len(stack)} slices of thread {thread} have no end')
            if stack and any(end > ns(stack[0]['ts']) for _, end in self.slices[thread]):
                self.bad(f'thread {thread} goes on after work that never ended')
        for thread, slices in self.slices.items():
            slices.sort(key=lambda s: (s[0], -s[1]))
            around = []
            for begin, end in slices:
                while around and around[-1] <= begin:
                    around.pop()
                if around and end > around[-1]:
                    self.bad(f'slices of thread {thread} cross at {begin} ns')
                around.append(end)

    def flow_ends(self):
        for key, events in self.flows.items():
            phases = ''.join(e['ph'] for e in events)
            if phases[0] != 's' or phases[-1] != 'f' or set(phases[1:-1]) - {'t'}:
                self.bad(f'flow {key} is {phases}, not s t* f')
                continue
            if any(a['ts'] > b['ts'] for a, b in zip(events, events[1:])):
                self.bad(f'flow {key} goes back in time')
            for e in events:
                at, thread = ns(e['ts']), (e['pid'], e['tid'])
                enclosed = any(begin <= at <= end for begin, end in self.slices[thread])
                follows = e['ph'] == 'f' and 'bp' not in e and any(b >= at for b, _ in self.slices[thread])
                if not enclosed and not follows:
                    self.bad('a flow is bound to no slice', e)


def check_file(path):
    checker = Checker()
    try:
        with open(path) as file:
            document = json.load(file, parse_constant=lambda c: checker.bad(f'{c} is not JSON'))
    except ValueError as error:
        checker.bad(f'not JSON: {error}')
        return checker, None
    checker.file(document)
    return checker, document


def units(hostir, log, document):
    """Checks that the file's times (microseconds) match the log's (nanoseconds) and that no task is missing."""
    sql = 'SELECT id, stream, host_start_ns, host_end_ns, start_ns, finish_ns FROM event'
    text = subprocess.run([hostir, 'trace', 'sql', log, sql, '--format', 'csv'], capture_output=True, text=True,
                          check=True).stdout
    wanted = set()
    for row in csv.DictReader(io.StringIO(text)):
        if row['host_start_ns'] and row['host_end_ns']:
            wanted.add((int(row['id']), 0, int(row['host_start_ns']), int(row['host_end_ns'])))
        if row['stream'] and row['start_ns'] and row['finish_ns']:
            wanted.add((int(row['id']), 1, int(row['start_ns']), int(row['finish_ns'])))
    found = {(e['args']['event'], min(e['tid'], 1), ns(e['ts']), ns(e['ts']) + ns(e['dur']))
             for e in document['traceEvents'] if e['ph'] == 'X'}
    return [f'{len(wanted - found)} slices missing, {len(found - wanted)} not in the log'] if wanted != found else []


MLP = ['x=normal(1, 2x6x24xf32)', 'w1=normal(2, 48x24xf32)', 'b1=normal(3, 48xf32)', 'w2=normal(4, 24x48xf32)',
       'b2=normal(5, 24xf32)']
RUNS = [  # arguments, exit status, phases that the file must contain
    (['tp_mlp.hir', '--mesh', 'tp=4'] + [a for i in MLP for a in ('--input', i)], 0, 'XMCsf'),
    (['sp_mlp.hir', '--mesh', 'tp=3'] + [a for i in MLP for a in ('--input', i)], 0, 'XMCsf'),
    (['simple_add.hir', '--input', 'a=4xf32=[1 2 3 4]', '--input', 'b=4xf32=[5 6 7 8]'], 0, 'XM'),
    (['pipeline_by_hand.hir', 'pipeline', '--input', 'x=normal(1, 8x6xf32)', '--input', 'w=normal(2, 6x4xf32)'], 0, 'XMsf'),
    (['deadlock.hir', 'forgotten'], 4, 'XMB'),
    (['mismatch.hir', 'crossed'], 4, 'XM'),
]


def main(arguments):
    if all(a.endswith('.json') for a in arguments):
        failed = 0
        for path in arguments:
            checker, _ = check_file(path)
            failed += bool(checker.problems)
            print(f'{path}: ' + ('; '.join(checker.problems[:5]) or f'ok {dict(checker.counts)}'))
        return 1 if failed else 0
    hostir = os.path.abspath(arguments[0])
    programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'programs')
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for run, status, phases in RUNS:
            log, out = os.path.join(scratch, 'run.db'), os.path.join(scratch, 'run.json')
            command = [hostir, 'run', os.path.join(programs, run[0]), *run[1:], '--quiet', '--trace', log]
            done = subprocess.run(command, capture_output=True, text=True)
            problems = [] if done.returncode == status else [f'exit status {done.returncode}: {done.stderr[-300:]}']
            if not problems:
                subprocess.run([hostir, 'trace', 'export', log, '--format', 'perfetto', '-o', out], check=True)
                checker, document = check_file(out)
                problems = checker.problems
                problems += [f'no event of phase {p}' for p in phases if not checker.counts[p]]
                if document:
                    problems += units(hostir, log, document)
            if problems:
                failed += 1
                print(f'FAILED: {run[0]}: ' + '\n  '.join(problems[:5]))
    print(f'{len(RUNS) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else 64)
