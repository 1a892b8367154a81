#!/usr/bin/env python3
"""Reads damaged logs with `hostir trace`, `replay` and `diff`: each gives a diagnostic, never a crash or a hang.

  damaged_logs.py HOSTIR [DAMAGES=240] [SEED=1]

The damage: flipped bits, truncation, swapped or zeroed pages, another schema version, wrong contents of any cell,
missing tables, files that are not logs, the -wal file of another log. Each command must exit within one minute and
6 GB, with a documented exit status, and print a message if the status is not 0.
"""
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

STATUSES = {0, 1, 2, 3, 4, 64}
QUERIES = [['trace', 'events'], ['trace', 'collectives'], ['trace', 'memory'], ['trace', 'faults'], ['trace', 'export'],
           ['trace', 'sql', 'SELECT * FROM v_timeline'], ['trace', 'sql', 'SELECT * FROM v_exposed_communication']]


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def ends_well(command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return 'does not end'
    if done.returncode not in STATUSES:
        return f'exit status {done.returncode}: {done.stderr[-200:]!r}'
    if done.returncode != 0 and not (done.stderr + done.stdout).strip():
        return f'exit status {done.returncode} without a word'
    return None


def make_logs(hostir, folder):
    programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'programs')
    mlp = ['x=normal(1, 1x6x8xf32)', 'w1=normal(2, 16x8xf32)', 'b1=normal(3, 16xf32)', 'w2=normal(4, 8x16xf32)',
           'b2=normal(5, 8xf32)']
    runs = [['tp_mlp.hir', '--mesh', 'tp=2', '--trace-values', 'data=*'] + [a for i in mlp for a in ('--input', i)],
            ['pipeline_by_hand.hir', 'pipeline', '--trace-values', 'stats', '--input', 'x=normal(1, 8x6xf32)', '--input',
             'w=normal(2, 6x4xf32)'],
            ['mismatch.hir', 'crossed']]
    logs = []
    for run in runs:
        log = os.path.join(folder, f'good{len(logs)}.db')
        subprocess.run([hostir, 'run', os.path.join(programs, run[0]), *run[1:], '--quiet', '--trace', log],
                       capture_output=True)
        with open(log, 'rb') as file:
            logs.append(file.read())
    return logs


def flip(data, rng):
    filled = [i for i in range(0, len(data)) if data[i]]
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        at = rng.choice(filled) if rng.random() < 0.8 else rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)


def edit(path, rng):
    """Changes a cell, a table or the version through SQL, so that the file stays a valid database."""
    base = sqlite3.connect(path)
    tables = [r[0] for r in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    what = rng.randrange(10)
    table = rng.choice(tables)
    if what == 0:
        base.execute('PRAGMA user_version = %d' % rng.choice([-1, 0, 1, 2, 1000, 2**31 - 1]))
    elif what == 1:
        base.execute(f'DROP TABLE "{table}"')
    elif what == 2:
        base.execute(f'DELETE FROM "{table}" WHERE rowid % 2 = {rng.randrange(2)}')
    else:
        columns = [r[1] for r in base.execute(f'PRAGMA table_info("{table}")')]
        value = rng.choice([None, -1, 0, 1, 7, 2**31, 2**40, 2**63 - 1, -2**63, 1e300, '', '[', '[[1]]', 'x' * 100000,
                            b'', b'\x00\xff' * 50])
        try:
            base.execute(f'UPDATE OR IGNORE "{table}" SET "{rng.choice(columns)}" = ? WHERE rowid % 3 = ?',
                         (value, rng.randrange(3)))
        except sqlite3.Error:
            pass
    base.commit()
    base.close()


def damage(good, path, kind, rng, other):
    for suffix in ('', '-wal', '-shm'):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    data = bytearray(good)
    page = int.from_bytes(good[16:18], "big") or 32768
    if kind == 'flip':
        flip(data, rng)
    elif kind == 'cut':
        data = data[:rng.choice([0, 1, 15, 16, 99, 100, page, rng.randrange(len(data)), len(data) - 1])]
    elif kind == 'pages':
        a, b = (rng.randrange(len(data) // page) * page for _ in range(2))
        data[a:a + page] = rng.choice([bytes(page), bytes(data[b:b + page]), rng.randbytes(page)])
    elif kind == 'other':
        data = bytearray(rng.choice([b'mesh @m = <tp=2>\n', b'SQLite format 3\0', rng.randbytes(5000), bytes(70000),
                                     bytes(good[:100]) + rng.randbytes(40000)]))
    with open(path, 'wb') as file:
        file.write(data)
    if kind == 'edit':
        edit(path, rng)
    if kind == 'wal':
        with open(path + '-wal', 'wb') as file:
            file.write(rng.choice([rng.randbytes(40000), other[:40000], b'7\x7f\x06\x82' + rng.randbytes(70000)]))


def main(hostir, count=240, seed=1):
    rng = random.Random(int(seed))
    failures = []
    count = int(count)
    with tempfile.TemporaryDirectory() as folder:
        logs = make_logs(hostir, folder)
        path = os.path.join(folder, 'bad.db')
        whole = os.path.join(folder, 'good0.db')
        statuses = 0
        for number in range(count):
            kind = ('flip', 'edit', 'edit', 'cut', 'pages', 'flip', 'edit', 'wal', 'edit', 'other')[number % 10]
            good = logs[number // 10 % len(logs)]
            damage(good, path, kind, rng, logs[-1])
            query = QUERIES[number % len(QUERIES)]
            for command in (['trace', 'info', path, '--check'], [*query[:2], path, *query[2:]], ['replay', path],
                            ['diff', path, whole]):
                statuses += 1
                problem = ends_well([hostir, *command])
                if problem:
                    failures.append(f'{kind} {number}: {" ".join(command[:2])}: {problem}')
                    keep = os.environ.get('HOSTIR_KEEP_DAMAGED')
                    if keep:
                        for suffix in ('', '-wal'):
                            if os.path.exists(path + suffix):
                                shutil.copy(path + suffix, os.path.join(keep, f'{number}.db{suffix}'))
    for failure in failures[:20]:
        print('FAILED:', failure)
    print(f'{count} damages, {statuses} commands')
    print(f'{count - len({f.split(":")[0] for f in failures})} passed, {len({f.split(":")[0] for f in failures})} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else 64)
