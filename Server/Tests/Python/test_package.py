"""What `make package` makes, from the program under test: files, man pages, completions, the unit. The
packages themselves are installed in a root file system without Swift by test_installed.py.
"""

import gzip
import json
import os
import re
import shutil
import subprocess

import pytest

from tollgate_world import BINARY, ROOT


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, **options)


def needs(program):
    """The program, or the test is skipped: it belongs to a package that tests do not install."""
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The files of the package, unpacked."""
    needs("dpkg-deb")
    folder = tmp_path_factory.mktemp("package")
    made = run(
        "bash", str(ROOT / "scripts/package.sh"), "--binary", BINARY, "--out", str(folder),
        "--version", "1.2.3", "--compress", "none")
    assert made.returncode == 0, made.stdout + made.stderr
    (deb,) = folder.glob("tollgate_1.2.3_*.deb")
    (folder / "tree").mkdir()
    assert run("dpkg-deb", "-R", deb, folder / "tree").returncode == 0
    return folder / "tree"


@pytest.fixture(scope="module")
def commands():
    """Every command, by its words."""
    def below(words, command):
        yield words, command
        for one in command.get("subcommands", []):
            if one["commandName"] != "help":
                yield from below([*words, one["commandName"]], one)
    root = json.loads(run(BINARY, "--experimental-dump-help").stdout)["command"]
    return list(below(["tollgate"], root))


def test_the_package_names_what_it_needs(package):
    control = (package / "DEBIAN/control").read_text()
    assert "\nVersion: 1.2.3\n" in control
    depends = re.search(r"^Depends: (.*)$", control, re.MULTILINE)[1]
    for library in ("libc6 (>= ", "libsqlite3-0", "libpq5", "zlib1g", "libcurl4", "ca-certificates", "passwd"):
        assert library in depends, depends
    for script in ("postinst", "prerm", "postrm"):
        assert run("sh", "-n", package / "DEBIAN" / script).returncode == 0


def test_the_package_holds_no_keys(package):
    settings = (package / "usr/share/tollgate/tollgate.env").read_text()
    assert "\nTOLLGATE_SECRET_KEY=\n" in settings and "\nTOLLGATE_PUBLISHABLE_KEY=\n" in settings


def test_an_upgrade_asks_nothing_and_replaces_nothing(package):
    """dpkg would ask about a conffile that the team has edited, and remove it with --purge."""
    assert not (package / "etc").exists(), "settings and catalog are made on the machine"
    assert not (package / "DEBIAN/conffiles").exists()
    assert (package / "usr/share/tollgate/catalog.yaml").read_text() == (ROOT / "catalog.yaml").read_text()


def test_the_keys_that_are_made_at_installation_stand_in_no_command_line(tmp_path):
    """Every user of the machine may read the arguments of a command."""
    programs, log, settings = tmp_path / "bin", tmp_path / "log", tmp_path / "etc/tollgate.env"
    for folder in (programs, settings.parent):
        folder.mkdir()
    # Users are not made here; whatever else is called is called, after its arguments were written down.
    for name in ("getent", "chown", "chmod", "mkdir", "mv", "od", "tr", "sed", "cp"):
        call = "" if name in ("getent", "chown") else f'exec {shutil.which(name)} "$@"\n'
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{log}\n{call}')
        (programs / name).chmod(0o755)
    script = (ROOT / "scripts/package/debian/postinst").read_text()
    for there, here in [
            ("/usr/share/tollgate/tollgate.env", ROOT / "scripts/package/tollgate.env"),
            ("/usr/share/tollgate/catalog.yaml", ROOT / "catalog.yaml"),
            ("/etc/tollgate", settings.parent), ("/var/lib/tollgate", tmp_path / "lib"),
            ("/run/systemd/system", tmp_path / "none")]:
        script = script.replace(there, str(here))

    def configure():
        made = run("/bin/sh", "-c", script, "postinst", "configure", env={"PATH": str(programs)})
        assert made.returncode == 0, made.stderr
        return settings.read_text()

    text = configure()
    keys = re.findall(r"^TOLLGATE_(?:SECRET|PUBLISHABLE)_KEY=([sp]k_test_[0-9a-f]{64})$", text, re.MULTILINE)
    assert len(set(keys)) == 2
    calls = log.read_text()
    assert "od " in calls and not any(key[8:] in calls for key in keys)
    assert settings.stat().st_mode & 0o777 == 0o640
    catalog = settings.parent / "catalog.yaml"
    assert {path.name for path in settings.parent.iterdir()} == {"tollgate.env", "catalog.yaml"}
    assert catalog.read_text() == (ROOT / "catalog.yaml").read_text() and catalog.stat().st_mode & 0o777 == 0o644
    catalog.write_text("products: []\n")
    settings.write_text(text + "TOLLGATE_LISTEN=127.0.0.1:9000\n")
    assert configure() == text + "TOLLGATE_LISTEN=127.0.0.1:9000\n", "keys are made once"
    assert catalog.read_text() == "products: []\n"


@pytest.mark.parametrize("edited", [True, False])
def test_a_catalog_that_was_a_conffile_outlives_a_purge(tmp_path, edited):
    for program in ("dpkg-deb", "dpkg", "fakeroot"):
        needs(program)
    # Users are not made here.
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("getent", "chown"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    machine, state = tmp_path / "machine", tmp_path / "machine/var/lib/dpkg"
    catalog = machine / "etc/tollgate/catalog.yaml"
    for folder in (state / "info", state / "updates", machine / "usr/share/tollgate"):
        folder.mkdir(parents=True)
    (state / "status").write_text("")
    (machine / "usr/share/tollgate/catalog.yaml").write_text("products: []  # the sample\n")
    (machine / "usr/share/tollgate/tollgate.env").write_text("")

    def pack(version):
        tree = tmp_path / version
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(
            f"Package: tollgate\nVersion: {version}\nArchitecture: all\nMaintainer: x <x@localhost>\n"
            "Description: x\n")
        if version == "1":
            (tree / "etc/tollgate").mkdir(parents=True)
            (tree / "etc/tollgate/catalog.yaml").write_text("products: []  # as packed\n")
            (tree / "DEBIAN/conffiles").write_text("/etc/tollgate/catalog.yaml\n")
        else:
            for path in (ROOT / "scripts/package/debian").glob("p*"):
                script = path.read_text().replace(" /run/systemd/system", f" {tmp_path}/none")
                for folder in ("/etc/tollgate/", "/etc/tollgate\n", "/usr/share/tollgate/", "/var/lib/tollgate"):
                    script = re.sub(rf"(?<=[ =<>]){re.escape(folder)}", f"{machine}{folder}", script)
                (tree / "DEBIAN" / path.name).write_text(script)
                (tree / "DEBIAN" / path.name).chmod(0o755)
        assert run("dpkg-deb", "--build", tree, tmp_path / f"{version}.deb").returncode == 0
        return tmp_path / f"{version}.deb"

    def dpkg(*arguments):
        done = run(
            "fakeroot", "dpkg", f"--root={machine}", "--force-script-chrootless", "--force-not-root", *arguments,
            env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stdout + done.stderr

    dpkg("--install", pack("1"))
    if edited:
        catalog.write_text("products: []  # the team's own\n")
    text = catalog.read_text()
    dpkg("--install", pack("2"))
    assert catalog.read_text() == text
    listed = run("dpkg-query", f"--admindir={state}", "-W", "-f", "${Conffiles}", "tollgate")
    assert listed.stdout.strip() == ""
    dpkg("--purge", "tollgate")
    assert catalog.read_text() == text
    assert {path.name for path in catalog.parent.iterdir()} == {"catalog.yaml", "tollgate.env"}


def test_the_settings_of_the_package_are_settings(package):
    names = re.findall(r"^#?(TOLLGATE_\w+)=", (package / "usr/share/tollgate/tollgate.env").read_text(), re.M)
    source = (ROOT / "Server/Sources/TollgateCLI/Settings.swift").read_text()
    known = {"TOLLGATE_" + name for name in re.findall(r'"([A-Z_]+)"', source.partition("ofTests")[0])}
    assert names and set(names) <= known, set(names) - known


def test_the_program_is_stripped_and_still_runs(package):
    program = package / "usr/bin/tollgate"
    assert run(program, "--version").stdout == run(BINARY, "--version").stdout
    assert ".symtab" not in run("readelf", "-SW", program).stdout


def test_every_command_has_a_man_page_that_names_its_options(package, commands):
    assert len(commands) > 50
    for words, command in commands:
        file = package / "usr/share/man/man1" / ("-".join(words) + ".1.gz")
        page = run("gzip", "-dc", file).stdout.replace(r"\-", "-")
        assert page.startswith('.TH "'), file
        for argument in command.get("arguments", []):
            if argument["shouldDisplay"] and argument["kind"] != "positional":
                for name in argument["names"]:
                    assert name["name"] in page, (words, name)


def test_man_pages_are_without_fault(package, tmp_path):
    mandoc = needs("mandoc")
    pages = []
    for packed in sorted((package / "usr/share/man/man1").glob("*.1.gz")):
        pages.append(tmp_path / packed.stem)
        pages[-1].write_bytes(gzip.decompress(packed.read_bytes()))
    assert pages
    said = run(mandoc, "-T", "lint", "-W", "warning", *pages)
    assert said.returncode == 0, said.stdout


@pytest.mark.parametrize("shell, path, check", [
    ("bash", "usr/share/bash-completion/completions/tollgate", ["-n"]),
    ("zsh", "usr/share/zsh/vendor-completions/_tollgate", ["-n"]),
    ("fish", "usr/share/fish/vendor_completions.d/tollgate.fish", ["--no-execute"]),
])
def test_completions_are_scripts_of_their_shell(package, shell, path, check):
    text = (package / path).read_text()
    assert "check-access" in text and "--listen" in text or shell == "fish" and "listen" in text
    assert run(needs(shell), *check, package / path).returncode == 0


def test_bash_completes_the_command(package):
    script = package / "usr/share/bash-completion/completions/tollgate"
    said = run("bash", "-c", f"source '{script}' && complete -p tollgate")
    assert said.returncode == 0 and "tollgate" in said.stdout, said.stderr


@pytest.mark.parametrize("name", ["tollgate.service", "tollgate-backup.service"])
def test_the_units_are_hardened(name):
    unit = ROOT / "deploy/systemd" / name
    said = run(needs("systemd-analyze"), "security", "--offline=true", "--no-pager", unit)
    found = re.search(r"exposure level for [\w.-]+: ([\d.]+)", said.stdout)
    if not found:
        pytest.skip("this systemd-analyze reads no unit that is not installed")
    assert float(found[1]) <= 2.0
