#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/v1 held against answers of a real Spark 4.3.0 History Server.

    captures.py own       tests/data/captures/*.jsonl.xz, about the sample logs
    captures.py shared    every capture in ../shared/goldens (or $AFTERGLOW_SHARED), by the check_api.sh that lies there; skipped where it is not, and in a sanitizer build
    captures.py hand      tests/data/captures/hand-4.3.0.jsonl.xz, about the logs of hand_logs.py
    captures.py update    makes tests/data/captures/workloads-*.jsonl.xz anew from ../shared/goldens
    captures.py ask BASE  makes hand-4.3.0.jsonl.xz anew: BASE is a History Server over what `hand_logs.py FOLDER` wrote, all of it modified at CAPTURED_SECONDS

A line of a capture is [address below /api/v1/, status, content type, answer]: JSON as it is, {"body": text} of a text, {"zip": entries} of an archive. Everything is compared but the texts of HTML
error pages and what the four tables below name, each with its reason.
"""
import fnmatch
import hashlib
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import hand_logs
import serving
import tree

CAPTURES = tree.ROOT / "tests/data/captures"
LOGS = tree.ROOT / "tests/data/logs"
CAPTURED_SECONDS = 1767225600  # 2026-01-01T00:00:00Z
YEAR_MS = 365 * 86_400_000
SHOWN = 20  # differences printed

# Arrays in the order of a hash map of the History Server: compared without their order. Key of the array: what holds it.
UNORDERED = {"accumulatorUpdates": "stage", "dataDistribution": "rdd", "runningJobIds": "execution", "successJobIds": "execution", "failedJobIds": "execution"}
# Values that follow the clock or the place of the server: only their presence and type are compared.
OF_THE_PLACE = {"lastUpdated", "lastUpdatedEpoch", "logSourceName", "logSourceFullPath"}
# What has not ended lasts until now: duration of a running task or query, the mean that a running query is in, the driver of an application without an end.
RUNNING = {"RUNNING", "GET RESULT"}
# Which of several equal maxima a metric's text names follows that hash map too.
MAXIMUM_OF = re.compile(r" \(stage \d+\.\d+: task \d+\)")
# Answers we chose to give otherwise (server/README.md, "Where it differs"): address, their status, ours. None: the status is the same, the content type is not.
CHOSEN = [
    ("*/taskList?*length=0*", 500, 400),
    ("*/taskList?*length=-1*", 500, 400),
    ("*/taskTable*", 500, 400),
    ("*/taskTable?*numTasks=0&*", 500, 200),
    ("*/threads*", 500, 400),
    ("applications?*Date=nonsense*", 400, None),
]


def until_now(key, held):
    if key == "duration":
        return held.get("status") in RUNNING
    if key == "gettingResultTime":
        return isinstance(held[key], int) and held[key] > YEAR_MS  # of a task that took no time: until now
    if key == "averageDuration":
        return held.get("runningQueries", 0) > 0
    return key == "totalDuration" and held.get("id") == "driver" and "removeTime" not in held


def unordered(key, held):
    if key == "accumulatorUpdates":
        return "stageId" in held  # a task's stand in the order of the log
    return key in UNORDERED


def ordered_text(value):
    return json.dumps(value, sort_keys=True)


