# SPDX-License-Identifier: Apache-2.0
"""The server under test for a Python script: loads logs into a fresh store, serves it on a free port, and ends with the `with` block."""
import http.client
import pathlib
import re
import subprocess
import tempfile
import time

import runs

START_SECONDS = 300


class Server:
    """`logs` are loaded before it serves; `arguments` go to `serve`, `popen` to the process. Has `base` (http://…) and `pid`."""

    def __init__(self, binary, logs, arguments=(), **popen):
        self.binary, self.logs, self.arguments, self.popen = binary, logs, arguments, popen
        self.connection = None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="afterglow-serving-")
        store, said = f"{self.folder.name}/store", pathlib.Path(self.folder.name, "said")
        if self.logs:
            done = runs.ingest(self.binary, store, *self.logs)
            if done.returncode not in (0, 3):
                raise RuntimeError(f"ingest ended with {done.returncode}: {done.stderr[-300:]}")
        command = [self.binary, "serve", "--listen", "127.0.0.1:0", "--store", store, *map(str, self.arguments)]
        with said.open("w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, **self.popen)
        self.pid = self.process.pid
        for _ in range(START_SECONDS * 20):
            found = re.search(r"listening on (http://[^/\s]+)/", said.read_text(errors="replace"))
            if found or self.process.poll() is not None:
                break
            time.sleep(0.05)
        if not found:
            self.__exit__()
            raise RuntimeError("serve did not begin to listen")
        self.base = found[1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        if self.connection:
            self.connection.close()
        self.folder.cleanup()

    def get(self, address):
        """(status, content type without parameters, body) over one connection that is kept."""
        self.connection = self.connection or http.client.HTTPConnection(self.base.removeprefix("http://"), timeout=300)
        self.connection.request("GET", address)
        answer = self.connection.getresponse()
        return answer.status, answer.headers.get_content_type(), answer.read()
