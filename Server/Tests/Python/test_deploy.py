"""What `deploy/` holds is taken by the tools that read it, and names what the server has."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from tollgate_world import ROOT

DEPLOY = ROOT / "deploy"
ALERTS = DEPLOY / "prometheus/alerts.yml"
DASHBOARD = DEPLOY / "grafana/tollgate.json"


def taken(program, *arguments, **options):
    """The program takes it; skipped where it is not installed. test_installed.py installs them."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    ended = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def expressions():
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    found = {rule["alert"]: rule["expr"] for rule in rules}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            found[f"{panel['title']} {target['refId']}"] = target["expr"]
    return found


def test_alarms_and_dashboard_use_metrics_of_the_server():
    source = "\n".join(path.read_text() for path in (ROOT / "Server/Sources").rglob("*.swift"))
    for name, expression in expressions().items():
        metrics = set(re.findall(r"\btollgate_\w+", expression))
        assert metrics or "up{" in expression, name
        for metric in metrics:
            # Followed by what is no letter: the name itself, not the beginning of another.
            assert re.search(rf"{metric}(?!\w)", source), (name, metric)


def test_alarms_use_labels_of_the_metrics():
    document = (ROOT / "docs/operations.md").read_text()
    labels = {
        name: set(found.split(","))
        for row in re.findall(r"^\| (`tollgate_.*?) \|", document, re.MULTILINE)
        for name, found in re.findall(r"`(tollgate_\w+)\{([\w,]+)\}`", row)}
    for name, expression in expressions().items():
        for metric, matchers in re.findall(r"\b(tollgate_\w+)\{([^}]*)\}", expression):
            used = set(re.findall(r'(\w+)\s*[=!]~?"', matchers))
            assert used <= labels.get(metric, set()), (name, metric, used)


def test_every_alarm_says_what_to_do():
    for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}, rule
        assert rule["annotations"]["summary"] and rule["annotations"]["description"], rule


def test_prometheus_takes_the_rules_and_they_alarm_as_they_should():
    folder = DEPLOY / "prometheus"
    taken("promtool", "check", "config", "prometheus.yml", cwd=folder)
    taken("promtool", "test", "rules", "alerts_test.yml", cwd=folder)


def test_the_live_keys_of_the_guide_stand_in_no_log_of_sudo(tmp_path):
    """sudo writes the arguments of every command into the machine's log."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/deploy.md").read_text(), re.DOTALL)
    (commands,) = [block for block in blocks if "sk_live_" in block]
    programs, home, settings, log = (tmp_path / name for name in ("bin", "home", "tollgate.env", "log"))
    programs.mkdir()
    (programs / "sudo").write_text(f'#!/bin/sh\necho "$*" >>{log}\n[ "$1" = systemctl ] || exec "$@"\n')
    (programs / "sudo").chmod(0o755)
    home.mkdir()
    for name in ("tollgate.sqlite", "tollgate.sqlite-wal"):
        (home / name).touch()
    shutil.copy(ROOT / "scripts/package/tollgate.env", settings)
    commands = commands.replace("/etc/tollgate/tollgate.env", str(settings)).replace("/var/lib/tollgate", str(home))
    ended = subprocess.run(
        ["bash", "-e", "-c", commands], capture_output=True, text=True, timeout=60,
        env={"PATH": f"{programs}:{os.environ['PATH']}"})
    assert ended.returncode == 0, ended.stderr
    text = settings.read_text()
    keys = re.findall(r"^TOLLGATE_(?:SECRET|PUBLISHABLE)_KEY=([sp]k_live_[0-9a-f]{64})$", text, re.MULTILINE)
    assert len(set(keys)) == 2 and "\nTOLLGATE_PUBLIC_URL=https://YOUR.NAME\n" in text
    said = log.read_text()
    assert "openssl" in said and not any(key[8:] in said for key in keys)
    assert not list(home.iterdir())


def test_caddy_takes_its_sample():
    taken("caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "caddy/Caddyfile")


def test_nginx_takes_its_sample(tmp_path):
    subject = ["-days", "1", "-subj", "/CN=billing.example.com"]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    taken(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
        *subject)
    sample = (DEPLOY / "nginx/tollgate.conf").read_text()
    sample = re.sub(r"/etc/letsencrypt/\S+/fullchain\.pem", str(certificate), sample)
    sample = re.sub(r"/etc/letsencrypt/\S+/privkey\.pem", str(key), sample)
    (tmp_path / "tollgate.conf").write_text(sample)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; include tollgate.conf; }}")
    taken("nginx", "-t", "-c", tmp_path / "nginx.conf")


def test_the_units_are_in_order(tmp_path):
    for path in (DEPLOY / "systemd").iterdir():
        # What they name is on the machine where the package is installed.
        (tmp_path / path.name).write_text(path.read_text().replace("/usr/bin/tollgate", "/bin/true"))
    taken("systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir()))


def test_what_copies_the_database_has_no_network():
    unit = (DEPLOY / "systemd/tollgate-backup.service").read_text().splitlines()
    assert {"PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "UMask=0077"} <= set(unit)


def test_containers_run_without_rights():
    services = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())["services"]
    tollgate = services["tollgate"]
    assert tollgate["read_only"] and tollgate["cap_drop"] == ["ALL"]
    assert tollgate["security_opt"] == ["no-new-privileges:true"]
    kinds = {}
    for one in yaml.safe_load_all((DEPLOY / "kubernetes/tollgate.yaml").read_text()):
        kinds[one["kind"]] = one
    pod = kinds["Deployment"]["spec"]["template"]
    container = pod["spec"]["containers"][0]
    security = container["securityContext"]
    assert pod["spec"]["securityContext"]["runAsNonRoot"]
    assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert kinds["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in ports


def test_the_image_runs_without_rights_and_says_whether_it_is_well():
    lines = (ROOT / "scripts/package/Containerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    names = [name for name, *_ in words]
    # As that user from then on, and never as root again.
    assert words[names.index("USER")][1] == "tollgate" and names.count("USER") == 1
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert {"HEALTHCHECK", "VOLUME", "STOPSIGNAL"} <= set(names)
    # Keys that were made with the image would be everybody's.
    assert "/etc/tollgate/tollgate.env" in dict(words)["RUN"].partition("rm -rf")[2]


def test_samples_name_settings_that_there_are():
    source = (ROOT / "Server/Sources/TollgateCLI/Settings.swift").read_text().partition("ofTests")[0]
    known = {"TOLLGATE_" + name for name in re.findall(r'"([A-Z_]+)"', source)}
    for path in [*DEPLOY.rglob("*"), ROOT / "docs/deploy.md", ROOT / "scripts/package/Containerfile"]:
        if path.is_file():
            used = set(re.findall(r"\bTOLLGATE_[A-Z_]+", path.read_text()))
            assert used <= known, (path, used - known)
