#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd requests to /api/v1 against the answers of a real Spark 4.3.0 History Server: paths, methods, words, numbers, dates, quantiles, Accept.

A line of tests/data/captures/edges.jsonl.xz is [method, address, headers, status, content type, answer]. The answer is the ids of a list of applications, the text of what is no JSON, the
first 16 hex digits of the SHA-256 of other JSON (sorted keys, without what follows the place of the server), or null, where only the rest counts. The server's stage summaries were asked for
with plain quantiles first: it remembers wrong values of lists such as 0.5,-0.5 and then gives them to everybody.
"""
import fnmatch
import hashlib
import http.client
import json
import lzma
import os
import pathlib
import shutil
import socket
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import serving
import tree

CAPTURE = tree.ROOT / "tests/data/captures/edges.jsonl.xz"
LOGS = ["failures", "healthy_sql", "attempts", "connect_ops", "thrift_ops", "streaming_windows", "in_progress", "tiny_app"]
CAPTURED_SECONDS = 1767225600  # the logs' own time, 2026-01-01T00:00:00Z
OF_THE_PLACE = {"lastUpdated", "lastUpdatedEpoch", "logSourceName", "logSourceFullPath"}

# What we chose to answer otherwise (server/README.md, "Where it differs"): method, address, status there, status here. The first that fits.
CHOSEN = [
    ("OPTIONS", "*", 404, 200),
    ("POST", "*/jobs/abc", 404, 405),
    ("GET", "*[?&]withSummaries=true&quantiles=*-0.5", 500, 400),
    ("GET", "*/taskList?status=*", 500, 200),
    ("GET", "*taskStatus=*", 500, 200),
    ("GET", "*/taskList?length=*", 500, 400),
    ("GET", "*/threads*", 500, 400),
    ("GET", "/api", 301, 404),
    ("GET", "/API/*", 200, 404),
    ("GET", "*Date=%[DE]*", 200, 400),  # digits of other scripts are no numbers here
    ("GET", "*[?&]*=%[DE]*", 200, 404),
    ("GET", "*status=nope*", 406, 404),
    ("GET", "*?limit=1#x", 400, 404),
    ("GET", "*[?]x=%FF", 400, 200),
    ("GET", "*[?]x=%00", 200, 400),
    ("GET", "*%00", 404, 400),
    ("GET", "*", 400, 404),  # bytes that the server's library takes for no address: here an id that there is not
]
# The status is the same and the text is not: refused before a resource is asked, and dates, whose text has the wrong content type there.
OWN_TEXT = [("POST", "*", 405), ("GET", "*%*", 400), ("GET", ";*", 400), ("GET", "//*", 400), ("GET", "/;*", 400), ("GET", "*Date=*", 400)]


def request(port, method, address, headers):
    with socket.create_connection(("127.0.0.1", port), timeout=300) as link:
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        link.sendall(f"{method} {address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n".encode())
        answer = http.client.HTTPResponse(link, method=method)
        answer.begin()
        return answer.status, (answer.getheader("Content-Type") or "").split(";")[0], answer.read()


def ordered(value):
    return json.dumps(value, sort_keys=True)


def without_place(value):
    if isinstance(value, dict):
        kept = {key: without_place(item) for key, item in value.items() if key not in OF_THE_PLACE}
        if "accumulatorUpdates" in kept:  # in the order of a hash map there
            kept["accumulatorUpdates"].sort(key=ordered)
        return kept
    return [without_place(item) for item in value] if isinstance(value, list) else value


def brief(status, content_type, body):
    if content_type != "application/json" or status != 200:
        return body.decode(errors="replace")
    value = json.loads(body)
    if isinstance(value, list) and all("attempts" in item for item in value):
        return [item["id"] for item in value]
    return hashlib.sha256(ordered(without_place(value)).encode()).hexdigest()[:16]


def running(port):
    """Runs without an end: they end now, so whether an end date takes them in depends on the day of the test."""
    return {app["id"] for app in json.loads(request(port, "GET", "/api/v1/applications?status=running", {})[2])}


def complaint(port, method, address, headers, status, content_type, wanted):
    given_status, given_type, body = request(port, method, address, headers)
    ours = next((mine for m, pattern, theirs, mine in CHOSEN if m == method and theirs == status and fnmatch.fnmatchcase(address, pattern)), status)
    if given_status != status:
        return None if given_status == ours else f"{status} became {given_status}"
    if any(m == method and theirs == status and fnmatch.fnmatchcase(address, pattern) for m, pattern, theirs in OWN_TEXT) or method == "OPTIONS":
        return None
    if given_type != content_type:
        return f"{content_type} became {given_type}"
    if wanted is None:
        return None
    given = brief(given_status, given_type, body)
    if "EndDate=" in address and isinstance(wanted, list) and isinstance(given, list):
        open_ones = running(port)
        given, wanted = ([item for item in ids if item not in open_ones] for ids in (given, wanted))
    return None if given == wanted else f"{wanted!r:.200} became {given!r:.200}"


def main():
    with lzma.open(CAPTURE, "rt", encoding="utf-8") as lines:
        captured = [json.loads(line) for line in lines]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="afterglow-edges-") as folder:
        for name in LOGS:
            shutil.copytree(tree.ROOT / "tests/data/logs" / name, folder, dirs_exist_ok=True)
        for path in pathlib.Path(folder).rglob("*"):
            os.utime(path, (CAPTURED_SECONDS, CAPTURED_SECONDS))
        with serving.Server(tree.binary(), [folder]) as server:
            port = int(server.base.rsplit(":", 1)[1])
            for line in captured:
                found = complaint(port, *line)
                failed += found is not None
                if found:
                    print(f"{line[0]} {line[1]} {line[2] or ''}: {found}")
    print(f"{len(captured) - failed} passed, {failed} failed")
    return 1 if failed or not captured else 0


sys.exit(main())
