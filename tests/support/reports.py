#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterglow report` and `afterglow analyze` as commands: exit status, temporary stores, hostile logs, every log and form.

    reports.py CASE        statuses | temporary | hostile | forms | analyze
"""
import html.parser
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import runs
import tree

LOGS = tree.ROOT / "tests/data/logs"
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b1m</td><script>alert(1)</script><img src=x onerror=alert(2)> `|*_[a](javascript:x) @all #1\u202e\r\nX"


def run(*arguments, **options):
    return subprocess.run([tree.binary(), *map(str, arguments)], capture_output=True, text=True, timeout=900, **options)


def log(name):
    (path,) = sorted((LOGS / name).iterdir())
    return path


def check(what, good):
    if not good:
        raise AssertionError(what)


def statuses():
    check("a log is reported", run("report", log("straggler_even_bytes")).returncode == 0)
    for grade, status in (("info", 4), ("low", 4), ("moderate", 4), ("severe", 0)):
        check(f"--fail-on {grade}", run("report", log("straggler_even_bytes"), "--fail-on", grade).returncode == status)
    for wrong in (["--format", "xml"], ["--lang", "tlh"], ["--fail-on", "ok"], ["--fail-on", "dreadful"], ["--colour"], [str(log("tiny_app"))]):
        check(f"{wrong} is usage", run("report", log("tiny_app"), *wrong).returncode == 2)
    check("nothing is usage", run("report").returncode == 2)
    check("settings takes no word", run("settings", "extra").returncode == 2)
    check("help VERB is its --help", run("help", "report").stdout == run("report", "--help").stdout != "")
    check("options stand in one column", set(map(len, re.findall(r"^  --\S+(?: \S+)?  +", run("serve", "--help").stdout, re.M))) == {26})
    check("no such log", run("report", "/nonexistent/log").returncode == 1)
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder) / "app-1"
        lines = log("tiny_app").read_bytes().splitlines(keepends=True)
        cut.write_bytes(b"".join(lines[: len(lines) // 2]) + b'{"Event":"SparkListenerTaskEnd","Sta\n' + b"".join(lines[len(lines) // 2 :]))
        done = run("report", cut)
        check(f"a damaged log ends with 3: {done.returncode}", done.returncode == 3)
        check("and says what is wrong", "1 line could not be read" in done.stdout)
        (pathlib.Path(folder) / "nothing").write_text("no log at all\n")
        done = run("report", pathlib.Path(folder) / "nothing")
        check("no log at all", done.returncode == 1 and not done.stdout)
        out = pathlib.Path(folder) / "report.html"
        check("--out", run("report", log("tiny_app"), "--format", "html", "--out", out).stdout == "" and out.read_text().startswith("<!DOCTYPE html>"))
        check("--out that cannot be", run("report", log("tiny_app"), "--out", f"{folder}/no/such").returncode == 1)


def temporary():
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TMPDIR": folder}
        run("report", log("gc_pressure"), env=env)
        check("nothing stays behind", not os.listdir(folder))
        several = run("report", LOGS, env={**env, "TMPDIR": f"{folder}/no/such"})
        check("one of several must be named, before they are read into a place", several.returncode == 1 and re.search(r"name one of them \(\w+/[^,]+, [^,]+, [^,]+, …\)", several.stderr))
        check("nothing stays behind a mistake", not os.listdir(folder))
        two = pathlib.Path(folder) / "two"
        two.mkdir()
        (two / "app-1").symlink_to(log("tiny_app"))
        check("a folder with one log is that log", run("report", two, env={**os.environ}).returncode == 0)
        (two / "app-2").symlink_to(log("gc_pressure"))
        check("both of two are named", "(app-1, app-2)" in run("report", two).stderr)
        for path in [*two.iterdir()]:
            path.unlink()
        two.rmdir()
        # Slow enough to be caught in the middle: the same log a hundred times over is one file with repeated events.
        big = pathlib.Path(folder) / "app-big"
        text = log("gc_pressure").read_bytes()
        with big.open("wb") as to:
            for _ in range(max(1, (200 << 20) // len(text))):
                to.write(text)
        for stop in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen([tree.binary(), "report", big], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 300
            while len(os.listdir(folder)) < 2 and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.2)
            child.send_signal(stop)
            child.communicate(timeout=300)
            check(f"{stop.name} leaves nothing behind: {os.listdir(folder)}", os.listdir(folder) == ["app-big"])
            check(f"{stop.name} is told: {child.returncode}", child.returncode in (1, -stop))


class Page(html.parser.HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def poison(value, key=""):
    """Hostile text behind every name and every free text, and in no number, no id that other events repeat, and nothing that is syntax."""
    if isinstance(value, dict):
        return {name: poison(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [poison(each, key) for each in value]
    free = key in ("App Name", "User", "Stage Name", "Details", "Description", "Class Name", "Message", "Full Stack Trace", "Callsite", "Name", "Host", "Removed Reason", "simpleString", "nodeName", "description")
    return value + HOSTILE if free and isinstance(value, str) else value


def hostile():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("failures", "skew_hot_key", "healthy_rdd"):
            bad = pathlib.Path(folder) / name
            source = log(name)
            text = source.read_bytes()
            if text[:4] == b"\x28\xb5\x2f\xfd":
                text = subprocess.run(["zstd", "-dc", source], capture_output=True, check=True).stdout
            bad.write_text("".join(json.dumps(poison(json.loads(line))) + "\n" for line in text.decode().splitlines()))
            for lang in ("en", "zh-CN"):
                text = run("report", bad, "--lang", lang).stdout
                check(f"{name}: no control character", text and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text))
                page = Page()
                text = run("report", bad, "--lang", lang, "--format", "html").stdout
                page.feed(text)
                check(f"{name}: tags are ours: {page.tags}", not page.tags & {"script", "img", "a", "iframe", "link"} and "style" in page.tags)
                check(f"{name}: no handler, nothing to load: {page.attributes}", not any(each.startswith("on") or each in ("src", "href") for each in page.attributes))
                markdown = run("report", bad, "--lang", lang, "--format", "markdown").stdout
                check(f"{name}: Markdown holds no tag, link or mention", not re.search(r"(?<!\\)<(script|img)|(?<!\\)\]\(|(?<!\\)@all|(?<!\\)`\|", markdown))
                json.loads(run("report", bad, "--lang", lang, "--format", "json").stdout)


def forms():
    """Every log in every form and language; under the sanitizers, which are slow, every log in one of them, in turn."""
    every = [(form, lang) for form in ("text", "json", "html", "markdown") for lang in ("en", "zh-CN")]
    paths = [path for folder in sorted(LOGS.iterdir()) if folder.is_dir() for path in sorted(folder.iterdir())]
    for i, path in enumerate(paths):
        for form, lang in [every[i % len(every)]] if tree.sanitized(tree.binary()) else every:
            done = run("report", path, "--format", form, "--lang", lang)
            check(f"{path} {form} {lang}: {done.returncode} {done.stderr}", done.returncode in (0, 3))
            for word in ("{", "NaN", "nan", "inf ", "(null)"):
                check(f"{path} {form} {lang}: {word}", word not in done.stdout or form in ("json", "html") and word == "{" or word == "{" and "```" in done.stdout or word == "nan")
            if form == "json":
                answer = json.loads(done.stdout)
                check(f"{path}: keys", {"app", "verdict", "completeness", "account", "findings"} <= set(answer) and answer["verdict"])
                sentences = [each["sentence"] for each in answer["findings"] if "—" in each["sentence"]]
                check(f"{path}: nothing is missing in {sentences}", not sentences)


def left_behind(path, change):
    """Commits as a worker does that dies before it closes the file."""
    script = "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA journal_mode = WAL'); c.execute(sys.argv[2]); c.commit(); os._exit(0)"
    subprocess.run([sys.executable, "-c", script, path, change], check=True)


def analyze():
    with tempfile.TemporaryDirectory() as store:
        (row,) = runs.ingest(tree.binary(), store, log("straggler_even_bytes")).rows
        before = run("report", "--store", store, row["appId"], "--format", "json").stdout
        done = run("analyze", "--store", store)
        check(f"analyze: {done.returncode} {done.stderr}", done.returncode == 0 and "analysed" in done.stdout)
        check("the same facts give the same judgements", before and before == run("report", "--store", store, row["key"], "--format", "json").stdout)
        check("no trace of the copy", sorted(os.listdir(f"{store}/apps")) == [f"{row['key']}.db"])
        left_behind(f"{store}/apps/{row['key']}.db", "UPDATE application SET name = 'said last'")
        check("a worker's last commits are beside the file", os.path.getsize(f"{store}/apps/{row['key']}.db-wal") > 0)
        done = run("analyze", "--store", store)
        check(f"analyze: {done.returncode} {done.stderr}", done.returncode == 0)
        check("nothing stays beside the new file", sorted(os.listdir(f"{store}/apps")) == [f"{row['key']}.db"])
        check("what was committed beside the old file is in the new one", "said last" in run("dump", "--store", store, row["key"], "application").stdout)
        check("an unknown run", run("analyze", "--store", store, "nobody").returncode == 1)
        unknown = run("dump", "--store", store, row["key"], "job", "no_such")
        check("dump names the table that is not there", unknown.returncode == 1 and unknown.stdout == "" and "'no_such'" in unknown.stderr)
        check("an unknown run has no report", run("report", "--store", store, "nobody").returncode == 1)


CASES = {each.__name__: each for each in (statuses, temporary, hostile, forms, analyze)}
if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        CASES[case]()
        print(f"{case}: passed")
