"""Staff who sign in: a second factor, judged by pyotp (Z2); an issuer of OpenID Connect, played here with
PyJWT, and what attackers would bring back from it (Z3).
"""

import base64
import hashlib
import hmac
import html
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import urllib.parse

import httpx
import jwt
import pyotp
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from keys import key
from ports import free_port
from tollgate_world import BINARY, ROOT, SECRET, Server

PASSWORD = "a sentence that is easy to remember"
CLIENT = "tollgate-dashboard"
CLIENT_SECRET = "a secret: with +signs"


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


def test_z2_a_second_factor_as_pyotp_makes_it(world):
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


def test_z2_an_admin_demands_it_of_all(world):
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
        assert "Everybody here needs a second factor" in page.text
    enrolled(ann)
    assert ann.open("/dashboard/customers").url.path == "/dashboard/customers"
    assert ben.open("/dashboard/audit").url.path == "/dashboard/account/second-factor"
    # Nor do forms go around it.
    ben.open("/dashboard/account")
    assert ben.press("/dashboard/catalog/check", catalog="x").url.path.endswith("/second-factor")
    page = ann.open("/dashboard/audit")
    assert "Changed whether a second factor is required" in page.text and "Turned on a second factor" in page.text


# An issuer

class Issuer(http.server.ThreadingHTTPServer):
    """An issuer of OpenID Connect: discovery, keys, and tokens for the codes that the test hands out."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Issuer.Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.keys = {
            "r1": rsa.generate_private_key(65537, 2048), "e1": ec.generate_private_key(ec.SECP256R1())}
        self.codes = {}
        self.calls = []
        self.redirects = False
        # What it tells at its userinfo endpoint; none where it has no such endpoint.
        self.userinfo = None
        self.access = "an-access-token"
        # What else it says of itself.
        self.discovery = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def jwks(self):
        found = []
        for kid, key in self.keys.items():
            kind = jwt.algorithms.RSAAlgorithm if kid[0] == "r" else jwt.algorithms.ECAlgorithm
            found.append(json.loads(kind.to_jwk(key.public_key())) | {"kid": kid, "use": "sig"})
            found[-1].pop("key_ops", None)
        return {"keys": found}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.calls.append(self.path)
            issuer = self.server.url
            if self.path == "/userinfo":
                isOpen = self.headers["Authorization"] == f"Bearer {self.server.access}"
                return self.say(self.server.userinfo if isOpen else {}, 200 if isOpen else 401)
            self.say({
                "/.well-known/openid-configuration": {
                    "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize",
                    "token_endpoint": f"{issuer}/token", "jwks_uri": f"{issuer}/jwks",
                } | ({} if self.server.userinfo is None else {"userinfo_endpoint": f"{issuer}/userinfo"})
                | self.server.discovery,
                "/jwks": self.server.jwks(),
            }[self.path])

        def do_POST(self):
            self.server.calls.append(self.path)
            if self.server.redirects:
                self.send_response(307)
                self.send_header("Location", f"{self.server.url}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return None
            form = dict(urllib.parse.parse_qsl(
                self.rfile.read(int(self.headers["Content-Length"])).decode()))
            token, challenge, redirect = self.server.codes.pop(form["code"], (None, None, None))
            proof = base64.urlsafe_b64encode(
                hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
            basic = base64.b64decode(self.headers["Authorization"].split()[1]).decode()
            secret = ":".join(map(urllib.parse.unquote, basic.split(":")))
            if (not token or proof != challenge or form["redirect_uri"] != redirect
                    or secret != f"{CLIENT}:{CLIENT_SECRET}"):
                return self.say({"error": "invalid_grant"}, 400)
            self.say({"access_token": self.server.access, "token_type": "Bearer", "id_token": token})

        def say(self, value, status=200):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.shutdown()


def served(folder, issuer):
    database = f"sqlite:{folder}/staff.sqlite"
    added(database)
    port = free_port()
    return Server(database, port=port, environment={
        "TOLLGATE_PUBLIC_URL": f"http://127.0.0.1:{port}", "TOLLGATE_OIDC_ISSUER": issuer.url,
        "TOLLGATE_OIDC_CLIENT_ID": CLIENT, "TOLLGATE_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "TOLLGATE_OIDC_NAME": "Example Login", "TOLLGATE_OIDC_DOMAIN": "staff.example"})


@pytest.fixture(scope="module")
def shop(tmp_path_factory, issuer):
    """A server whose staff may sign in at the issuer."""
    server = served(tmp_path_factory.mktemp("oidc"), issuer)
    yield server
    server.stop()


class SignIn:
    """One sign-in, as far as the issuer's page."""

    def __init__(self, shop, issuer):
        self.issuer = issuer
        self.browser = Browser(shop, f"203.0.113.{len(issuer.calls) % 250}")
        answer = self.browser.client.get("/dashboard/oidc")
        assert answer.status_code == 303, answer.text
        address = urllib.parse.urlsplit(answer.headers["location"])
        assert answer.headers["location"].startswith(issuer.url + "/authorize?")
        self.query = dict(urllib.parse.parse_qsl(address.query))
        assert self.query["response_type"] == "code" and "openid" in self.query["scope"]
        assert self.query["code_challenge_method"] == "S256"

    def claims(self, **changes):
        now = int(time.time())
        claims = {
            "iss": self.issuer.url, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 300,
            "nonce": self.query["nonce"], "email": "Ann@Example.com", "email_verified": True,
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def signed(self, kid="r1", headers=None, key=None, algorithm=None, **changes):
        return jwt.encode(
            self.claims(**changes), key or self.issuer.keys[kid],
            algorithm=algorithm or ("RS256" if kid[0] == "r" else "ES256"),
            headers={"kid": kid} | (headers or {}))

    def come_back(self, token, browser=None, **changes):
        code = f"code-{time.monotonic_ns()}"
        self.issuer.codes[code] = (
            token, self.query["code_challenge"], self.query["redirect_uri"])
        query = {"code": code, "state": self.query["state"]} | changes
        path = urllib.parse.urlsplit(self.query["redirect_uri"]).path
        answer = (browser or self.browser).client.get(path, params={
            name: value for name, value in query.items() if value is not None})
        return answer.status_code


@pytest.fixture
def sign_in(shop, issuer):
    return SignIn(shop, issuer)


@pytest.mark.parametrize("kid", ["r1", "e1"])
def test_z3_staff_signs_in_at_the_issuer(sign_in, shop, kid):
    assert "Sign in with Example Login" in Browser(shop).open("/dashboard/sign-in").text
    assert sign_in.come_back(sign_in.signed(kid), iss=sign_in.issuer.url) == 303
    page = sign_in.browser.open("/dashboard/account")
    assert "ann@example.com" in page.text and "Admin" in page.text


def forged(sign_in, header, signature=b""):
    part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=").decode()
    return ".".join((
        part(json.dumps(header).encode()), part(json.dumps(sign_in.claims()).encode()),
        part(signature)))


def confused(sign_in):
    """HS256 with the public RSA key as the secret."""
    pem = sign_in.issuer.keys["r1"].public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    text = forged(sign_in, {"alg": "HS256", "kid": "r1"}).rstrip(".")
    mac = hmac.new(pem, text.encode(), "sha256").digest()
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def with_own_key(sign_in):
    """The attacker's key in the token's own header."""
    own = ec.generate_private_key(ec.SECP256R1())
    jwk = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(own.public_key()))
    return sign_in.signed("e1", key=own, headers={"jwk": jwk})


