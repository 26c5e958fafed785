#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an image that tools/image built, by runc, as compose.yaml would: its own user, no rights, a root file system that cannot be written, a volume for the store, the sample logs read-only.

    image.py IMAGE

The container has a network of its own with nothing but loopback in it; requests are made from inside that. As root, with buildah, runc, curl and openssl.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tree

SAMPLES = tree.ROOT / "tests/data/logs"
APPS = "/api/afterglow/v1/apps?limit=1"
ALICE = "alice:$2b$04$YvTc/cciy6jd5S7DsSo1dOXMRu1kZMFi4IPwdgRguNIL6DI0qpjXC\n"     # "wonder land", as in tests/api/support/tls.mjs


def expect(condition, text):
    if not condition:
        sys.exit(f"image.py: {text}")
    print(f"ok: {text}", flush=True)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def output(*command):
    done = run(*command)
    if done.returncode:
        sys.exit(f"image.py: {command[0]} {command[1]}: {done.stderr.strip()}")
    return done.stdout.strip()


class Container:
    """One start of the image. `args` None: what the image starts."""

    def __init__(self, folder, root, image, store, environment=(), args=None, secrets=None):
        self.bundle = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.name = f"afterglow-check-{self.bundle.name}"
        uid, gid = (int(part) for part in image["User"].split(":"))
        config = {
            "ociVersion": "1.0.2",
            "process": {"user": {"uid": uid, "gid": gid}, "args": args or image["Entrypoint"] + image["Cmd"], "env": image["Env"] + list(environment), "cwd": "/", "noNewPrivileges": True},
            "root": {"path": str(root), "readonly": True},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
                       {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]},
                       {"destination": "/var/log/spark", "type": "bind", "source": str(SAMPLES), "options": ["rbind", "ro"]},
                       {"destination": next(iter(image["Volumes"])), "type": "bind", "source": str(store), "options": ["rbind", "rw"]}],
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]},
        }
        if secrets:
            config["mounts"].append({"destination": "/etc/afterglow", "type": "bind", "source": str(secrets), "options": ["rbind", "ro"]})
        (self.bundle / "config.json").write_text(json.dumps(config))
        self.said = open(self.bundle / "said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(["runc", "run", "--bundle", self.bundle, "--pid-file", self.bundle / "pid", self.name], stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)

    def errors(self):
        self.said.seek(0)
        return self.said.read()

    def pid(self):
        return int((self.bundle / "pid").read_text())

    def execute(self, *command, seconds=60):
        """Exit status and output of a command inside; None: it did not end in time."""
        try:
            done = run("runc", "exec", self.name, *command, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def get(self, path, port=18080, scheme="http", options=()):
        return run("nsenter", "-t", self.pid(), "-n", "curl", "-sk", "--noproxy", "*", "--max-time", "10", *options, f"{scheme}://127.0.0.1:{port}{path}").stdout

    def count(self, query="", port=18080):
        """How many entries the list has."""
        return json.loads(self.get(APPS + query, port))["total"]

    def until(self, check, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                if check():
                    return True
            time.sleep(0.2)
        print(self.errors(), file=sys.stderr)
        return False

    def kill(self, number):
        os.kill(self.pid(), number)

    def close(self):
        run("runc", "kill", self.name, "KILL")
        self.process.wait()
        run("runc", "delete", "-f", self.name)
        self.said.close()


def health(container, image):
    """What docker does with the health check: 0 healthy; anything else, also no answer in time, unhealthy."""
    check = image["Healthcheck"]
    return container.execute(*check["Test"][1:], seconds=check["Timeout"] / 1e9)[0]


def count_when_loaded(container):
    """How many entries the list has once nothing waits any more; else None."""
    return None if container.count("&state=waiting") or container.count("&state=loading") else container.count()


def status_of(container):
    """The lines of /proc/PID/status of the server, by name."""
    lines = pathlib.Path(f"/proc/{container.pid()}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.split() for name, value in (line.split(":", 1) for line in lines)}


def check_refusal(folder, root, image, store):
    container = Container(folder, root, image, store)
    try:
        code = container.process.wait(60)
        said = container.errors()
        expect(code == 1 and "AFTERGLOW_LISTEN_INSECURE=true" in said and "afterglow.login.usersFile" in said, f"open to others without a login it ends, and says what to do: {said.strip()}")
    finally:
        container.close()


def check_service(folder, root, image, store):
    container = Container(folder, root, image, store, ["AFTERGLOW_LISTEN_INSECURE=true"])
    try:
        begin = time.monotonic()
        expect(container.until(lambda: container.get("/healthz").strip() == "ok"), f"/healthz answers {time.monotonic() - begin:.1f} s after the start")
        status = status_of(container)
        expect(status["Uid"] == ["10001"] * 4 and status["CapEff"] == ["0" * 16] and status["NoNewPrivs"] == ["1"], "it runs as user 10001, without capabilities, and can get none")
        expect(all(container.execute("bash", "-c", f"echo > {path}/x")[0] for path in ("/", "/etc", "/usr/bin", "/var/log/spark")), "root file system and logs cannot be written")
        expect(container.until(lambda: count_when_loaded(container)), "the sample logs are loaded")
        count = container.count()
        expect(health(container, image) == 0, "the health check says healthy")
        container.kill(signal.SIGSTOP)
        expect(health(container, image) != 0, "the health check says unhealthy of a server that hangs")
        container.kill(signal.SIGCONT)
        expect(container.until(lambda: health(container, image) == 0), "and healthy when it goes on")
        container.kill(signal.SIGTERM)
        begin = time.monotonic()
        expect(container.process.wait(30) == 0, f"SIGTERM ends it in order, within {time.monotonic() - begin:.1f} s")
        return count
    finally:
        container.close()


def check_restart(folder, root, image, store, count):
    container = Container(folder, root, image, store, ["AFTERGLOW_LISTEN_INSECURE=true", "AFTERGLOW_LOGS=/nowhere", "AFTERGLOW_LISTEN=:18081"])
    try:
        expect(container.until(lambda: container.count(port=18081) == count), f"the {count} runs are in the volume after a new start, without their logs")
        expect(health(container, image) == 0, "the health check follows AFTERGLOW_LISTEN")
    finally:
        container.close()


def check_login(folder, root, image, store, count):
    """As the pod of kubernetes/: settings, certificate and users in /etc/afterglow."""
    secrets = pathlib.Path(folder, "secrets")
    secrets.mkdir()
    output("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", secrets / "tls.key", "-out", secrets / "tls.crt", "-days", "2", "-subj", "/CN=afterglow")
    (secrets / "users").write_text(ALICE)
    (secrets / "afterglow.conf").write_text(re.search(r"afterglow\.conf: \|\n(.*)", tree.text("docker/kubernetes/config.yaml"), re.S)[1])
    for path in secrets.iterdir():
        os.chown(path, 0, 10001)
        path.chmod(0o440)
    container = Container(folder, root, image, store, secrets=secrets)
    try:
        expect(container.until(lambda: container.get("/healthz", scheme="https").strip() == "ok"), "with the settings of kubernetes/ it answers https on every address")
        expect(container.get("/api/v1/applications", scheme="https").strip() == "A name and a password are needed.", "and asks for a password")
        expect(json.loads(container.get(APPS, scheme="https", options=("-u", "alice:wonder land")))["total"] == count, "which lets in")
        expect(health(container, image) == 0, "the health check says healthy with https, too")
    finally:
        container.close()


def check_no_server(folder, root, image, store):
    container = Container(folder, root, image, store, args=["sleep", "600"])
    try:
        expect(container.until(lambda: container.execute("true")[0] == 0) and health(container, image) != 0, "the health check says unhealthy where no server is")
    finally:
        container.close()


def bytes_below(folder):
    return sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(folder) for name in names)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    missing = [program for program in ("buildah", "runc", "curl", "openssl") if not shutil.which(program)]
    if missing or os.getuid():
        tree.skip(f"{', '.join(missing) or 'root'} is missing")
    image = json.loads(output("buildah", "inspect", "--type", "image", sys.argv[1]))["Docker"]["config"]
    made = output("buildah", "from", "--pull-never", sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="afterglow-image-") as folder:
        try:
            root = output("buildah", "mount", made)
            print(f"{bytes_below(root) / 2**20:.0f} MiB in files, of which the program {os.path.getsize(root + '/usr/bin/afterglow') / 2**20:.1f} MiB", flush=True)
            store = pathlib.Path(folder, "store")
            store.mkdir()
            os.chown(store, 10001, 10001)
            check_refusal(folder, root, image, store)
            count = check_service(folder, root, image, store)
            check_restart(folder, root, image, store, count)
            check_login(folder, root, image, store, count)
            check_no_server(folder, root, image, store)
        finally:
            run("buildah", "rm", made)


if __name__ == "__main__":
    main()
