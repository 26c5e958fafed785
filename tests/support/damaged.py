#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged and odd logs: what a reader must get out of each.

    damaged.py own       the cases in tests/data/damaged
    damaged.py shared    all cases of ../shared/tools/make_damaged.py (or $AFTERGLOW_SHARED), made anew; skipped where it is not there

Each case is loaded alone into a fresh store by `afterglow ingest --json`, with a limit of time and memory. Its row of cases.json says what must come out
(tests/data/damaged/README.md has the columns).
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

import tree

SECONDS = 60
MEMORY_MIB = 400  # resident; the sanitizers need several times as much and are not held to it


def ingest(binary, path):
    """(exit status or None after a time-out, rows, standard error)"""
    with tempfile.TemporaryDirectory() as store:
        command = [binary, "ingest", "--store", store, "--json", "--jobs", "1", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None, [], ""
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    return done.returncode, rows, done.stderr.decode(errors="replace")


def complaints(case, status, rows):
    if status is None:
        return [f"no end in {SECONDS} s"]
    if status not in (0, 1, 3):
        return [f"exit status {status}"]
    listed = [row for row in rows if row.get("state") in ("loaded", "partial")]
    row = (listed or rows or [{}])[0]
    flags = set(row.get("flags") or [])
    if not case["listed"]:
        if listed:
            return ["listed, though nothing in it can be read"]
        said = case["flag"] == "none" or case["flag"] in flags or row.get("message")
        return [] if said else [f"not named with its reason ({case['flag']})"]
    if not listed:
        return [] if case.get("listed_optional") else ["not listed"]
    found = []
    if case["complete"] is not None and not case.get("complete_optional") and row.get("complete") is not case["complete"]:
        found.append(f"complete is {row.get('complete')}, not {case['complete']}")
    if case["flag"] == "none" and flags - {"notice"}:
        found.append(f"flags {sorted(flags)}, not none")
    if case["flag"] not in ("none", "notice") and case["flag"] not in flags:
        found.append(f"flags {sorted(flags)} without {case['flag']}")
    low, high = case["tasks"], case.get("tasks_at_most", case["tasks"])
    if not low <= row.get("tasks", -1) <= high:
        found.append(f"{row.get('tasks')} task ends, not {low}" + (f" to {high}" if high != low else ""))
    if case["bad_lines"] is not None and row.get("badLines") != case["bad_lines"]:
        found.append(f"{row.get('badLines')} bad lines, not {case['bad_lines']}")
    return found


def own():
    binary = tree.binary()
    folder = tree.ROOT / "tests/data/damaged"
    passed = failed = 0
    for case in json.loads((folder / "cases.json").read_text()):
        status, rows, stderr = ingest(binary, folder / case["case"])
        found = complaints(case, status, rows)
        passed, failed = passed + (not found), failed + bool(found)
        if found:
            print(f"{case['case']}: {'; '.join(found)}\n    must: {case['must']}\n    {stderr.strip()[-300:]}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    if not tree.sanitized(binary) and peak > MEMORY_MIB:
        failed += 1
        print(f"peak memory {peak} MiB, more than {MEMORY_MIB}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def shared():
    binary = tree.binary()
    maker, checker = tree.SHARED / "tools/make_damaged.py", tree.SHARED / "tools/check_damaged.py"
    source = tree.SHARED / "logs/3.5.7/failures/app-20261129210032-0000.zstd"
    for needed in (maker, checker, source):
        if not needed.exists():
            tree.skip(f"{needed.name} is not there (AFTERGLOW_SHARED)")
    memory = ["--memory", "4000"] if tree.sanitized(binary) else []
    with tempfile.TemporaryDirectory() as cases:
        made = subprocess.run([sys.executable, "-B", maker, source, cases], capture_output=True, text=True)
        if made.returncode:
            print(made.stdout, made.stderr)
            return 1
        print(made.stdout.strip())
        return subprocess.run([sys.executable, "-B", checker, "--binary", binary, *memory, cases]).returncode


def main():
    kinds = {"own": own, "shared": shared}
    if len(sys.argv) != 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    os.umask(0o022)
    sys.exit(kinds[sys.argv[1]]())


main()
