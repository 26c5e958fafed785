#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stages.py own|shared: statistics of stages (analysis/stage_stats.h) on whole logs against the worked values of ../shared/spec/findings.md 11.1: the stage with the largest
recoverable time, its ratio, what capping and spreading would save, the cause and its share. Tolerances are the table's: seconds 0.01 or 0.1 %, ratios 0.1, cause exact, share 2 points.
`own` looks at the logs of tests/data, whose rows stand below with the verdict that the planted fault asks for; `shared` reads the table and looks at all it names.
AFTERGLOW_PRINT_STAGES is the program of tests/unit/analysis/print_stages.c."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tree
from worked import OTHER_SLOTS

FOLDERS = {"o": ["3.5.7", "4.3.0"], "p": ["public/spark-suite"], "n": ["public/nvidia"]}
WORST = re.compile(r"(\d+)\.(\d+) ([\d.]+)× ([\d.]+)/([\d.]+) (\w+) (\d+)%")

# Log of tests/data/logs, its row's last column, verdicts of stages (5.3).
OWN = [
    ("tiny_tasks", "app-20261129205849-0000", "1.0 23.3× 0.75/0.00 warmup 38%", {"1.0": "delay"}),
    ("healthy_sql", "app-20261129211420-0000", "0.0 6.3× 1.51/0.00 warmup 93%", {"0.0": "few_slow"}),
    ("skew_hot_key", "app-20261129212258-0000", "1.0 30.0× 3.31/0.68 data 59%", {"1.0": "few_slow"}),
    ("slow_executor", "app-20261129212351-0000", "0.0 11.4× 6.76/0.31 executor 82%", {"0.0": "slow_host"}),
    ("straggler_even_bytes", "app-20261129212418-0000", "0.0 38.8× 7.76/0.53 waiting 80%", {"0.0": "few_slow"}),
    ("gc_pressure", "app-20261129212445-0000", "0.0 2.9× 1.07/0.13 warmup 86%", {"1.0": "gc", "3.0": "gc", "4.0": "gc"}),
    ("spill_sort", "app-20261129212758-0000", "0.0 4.9× 1.02/0.00 warmup 91%", {"2.0": "memory"}),
    ("idle_executors", "app-20261129213727-0000", "–", {"0.0": "few_tasks"}),
    ("failures", "app-20261129213331-0000", "0.0 6.7× 0.92/0.03 warmup 86%", {}),
    ("healthy_rdd", "app-20261129215136-0000", "0.0 7.6× 1.51/0.11 warmup 89%", {}),
    ("python_udf", "app-20261129215617-0000", "0.0 11.2× 2.62/0.00 warmup 94%", {}),
]


def worst_of(text):
    match = WORST.fullmatch(text)
    assert match or text == "–", text
    return match and (f"{match[1]}.{match[2]}", *(float(g) for g in match.groups()[2:5]), match[6], int(match[7]))


def rows(spec):
    """(set, log id, worst stage or None) of each row of the table."""
    for line in spec.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 19 and cells[0] in FOLDERS:
            yield cells[0], cells[2], worst_of(cells[18])


def share_of(stage):
    """The table's share is that of the five largest causes (found by comparing: all rows but one agree then to half a point, and a dozen do not otherwise)."""
    top = sorted(stage["causes"].values(), reverse=True)[:5]
    return 100 * top[0] / sum(top) if top else 0


def differences(stages, worst):
    """What differs from the row, as texts; of a log that the row may be about."""
    judged = [s for s in stages if s["wallMs"] >= 1000 and s["count"] >= 3 and s["recCapMs"] > 0]
    if not worst:
        return [f"{s['stage']}.{s['attempt']} saves {s['recCapMs']} ms" for s in judged if s["recCapMs"] >= 200]
    name, ratio, cap, spread, cause, share = worst
    found = max(judged, key=lambda s: s["recCapMs"], default=None)
    if not found:
        return ["no stage saves anything"]
    near = lambda a, b: abs(a - b) <= max(0.01, 0.001 * abs(b)) + 0.005  # the table has two digits
    out = []
    if f"{found['stage']}.{found['attempt']}" != name:
        out.append(f"stage {found['stage']}.{found['attempt']} instead of {name}")
    if abs(found["ratio"] - ratio) > 0.1 + 0.05:
        out.append(f"ratio {found['ratio']:.2f} instead of {ratio}")
    if not near(found["recCapMs"] / 1000, cap) or not near(found["recSpreadMs"] / 1000, spread):
        out.append(f"{found['recCapMs'] / 1000:.3f}/{found['recSpreadMs'] / 1000:.3f} instead of {cap}/{spread}")
    if found["cause"] != cause or abs(share_of(found) - share) > 2.5:
        out.append(f"{found['cause']} {share_of(found):.1f} % instead of {cause} {share} %: {found['causes']}")
    return out


def verdict_differences(stages, verdicts):
    found = {f"{s['stage']}.{s['attempt']}": s["verdict"] for s in stages}
    return [f"{name} is {found.get(name)} instead of {verdict}" for name, verdict in verdicts.items() if found.get(name) != verdict]


def load(folders, store):
    """(path, stages) of each log that could be loaded."""
    program = os.environ.get("AFTERGLOW_PRINT_STAGES") or str(tree.ROOT / "build/release/print_stages")
    subprocess.run([tree.binary(), "ingest", "--store", store, *map(str, folders)], capture_output=True)
    listed = subprocess.run([tree.binary(), "list", "--store", store, "--json"], capture_output=True, text=True, check=True).stdout
    of_key = {}
    for log in map(json.loads, listed.splitlines()):
        key = log["appKey"]
        if key and key not in of_key:
            printed = subprocess.run([program, f"{store}/apps/{key}.db"], capture_output=True, text=True, check=True).stdout
            of_key[key] = [json.loads(line) for line in printed.splitlines()]
        if key:
            yield log["path"], of_key[key]


def own(store):
    loaded = list(load([tree.ROOT / "tests/data/logs"], store))
    for folder, log_id, worst, verdicts in OWN:
        of_log = [stages for path, stages in loaded if f"/{folder}/" in path and log_id in path]
        yield folder, min((differences(s, worst_of(worst)) + verdict_differences(s, verdicts) for s in of_log), key=len, default=["not among the logs"])


def shared(store):
    logs, spec = tree.SHARED / "logs", tree.SHARED / "spec/findings.md"
    if not logs.is_dir() or not spec.is_file():
        sys.exit(tree.SKIPPED)
    loaded = list(load([logs / f for fs in FOLDERS.values() for f in fs], store))
    for kind, log_id, worst in rows(spec):
        if log_id in OTHER_SLOTS:
            continue
        short = log_id.removeprefix("appl_")  # the table writes application_ short
        # One run lies there in several forms, whole and cut: the row is about one of them.
        of_log = [stages for path, stages in loaded if short in path and any(f"/{f}/" in path for f in FOLDERS[kind])]
        yield f"{kind} {log_id}", min((differences(s, worst) for s in of_log), key=len, default=["not among the logs"])


def main():
    with tempfile.TemporaryDirectory() as store:
        results = list({"own": own, "shared": shared}[sys.argv[1]](store))
    wrong = [(name, texts) for name, texts in results if texts]
    for name, texts in wrong:
        print(f"{name}: {'; '.join(texts)}")
    print(f"{len(results)} rows compared, {len(wrong)} differ")
    sys.exit(1 if wrong or not results else 0)


main()
