"""What the checks in Python share: counted checks, cases with a folder of their own, and the command under test."""
import json
import pathlib
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).parent.parent
HOSTIR = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "hostir"
CASES = []

# A run that only an interrupt ends; `%x` has two elements.
ENDLESS = """mesh @t = <tp=2>
host @endless on @t (%x: shard<2xf32, @t, [{tp}]>) -> (shard<2xf32, @t, [{tp}]>) {
  %c = comm over {tp}
  %s = stream "s"
  %y = alloc on %s : shard<2xf32, @t, [{tp}]>
  for %i in 0..1000000000 {
    permute %c shift(1) ro(%x) wo(%y) on %s
  }
  return %y
}
"""


counts = {"passed": 0, "failed": 0}


def check(what, holds, detail=""):
    """Counts one check; if it does not hold, prints what it was and the beginning and end of the detail."""
    counts["passed" if holds else "failed"] += 1
    if not holds:
        text = str(detail).replace("\x1b", "\\x1b")
        print(f"FAILED: {what}: {text if len(text) <= 1600 else text[:800] + ' ... ' + text[-800:]}")


def finish():
    """Prints `N passed, N failed` and returns the exit status: 1 if a check failed or none ran."""
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


def run(*command):
    """The exit status of a command, and its output with its errors."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def case(function):
    """Decorates a function that takes an empty folder and raises if something is wrong."""
    CASES.append(function)
    return function


def hostir(*arguments, status=0):
    """What the command prints; with errors if it is expected to end with another status than 0."""
    done = subprocess.run([HOSTIR, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout if status == 0 else done.stdout + done.stderr


def opened(folder):
    """The verdict on a folder of dumps; the exit status must agree with it."""
    done = subprocess.run([HOSTIR, "open", "--json", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4), done.stderr
    said = json.loads(done.stdout)
    assert done.returncode == (4 if said["fault"] else 0), done.returncode
    return said


def accuses(said, kind, *culprits, trial=True):
    assert (said["fault"], said["kind"], said["culprits"]) == (True, kind, list(culprits)), said["sentence"]
    assert not trial or "completes" in said["trial"], said["trial"]


def accuses_nobody(said, *texts):
    assert not said["fault"] and not said["culprits"], said["sentence"]
    for text in texts:
        assert text in said["sentence"], said["sentence"]


def run_cases():
    """Runs all cases, prints `N passed, N failed`, and returns the exit status. `--keep FOLDER` keeps their folders."""
    keep = pathlib.Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
    with tempfile.TemporaryDirectory() as scratch:
        for function in CASES:
            folder = (keep or pathlib.Path(scratch)) / function.__name__
            folder.mkdir(parents=True, exist_ok=True)
            try:
                function(folder)
                counts["passed"] += 1
            except Exception:  # pylint: disable=broad-except
                counts["failed"] += 1
                print(f"FAILED {function.__name__}")
                traceback.print_exc(file=sys.stdout)
    return finish()
