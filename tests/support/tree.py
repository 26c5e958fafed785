# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder share: where the tree is, what is in it, and how a check ends."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("AFTERGLOW_ROOT") or pathlib.Path(__file__).resolve().parents[2])
SHARED = pathlib.Path(os.environ.get("AFTERGLOW_SHARED") or ROOT.parent / "shared").resolve()
SKIPPED = 77  # ctest's SKIP_RETURN_CODE, tests/tests.cmake
NOT_OURS = {".git", "build", "node_modules", "dist"}


def binary():
    """The program under test: AFTERGLOW_BINARY, or a release build."""
    path = pathlib.Path(os.environ.get("AFTERGLOW_BINARY") or ROOT / "build/release/afterglow")
    if not path.exists():
        sys.exit(f"{path} is not there; build it or set AFTERGLOW_BINARY")
    return str(path)


def sanitized(path):
    """Whether the program was built with the address sanitizer (limits of the address space make no sense then)."""
    return b"__asan_init" in open(path, "rb").read()


def files():
    """Files of the repository, relative to ROOT: those git knows or would add; without git, all but what a build makes."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True)
    if listed.returncode == 0:
        names = [n for n in listed.stdout.decode().split("\0") if n]
        return sorted(pathlib.PurePosixPath(n) for n in set(names) if (ROOT / n).is_file())
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in NOT_OURS]
        found += [pathlib.PurePosixPath(os.path.relpath(os.path.join(folder, n), ROOT)) for n in names]
    return sorted(found)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def finish(checked, complaints):
    """Ends the check: one line a complaint, then the count."""
    for complaint in complaints:
        print(complaint)
    print(f"{checked} looked at, {len(complaints)} complaints")
    sys.exit(1 if complaints or not checked else 0)
