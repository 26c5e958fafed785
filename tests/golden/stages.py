#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics of stages on the shared logs against the worked values of ../shared/spec/findings.md 11.1: the stage with the largest recoverable time, its ratio, what capping and
spreading would save, the cause and its share. Tolerances are the table's: seconds 0.01 or 0.1 %, ratios 0.1, cause exact, share 2 points. AFTERGLOW_PRINT_STAGES is the program of
tests/unit/analysis/print_stages.c."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tree

FOLDERS = {"o": ["3.5.7", "4.3.0"], "p": ["public/spark-suite"], "n": ["public/nvidia"]}
WORST = re.compile(r"(\d+)\.(\d+) ([\d.]+)× ([\d.]+)/([\d.]+) (\w+) (\d+)%")


def rows(spec):
    """(set, log id, worst stage or None) of each row of the table."""
    for line in spec.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 19 and cells[0] in FOLDERS:
            match = WORST.fullmatch(cells[18])
            assert match or cells[18] == "–", cells[18]
            yield cells[0], cells[2], match and (f"{match[1]}.{match[2]}", *(float(g) for g in match.groups()[2:5]), match[6], int(match[7]))


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


def main():
    logs, spec = tree.SHARED / "logs", tree.SHARED / "spec/findings.md"
    if not logs.is_dir() or not spec.is_file():
        sys.exit(tree.SKIPPED)
    program = os.environ.get("AFTERGLOW_PRINT_STAGES") or str(tree.ROOT / "build/release/print_stages")
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as store:
        subprocess.run([tree.binary(), "ingest", "--store", store, *(str(logs / f) for fs in FOLDERS.values() for f in fs)], capture_output=True)
        listed = subprocess.run([tree.binary(), "list", "--store", store, "--json"], capture_output=True, text=True, check=True).stdout
        loaded = [log for log in map(json.loads, listed.splitlines()) if log["appKey"]]
        of_app = {}
        for key in {log["appKey"] for log in loaded}:
            printed = subprocess.run([program, f"{store}/apps/{key}.db"], capture_output=True, text=True, check=True).stdout
            of_app[key] = [json.loads(line) for line in printed.splitlines()]
        for kind, log_id, worst in rows(spec):
            short = log_id.removeprefix("appl_")  # the table writes application_ short
            candidates = [log for log in loaded if short in log["path"] and any(f"/{f}/" in log["path"] for f in FOLDERS[kind])]
            if not candidates:
                print(f"{log_id}: not among the logs")
                continue
            compared += 1
            # One run lies there in several forms, whole and cut: the row is about one of them.
            best = min((differences(of_app[log["appKey"]], worst) for log in candidates), key=len)
            if best:
                wrong += 1
                print(f"{kind} {log_id}: {'; '.join(best)}")
    print(f"{compared} rows compared, {wrong} differ")
    sys.exit(1 if wrong or not compared else 0)


main()
