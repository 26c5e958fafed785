#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of the house: licence lines, READMEs, no registry hosts, no paths of one machine, links that lead somewhere, no marks of a merge, a repository that stays small."""
import re

import tree

MAX_BYTES = 40 << 20
DATA = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")
# Words, not whole names: the rule is that none of these hosts stands anywhere.
REGISTRY = re.compile(r"https?://[^\s/\"'<>]*(?:registry|npmjs|yarnpkg|pypi|pythonhosted|crates\.|maven|debian|artifact)[^\s\"'<>]*", re.I)
# Folders of the machines this is written on; example paths such as /var/log are fine.
MACHINE = re.compile(r"(?<![\w.])/(?:" + "|".join(["work", "root", "home/[a-z]+"]) + r")/[\w.-]")
SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_SUFFIXES = {".c", ".h", ".cmake", ".py", ".sh", ".sql", ".js", ".jsx", ".mjs", ".ts", ".css", ".html", ".yaml", ".yml"}
TEXT_SUFFIXES = SPDX_SUFFIXES | {".md", ".json", ".txt", ".svg", ""}
# What a merge leaves where nobody decided; seven = alone could be a heading.
CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.M)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s#]+)[^)\s]*\)")


def is_data(path):
    return str(path).startswith(DATA) and path.name != "README.md" and path.suffix not in (".py", ".c")


def check_spdx(path, complaints):
    head = tree.text(path)[:400].split("\n")
    script = head[0].startswith("#!")
    if path.suffix in SPDX_SUFFIXES or path.name == "CMakeLists.txt" or script:
        if head[0].lower().startswith("<!doctype"):
            script = True
        line = head[1] if script and len(head) > 1 else head[0]
        if SPDX not in line:
            complaints.append(f"{path}: the first line (second after #! or a doctype) must hold {SPDX}")


def check_text(path, complaints):
    source = tree.text(path)
    if path.name == "package-lock.json" and re.search(r'"resolved"\s*:\s*"http', source):
        complaints.append(f"{path}: lock files carry no addresses (omit-lockfile-registry-resolved=true in .npmrc)")
    if not is_data(path) and path.name != "check_house.py":
        found = REGISTRY.search(source)
        if found:
            complaints.append(f"{path}: names a package registry: {found.group(0)[:60]}")
        found = MACHINE.search(source)
        if found:
            complaints.append(f"{path}: a path of one machine: {source[found.start():found.start() + 40].splitlines()[0]}")
    if not is_data(path) and CONFLICT.search(source):
        complaints.append(f"{path}: holds the marks of a merge that nobody decided")
    if path.suffix == ".md":
        for target in LINK.findall(source):
            if "://" not in target and not target.startswith("mailto:") and not (tree.ROOT / path.parent / target).exists():
                complaints.append(f"{path}: the link to {target} leads nowhere")


def check_readmes(paths, complaints):
    """Every folder down to the second level has one; below, folders that are a floor or a part of their own may."""
    folders = {parent for path in paths for parent in path.parents if 1 <= len(parent.parts) <= 2}
    names = set(paths)
    for folder in sorted(folders):
        if folder.parts[0].startswith(".") or str(folder) == "web/public":  # everything in web/public is served
            continue
        if folder / "README.md" not in names:
            complaints.append(f"{folder}/: has no README.md")


def main():
    paths = tree.files()
    complaints = []
    for path in paths:
        if path.suffix not in TEXT_SUFFIXES or path.name == "LICENSE":
            continue
        if not is_data(path):
            check_spdx(path, complaints)
        check_text(path, complaints)
    check_readmes(paths, complaints)
    total = sum((tree.ROOT / path).stat().st_size for path in paths)
    if total > MAX_BYTES:
        complaints.append(f"the repository holds {total >> 20} MB, more than {MAX_BYTES >> 20}")
    print(f"{total / 1e6:.1f} MB in {len(paths)} files")
    tree.finish(len(paths), complaints)


main()
