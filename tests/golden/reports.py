#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `afterglow report` says of some logs against committed reports, in its forms and languages.

    reports.py [--update] [NAME…]       NAME: tests/golden/reports/NAME; all of them when none is given

--update writes them anew: read the difference aloud before committing it, as somebody who does not know Spark would.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
import tree
import unpack

YEAR_MS = 365 * 24 * 3600 * 1000
FOLDER = tree.ROOT / "tests/golden/reports"
SHOWN_LINES = 60

# file of the report: folder in tests/data/logs, options
REPORTS = {
    "straggler_even_bytes.txt": ("straggler_even_bytes", []),
    "gc_pressure.txt": ("gc_pressure", []),
    "healthy_rdd.txt": ("healthy_rdd", []),
    "tiny_app.txt": ("tiny_app", []),
    "in_progress.txt": ("in_progress", []),
    "slow_executor.zh-CN.txt": ("slow_executor", ["--lang", "zh-CN"]),
    "failures.json": ("failures", ["--format", "json"]),
    "failures.md": ("failures", ["--format", "markdown"]),
    "failures.zh-CN.html": ("failures", ["--format", "html", "--lang", "zh"]),
}


def a_year_older(path, folder):
    """A log without an end is told otherwise after a week: this copy, whose times are a year before those of the log, always is."""
    text = b"".join(unpack.zstd_pieces(path.read_bytes()))
    older = folder / path.name.replace(".zstd", "")
    older.write_bytes(re.sub(rb"\b1795\d{9}\b", lambda found: b"%d" % (int(found[0]) - YEAR_MS), text))
    return older


def report_of(log, options):
    (path,) = sorted((tree.ROOT / "tests/data/logs" / log).iterdir())
    if not path.name.endswith(".inprogress"):
        return report_of_file(path, options)
    with tempfile.TemporaryDirectory() as folder:
        return report_of_file(a_year_older(path, pathlib.Path(folder)), options)


def report_of_file(path, options):
    done = subprocess.run([tree.binary(), "report", path, *options], capture_output=True, text=True, timeout=900)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"afterglow report {path.name} ended with {done.returncode}: {done.stderr.strip()[-6000:]}")
    return done.stdout


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    names, failed = options.names or list(REPORTS), 0
    for name in names:
        path = pathlib.Path(FOLDER / name)
        got = report_of(*REPORTS[name])
        if options.update:
            path.write_text(got)
            continue
        lines = list(difflib.unified_diff(path.read_text().splitlines(), got.splitlines(), name, "now", lineterm="", n=1))
        failed += bool(lines)
        print("\n".join(lines[:SHOWN_LINES]) + (f"\n… {len(lines) - SHOWN_LINES} more lines" if len(lines) > SHOWN_LINES else ""))
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
