# SPDX-License-Identifier: Apache-2.0
"""Running the program from a test: ingest, list, dump."""
import json
import pathlib
import subprocess

import tree


def ingest(binary, store, *logs, arguments=(), timeout=900, **popen):
    """The finished process, with text output, and the rows of --json."""
    command = [binary, "ingest", "--store", str(store), "--json", *arguments, *map(str, logs)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL, **popen)
    done.rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done


def listed(binary, store):
    """What `afterglow list --json` says: one object a log."""
    done = subprocess.run([binary, "list", "--store", str(store), "--json"], capture_output=True, text=True, errors="replace", timeout=900)
    if done.returncode:
        raise RuntimeError(f"afterglow list ended with {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def dump(binary, store, app, *tables):
    done = subprocess.run([binary, "dump", "--store", str(store), app, *tables], capture_output=True, text=True, errors="replace", timeout=900)
    if done.returncode:
        raise RuntimeError(f"afterglow dump {app} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def set_of(path):
    """Which set of logs a log belongs to: `tests/data`, or the first folders below ../shared/logs (`3.5.7`, `public/nvidia`)."""
    parts = pathlib.PurePath(path).parts
    below = parts[len(parts) - parts[::-1].index("logs"):]
    if str(path).startswith(str(tree.ROOT)):
        return "tests/data"
    return "/".join(below[:2] if below[0] == "public" else below[:1])


def print_by_set(what, unit, values):
    """A table for analysis/README.md: of (path, value) pairs, runs, median, 90th percentile and worst of each set."""
    sets = {}
    for path, value in values:
        sets.setdefault(set_of(path), []).append(value)
    print(f"| logs | runs | {what}: median | nine in ten | worst |\n|---|---|---|---|---|")
    for name, found in sorted(sets.items()):
        found.sort()
        print(f"| `{name}` | {len(found)} | " + " | ".join(f"{found[min(len(found) - 1, int(q * len(found)))]:.2g} {unit}" for q in (0.5, 0.9, 1)) + " |")
