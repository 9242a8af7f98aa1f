"""The sample app and its backend against the running sandbox: `tollgate demo`, Examples/Backend, and the
app's own screens and logic, rendered on stand-ins by AppleStubs' ExampleDriver.

TOLLGATE_BIN names the server. `make test` builds the driver before.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import pytest
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
DRIVER = ROOT / "AppleStubs/.build/debug/ExampleDriver"


def post(url, body=None, form=None, headers=None):
    """Status and body; redirects are not followed."""
    data = json.dumps(body).encode() if form is None else urllib.parse.urlencode(form).encode()
    kind = "application/json" if form is None else "application/x-www-form-urlencoded"
    request = urllib.request.Request(url, data, {"Content-Type": kind, **(headers or {})})

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        with urllib.request.build_opener(Stay).open(request, timeout=20) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


@contextlib.contextmanager
def running_demo(directory, catalog):
    process = subprocess.Popen(
        [
            os.environ.get("TOLLGATE_BIN", ROOT / "Server/.build/debug/tollgate"), "demo",
            "--listen", f"127.0.0.1:{free_port()}", "--app-store-listen", f"127.0.0.1:{free_port()}",
            "--stripe-listen", f"127.0.0.1:{free_port()}",
            "--google-play-listen", f"127.0.0.1:{free_port()}", "--database", f"sqlite:{directory}/demo.sqlite",
            "--catalog", catalog,
        ],
        stdout=subprocess.PIPE, text=True, cwd=directory)
    found = {}
    for line in process.stdout:
        if match := re.search(r"(Tollgate|the App Store|Stripe) +(http://\S+)", line):
            found[match.group(1)] = match.group(2)
        if "Control-C" in line:
            break
    yield found
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Addresses of Tollgate and the simulated App Store."""
    with running_demo(tmp_path_factory.mktemp("example"), ROOT / "catalog.yaml") as found:
        yield found


