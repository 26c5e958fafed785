#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The settings table of README.md is what `afterglow settings` prints. With --update it is written anew."""
import subprocess
import sys

import tree

BEGIN, END = "<!-- settings: printed by `afterglow settings` -->\n", "<!-- end of settings -->\n"


def main():
    readme = tree.ROOT / "README.md"
    text = readme.read_text()
    if BEGIN not in text or END not in text:
        tree.finish(1, [f"README.md: the marks {BEGIN.strip()} and {END.strip()} are missing"])
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    printed = subprocess.run([tree.binary(), "settings"], capture_output=True, text=True, check=True).stdout
    if "--update" in sys.argv:
        readme.write_text(before + BEGIN + printed + END + after)
        table = printed
    differing = [line for line in set(table.splitlines()) ^ set(printed.splitlines()) if line]
    tree.finish(len(printed.splitlines()), [f"README.md: differs from `afterglow settings`: {line[:120]}" for line in differing])


main()
