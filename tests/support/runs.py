# SPDX-License-Identifier: Apache-2.0
"""Running the program from a test: ingest, list, dump."""
import json
import subprocess


def ingest(binary, store, *logs, arguments=(), timeout=120, **popen):
    """The finished process, with text output, and the rows of --json."""
    command = [binary, "ingest", "--store", str(store), "--json", *arguments, *map(str, logs)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL, **popen)
    done.rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done


def listed(binary, store):
    """What `afterglow list --json` says: one object a log."""
    done = subprocess.run([binary, "list", "--store", str(store), "--json"], capture_output=True, text=True, errors="replace", timeout=60)
    if done.returncode:
        raise RuntimeError(f"afterglow list ended with {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def dump(binary, store, app, *tables):
    done = subprocess.run([binary, "dump", "--store", str(store), app, *tables], capture_output=True, text=True, errors="replace", timeout=120)
    if done.returncode:
        raise RuntimeError(f"afterglow dump {app} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
