#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the facts that a log gives against a committed dump.

    golden.py [--update] [NAME…]        NAME: tests/golden/NAME.txt; all of them when none is given

A golden file begins with `# log: PATH` and `# tables: WORDS` (none: all tables); the rest is what `afterglow dump` prints of that log, without what differs from
load to load. --update writes it anew: read the difference before committing it. A new one begins as a file with these two lines.
"""
import argparse
import difflib
import sys
import tempfile

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
import runs
import tree

FOLDER = tree.ROOT / "tests/golden"
SHOWN_LINES = 60


def parse(golden):
    head, body = {}, []
    for line in golden.splitlines(keepends=True):
        if line.startswith("# ") and not body:
            key, _, value = line[2:].partition(":")
            head[key] = value.strip()
        else:
            body.append(line)
    return head, "".join(body)


def dump_of(binary, log, tables):
    with tempfile.TemporaryDirectory() as store:
        done = runs.ingest(binary, store, tree.ROOT / log)
        if done.returncode not in (0, 3) or len(done.rows) != 1:
            raise RuntimeError(f"afterglow ingest {log} ended with {done.returncode}, {len(done.rows)} rows: {done.stderr.strip()[-6000:]}")
        return runs.dump(binary, store, done.rows[0]["key"], *tables)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    names = options.names or sorted(path.stem for path in FOLDER.glob("*.txt"))
    failed = 0
    for name in names:
        path = FOLDER / f"{name}.txt"
        head, expected = parse(path.read_text())
        got = dump_of(tree.binary(), head["log"], head["tables"].split())
        if options.update:
            path.write_text(f"# log: {head['log']}\n# tables: {head['tables']}\n".replace(": \n", ":\n") + got)
        elif got != expected:
            failed += 1
            lines = list(difflib.unified_diff(expected.splitlines(), got.splitlines(), str(path.name), "now", lineterm="", n=1))
            print("\n".join(lines[:SHOWN_LINES]))
            if len(lines) > SHOWN_LINES:
                print(f"… {len(lines) - SHOWN_LINES} more lines")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
