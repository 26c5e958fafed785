#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of docker/ fit together and to the program: settings and variables that they name exist, what they refer to is there, and nothing that closes a container was forgotten.

As no Kubernetes is here to ask, the manifests are read as YAML and held to each other.
"""
import re
import subprocess
import sys

import tree

try:
    import yaml
except ImportError:
    tree.skip("python3-yaml is not installed")

NAME = {"app.kubernetes.io/name": "afterglow"}
USER = 10001
HADOOP = {"HADOOP_CONF_DIR", "HADOOP_USER_NAME"}
complaints = []
looked_at = 0


def expect(condition, where, text):
    global looked_at
    looked_at += 1
    if not condition:
        complaints.append(f"{where}: {text}")


def printed_settings():
    """Keys and variables of the table that the program prints."""
    rows = re.findall(r"^\| `([^`]+)` \| [^|]*\| (?:`([^`]+)`|–)", subprocess.run([tree.binary(), "settings"], capture_output=True, text=True, check=True).stdout, re.M)
    return {key for key, _ in rows}, {variable for _, variable in rows if variable}


def check_settings(where, text, keys):
    """A properties file; lines that are commented out are to be uncommented one day."""
    for line in text.splitlines():
        found = re.match(r"\s*(?:# )?((?:spark|afterglow)\.[\w.]+)\s+\S", line)
        if found:
            expect(found[1] in keys, where, f"there is no setting {found[1]}")


def check_compose(path, variables):
    compose = yaml.safe_load(tree.text(path))
    service = compose["services"]["afterglow"]
    expect(service["read_only"] is True and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"], path, "the container is not closed")
    expect("/tmp" in service["tmpfs"], path, "nothing can be written to /tmp")
    expect((tree.ROOT / "docker" / service["build"]["context"] / service["build"]["dockerfile"]).is_file(), path, "there is no such Dockerfile")
    for name in service["environment"]:
        expect(name in variables | HADOOP, path, f"nothing reads {name}")
    mounts = [re.sub(r"\$\{[^}]*\}", "X", mount).split(":") for mount in service["volumes"]]
    named = {source for source, *_ in mounts if re.fullmatch(r"[a-z]+", source)}
    expect(named == set(compose["volumes"]) == {"store"}, path, "volumes that are used and those that are declared differ")
    expect(all(options == ["ro"] for source, _, *options in mounts if source not in named), path, "a folder of the machine can be written to")
    for port in service["ports"]:
        expect(port.endswith(":18080"), path, "the image listens on 18080")
        open_to_all = not port.startswith("127.0.0.1:")
        expect(not (open_to_all and service["environment"].get("AFTERGLOW_LISTEN_INSECURE")), path, "open to everybody without a login")


def check_backfill(job, claim, deployment):
    """As closed as the server's pod, every share taken once, the logs at the server's path, and of the store nothing but arrivals."""
    folder, spec, server = "docker/kubernetes/backfill/", job["spec"], deployment["spec"]["template"]["spec"]
    pod = spec["template"]["spec"]
    container, = pod["containers"]
    expect(spec["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never" and pod["automountServiceAccountToken"] is False, folder, "an indexed job")
    share = re.search(r'find (\S+) .*\| afterglow ingest --store (\S+) --from-stdin --share "\$JOB_COMPLETION_INDEX/(\d+)"', container["command"][-1])
    expect(container["command"][:2] == ["sh", "-c"] and share and int(share[3]) == spec["completions"], folder, "shares and completions differ")
    expect(pod["securityContext"] == server["securityContext"] and container["securityContext"] == server["containers"][0]["securityContext"], folder, "it is not as closed as the server's pod")
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    logs = next(mount for mount in server["containers"][0]["volumeMounts"] if mount["name"] == "logs")
    expect(mounts["logs"] == logs and share[1] == logs["mountPath"], folder, "the logs lie elsewhere than for the server")
    expect(mounts["arrivals"]["mountPath"] == f"{share[2]}/arrivals" and set(mounts) == {volume["name"] for volume in pod["volumes"]}, folder, "mounts")
    claims = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    expect(claims == {"logs": "spark-logs", "arrivals": claim["metadata"]["name"]} and claim["spec"]["accessModes"] == ["ReadWriteMany"], folder, "claims")
    expect(spec["template"]["metadata"]["labels"] != NAME, folder, "the service would send requests to it")
    expect(claim["metadata"]["name"] in tree.text("docker/README.md"), "docker/README.md", "does not say what the server mounts")


def check_kubernetes(keys):
    folder = "docker/kubernetes/"
    found = {}
    for path in tree.files():
        if str(path).startswith(folder) and path.suffix == ".yaml":
            for each in yaml.safe_load_all(tree.text(path)):
                found["arrivals" if each["metadata"]["name"] == "afterglow-arrivals" else each["kind"]] = each
                expect(each["metadata"]["labels"] == NAME, path, "its labels")
    check_backfill(found.pop("Job"), found.pop("arrivals"), found.get("Deployment"))
    expect(set(found) == {"ConfigMap", "PersistentVolumeClaim", "Service", "Deployment"}, folder, f"kinds: {sorted(found)}")
    deployment, pod = found["Deployment"]["spec"], found["Deployment"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    expect(deployment["replicas"] == 1 and deployment["strategy"] == {"type": "Recreate"}, folder, "a store belongs to one server")
    expect(deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"] == found["Service"]["spec"]["selector"] == NAME, folder, "labels and selectors")
    security = {**pod["securityContext"], **container["securityContext"]}
    expect(security == {"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"},
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}, folder, "the container is not closed")
    expect(pod["automountServiceAccountToken"] is False, folder, "the pod gets a token that it has no use for")
    expect({"cpu", "memory"} <= set(container["resources"]["requests"]) and "memory" in container["resources"]["limits"], folder, "resources")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    expect(ports == {"https": 18080} and [port["targetPort"] for port in found["Service"]["spec"]["ports"]] == ["https"], folder, "ports")
    for probe, path in {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}.items():
        expect(container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}, folder, probe)
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    expect({mount["name"] for mount in mounts.values()} == set(volumes) and len(volumes) == len(pod["volumes"]), folder, "volumes and mounts")
    expect({path for path, mount in mounts.items() if not mount.get("readOnly")} == {"/var/lib/afterglow", "/tmp"}, folder, "what can be written to")
    expect(volumes["store"]["persistentVolumeClaim"]["claimName"] == found["PersistentVolumeClaim"]["metadata"]["name"], folder, "the claim of the store")
    sources = volumes["conf"]["projected"]["sources"]
    expect([kind for source in sources for kind in source] == ["configMap", "secret", "secret"] and sources[0]["configMap"]["name"] == found["ConfigMap"]["metadata"]["name"], folder, "settings and secrets")
    guide = tree.text("docker/README.md")
    for name in [source["secret"]["name"] for source in sources[1:]] + [volumes["logs"]["persistentVolumeClaim"]["claimName"]]:
        expect(name in guide, "docker/README.md", f"does not say where {name} comes from")
    settings = found["ConfigMap"]["data"]["afterglow.conf"]
    check_settings(folder, settings, keys)
    expect(all(f"/etc/afterglow/{name}" in settings for name in ("tls.crt", "tls.key", "users")), folder, "https and a login")


def check_unit():
    unit = tree.text("docker/afterglow.service")
    program, *arguments = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
    image = tree.text("docker/Dockerfile")
    expect(program == "/usr/bin/afterglow" and str(arguments).replace("'", '"') in image, "docker/Dockerfile", "image and service start different things")
    expect(f"USER {USER}:{USER}" in image, "docker/Dockerfile", "the user of the pod")
    filters = " ".join(re.findall(r"^SystemCallFilter=([^~].*)$", unit, re.M)).split()
    for call in sorted(set(re.findall(r"SYS_(landlock_\w+)", tree.text("base/confine.c")))):
        expect(call in filters, "docker/afterglow.service", f"forbids {call}, by which the process that reads logs confines itself")


def main():
    keys, variables = printed_settings()
    check_settings("docker/afterglow.conf", tree.text("docker/afterglow.conf"), keys)
    for path in ("docker/compose.yaml", "docker/compose-hadoop.yaml"):
        check_compose(path, variables)
    check_kubernetes(keys)
    check_unit()
    guide = tree.text("docker/README.md")
    check_settings("docker/README.md", guide, keys)
    for variable in re.findall(r"\b(AFTERGLOW_\w+)", guide + tree.text("docker/Dockerfile")):
        expect(variable in variables, "docker/", f"nothing reads {variable}")
    tree.finish(looked_at, complaints)


if __name__ == "__main__":
    main()
