"""Staff who sign in with a second factor, judged by pyotp (P1)."""

import base64
import html
import os
import pathlib
import re
import subprocess
import time

import httpx
import pyotp
import pytest

from ports import free_port
from tollgate_world import BINARY, SECRET, Server

PASSWORD = "a sentence that is easy to remember"


def staff(database, *arguments, line=None):
    done = subprocess.run(
        [BINARY, "staff", *arguments], capture_output=True, text=True, timeout=60, input=line,
        env=os.environ | {"TOLLGATE_DATABASE": database, "TOLLGATE_SECRET_KEY": SECRET})
    assert done.returncode == 0, done.stderr
    return done.stdout


class Browser:
    """Keeps cookies, and sends forms with the token of the page before."""

    def __init__(self, server, address=None):
        headers = {"X-Forwarded-For": address} if address else {}
        self.client = httpx.Client(base_url=server.url, headers=headers, timeout=60)
        self.page = None

    def open(self, path, **form):
        data = {name: value for name, value in form.items()}
        self.page = (
            self.client.post(path, data=data, follow_redirects=True) if data
            else self.client.get(path, follow_redirects=True))
        return self.page

    def press(self, path, **form):
        return self.open(path, form=self.field("form"), **form)

    def field(self, name):
        found = re.search(rf'name="{name}" value="([^"]*)"', self.page.text)
        return html.unescape(found[1]) if found else None

    def sign_in(self, name="ann@example.com", password=PASSWORD):
        return self.open("/dashboard/sign-in", name=name, password=password, to="/dashboard/account")

    @property
    def is_in(self):
        return self.client.get("/dashboard/account").status_code == 200


def added(database, name="ann@example.com", role="admin"):
    staff(database, "add", name, "--role", role)
    staff(database, "password", name, "--stdin", line=PASSWORD + "\n")


@pytest.fixture
def world(tmp_path):
    """A database with an admin, and a way to serve it."""
    database = f"sqlite:{tmp_path}/staff.sqlite"
    added(database)
    servers = []

    def serve(**environment):
        port = free_port()
        servers.append(Server(database, port=port, environment={
            "TOLLGATE_PUBLIC_URL": f"http://127.0.0.1:{port}"} | environment))
        return servers[-1]

    yield database, serve
    for server in servers:
        if server.process.poll() is None:
            server.stop()


# A second factor

def enrolled(browser):
    """Sets a second factor up; gives the app's side of it, its first code, and the recovery codes."""
    browser.open("/dashboard/account/second-factor")
    page = browser.press("/dashboard/account/second-factor/begin", password=PASSWORD)
    uri = html.unescape(re.search(r'href="(otpauth:[^"]*)"', page.text)[1])
    app = pyotp.parse_uri(uri)
    assert app.name == "ann@example.com" and app.digits == 6 and app.interval == 30
    shown = re.search(r"<code>([A-Z2-7 ]+)</code>", page.text)[1]
    assert shown.replace(" ", "") == app.secret and all(len(g) == 4 for g in shown.split())
    code = app.now()
    page = browser.press("/dashboard/account/second-factor/confirm", code=code)
    codes = re.findall(r"<code>([a-z2-7-]{19})</code>", page.text)
    assert len(set(codes)) == 10
    return app, code, codes


def test_p1_a_second_factor_as_pyotp_makes_it(world):
    database, serve = world
    server = serve()
    here = Browser(server)
    here.sign_in()
    app, used, recovery = enrolled(here)

    other = Browser(server)
    page = other.sign_in()
    assert "Second factor" in page.text and not other.is_in
    token = other.field("token")
    # The code that turned it on was taken; the next one is taken once too.
    assert other.open("/dashboard/second-factor", token=token, code=used).status_code == 401
    code = app.at(time.time() + 30)
    assert other.open("/dashboard/second-factor", token=token, code=code).status_code == 200
    assert other.is_in
    third = Browser(server)
    third.sign_in()
    token = third.field("token")
    for wrong in (code, used, "0000000", " ", "abc"):
        assert third.open("/dashboard/second-factor", token=token, code=wrong).status_code == 401
    assert not third.is_in
    # Recovery codes work once each, typed as one likes.
    fourth = Browser(server)
    fourth.sign_in()
    spelled = recovery[0].upper().replace("-", " ")
    token = fourth.field("token")
    fourth.client.cookies.update(here.client.cookies)
    fourth.client.cookies.delete("tollgate_staff")
    assert fourth.open("/dashboard/second-factor", token=token, code=spelled).status_code == 200
    assert fourth.is_in
    fifth = Browser(server)
    fifth.client.cookies.update(here.client.cookies)
    fifth.client.cookies.delete("tollgate_staff")
    fifth.sign_in()
    token = fifth.field("token")
    assert fifth.open("/dashboard/second-factor", token=token, code=recovery[0]).status_code == 401
    assert fifth.open("/dashboard/second-factor", token=token, code=recovery[1]).status_code == 200
    # A finished sign-in is worth nothing a second time.
    assert fifth.open("/dashboard/second-factor", token=token, code=recovery[2]).status_code == 401

    # The secret and the codes lie nowhere as they are.
    server.stop()
    kept = b"".join(
        file.read_bytes()
        for file in pathlib.Path(database.removeprefix("sqlite:")).parent.glob("staff.sqlite*"))
    for secret in (app.secret, *recovery, *(code.replace("-", "") for code in recovery)):
        assert secret.encode() not in kept
    assert base64.b32decode(app.secret) not in kept

    # By command it is taken away, and everybody is signed out.
    staff(database, "reset-second-factor", "ann@example.com")
    server = serve()
    again = Browser(server)
    again.sign_in()
    assert again.is_in


def test_p1_an_admin_demands_it_of_all(world):
    database, serve = world
    added(database, "ben@example.com", "viewer")
    server = serve()
    ann, ben = Browser(server), Browser(server)
    ann.sign_in()
    ben.sign_in("ben@example.com")
    ann.open("/dashboard/staff")
    ann.press("/dashboard/staff/require-factor", required="true")
    for browser in (ann, ben):
        page = browser.open("/dashboard/customers")
        assert page.url.path == "/dashboard/account/second-factor"
        assert "demanded of everybody" in page.text
    enrolled(ann)
    assert ann.open("/dashboard/customers").url.path == "/dashboard/customers"
    assert ben.open("/dashboard/audit").url.path == "/dashboard/account/second-factor"
    # Nor do forms go around it.
    ben.open("/dashboard/account")
    assert ben.press("/dashboard/catalog/check", catalog="x").url.path.endswith("/second-factor")
    page = ann.open("/dashboard/audit")
    assert "Demanded a second factor of all" in page.text and "Turned on a second factor" in page.text