def differences(wanted, given, path="", incomplete=False):
    """Yields a line for each difference of two JSON values."""
    if isinstance(wanted, bool) or isinstance(given, bool) or not (isinstance(wanted, (int, float)) and isinstance(given, (int, float))):
        if type(wanted) is not type(given):
            yield f"{path}: {wanted!r:.80} became {given!r:.80}"
            return
    if isinstance(wanted, dict):
        for key in wanted.keys() ^ given.keys():
            yield f"{path}/{key}: {'missing' if key in wanted else 'there is none'}"
        for key in wanted.keys() & given.keys():
            mine, theirs = given[key], wanted[key]
            if key in OF_THE_PLACE or (until_now(key, wanted) and (key != "totalDuration" or incomplete)):
                mine = theirs if type(mine) is type(theirs) else mine
            if unordered(key, wanted) and isinstance(mine, list):
                mine, theirs = sorted(mine, key=ordered_text), sorted(theirs, key=ordered_text)
            yield from differences(theirs, mine, f"{path}/{key}", incomplete)
    elif isinstance(wanted, list):
        if len(wanted) != len(given):
            yield f"{path}: {len(wanted)} elements became {len(given)}"
        for n, (theirs, mine) in enumerate(zip(wanted, given)):
            yield from differences(theirs, mine, f"{path}/{n}", incomplete)
    elif isinstance(wanted, str):
        if wanted != given and not (MAXIMUM_OF.search(wanted) and MAXIMUM_OF.sub("", wanted) == MAXIMUM_OF.sub("", given)):
            yield f"{path}: {wanted!r:.120} became {given!r:.120}"
    elif path.endswith("/gettingResultTime/" + path.rpartition("/")[2]) and min(wanted, given) > YEAR_MS:
        return  # as above, of quantiles
    elif wanted != given and (isinstance(wanted, int) and isinstance(given, int) or not abs(wanted - given) <= 1e-9 * max(abs(wanted), abs(given))):
        yield f"{path}: {wanted!r} became {given!r}"


def recorded(server, status, content_type, body):
    """An answer in the form of a capture."""
    if content_type == "application/json":
        return json.loads(body)
    if status == 200 and body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return {"zip": [{"name": entry.filename, "size": entry.file_size, "sha256": hashlib.sha256(archive.read(entry)).hexdigest()} for entry in archive.infolist()]}
    return {"body": body.decode(errors="replace").replace(server.base, "{base}")}


def chosen(address, status, given_status):
    return next((ours for pattern, theirs, ours in CHOSEN if fnmatch.fnmatchcase(address, pattern) and theirs == status and given_status == (ours or theirs)), False)


def complaints(server, address, status, content_type, wanted, incomplete):
    given_status, given_type, body = server.get(f"/api/v1/{address}")
    ours = chosen(address, status, given_status)
    if ours or ours is None:
        return []
    content_type = content_type.split(";")[0]
    if (given_status, given_type) != (status, content_type):
        return [f"{status} {content_type} became {given_status} {given_type}"]
    if content_type == "text/html":
        return []
    return list(differences(wanted, recorded(server, given_status, given_type, body), incomplete=incomplete))


def lines_of(capture):
    with lzma.open(capture, "rt", encoding="utf-8", errors="surrogatepass") as lines:
        return [json.loads(line) for line in lines]


def own():
    failed = passed = 0
    for capture in sorted(CAPTURES.glob("workloads-*.jsonl.xz")):
        lines = lines_of(capture)
        incomplete = {address for address, status, _, answer in lines if status == 200 and any(not attempt["completed"] for attempt in answer_attempts(address, answer))}
        with tempfile.TemporaryDirectory(prefix="afterglow-captures-") as folder, serving.Server(tree.binary(), [copied(logs_of(lines), folder)]) as server:
            for address, status, content_type, answer in lines:
                app = "/".join(address.split("?")[0].split("/")[:2])
                found = complaints(server, address, status, content_type, answer, app in incomplete)
                passed, failed = passed + (not found), failed + bool(found)
                if found and failed <= SHOWN:
                    print(f"{capture.name}: {address}", *found[:5], sep="\n    ")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def answer_attempts(address, answer):
    """The attempts of an answer about one application as a whole."""
    return answer.get("attempts", []) if re.fullmatch(r"applications/[^/?]+", address) else []


def logs_of(lines):
    """The sample logs that a capture is about."""
    apps = {answer["id"] for address, status, _, answer in lines if status == 200 and answer_attempts(address, answer)}
    return sorted(path for path in LOGS.glob("*/*") if any(app in path.name for app in apps))


