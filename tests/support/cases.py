# SPDX-License-Identifier: Apache-2.0
"""What scripts of several cases share: each case is a function case_NAME(scratch) of the script, which is run by `SCRIPT NAME`."""
import pathlib
import sys
import tempfile


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def run(script):
    """The case that the command line names, in a folder of its own. script: its globals()."""
    case = script.get(f"case_{sys.argv[1]}") if len(sys.argv) > 1 else None
    if not case:
        sys.exit(script["__doc__"])
    with tempfile.TemporaryDirectory(prefix="afterglow-test-") as scratch:
        try:
            case(pathlib.Path(scratch).resolve())
        except (Failure, RuntimeError) as failure:
            sys.exit(f"{sys.argv[1]}: {failure}")
    print(f"{sys.argv[1]}: passed")
