#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Afterglow over a real HDFS and a real S3 server: `hdfs`, with Spark writing into it while we follow; `kerberos`; `s3`.

hdfs   One Java process of Hadoop's own mini cluster (hadoop-minicluster 3.4.1, by Maven), and PySpark 4.3.0 (by pip; $AFTERGLOW_SPARK: a Python that has it).
kerberos
       The same cluster asking for Kerberos, and a KDC of our own on loopback (krb5kdc, kdb5_util, kadmin.local, kinit: Debian's krb5-kdc, krb5-admin-server, krb5-user).
s3     moto's server (by pip).

hdfs and s3 also say how long new logs take until they are listed, with the interval as it comes: three of them, or $AFTERGLOW_ARRIVALS, while the logs of the directory $AFTERGLOW_GIANTS,
one after another, are loaded from the same place.

What they need is some 600 MB, so it is fetched where somebody says so: AFTERGLOW_FETCH=1, once, into $AFTERGLOW_CACHE (~/.cache/afterglow). Ends with 77 where it is not there, or
cannot be had.
"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import mixed_load
import serving
import tree

SKIPPED = 77
CACHE = pathlib.Path(os.environ.get("AFTERGLOW_CACHE", pathlib.Path.home() / ".cache/afterglow"))
LOGS = tree.ROOT / "tests/data/logs"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>%s</dependencies></project>"""
JARS = [
    ("org.apache.hadoop", "hadoop-minicluster", "3.4.1"),
    ("com.fasterxml.jackson.core", "jackson-core", "2.12.7"),
    ("com.fasterxml.jackson.core", "jackson-databind", "2.12.7.1"),
    ("junit", "junit", "4.13.2"),
    ("org.mockito", "mockito-core", "4.11.0"),
]
JOB = """
import sys, time
from pyspark.sql import SparkSession
where, rolling, jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
spark = (SparkSession.builder.master("local[1]").appName("grows").config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", where)
    .config("spark.eventLog.rolling.enabled", rolling).config("spark.eventLog.compress", rolling).config("spark.ui.enabled", "false").config("spark.driver.memory", "600m").getOrCreate())
print("app", spark.sparkContext.applicationId, flush=True)
for i in range(jobs):
    spark.sparkContext.parallelize(range(100), 4).count()
    print("job", i, flush=True)
    sys.stdin.readline()
spark.stop()
print("stopped", flush=True)
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def run(command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        skip(f"{command[0]}: {error}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def process(command, log, **more):
    with open(log, "w") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, **more)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def eventually(check, seconds, what):
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not in {seconds} s: {what}")
        time.sleep(0.1)


def may_fetch(what):
    if os.environ.get("AFTERGLOW_FETCH") != "1":
        skip(f"{what} is not in {CACHE}; AFTERGLOW_FETCH=1 fetches it")


def venv(name, packages):
    """A Python with these packages, or skip."""
    folder = CACHE / name
    python = folder / "bin/python"
    if not (folder / "done").exists():
        may_fetch(" ".join(packages))
        shutil.rmtree(folder, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", str(folder)], [str(python), "-m", "pip", "install", "-q", *packages]):
            done = run(command)
            if done.returncode:
                skip(f"{' '.join(packages)} cannot be installed: {done.stderr.strip()[-200:]}")
        (folder / "done").touch()
    return python


# ---- HDFS


def jars():
    for program in ("java", "mvn"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    folder = CACHE / "hdfs"
    if not (folder / "done").exists():
        may_fetch("hadoop-minicluster")
        folder.mkdir(parents=True, exist_ok=True)
        one = "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
        (folder / "pom.xml").write_text(POM % "".join(one % jar for jar in JARS))
        done = run(["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}/lib"], cwd=folder)
        if done.returncode:
            skip(f"Hadoop's jars cannot be fetched: {done.stdout.strip()[-200:]}")
        (folder / "done").touch()
    return folder / "lib"


class Hdfs:
    def __init__(self, folder, *more, java=()):
        self.rpc, self.http = free_port(), free_port()
        self.command = ["java", "-Xmx500m", *java, "-cp", f"{jars()}/*", f"-Dtest.build.data={folder}", "org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-nnport",
                        str(self.rpc), "-httpport", str(self.http), *more]

    def url(self, path, query):
        return f"http://127.0.0.1:{self.http}/webhdfs/v1{urllib.parse.quote(path)}?{query}&user.name=root"

    def ask(self, path, query, method="GET"):
        with urllib.request.urlopen(urllib.request.Request(self.url(path, query), method=method), timeout=20) as answer:
            return answer.read()

    def is_up(self):
        try:
            self.ask("/", "op=LISTSTATUS")
            with_node = urllib.request.urlopen(f"http://127.0.0.1:{self.http}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", timeout=5).read()
            return json.loads(with_node)["beans"][0]["NumLiveDataNodes"] > 0
        except (OSError, KeyError, IndexError):
            return False

    def put(self, source, target):
        self.write(source.read_bytes(), target)

    def write(self, content, target):
        try:
            opener = urllib.request.build_opener(NotRedirecting)
            opener.open(urllib.request.Request(self.url(target, "op=CREATE&overwrite=true"), method="PUT"), timeout=20)
        except urllib.error.HTTPError as answer:
            node = answer.headers["Location"]
        body = {"data": content, "headers": {"Content-Type": "application/octet-stream"}}
        urllib.request.urlopen(urllib.request.Request(node, method="PUT", **body), timeout=20).read()

    def put_tree(self, source, target):
        for path in sorted(source.rglob("*")):
            if path.is_file():
                self.put(path, f"{target}/{path.relative_to(source)}")

    def lengths(self, path):
        return [f["length"] for f in json.loads(self.ask(path, "op=LISTSTATUS"))["FileStatuses"]["FileStatus"]]


class NotRedirecting(urllib.request.HTTPRedirectHandler):
    """The body of a PUT goes to the data node alone."""

    def redirect_request(self, *_):
        return None


def json_of(server, path):
    try:
        return json.loads(urllib.request.urlopen(server + path, timeout=20).read())
    except urllib.error.HTTPError:
        return None


def ingest(store, *arguments, environment):
    done = subprocess.run([tree.binary(), "ingest", "--store", store, "--json", *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def same_as_from_disk(folder, place, names, environment):
    """Every number of every log is that of the same log read from a disk."""
    keys = ("appId", "attemptId", "state", "complete", "flags", "bytes", "lines", "badLines", "tasks")
    _, here = ingest(f"{folder}/here", *[str(LOGS / name) for name in names], environment={})
    status, there = ingest(f"{folder}/there", place, *environment.pop("arguments", []), environment=environment)
    pick = lambda rows: sorted(tuple(map(str, (row[k] for k in keys))) for row in rows if row["state"] != "skipped")
    assert status == 0 and pick(here) == pick(there), (status, pick(here), pick(there))
    return len(here)


def clean(folder, place, *arguments, environment):
    """`afterglow clean` over the store of same_as_from_disk, with every log that ended old enough: exit status, and a dictionary a log."""
    keys = "-Dspark.history.fs.cleaner.maxAge=0s -Dspark.history.fs.update.interval=100ms"
    options = {"SPARK_HISTORY_OPTS": f"{environment.get('SPARK_HISTORY_OPTS', '')} {keys}"}
    command = [tree.binary(), "clean", "--json", "--store", f"{folder}/there", "--logs", place, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment, **options}, timeout=300)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def cleaned(folder, place, environment, stranger=None):
    """What a dry run lists goes, nothing goes for somebody who may not, and what has no end stays."""
    status, dry = clean(folder, place, environment=environment)
    assert status == 0 and dry and not any(line["deleted"] for line in dry), (status, dry)
    if stranger:
        status, refused = clean(folder, place, "--delete", environment={**environment, **stranger})
        assert status == 1 and len(refused) == len(dry) and all("AccessControlException" in line["error"] for line in refused), (status, refused)
    began = time.monotonic()
    status, done = clean(folder, place, "--delete", environment=environment)
    assert status == 0 and [line["path"] for line in done] == [line["path"] for line in dry] and all(line["deleted"] for line in done), (status, done)
    seconds = time.monotonic() - began
    _, left = ingest(f"{folder}/left", place, environment=environment)
    assert not any(row["complete"] for row in left if row["appId"]), left
    return f"{len(done)} logs of {sum(line['bytes'] for line in done)} bytes deleted in {seconds:.2f} s, {len([row for row in left if row['appId']])} without an end stay"


def arrivals(write, server):
    """`write(content, name)` makes a whole log, running or finished, in the place that `server` watches: is it listed within the interval, which is ten seconds?"""
    chance, templates, lags, beside = random.Random(7), mixed_load.templates(), [], 0
    giants = sorted(pathlib.Path(os.environ["AFTERGLOW_GIANTS"]).iterdir()) if "AFTERGLOW_GIANTS" in os.environ else []

    def is_loading():
        return json_of(server, "/api/afterglow/v1/apps?state=loading&limit=1")["total"] > 0

    for number in range(int(os.environ.get("AFTERGLOW_ARRIVALS", "3"))):
        if giants and not is_loading():
            giant = giants.pop(0)
            write(giant.read_bytes(), giant.name)
            eventually(is_loading, 60, f"{giant.name} is being loaded")
        time.sleep(chance.uniform(0, 10))
        name = f"app-20261201{number:06}-0000"
        content = mixed_load.renamed(chance.choice(templates), name)
        beside += is_loading()
        write(content, f"{name}.inprogress" if number % 2 else name)
        came = time.monotonic()
        eventually(lambda: name in {app["id"] for app in json_of(server, "/api/v1/applications")}, 60, f"{name} is listed")
        lags.append(time.monotonic() - came)
    print(f"{len(lags)} new logs, {beside} of them while a large one was being loaded, were listed after {statistics.median(lags):.1f} s (median), {max(lags):.1f} s (worst)")
    assert max(lags) <= 10, lags


def follow(hdfs, server, python, rolling):
    """Spark writes; each of its jobs is on our pages within seconds while the name node still says that there is next to nothing."""
    child = subprocess.Popen([str(python), "-c", JOB, f"hdfs://127.0.0.1:{hdfs.rpc}/live", "true" if rolling else "false", "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HADOOP_USER_NAME": "root", "PYSPARK_PYTHON": str(python)})
    try:
        app = child.stdout.readline().split()[1]
        lags = []
        for job in range(4):
            assert child.stdout.readline().split() == ["job", str(job)]
            began = time.monotonic()
            eventually(lambda: len([j for j in json_of(server, f"/api/v1/applications/{app}/jobs") or [] if j["status"] == "SUCCEEDED"]) > job, 20, f"job {job} of {app}")
            lags.append(time.monotonic() - began)
            if not rolling:
                known = max(hdfs.lengths("/live"))
                assert known < 4096, f"the name node knows {known} bytes: nothing had to be read past its length"
            child.stdin.write("\n")
            child.stdin.flush()
        assert child.stdout.readline().strip() == "stopped"
        eventually(lambda: (json_of(server, f"/api/v1/applications/{app}") or {"attempts": [{}]})["attempts"][0].get("completed"), 20, f"the end of {app}")
        return app, max(lags)
    finally:
        child.kill()
        child.wait()


def hdfs_case(folder):
    python = pathlib.Path(os.environ["AFTERGLOW_SPARK"]) if "AFTERGLOW_SPARK" in os.environ else venv("spark", ["pyspark==4.3.0"])
    hdfs = Hdfs(folder)
    with process([*hdfs.command, "-format"], f"{folder}/hdfs.log") as cluster:
        eventually(lambda: hdfs.is_up() or cluster.poll() is not None, 90, "the cluster starts")
        assert cluster.poll() is None, pathlib.Path(f"{folder}/hdfs.log").read_text()[-2000:]
        names = ["attempts", "big_stage", "codec_lz4", "in_progress_rolling", "compacted"]
        for name in names:
            hdfs.put_tree(LOGS / name, f"/logs/{name}")
        environment = {"HADOOP_USER_NAME": "root"}
        count = same_as_from_disk(folder, f"webhdfs://127.0.0.1:{hdfs.http}/logs", names, environment)
        print(f"{count} logs are read from HDFS as from a disk")
        print(f"HDFS: {cleaned(folder, f'webhdfs://127.0.0.1:{hdfs.http}/logs', environment, {'HADOOP_USER_NAME': 'stranger'})}")
        hdfs.ask("/live", "op=MKDIRS", "PUT")
        properties = pathlib.Path(folder, "spark-defaults.conf")
        properties.write_text(f"""spark.history.fs.logDirectory hdfs://127.0.0.1:{hdfs.rpc}/live
spark.history.fs.update.interval 500ms
spark.history.fs.cleaner.enabled true
spark.history.fs.cleaner.interval 1s
spark.history.fs.cleaner.maxAge 1s
spark.hadoop.fs.defaultFS hdfs://127.0.0.1:{hdfs.rpc}
spark.hadoop.dfs.namenode.http-address 127.0.0.1:{hdfs.http}
""")
        with serving.Server(tree.binary(), [], ["--properties-file", properties], env={**os.environ, **environment}) as serve:
            server = serve.base
            for rolling in (False, True):
                app, lag = follow(hdfs, server, python, rolling)
                eventually(lambda: not hdfs.lengths("/live"), 30, f"the cleaner, which left {app} alone while it grew, deletes its log")
                print(f"{'rolling' if rolling else 'single'} log of {app} followed while Spark wrote it: a job was on our pages within {lag:.1f} s")
            cluster.send_signal(signal.SIGSTOP)
            try:
                away = eventually(lambda: [p for p in json_of(server, "/api/afterglow/v1/status")["places"] if p["failingSinceMs"]], 90, "a cluster that hangs is noticed")
                assert len(json_of(server, "/api/v1/applications")) == 2
                print(f"a cluster that hangs: {away[0]['lastError']}")
            finally:
                cluster.send_signal(signal.SIGCONT)
            eventually(lambda: not [p for p in json_of(server, "/api/afterglow/v1/status")["places"] if p["failingSinceMs"]], 60, "a cluster that is back is noticed")
        hdfs.ask("/new", "op=MKDIRS", "PUT")

        def write(content, name):
            hdfs.write(content, f"/new/.{name}")
            hdfs.ask(f"/new/.{name}", f"op=RENAME&destination=/new/{name}", "PUT")

        with serving.Server(tree.binary(), [], ["--logs", f"webhdfs://127.0.0.1:{hdfs.http}/new"], env={**os.environ, **environment}) as serve:
            arrivals(write, serve.base)


# ---- Kerberos

REALM = "AFTERGLOW.TEST"
KRB5_CONF = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
"""
KDC_CONF = """[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
 }}
[logging]
 kdc = FILE:{folder}/kdc.log
"""


class Kdc:
    """The services are HTTP/localhost and hdfs/localhost, in service.keytab; `reader` is who reads, in reader.keytab."""

    def __init__(self, folder):
        self.folder = folder
        for program in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit"):
            if not shutil.which(program):
                skip(f"{program} is not installed")
        words = {"realm": REALM, "folder": folder, "port": free_port()}
        pathlib.Path(folder, "krb5.conf").write_text(KRB5_CONF.format(**words))
        pathlib.Path(folder, "kdc.conf").write_text(KDC_CONF.format(**words))
        self.environment = {"KRB5_CONFIG": f"{folder}/krb5.conf", "KRB5_KDC_PROFILE": f"{folder}/kdc.conf"}
        self.run("kdb5_util", "create", "-s", "-P", "secret", "-r", REALM)
        for principal in ("HTTP/localhost", "hdfs/localhost", "reader"):
            self.run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self.run("kadmin.local", "-q", f"ktadd -k {folder}/service.keytab HTTP/localhost hdfs/localhost")
        self.run("kadmin.local", "-q", f"ktadd -k {folder}/reader.keytab reader")
        self.run("kadmin.local", "-q", f"ktadd -k {folder}/all.keytab -norandkey HTTP/localhost hdfs/localhost reader")

    def run(self, *command):
        done = run(command, env={**os.environ, **self.environment})
        assert done.returncode == 0, (command, done.stderr)

    def cluster(self):
        """Properties of a cluster that asks for it, over HTTP as well; an ordinary process, so its ports are not the privileged ones that it would insist on."""
        keytab, hdfs, http = f"{self.folder}/service.keytab", f"hdfs/localhost@{REALM}", f"HTTP/localhost@{REALM}"
        properties = {
            "hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true", "hadoop.security.auth_to_local": "RULE:[2:$1](.*) DEFAULT",
            "dfs.namenode.kerberos.principal": hdfs, "dfs.namenode.keytab.file": keytab, "dfs.datanode.kerberos.principal": hdfs, "dfs.datanode.keytab.file": keytab,
            "dfs.web.authentication.kerberos.principal": http, "dfs.web.authentication.kerberos.keytab": keytab,
            "hadoop.http.filter.initializers": "org.apache.hadoop.hdfs.web.AuthFilterInitializer", "hadoop.http.authentication.type": "kerberos",
            "hadoop.http.authentication.kerberos.principal": http, "hadoop.http.authentication.kerberos.keytab": keytab,
            "dfs.block.access.token.enable": "true", "ignore.secure.ports.for.testing": "true",
        }
        return [word for key, value in properties.items() for word in ("-D", f"{key}={value}")]


class SecureHdfs(Hdfs):
    """Asked by curl, with the ticket of its administrator."""

    def __init__(self, kdc):
        super().__init__(kdc.folder, *kdc.cluster(), java=(f"-Djava.security.krb5.conf={kdc.folder}/krb5.conf",))
        self.environment = {**os.environ, **kdc.environment, "KRB5CCNAME": f"FILE:{kdc.folder}/administrator"}
        done = run(["kinit", "-k", "-t", f"{kdc.folder}/service.keytab", "hdfs/localhost"], env=self.environment)
        assert done.returncode == 0, done.stderr

    def curl(self, *arguments):
        """What came; None where it was an error."""
        done = run(["curl", "-sS", "-f", "--negotiate", "-u", ":", *arguments], env=self.environment)
        return None if done.returncode else done.stdout

    def ask(self, path, query, method="GET"):
        return self.curl("-X", method, f"http://localhost:{self.http}/webhdfs/v1{path}?{query}") or ""

    def change(self, path, query):
        url = f"http://localhost:{self.http}/webhdfs/v1{path}?{query}"
        eventually(lambda: self.curl("-X", "PUT", url) is not None, 60, f"{query} of {path}")

    def is_up(self):
        return "FileStatuses" in self.ask("/", "op=LISTSTATUS") and "true" in self.ask("/up", "op=MKDIRS", "PUT")

    def put(self, source, target):
        url = f"http://localhost:{self.http}/webhdfs/v1{target}?op=CREATE&overwrite=true"
        # Its data node may not have said that it is there.
        eventually(lambda: self.curl("-L", "--location-trusted", "-T", str(source), url) is not None, 60, f"{target} is written")


def kerberos_case(folder):
    kdc = Kdc(folder)
    with process(["krb5kdc", "-n"], f"{folder}/kdc.out", env={**os.environ, **kdc.environment}):
        def with_ticket():
            with contextlib.suppress(AssertionError):
                return SecureHdfs(kdc)

        hdfs = eventually(with_ticket, 30, "the KDC answers")
        with process([*hdfs.command, "-format"], f"{folder}/hdfs.log") as cluster:
            eventually(lambda: hdfs.is_up() or cluster.poll() is not None, 90, "the cluster starts")
            assert cluster.poll() is None, pathlib.Path(f"{folder}/hdfs.log").read_text()[-2000:]
            names = ["attempts", "big_stage"]
            for name in names:
                hdfs.put_tree(LOGS / name, f"/logs/{name}")
            for path in ("/logs", *(f"/logs/{name}" for name in names), *(f"/logs/{sub.relative_to(LOGS)}" for name in names for sub in (LOGS / name).rglob("*") if sub.is_dir())):
                hdfs.change(path, "op=SETOWNER&owner=reader")
            place = f"webhdfs://localhost:{hdfs.http}/logs"
            by_kerberos = "-Dspark.history.kerberos.enabled=true"
            nobody = {**kdc.environment, "KRB5CCNAME": f"FILE:{folder}/nobody"}

            for who, environment in (("a name alone", {"HADOOP_USER_NAME": "reader"}), ("no ticket", {**nobody, "SPARK_HISTORY_OPTS": by_kerberos})):
                status, rows = ingest(f"{folder}/refused", place, environment=environment)
                assert status == 1 and "401" in rows[0]["message"], (status, rows)
                print(f"refused with {who}: {rows[0]['message']}")

            mine = {**kdc.environment, "KRB5CCNAME": f"FILE:{folder}/reader"}
            done = run(["kinit", "-k", "-t", f"{folder}/reader.keytab", "reader"], env={**os.environ, **mine})
            assert done.returncode == 0, done.stderr
            count = same_as_from_disk(f"{folder}/ticket", place, names, {**mine, "SPARK_HISTORY_OPTS": by_kerberos})
            print(f"{count} logs are read with the ticket of kinit, as from a disk")

            token = json.loads(run(["curl", "-sS", "--negotiate", "-u", ":", f"http://localhost:{hdfs.http}/webhdfs/v1/?op=GETDELEGATIONTOKEN&renewer=reader"], env={**os.environ, **mine}).stdout)
            pathlib.Path(folder, "token").write_text(token["Token"]["urlString"])
            count = same_as_from_disk(f"{folder}/token-store", place, names, {**nobody, "SPARK_HISTORY_OPTS": f"-Dafterglow.hdfs.tokenFile={folder}/token"})
            print(f"{count} logs are read with a delegation token")

            def by_keytab(*more):
                pairs = " ".join(f"-Dspark.history.kerberos.{pair}" for pair in ("enabled=true", f"keytab={folder}/all.keytab", *more))
                return {**nobody, "KRB5CCNAME": f"FILE:{folder}/first", "SPARK_HISTORY_OPTS": pairs}

            # Whose /logs that is alone may list it; the first of the keytab may not.
            for path in ("/logs", *(f"/logs/{name}" for name in names)):
                hdfs.change(path, "op=SETPERMISSION&permission=700")
            status, rows = ingest(f"{folder}/first", place, environment=by_keytab())
            assert status == 1, (status, rows)
            count = same_as_from_disk(f"{folder}/named", place, names, by_keytab(f"principal=reader@{REALM}"))
            status, _ = ingest(f"{folder}/stranger", place, environment=by_keytab("principal=stranger"))
            assert status == 2, status
            print(f"{count} logs are read as the principal that the settings name, where the keytab's first one is refused: {rows[0]['message']}")

            kdc.run("kadmin.local", "-q", "modprinc -maxlife 10sec reader")
            properties = pathlib.Path(folder, "spark-defaults.conf")
            properties.write_text(f"""spark.history.fs.logDirectory {place}
spark.history.fs.update.interval 500ms
spark.history.kerberos.enabled true
spark.history.kerberos.keytab {folder}/all.keytab
spark.history.kerberos.principal reader
""")
            with serving.Server(tree.binary(), [], ["--properties-file", properties], env={**os.environ, **nobody}) as serve:
                eventually(lambda: len(json_of(serve.base, "/api/v1/applications") or []) > 0, 60, "its runs are listed")
                began, failed = time.monotonic(), []
                while time.monotonic() - began < 35:  # three lives of a ticket
                    failed += [p["lastError"] for p in json_of(serve.base, "/api/afterglow/v1/status")["places"] if "401" in (p["lastError"] or "")]
                    time.sleep(0.5)
                assert not failed, failed
                eventually(lambda: not [p for p in json_of(serve.base, "/api/afterglow/v1/status")["places"] if p["failingSinceMs"]], 60, "the place answers")
                print("a confined server follows with a keytab and a principal alone, over three lives of a ticket")
            print(f"Kerberos: {cleaned(f'{folder}/ticket', place, {**nobody, 'SPARK_HISTORY_OPTS': f'{by_kerberos} -Dspark.history.kerberos.keytab={folder}/reader.keytab'})}")


# ---- S3

PUT_S3 = """
import boto3, pathlib, sys
port, root = sys.argv[1], pathlib.Path(sys.argv[2])
s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id="AKID", aws_secret_access_key="SECRET", region_name="us-east-1")
s3.create_bucket(Bucket="logs")
for name in sys.argv[3:]:
    for path in (root / name).rglob("*"):
        if path.is_file():
            s3.put_object(Bucket="logs", Key=f"spark events/ü+/{path.relative_to(root)}", Body=path.read_bytes())
"""


def s3_case(folder):
    python = venv("moto", ["moto[server,s3]"])
    port = free_port()
    with process([str(python.parent / "moto_server"), "-H", "127.0.0.1", "-p", str(port)], f"{folder}/moto.log") as moto:
        def is_up():
            with contextlib.suppress(OSError):
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).status == 200
            return moto.poll() is not None
        eventually(is_up, 60, "moto starts")
        names = ["attempts", "big_stage", "codec_lz4", "in_progress_rolling", "compacted"]
        done = run([str(python), "-c", PUT_S3, str(port), str(LOGS), *names])
        assert done.returncode == 0, done.stderr
        environment = {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET",
                       "SPARK_HISTORY_OPTS": "-Dspark.hadoop.fs.s3a.path.style.access=true"}
        count = same_as_from_disk(folder, "s3a://logs/spark events/ü+", names, environment)
        print(f"{count} logs are read from S3 as from a disk")
        print(f"S3: {cleaned(folder, 's3a://logs/spark events/ü+', environment)}")

        def write(content, name):
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/logs/new/{name}", data=content, method="PUT", headers={"Content-Type": "application/octet-stream"}), timeout=60).read()

        with serving.Server(tree.binary(), [], ["--logs", "s3a://logs/new"], env={**os.environ, **environment}) as serve:
            arrivals(write, serve.base)


def main():
    with tempfile.TemporaryDirectory(prefix="afterglow-places-") as folder:
        {"hdfs": hdfs_case, "kerberos": kerberos_case, "s3": s3_case}[sys.argv[1]](folder)


main()