def copied(logs, folder):
    """The logs in a folder of their own, as old as those of the History Server were: a task without an end lasts until then."""
    for log in logs:
        target = pathlib.Path(folder, log.name)
        (shutil.copytree if log.is_dir() else shutil.copyfile)(log, target)
        for path in [target, *target.rglob("*")]:
            os.utime(path, (CAPTURED_SECONDS, CAPTURED_SECONDS))
    return folder


def shared():
    script = tree.SHARED / "tools/check_api.sh"
    if not script.exists():
        tree.skip("check_api.sh is not there (AFTERGLOW_SHARED)")
    if tree.sanitized(tree.binary()):
        tree.skip("tens of thousands of requests are for the release build")
    done = subprocess.run([script, tree.binary()], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    last = done.stdout.strip().splitlines()[-1:]
    return 0 if done.returncode == 0 and last and re.fullmatch(r"[1-9]\d* passed, 0 failed", last[0]) else 1


COLUMNS = ("Duration", "Scheduler Delay", "Getting Result Time", "GC Time", "Status", "Executor ID")


def hand_addresses(get, app):
    """What is asked about a log of hand_logs.py, below applications/."""
    yield app
    for route in ("jobs", "stages", "stages?details=true&withSummaries=true", "stages?details=true&taskStatus=RUNNING", "allexecutors", "executors", "environment",
                  "allmiscellaneousprocess", "storage/rdd", "sql",
                  "sql/sqlTable?draw=1&start=0&length=20&search%5Bvalue%5D=&order%5B0%5D%5Bcolumn%5D=0&order%5B0%5D%5Bdir%5D=asc&columns%5B0%5D%5Bname%5D=id"):
        yield f"{app}/{route}"
    for rdd in get(f"{app}/storage/rdd"):
        yield f"{app}/storage/rdd/{rdd['id']}"
    for stage in get(f"{app}/stages"):
        at = f"{app}/stages/{stage['stageId']}/{stage['attemptId']}"
        for query in ("taskSummary?quantiles=0.01,0.12,0.34,0.56,0.78,0.99", "taskSummary?quantiles=0.0,0.05,0.25,0.5,0.75,0.95,0.99,1.0", "taskList?sortBy=runtime", "taskList?sortBy=-runtime", "taskList?status=failed&status=killed"):
            yield f"{at}/{query}"
        for column, order in [*((column, "asc") for column in COLUMNS), ("Scheduler Delay", "desc"), ("Getting Result Time", "desc")]:
            yield f"{at}/taskTable?draw=1&numTasks=20&columnNameToSort={column.replace(' ', '%20')}&order%5B0%5D%5Bdir%5D={order}&start=0&length=20&search%5Bvalue%5D="


def ask(base):
    """Asks a server about all logs of hand_logs.py."""
    def get(address):
        try:
            with urllib.request.urlopen(f"{base}/api/v1/applications/{address}") as answer:
                return answer.status, answer.headers.get_content_type(), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read()

    lines = []
    for app in hand_logs.LOGS:
        for address in hand_addresses(lambda route: json.loads(get(route)[2]), app):
            status, kind, body = get(address)
            answer = json.loads(body) if kind == "application/json" else {"body": body.decode() if kind != "text/html" else ""}
            lines.append(json.dumps([f"applications/{address}", status, kind, answer], separators=(",", ":")) + "\n")
    (CAPTURES / "hand-4.3.0.jsonl.xz").write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    print(f"{len(lines)} answers")
    return 0


def holds(given, wanted):
    return all(holds(given.get(key), value) for key, value in wanted.items()) if isinstance(wanted, dict) and isinstance(given, dict) else given == wanted


def hand():
    """Each log's answers are the History Server's; those about a log that is only in disorder are its answers about the orderly one; what else we chose says hand_logs.py."""
    failed = passed = 0
    lines = {address: (status, kind, answer) for address, status, kind, answer in lines_of(CAPTURES / "hand-4.3.0.jsonl.xz")}
    incomplete = {app for app in hand_logs.LOGS if not lines[f"applications/{app}"][2]["attempts"][0]["completed"]}
    with tempfile.TemporaryDirectory(prefix="afterglow-captures-") as folder:
        hand_logs.write_all(folder)
        for path in pathlib.Path(folder).iterdir():
            os.utime(path, (CAPTURED_SECONDS, CAPTURED_SECONDS))
        with serving.Server(tree.binary(), [folder]) as server:
            for address, (status, kind, answer) in lines.items():
                app, _, route = address.removeprefix("applications/").partition("/")
                as_of = hand_logs.DISORDER.get(app)
                if as_of:
                    twin = lines.get(f"applications/{as_of}/{route}" if route else f"applications/{as_of}")
                    if not twin:
                        continue
                    status, kind, answer = twin[0], twin[1], json.loads(json.dumps(twin[2]).replace(f'"{as_of}"', f'"{app}"'))
                patterns = [path if path == "*" else f"{path}: *" for path in hand_logs.CHOSEN.get(app, ())]
                found = [each for each in complaints(server, address, status, kind, answer, app in incomplete) if not any(fnmatch.fnmatch(each, pattern) for pattern in patterns)]
                passed, failed = passed + (not found), failed + bool(found)
                if found and failed <= SHOWN:
                    print(address, *found[:5], sep="\n    ")
            for address, wanted in hand_logs.OURS:
                given = json.loads(server.get(f"/api/v1/applications/{address}")[2])
                given = given if isinstance(given, list) else [given]
                wrong = len(wanted) > len(given) or any(not holds(theirs, values) for theirs, values in zip(given, wanted))
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"{address}: {wanted} became {given}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def kept(address, answer, apps):
    """The part of an answer that is about the sample logs, or None. Lists of all applications keep their order; how many are cut off by a limit depends on the others."""
    parts = address.split("?")[0].strip("/").split("/")
    if len(parts) > 1:
        return answer if parts[1] in apps or parts[1] == "no-such-app" else None
    if parts[0] != "applications" or not isinstance(answer, list):
        return answer if parts[0] else None
    return None if "limit=" in address else [app for app in answer if app["id"] in apps]


def update():
    names = " ".join(path.name for path in LOGS.glob("*/*"))
    for archive in sorted((tree.SHARED / "goldens").glob("*-workloads-*.tar.xz")):
        with tarfile.open(archive) as files:
            texts = {member.name.removeprefix("./"): files.extractfile(member).read().decode("utf-8", "surrogatepass") for member in files if member.isfile()}
        index = next(name for name in texts if name.endswith("index.tsv"))
        rows = [row.split("\t") for row in texts[index].splitlines()]
        answers = [(address, int(status), kind, json.loads(texts[index.removesuffix("index.tsv") + name])) for name, address, status, kind in rows]
        # An id is in the name of its log; a log that another Spark wrote under the same name would be another log.
        apps = {answer["id"] for address, status, _, answer in answers if status == 200 and answer_attempts(address, answer) and answer["id"] in names}
        lines = [[address, status, kind, kept(address, answer, apps)] for address, status, kind, answer in answers]
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines if line[3] is not None)
        target = CAPTURES / (archive.name.removeprefix("shs-4.3.0-").removesuffix(".tar.xz") + ".jsonl.xz")
        target.write_bytes(lzma.compress(text.encode("utf-8", "surrogatepass"), preset=9))
    return 0


def main():
    kinds = {"own": own, "hand": hand, "shared": shared, "update": update, "ask": ask}
    if len(sys.argv) != (3 if sys.argv[1:2] == ["ask"] else 2) or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    os.umask(0o022)
    sys.exit(kinds[sys.argv[1]](*sys.argv[2:]))


main()
