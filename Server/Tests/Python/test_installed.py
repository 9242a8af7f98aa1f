"""The packages on a machine without Swift: a root file system of Debian's, made here, in which the server
runs with the settings of its unit. `make soak PARTS=package` builds the packages and runs this, as root.

TOLLGATE_PACKAGES is the folder with the packages, TOLLGATE_PACKAGE_BEFORE the package of an earlier version.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.request

import pytest

from ports import free_port
from tollgate_world import BUNDLE_ID, ROOT, Apple

PACKAGES = os.environ.get("TOLLGATE_PACKAGES")
pytestmark = pytest.mark.skipif(
    not PACKAGES or os.geteuid() != 0, reason="make soak PARTS=package builds what is tested here")
AS_THE_SERVICE = ["setpriv", "--reuid", "tollgate", "--regid", "tollgate", "--clear-groups"]
UNIT = (ROOT / "deploy/systemd/tollgate.service").read_text()


def unit(name):
    return re.search(rf"^{name}=(.*)$", UNIT, re.MULTILINE)[1]


class Machine:
    """A root file system, and commands in it."""

    def __init__(self, root):
        self.root = root
        self.port = free_port()

    def run(self, *arguments, check=True, **environment):
        ended = subprocess.run(
            ["chroot", self.root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
             "DEBIAN_FRONTEND=noninteractive", *(f"{k}={v}" for k, v in environment.items()), *arguments],
            capture_output=True, text=True, timeout=600)
        assert not check or ended.returncode == 0, (arguments, ended.stdout, ended.stderr)
        return ended

    def install(self, package):
        shutil.copy(package, self.root / "root")
        self.run("apt-get", "install", "-y", "--no-install-recommends", f"/root/{package.name}")

    def settings(self, **more):
        """Writes settings behind those that the package made, as a team does."""
        file = self.root / "etc/tollgate/tollgate.env"
        with file.open("a") as settings:
            settings.writelines(f"{name}={value}\n" for name, value in more.items())

    def environment(self):
        lines = (self.root / "etc/tollgate/tollgate.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))

    @contextlib.contextmanager
    def serving(self):
        """The service as its unit starts it: its user, no rights, nothing but its folder to write to."""
        assert unit("ProtectSystem") == "strict" and unit("EnvironmentFile") == "/etc/tollgate/tollgate.env"
        script = """
            set -e
            mount --bind "$1" "$1"
            cd "$1"
            mount --bind "$1/var/lib/tollgate" "$1/var/lib/tollgate"
            mount -t tmpfs tmpfs "$1/tmp"
            mount -t proc proc "$1/proc"
            mount -o remount,ro,bind "$1"
            umask "$2"
            root="$1"
            shift 2
            exec chroot "$root" setpriv --reuid tollgate --regid tollgate --clear-groups --no-new-privs \\
                --bounding-set=-all -- "$@"
        """
        environment = self.environment()
        process = subprocess.Popen(
            ["unshare", "--mount", "--", "sh", "-c", script, "sh", self.root, unit("UMask"),
             "env", "-i", "-C", unit("WorkingDirectory"), *(f"{k}={v}" for k, v in environment.items()),
             *unit("ExecStart").split()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            begun = time.monotonic()
            line = process.stdout.readline()
            assert "listening on" in line, process.stderr.read()
            self.began_in = time.monotonic() - begun
            yield Service(self.port, environment["TOLLGATE_SECRET_KEY"])
        finally:
            process.terminate()
            process.communicate(timeout=60)


class Service:
    def __init__(self, port, key):
        self.url, self.key = f"http://127.0.0.1:{port}", key

    def call(self, path, body=None):
        request = urllib.request.Request(
            self.url + path, data=body,
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text.startswith(b"{") else text.decode()


def packages():
    return sorted(pathlib.Path(PACKAGES).glob("*.deb"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Debian as it is installed at least."""
    folder = tmp_path_factory.mktemp("machine") / "root"
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", folder],
        capture_output=True, text=True, timeout=1800)
    assert made.returncode == 0, made.stdout[-2000:]
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    subprocess.run(["chroot", folder, "apt-get", "update"], check=True, capture_output=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def machine(base, tmp_path):
    root = tmp_path / "root"
    subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
    yield Machine(root)
    shutil.rmtree(root)


@pytest.fixture
def apple():
    return Apple()


def set_up(machine, apple):
    (machine.root / "etc/tollgate/root.der").write_bytes(apple.root_der)
    machine.settings(
        TOLLGATE_LISTEN=f"127.0.0.1:{machine.port}", TOLLGATE_APP_STORE_ROOTS="/etc/tollgate/root.der",
        TOLLGATE_APP_STORE_BUNDLE_ID=BUNDLE_ID, TOLLGATE_APP_STORE_ENVIRONMENT="Sandbox")


def buy(service, apple, number, user):
    customer = service.call("/v1/customers", json.dumps({"app_user_id": user}).encode())
    service.call("/webhooks/app_store", apple.coins_bought(number, customer["app_account_token"]))


def coins(service, user):
    return service.call(f"/v1/customers/{user}/coins")["balance"]


def test_a_machine_without_swift_tells_the_demos_story(machine):
    machine.install(packages()[-1])
    assert not list(machine.root.glob("**/libswift*.so"))
    assert re.fullmatch(r"\d+\.\d+\.\d+ \([0-9a-f]{12}(-dirty)?\)\n", machine.run("tollgate", "--version").stdout)
    # Its catalog is in the program.
    machine.run("tollgate", "demo", "--script")


def test_the_first_notification_after_the_installation(machine, apple):
    machine.install(packages()[-1])
    set_up(machine, apple)
    with machine.serving() as service:
        assert service.call("/healthz")
        buy(service, apple, 1, "jenny")
        assert coins(service, "jenny") == 100
    print(f"started in {machine.began_in:.2f} s, program of "
          f"{(machine.root / 'usr/bin/tollgate').stat().st_size / 1e6:.0f} MB")
    folder = machine.root / "var/lib/tollgate"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert (machine.root / "etc/tollgate/tollgate.env").stat().st_mode & 0o777 == 0o640


def test_the_images_health_check_tells_whether_the_server_answers(machine):
    """No registry of images is reached from here: the image is this file system with this program in it."""
    machine.install(packages()[-1])
    machine.settings(TOLLGATE_LISTEN=f"127.0.0.1:{machine.port}")
    text = (ROOT / "scripts/package/Containerfile").read_text()
    check = json.loads(re.search(r"^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$", text, re.MULTILINE)[1])
    check = [word.replace("8080", str(machine.port)) for word in check]
    with machine.serving():
        machine.run(*check)
    assert machine.run(*check, check=False).returncode != 0


def test_the_tarball_runs_without_an_installer(machine):
    # The libraries that the package names.
    machine.install(packages()[-1])
    (tarball,) = pathlib.Path(PACKAGES).glob("*.tar.gz")
    shutil.copy(tarball, machine.root / "root")
    machine.run("tar", "-xzf", f"/root/{tarball.name}", "-C", "/root")
    program = f"/root/{tarball.name.removesuffix('.tar.gz')}/tollgate"
    assert machine.run(program, "--version").stdout == machine.run("tollgate", "--version").stdout
    machine.run(program, "demo", "--script")
    print(f"{tarball.name}: {tarball.stat().st_size / 1e6:.1f} MB, "
          f"{packages()[-1].name}: {packages()[-1].stat().st_size / 1e6:.1f} MB")


def test_the_guide_leads_from_the_trial_to_live_keys(machine):
    """docs/deploy.md, section 3, as it is written."""
    machine.install(packages()[-1])
    machine.settings(TOLLGATE_LISTEN=f"127.0.0.1:{machine.port}")
    with machine.serving() as service:
        service.call("/v1/customers", b'{"app_user_id": "trial"}')
    guide = (ROOT / "docs/deploy.md").read_text().partition("## 3. Live keys")[2]
    (block,) = re.findall(r"```sh\n(.*?)```", guide.partition("\n## ")[0], re.DOTALL)
    block = re.sub(r"^systemctl .*\n", "", block.replace("sudo ", ""), flags=re.MULTILINE)
    machine.run("sh", "-ec", block.replace("YOUR.NAME", "billing.example.com"))
    settings = machine.environment()
    assert settings["TOLLGATE_SECRET_KEY"].startswith("sk_live_")
    assert settings["TOLLGATE_PUBLIC_URL"] == "https://billing.example.com"
    with machine.serving() as service:
        assert service.call("/v1/events") is not None


def test_an_upgrade_keeps_data_and_settings(machine, apple):
    """From the version before, with its schema and its engine."""
    machine.install(pathlib.Path(os.environ["TOLLGATE_PACKAGE_BEFORE"]))
    set_up(machine, apple)
    catalog = machine.root / "etc/tollgate/catalog.yaml"
    catalog.write_text(catalog.read_text() + "# Our own.\n")
    with machine.serving() as service:
        buy(service, apple, 1, "jenny")
    settings, sold = machine.environment(), catalog.read_text()
    machine.install(packages()[-1])
    assert machine.environment() == settings and catalog.read_text() == sold
    # Until the service has started, nothing else touches the data.
    refused = machine.run(*AS_THE_SERVICE, "tollgate", "staff", "add", "ann", check=False, **settings)
    assert refused.returncode == 1 and "tollgate serve" in refused.stderr, refused.stderr
    with machine.serving() as service:
        assert coins(service, "jenny") == 100
        buy(service, apple, 2, "jenny")
        assert coins(service, "jenny") == 200
    machine.run(*AS_THE_SERVICE, "tollgate", "rebuild", "--verify", **settings)
    assert {path.name for path in (machine.root / "var/lib/tollgate").iterdir()} <= {
        "tollgate.sqlite", "tollgate.sqlite-wal", "tollgate.sqlite-shm", "tollgate.sqlite.lock"}


@pytest.mark.parametrize("how", ["remove", "purge"])
def test_removal_keeps_the_data(machine, apple, how):
    machine.install(packages()[-1])
    set_up(machine, apple)
    with machine.serving() as service:
        buy(service, apple, 1, "jenny")
    catalog = machine.root / "etc/tollgate/catalog.yaml"
    catalog.write_text(catalog.read_text() + "# Our own.\n")
    machine.run("apt-get", how, "-y", "tollgate")
    assert not (machine.root / "usr/bin/tollgate").exists()
    assert catalog.read_text().endswith("# Our own.\n")
    machine.install(packages()[-1])
    with machine.serving() as service:
        assert coins(service, "jenny") == 100


def test_debians_tools_take_what_deploy_holds(machine):
    machine.install(packages()[-1])
    machine.run(
        "apt-get", "install", "-y", "--no-install-recommends", "prometheus", "caddy", "nginx-light", "openssl",
        "mandoc", "zsh", "fish")
    samples = "/usr/share/doc/tollgate/examples"
    machine.run("promtool", "check", "config", f"{samples}/prometheus/prometheus.yml")
    machine.run("promtool", "test", "rules", f"{samples}/prometheus/alerts_test.yml")
    machine.run("caddy", "validate", "--adapter", "caddyfile", "--config", f"{samples}/caddy/Caddyfile", HOME="/root")
    folder = "/etc/letsencrypt/live/billing.example.com"
    machine.run("mkdir", "-p", folder)
    machine.run(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/privkey.pem", "-out",
        f"{folder}/fullchain.pem", "-days", "1", "-subj", "/CN=billing.example.com")
    machine.run("cp", f"{samples}/nginx/tollgate.conf", "/etc/nginx/conf.d/")
    machine.run("nginx", "-t")
    machine.run("sh", "-c", "mandoc -T lint -W warning /usr/share/man/man1/tollgate*.1.gz")
    machine.run("zsh", "-n", "/usr/share/zsh/vendor-completions/_tollgate")
    machine.run("fish", "--no-execute", "/usr/share/fish/vendor_completions.d/tollgate.fish")


def test_a_copy_as_the_timer_makes_it_is_restored(machine, apple):
    machine.install(packages()[-1])
    set_up(machine, apple)
    command = re.search(
        r"^ExecStart=(.*)$", (ROOT / "deploy/systemd/tollgate-backup.service").read_text(), re.MULTILINE)[1]
    with machine.serving() as service:
        buy(service, apple, 1, "jenny")
        machine.run(*AS_THE_SERVICE, *command.split(), **machine.environment())
        buy(service, apple, 2, "jenny")
    (copy,) = (machine.root / "var/lib/tollgate/backups").glob("*.sqlite")
    for path in (machine.root / "var/lib/tollgate").glob("tollgate.sqlite*"):
        path.unlink()
    machine.run(
        *AS_THE_SERVICE, "tollgate", "restore", f"/var/lib/tollgate/backups/{copy.name}", "--no-reconcile",
        **machine.environment())
    with machine.serving() as service:
        assert coins(service, "jenny") == 100