def start_backend(tollgate, listen="127.0.0.1:0"):
    process = subprocess.Popen(
        [sys.executable, ROOT / "Examples/Backend/backend.py"], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TOLLGATE_URL": tollgate, "LISTEN": listen})
    return process, re.search(r"http://\S+", process.stdout.readline()).group()


@pytest.fixture(scope="module")
def backend(demo):
    process, url = start_backend(demo["Tollgate"])
    yield url
    process.terminate()
    process.wait(timeout=20)


class App:
    """The sample app in a process of its own."""

    def __init__(self, tollgate, backend):
        assert DRIVER.exists(), "build the app: bash scripts/swift.sh build --package-path AppleStubs"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BILLING_")}
        self.process = subprocess.Popen(
            [DRIVER, tollgate, "pk_test_demo", backend], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        wrong = ("waited in vain", "no button", "no page", "the page stays open")
        assert answer and not answer.startswith(wrong), answer
        return answer

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=20) == 0


@pytest.fixture
def app(demo, backend):
    app = App(demo["Tollgate"], backend)
    yield app
    app.stop()


def login(backend, name):
    status, body, _ = post(backend + "/login", {"name": name})
    assert status == 200
    return json.loads(body)["token"]


# What an app's backend answers, word for word.

@pytest.mark.parametrize("path", ["/authenticate", "/customer-session"])
def test_the_backend_gives_a_session_in_the_documented_body(backend, path):
    token = login(backend, "reader")
    status, body, _ = post(backend + path, {}, headers={"Authorization": f"Bearer {token}"})
    session = json.loads(body)
    assert status == 200 and set(session) == {"clientSecret", "expiresAt", "customer"}
    assert session["clientSecret"].startswith("cuss_secret_")
    assert isinstance(session["expiresAt"], int) and session["expiresAt"] < 10 ** 11
    assert session["customer"].startswith("cus_")


@pytest.mark.parametrize("path", ["/authenticate", "/customer-session"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer stranger"}])
def test_nobody_gets_no_session(backend, path, headers):
    status, body, _ = post(backend + path, {}, headers=headers)
    assert (status, json.loads(body)) == (401, {"error": {"type": "no_session_present"}})
    status, body, _ = post(backend + "/create-checkout-session?token=stranger", {})
    assert (status, json.loads(body)) == (401, {"error": {"type": "no_session_present"}})


def test_a_failure_of_the_backend_tells_nothing_else():
    process, url = start_backend("http://127.0.0.1:1")
    try:
        token = login(url, "reader")
        status, body, _ = post(
            url + "/customer-session", {}, headers={"Authorization": f"Bearer {token}"})
        assert status == 500
        assert json.loads(body) == {"error": {"message": "Internal server error"}}
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_a_checkout_is_for_the_customer_who_is_made_first(backend, demo):
    token = login(backend, "buyer")
    query = urllib.parse.urlencode({"token": token})
    status, body, _ = post(f"{backend}/create-checkout-session?{query}", {})
    assert status == 200 and set(json.loads(body)) == {"url"}
    assert json.loads(body)["url"].startswith(demo["Stripe"])
    status, _, _ = post(
        demo["Tollgate"] + "/v1/customers", {"app_user_id": "buyer"},
        headers={"Authorization": "Bearer sk_test_demo"})
    assert status == 200  # known already


# The app.

def pay(page):
    """Pays on the sandbox's checkout page; the address that leads back."""
    session = page.split("?")[0].split("#")[0].rsplit("/", 1)[-1]
    base = "/".join(page.split("/", 3)[:3])
    status, _, headers = post(f"{base}/c/pay/{session}", form={"wallet": "reader@example.com"})
    assert status in (302, 303), status
    return urllib.parse.urljoin(base, headers["Location"])


def test_coins_are_bought_on_the_web_and_come_back_by_link(app):
    assert "Sign in" in app("wait", "Sign in")
    app("sign-in", "web-buyer")
    app("wait", "0 coins")
    app("press", "Buy 100 coins")
    page = app("opened")
    # The link alone is not believed.
    session = re.search(r"cs_\w+", page).group()
    link = f"https://billing.example.com/checkout_redirect/success?session_id={session}"
    assert "being processed" in app("link", link)
    assert "0 coins" in app("show")
    back = pay(page)
    assert "Your purchase is ready" in app("link", back)
    app("wait", "100 coins")
    assert "You were not charged" in app(
        "link", "https://billing.example.com/checkout_redirect/cancel")
    assert "100 coins" in app("show")


def test_a_sign_in_outlives_the_app_until_signing_out(app):
    app("wait", "Sign in")
    app("sign-in", "regular")
    app("wait", "0 coins")
    assert "Sign in" not in app("relaunch")
    app("wait", "0 coins")
    app("press", "Sign out")
    app("wait", "Sign in")
    assert "Sign in" in app("relaunch")


def test_a_sign_out_that_cannot_be_saved_signs_nobody_in_again(app):
    app("wait", "Sign in")
    app("sign-in", "regular")
    app("wait", "0 coins")
    app("lock-keychain")
    app("press", "Sign out")
    app("wait", "could not be saved")
    # Asking for an entitlement asks the provider, which must not read the old sign-in.
    assert app("has", "pro") != "true"
    assert "Sign in" in app("show")


def test_a_sign_in_that_the_backend_has_ended_asks_for_another(demo):
    process, url = start_backend(demo["Tollgate"])
    app = App(demo["Tollgate"], url)
    try:
        app("wait", "Sign in")
        app("sign-in", "regular")
        app("wait", "0 coins")
        # It keeps its tokens in memory.
        process.terminate()
        process.wait(timeout=20)
        process, _ = start_backend(demo["Tollgate"], listen=url.split("//")[1])
        app("relaunch")
        app("wait", "Sign in")
    finally:
        app.stop()
        process.terminate()
        process.wait(timeout=20)


def test_a_promoted_purchase_waits_for_its_owner_and_opens_the_feature(app, demo):
    app("promote", "com.example.app.pro.monthly")
    app("sign-in", "promoted-buyer")
    assert "Subscribe" in app("wait", "Subscribe")
    app("wait", "You chose com.example.app.pro.monthly")
    assert app("has", "pro") == "false"
    status, body, _ = post(
        demo["the App Store"] + "/sandbox/purchases",
        {"product_id": "com.example.app.pro.monthly"})
    assert status == 201, body
    signed = next(v for v in json.loads(body).values() if str(v).count(".") == 2 and len(v) > 500)
    app("sell", signed)
    app("press", "Continue")
    app("wait", "Here is what only Pro customers see.")
    screen = app("wait", "Your purchase is ready")
    assert "You chose" not in screen


def test_purchases_are_managed_in_the_portal(app, demo):
    app("sign-in", "manager")
    app("wait", "0 coins")
    app("press", "Manage purchases")
    link = app("page")
    # As a browser: the link works once and gives a cookie.
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(link, timeout=20) as portal:
        assert "manager" in portal.read().decode()
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(link, timeout=20)
    # What changes while the page is open is seen once it is closed.
    backend = {"Authorization": "Bearer sk_test_demo"}
    _, body, _ = post(
        demo["Tollgate"] + "/v1/customers", {"app_user_id": "manager"}, headers=backend)
    status, _, _ = post(
        f"{demo['Tollgate']}/v1/customers/{json.loads(body)['id']}/grants", {"lookup_key": "pro"},
        headers=backend)
    assert status == 201
    assert "Here is what only Pro customers see." not in app("show")
    app("close")
    app("wait", "Here is what only Pro customers see.")
    # Each visit gets a link of its own.
    app("press", "Manage purchases")
    assert app("page") != link
    app("close")


def test_what_began_in_the_app_store_waits_for_terms_and_for_the_age(tmp_path):
    catalog = (ROOT / "catalog.yaml").read_text() + """
gates:
  terms_version: "2026-01"
  terms_url: https://example.com/terms
  subscription_terms_version: "2026-02"
  subscription_terms_url: https://example.com/subscription-terms
  minimum_age: 13
  parental_consent_below: 18
"""
    (tmp_path / "catalog.yaml").write_text(catalog)
    with running_demo(tmp_path, tmp_path / "catalog.yaml") as demo:
        process, backend = start_backend(demo["Tollgate"])
        app = App(demo["Tollgate"], backend)

        def session(name):
            token = login(backend, name)
            _, body, _ = post(
                backend + "/customer-session", {}, headers={"Authorization": f"Bearer {token}"})
            return {"Authorization": "Bearer " + json.loads(body)["clientSecret"]}

        def consents(name="careful"):
            request = urllib.request.Request(
                demo["Tollgate"] + "/v1/consents", headers=session(name))
            with urllib.request.urlopen(request, timeout=20) as answer:
                said = json.loads(answer.read())
            terms = {(one["document"], one["version"]) for one in said["terms"]}
            age = said["age"] and (said["age"]["at_least"], said["age"].get("below"))
            return terms, age, (said["parental_consent"] or {}).get("given")

        try:
            app("promote", "com.example.app.pro.monthly")
            app("sign-in", "careful")
            screen = app("wait", "I accept the terms")
            assert screen.count("Read the terms") == 2 and "Continue" not in screen
            assert consents() == (set(), None, None)
            app("press", "I accept the terms")
            # A plan is nothing that an age is asked for.
            screen = app("wait", "You chose com.example.app.pro.monthly")
            assert "I accept the terms" not in screen and "Continue" in screen
            accepted = {("terms", "2026-01"), ("subscription_terms", "2026-02")}
            assert consents() == (accepted, None, None)
            app("press", "No, thank you")
            assert "Put off" not in app("gone", "You chose")

            app("promote", "com.example.app.coins100", "once")
            screen = app("wait", "I am 13 to 17")
            assert "I am younger than 13" in screen and "I am 18 or older" in screen
            assert "I accept the terms" not in screen and "Continue" not in screen
            app("press", "I am younger than 13")
            assert "Continue" not in app("wait", "You are too young for this purchase.")
            assert consents() == (accepted, (0, 13), None)
            app("press", "Remove")
            app("gone", "You are too young")
            app("press", "Sign out")

            app("wait", "Sign in")
            app("sign-in", "teen")
            app("wait", "0 coins")
            app("promote", "com.example.app.coins100", "once")
            app("wait", "I accept the terms")
            app("press", "I accept the terms")
            app("wait", "I am 13 to 17")
            app("press", "I am 13 to 17")
            assert "Continue" not in app("wait", "Ask a parent.")
            app("press", "I am the parent, and I agree")
            screen = app("wait", "You chose com.example.app.coins100")
            assert "Continue" in screen
            assert consents("teen") == (accepted, (13, 18), True)
            # Put off, it asks no more, and is taken up again when the customer wants it.
            app("press", "Later")
            assert "Continue" not in app("wait", "You chose com.example.app.coins100 earlier")
            app("press", "Go on with it")
            assert "Continue" in app("wait", "You chose com.example.app.coins100 in the App Store")
            app("press", "No, thank you")
            app("gone", "You chose")
            app("press", "Sign out")

            # A guardian has declared a range that lies on both sides of 13: what is asked lies in it.
            status, _, _ = post(demo["Tollgate"] + "/v1/consents", {
                "terms": [{"document": "terms", "version": "2026-01"}],
                "age": {"at_least": 10, "below": 16, "declaration": "guardian_declared"},
            }, headers=session("ward"))
            assert status == 200
            app("wait", "Sign in")
            app("sign-in", "ward")
            app("wait", "0 coins")
            app("promote", "com.example.app.coins100", "once")
            screen = app("wait", "I am 13 to 15")
            assert "I am 10 to 12" in screen
            assert "or older" not in screen and "13 to 17" not in screen
            app("press", "I am 13 to 15")
            app("wait", "Ask a parent.")
            assert consents("ward")[1] == (13, 16)
        finally:
            app.stop()
            process.terminate()
            process.wait(timeout=20)


def test_signing_out_leaves_nothing_for_the_next_customer(app):
    app("sign-in", "web-buyer")
    app("wait", "100 coins")
    app("press", "Sign out")
    screen = app("wait", "Sign in")
    assert "coins" not in screen
    app("sign-in", "somebody-new")
    app("wait", "0 coins")
    assert app("has", "pro") == "false"
