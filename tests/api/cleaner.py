#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which logs the cleaner deletes, side by side with a real Spark 4.3.0 History Server over copies of the same directory.

    cleaner.py ours                 our cleaner leaves what the table CASES says
    cleaner.py shs SPARK_HOME       so does a History Server (PySpark's directory will do; needs Java): how the expectations were made, and how to try another version

Where we leave something else than a History Server does, the case says why. All logs are a few lines, made here; their ages are modification times.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import tree

HOUR, DAY = 3600, 86400
SHS_SECONDS = 32  # start of the JVM, its cleaner at the start and again after CLEAN_SECONDS
CLEAN_SECONDS = 12
OUR_SECONDS = 300
QUIET_SECONDS = 4  # ours: nothing more goes for so long, which is several scans and cleanings


def lines(app=None, attempt=None, ended=True):
    events = [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.7"}]
    if app:
        empty = {name: {} for name in ("JVM Information", "Spark Properties", "Hadoop Properties", "System Properties", "Classpath Entries")}
        events.append({"Event": "SparkListenerEnvironmentUpdate", **empty})
        start = {"Event": "SparkListenerApplicationStart", "App Name": app, "App ID": app, "Timestamp": 1700000000000, "User": "u"}
        events.append(start | ({"App Attempt ID": attempt} if attempt else {}))
        if ended:
            events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": 1700000009000})
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


class Folder:
    """What the cases write into a log directory."""

    def __init__(self, path):
        self.path, self.now = path, time.time()

    def put(self, name, text, age):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (self.now - age, self.now - age))
        return file

    def log(self, name, age, attempt=None, ended=True):
        return self.put(name + ("" if ended else ".inprogress"), lines(name.split("_")[0], attempt, ended), age)

    def rolling(self, app, ages, ended=True):
        """One events file for each age; the end is in the last."""
        text = lines(app, None, True).splitlines(keepends=True)
        for i, age in enumerate(ages, 1):
            part = (text[:-1] if i == 1 else []) + ([text[-1]] if i == len(ages) and ended else [])
            self.put(f"eventlog_v2_{app}/events_{i}_{app}", "".join(part), age)
        self.put(f"eventlog_v2_{app}/appstatus_{app}" + ("" if ended else ".inprogress"), "", ages[-1])

    def names(self):
        return {entry.name for entry in self.path.iterdir()}


def growing(folder, name, age=None):
    """Appends a line again and again, until the returned function is called. With `age` the modification time stays that old, as a name node's does."""
    file, stop = folder.path / name, threading.Event()

    def write():
        while not stop.wait(0.3):
            if not file.exists():  # the writer goes on with a file that has no name any more
                return
            with file.open("a") as out:
                out.write('{"Event":"SparkListenerBlockManagerAdded","Block Manager ID":{"Executor ID":"1","Host":"h","Port":1},"Maximum Memory":1,"Timestamp":1700000001000}\n')
            if age:
                os.utime(file, (folder.now - age, folder.now - age))

    thread = threading.Thread(target=write)
    thread.start()
    return lambda: (stop.set(), thread.join())


def by_age(folder):
    folder.log("old", 8 * DAY)
    folder.log("new", 6 * DAY)
    folder.log("oldrunning", 15 * DAY, ended=False)
    folder.log("newrunning", 1 * DAY, ended=False)
    folder.log("twice_1", 8 * DAY, attempt="1")
    folder.log("twice_2", 1 * DAY, attempt="2")
    folder.rolling("rolledold", [9 * DAY, 8 * DAY])
    folder.rolling("rolledmixed", [9 * DAY, 1 * DAY])
    folder.put("eventlog_v2_rolledold/stray.txt", "not Spark's", 9 * DAY)
    folder.put("noidold", lines(), 8 * DAY)
    folder.put("noidnew", lines(), 1 * DAY)
    folder.put("README", "not a log", 8 * DAY)
    folder.put("emptyold", "", 8 * DAY)
    folder.put(".hidden", lines("hidden"), 8 * DAY)
    folder.put("below/deep", lines("deep"), 8 * DAY)
    (folder.path / "link").symlink_to(folder.put("../outside/target", lines("linked"), 1 * DAY))
    (folder.path / "oldlink").symlink_to(folder.put("../outside/oldtarget", lines("linkedold"), 8 * DAY))
    folder.put("hostile\n\\'\"$(x) -rf *", lines("hostile"), 8 * DAY)
    return []


def by_number(folder):
    folder.log("a", 5 * HOUR)
    folder.log("b", 4 * HOUR)
    folder.log("c", 6 * HOUR, ended=False)
    folder.log("d_1", 3 * HOUR, attempt="1")
    folder.log("d_2", 2 * HOUR, attempt="2")
    folder.log("e", 1 * HOUR)
    return []


def by_number_with_others(folder):
    for i, name in enumerate("abc"):
        folder.log(name, (5 - i) * HOUR)
    folder.put("README", "not a log", 9 * HOUR)
    folder.put("NOTES", "not a log", 9 * HOUR)
    return []


def while_growing(folder):
    folder.log("still", 0, ended=False)
    folder.log("grows", 0, ended=False)
    folder.log("done", 0)
    return [growing(folder, "grows.inprogress")]


def while_growing_with_old_times(folder):
    folder.log("grows", 15 * DAY, ended=False)
    return [growing(folder, "grows.inprogress", 15 * DAY)]


AGED = {"new", "newrunning.inprogress", "twice_2", "eventlog_v2_rolledmixed", "noidnew", ".hidden", "below", "link"}

# name: how the directory is made, settings, what a History Server leaves, what we leave in addition or do not, why.
CASES = {
    "age": (
        by_age, {"maxAge": "7d"}, AGED,
        {"oldrunning.inprogress", "README", "emptyold", "oldlink", "eventlog_v2_rolledold"}, set(),
        "a log without an end may be that of a running application; what is no log is not ours to delete, which is also why a rolling directory with something foreign in it keeps that; "
        "links are left alone; the log in a directory below goes, as it is listed"),
    "number": (by_number, {"maxAge": "7d", "maxNum": "3"}, {"c.inprogress", "e"}, set(), set(), None),
    "number_with_others": (
        by_number_with_others, {"maxAge": "7d", "maxNum": "3"}, {"c", "README", "NOTES"}, {"a", "b"}, set(), "what is no log does not count: it must not push out runs"),
    "growing": (while_growing, {"maxAge": "6s", "abandoned": "6s"}, {"grows.inprogress"}, set(), set(), None),
    "growing_with_old_times": (
        while_growing_with_old_times, {"maxAge": "14d"}, set(), {"grows.inprogress"}, set(), "spec/pain.md P021: a History Server deletes the log of a running job, unread, for its old time"),
}


def properties(folder, store, settings):
    text = [f"spark.history.fs.logDirectory=file://{folder}", "spark.history.fs.update.interval=1s", "spark.history.fs.cleaner.enabled=true", "spark.history.ui.port=0",
            f"afterglow.store={store}"]
    text += [f"spark.history.fs.cleaner.{key}={value}" for key, value in settings.items() if key != "abandoned"]
    if "abandoned" in settings:
        text += ["afterglow.cleaner.abandoned=true", f"afterglow.abandoned.age={settings['abandoned']}"]
    return "\n".join(text)


def ours(folder, settings, expected):
    with tempfile.TemporaryDirectory(prefix="afterglow-cleaner-") as store:
        conf = pathlib.Path(store, "clean.conf")
        conf.write_text(properties(folder.path, store + "/store", settings) + "\nspark.history.fs.cleaner.interval=1s\n")
        process = subprocess.Popen([tree.binary(), "ingest", "--watch", "--log-level", "error", "--properties-file", conf], stdout=subprocess.DEVNULL)
        began = time.monotonic()
        while folder.names() - expected and time.monotonic() - began < OUR_SECONDS:
            time.sleep(0.1)
        time.sleep(QUIET_SECONDS)
        process.terminate()
        process.wait()
        return folder.names()


def shs(home, folder, settings):
    with tempfile.TemporaryDirectory(prefix="afterglow-cleaner-") as scratch:
        conf = pathlib.Path(scratch, "clean.conf")
        conf.write_text(properties(folder.path, scratch, settings) + f"\nspark.history.fs.cleaner.interval={CLEAN_SECONDS}s\n")
        command = [f"{home}/bin/spark-class", "org.apache.spark.deploy.history.HistoryServer", "--properties-file", conf]
        process = subprocess.Popen(command, env=os.environ | {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(SHS_SECONDS)
        process.terminate()
        process.wait()
        return folder.names()


def check(name, home):
    make, settings, left, more, fewer, why = CASES[name]
    expected = left if home else (left | more) - fewer
    with tempfile.TemporaryDirectory(prefix="afterglow-cleaner-") as path:
        folder = Folder(pathlib.Path(path, "logs"))
        writers = make(folder)
        got = shs(home, folder, settings) if home else ours(folder, settings, expected)
        for stop in writers:
            stop()
        wrong = [f"stays: {extra}" for extra in sorted(got - expected)] + [f"gone: {lost}" for lost in sorted(expected - got)]
        if name == "age" and not home:
            wrong += [f"stays: {file}" for file in folder.path.rglob("*") if file.name in ("deep", "events_1_rolledold")]
            wrong += [] if (folder.path / "eventlog_v2_rolledold/stray.txt").exists() else ["gone: stray.txt"]
        if name == "age" and len(list(folder.path.parent.glob("outside/*"))) != 2:
            wrong.append("gone: what a link leads to")
    print(f"{name}: {'; '.join(wrong) or 'as expected'}{f' ({why})' if why and not home else ''}")
    return not wrong


def main(argv):
    if argv[1:] == ["ours"] or (len(argv) == 3 and argv[1] == "shs"):
        results = [check(name, argv[2] if len(argv) == 3 else None) for name in CASES]
        return 0 if all(results) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