ATTACKS = {
    "no algorithm": lambda s: forged(s, {"alg": "none", "kid": "r1"}),
    "no algorithm, in capitals": lambda s: forged(s, {"alg": "NONE"}),
    "HS256 with the public key": confused,
    "a key of its own": with_own_key,
    "RS256 by the name of the other key": lambda s: s.signed("r1", headers={"kid": "e1"}),
    "a key that nobody knows": lambda s: s.signed(
        "e1", key=ec.generate_private_key(ec.SECP256R1()), headers={"kid": "e9"}),
    "another algorithm": lambda s: s.signed("r1", algorithm="RS512"),
    "a padding of another kind": lambda s: s.signed("r1", algorithm="PS256"),
    "what must be understood": lambda s: s.signed(headers={"crit": ["b64"], "b64": True}),
    "a changed claim": lambda s: ".".join((
        s.signed().split(".")[0], s.signed(sub="2").split(".")[1], s.signed().split(".")[2])),
    "another client": lambda s: s.signed(aud="another"),
    "no client": lambda s: s.signed(aud=None),
    "several clients": lambda s: s.signed(aud=[CLIENT, "another"]),
    "another client's": lambda s: s.signed(azp="another"),
    "another issuer": lambda s: s.signed(iss="https://evil.example"),
    "another issuer's slash": lambda s: s.signed(iss=s.issuer.url + "/"),
    "expired": lambda s: s.signed(exp=int(time.time()) - 120),
    "without an end": lambda s: s.signed(exp=None),
    "from the future": lambda s: s.signed(iat=int(time.time()) + 600),
    "another nonce": lambda s: s.signed(nonce="0" * 64),
    "no nonce": lambda s: s.signed(nonce=None),
    "an email that is not verified": lambda s: s.signed(email_verified=False),
    "an email of which nothing is said": lambda s: s.signed(email_verified=None),
    "no email": lambda s: s.signed(email=None),
    "two emails in one": lambda s: s.signed(email="ann@example.com@evil.example"),
    "no subject": lambda s: s.signed(sub=None),
    "an empty subject": lambda s: s.signed(sub=""),
    "a subject that is too long": lambda s: s.signed(sub="1" * 256),
    "no token": lambda s: "x.y.z",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_z3_a_token_that_is_wrong_signs_nobody_in(sign_in, attack):
    assert sign_in.come_back(ATTACKS[attack](sign_in)) == 401
    assert not sign_in.browser.is_in


def test_z3_an_answer_counts_once_and_in_one_browser(sign_in, shop, issuer):
    other = SignIn(shop, issuer)
    # Another sign-in's state, nonce and browser; another issuer's answer; no code.
    assert sign_in.come_back(sign_in.signed(), state=other.query["state"]) == 401
    assert other.come_back(other.signed(nonce=sign_in.query["nonce"])) == 401
    fresh = SignIn(shop, issuer)
    assert fresh.come_back(fresh.signed(), browser=Browser(shop)) == 401
    for changes in ({"state": None}, {"code": None}, {"iss": "https://evil.example"}):
        assert fresh.come_back(fresh.signed(), **changes) == 401
    # What was refused before anything was asked used nothing up; what was taken is used up.
    cookies = dict(fresh.browser.client.cookies)
    assert fresh.come_back(fresh.signed()) == 303
    again = Browser(shop)
    again.client.cookies.set("tollgate_oidc", cookies["tollgate_oidc"])
    assert fresh.come_back(fresh.signed(), browser=again) == 401


def test_z3_nobody_gets_an_account_but_by_the_domain(shop, issuer):
    stranger = SignIn(shop, issuer)
    assert stranger.come_back(stranger.signed(email="eve@example.com")) == 403
    evil = SignIn(shop, issuer)
    assert evil.come_back(evil.signed(email="eve@evil-staff.example")) == 403
    colleague = SignIn(shop, issuer)
    assert colleague.come_back(colleague.signed(email="cy@staff.example")) == 303
    page = colleague.browser.open("/dashboard/account")
    assert "cy@staff.example" in page.text and "Viewer" in page.text


def test_z3_who_was_removed_does_not_come_back_by_the_issuer(shop, issuer):
    admin = Browser(shop)
    admin.sign_in()
    first = SignIn(shop, issuer)
    assert first.come_back(first.signed(email="fay@staff.example")) == 303
    admin.open("/dashboard/staff")
    admin.press("/dashboard/staff/remove", name="fay@staff.example")
    assert not first.browser.is_in
    again = SignIn(shop, issuer)
    assert again.come_back(again.signed(email="fay@staff.example")) == 403
    # An admin may take them on again.
    admin.open("/dashboard/staff")
    admin.press("/dashboard/staff/add", name="fay@staff.example", role="support")
    invited = SignIn(shop, issuer)
    assert invited.come_back(invited.signed(email="fay@staff.example")) == 303


def test_z3_a_code_and_the_clients_secret_follow_no_redirection(shop, issuer):
    led_astray = SignIn(shop, issuer)
    issuer.redirects = True
    try:
        assert led_astray.come_back(led_astray.signed()) in (401, 502)
    finally:
        issuer.redirects = False
    assert "/token" in issuer.calls and "/elsewhere" not in issuer.calls


def test_z3_the_issuer_changes_its_keys(shop, issuer):
    before = SignIn(shop, issuer)
    assert before.come_back(before.signed()) == 303
    asked = issuer.calls.count("/jwks")
    many = SignIn(shop, issuer)
    assert many.come_back(many.signed("e1", headers={"kid": "e7"})) == 401
    # Names that nobody knows have the keys read again once a minute at most.
    assert issuer.calls.count("/jwks") <= asked + 1


def test_z3_a_second_factor_is_asked_for_after_the_issuer_too(shop, issuer):
    first = SignIn(shop, issuer)
    assert first.come_back(first.signed(email="dee@staff.example")) == 303
    browser = first.browser
    browser.open("/dashboard/account/second-factor")
    page = browser.press("/dashboard/account/second-factor/begin")
    app = pyotp.parse_uri(html.unescape(re.search(r'href="(otpauth:[^"]*)"', page.text)[1]))
    browser.press("/dashboard/account/second-factor/confirm", code=app.now())
    second = SignIn(shop, issuer)
    assert second.come_back(second.signed(email="dee@staff.example")) == 200
    assert not second.browser.is_in


# An issuer that tells emails at its userinfo endpoint only


@pytest.fixture(scope="module")
def sparing(tmp_path_factory):
    """An issuer whose ID tokens say little, and a server whose staff may sign in there."""
    issuer = Issuer()
    issuer.userinfo = {}
    server = served(tmp_path_factory.mktemp("userinfo"), issuer)
    yield server, issuer
    server.stop()
    issuer.shutdown()


ANN = {"sub": "1", "email": "Ann@Example.com", "email_verified": True}


@pytest.mark.parametrize("said", [
    {"email": None, "email_verified": None}, {"email_verified": None}, {"email": None},
    # Entra's: an email of which nothing is said beside a name of its own.
    {"email": "other@example.com", "email_verified": None, "preferred_username": "ann@example.com"},
])
def test_z3_an_email_that_only_userinfo_tells_signs_in(sparing, said):
    shop, issuer = sparing
    issuer.userinfo = ANN
    sign_in = SignIn(shop, issuer)
    assert sign_in.come_back(sign_in.signed(**said)) == 303
    assert "ann@example.com" in sign_in.browser.open("/dashboard/account").text


@pytest.mark.parametrize("told", [
    # Somebody else's answer (OpenID Connect Core 1.0 §5.3.2), or nobody's.
    ANN | {"sub": "2"}, {name: ANN[name] for name in ("email", "email_verified")}, ANN | {"sub": 1},
    ANN | {"email_verified": False}, {"sub": "1", "email": "ann@example.com"}, {"sub": "1"}, {}, [],
    ANN | {"email": "ann@example.com@evil.example"}, "ann@example.com",
])
def test_z3_a_wrong_answer_of_userinfo_signs_nobody_in(sparing, told):
    shop, issuer = sparing
    issuer.userinfo = told
    sign_in = SignIn(shop, issuer)
    assert sign_in.come_back(sign_in.signed(email_verified=None)) in (401, 502)
    assert not sign_in.browser.is_in


def test_z3_userinfo_is_asked_only_where_the_token_does_not_say(sparing):
    shop, issuer = sparing
    issuer.userinfo = ANN | {"email": "eve@staff.example"}
    issuer.calls.clear()
    certain = SignIn(shop, issuer)
    assert certain.come_back(certain.signed()) == 303
    assert "ann@example.com" in certain.browser.open("/dashboard/account").text
    # What the token calls not verified no other answer makes so.
    denied = SignIn(shop, issuer)
    assert denied.come_back(denied.signed(email_verified=False)) == 401
    # A forged token has nothing asked.
    forged = SignIn(shop, issuer)
    assert forged.come_back(forged.signed(email=None, nonce="0" * 64)) == 401
    assert "/userinfo" not in issuer.calls
    # An access token that does not open it, or that would break a header.
    for access in ("", "x\r\nX-Evil: 1"):
        token, issuer.access = issuer.access, access
        refused = SignIn(shop, issuer)
        handed = refused.signed(email=None)
        try:
            assert refused.come_back(handed) in (401, 502)
        finally:
            issuer.access = token


@pytest.mark.parametrize("address", [None, 7, "", "http://login.example.com/userinfo"])
def test_z3_a_userinfo_endpoint_that_is_no_safe_address_is_missed_only_where_it_is_needed(
        tmp_path, address):
    issuer = Issuer()
    issuer.discovery = {"userinfo_endpoint": address}
    server = served(tmp_path, issuer)
    try:
        certain = SignIn(server, issuer)
        assert certain.come_back(certain.signed()) == 303
        needing = SignIn(server, issuer)
        assert needing.come_back(needing.signed(email=None)) == 401
    finally:
        server.stop()
        issuer.shutdown()


@pytest.mark.parametrize("environment", [
    {"TOLLGATE_OIDC_ISSUER": "http://login.example.com", "TOLLGATE_OIDC_CLIENT_ID": "x"},
    {"TOLLGATE_OIDC_ISSUER": "https://login.example.com"},
    {"TOLLGATE_OIDC_CLIENT_ID": "x"},
])
def test_z3_serve_refuses_an_issuer_that_is_half_set_up(tmp_path, environment):
    done = subprocess.run(
        [BINARY, "serve"], capture_output=True, text=True, timeout=60, env=os.environ | {
            "TOLLGATE_DATABASE": f"sqlite:{tmp_path}/t.sqlite", "TOLLGATE_SECRET_KEY": SECRET,
            "TOLLGATE_PUBLISHABLE_KEY": key("pk", "staff"),
            "TOLLGATE_LISTEN": "127.0.0.1:0",
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml")} | environment)
    assert done.returncode == 2 and "TOLLGATE_OIDC_" in done.stderr
