"""README and the guides of docs/, walked as they are written: each command in a fence of the language
`sh`, in order, against the sandbox. Commands that cannot run here (a build, a store's own server, hours
of work) stand in fences of the language `text`.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import re
import shutil
import types
import urllib.error
import urllib.request

import pytest

import guide
from keys import key
from ports import free_port
from test_webhooks import ALLOWED, Receiver
from tollgate_world import Apple, SECRET, Server
from waiting import until

PUBLISHABLE = key("pk", "crash")
README = "../README.md"

# The test that walks the fenced commands below each heading.
WALKED = {
    "README.md": {"Five minutes with the demo": "test_guides.py"},
    "docs/app-store.md": {
        "2. What you sell": "test_app_store_commands.py",
        "3. Start the server": "test_app_store_commands.py",
        "5. The first notification": "test_app_store_commands.py",
        "Nothing missed": "test_guides.py",
        "Without an account": "test_app_store_commands.py",
    },
    "docs/dashboard.md": {
        "Letting people in": "test_guides.py",
        "A second factor": "test_guides.py",
        "The audit log": "test_guides.py",
    },
    "docs/google-play.md": {
        "4. Start the server": "test_guides.py",
        "5. The first purchase": "test_guides.py",
        "Nothing missed": "test_guides.py",
        "Purchases of an earlier system": "test_guides.py",
        "Without an account": "test_guides.py",
    },
    "docs/reports.md": {"": "test_guides.py"},
    "docs/sandbox.md": {
        "Stripe": "test_sandbox_guide.py",
        "The App Store": "test_sandbox_guide.py",
        "Google Play": "test_google_play_library.py",
    },
    "docs/scenarios.md": {"Play scenarios": "test_guides.py"},
    "docs/stripe.md": {
        "1. A purchase on your machine": "test_stripe_commands.py",
        "5. Nothing missed": "test_stripe_commands.py",
        "6. An account that exists": "test_stripe_commands.py",
    },
    "docs/webhooks.md": {"Begin": "test_guides.py"},
}


def commands(block):
    """The commands of a block, each with the lines that continue it."""
    return [
        line for line in re.sub(r"\\\n\s*", " ", block).strip().splitlines()
        if not line.lstrip().startswith("#")
    ]


def substituted(text, *pairs):
    """The text with this machine's values in place of the guide's, each of which must be there."""
    for given, here in pairs:
        assert given in text, f"the guide no longer has {given}"
        text = text.replace(given, here)
    return text


def blocks(file, title, count):
    found = guide.section(file, title)
    assert len(found) == count, f"{file}, {title}: the guide has other steps than this test"
    return found


def asked(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(
            urllib.request.Request(url, data, method=method), timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text.startswith((b"{", b"[")) else text.decode()


@pytest.fixture
def shell(tmp_path):
    """A shell in a folder that has what a clone of the repository has: the catalog and the program."""
    made = guide.Shell(tmp_path, {})
    shutil.copy(guide.ROOT / "catalog.yaml", tmp_path)
    built = tmp_path / "Server/.build/debug"
    built.mkdir(parents=True)
    (built / "tollgate").symlink_to(guide.TOLLGATE)
    yield made
    made.end()


@pytest.mark.parametrize("document", WALKED)
def test_every_fenced_command_of_the_guides_has_a_test_that_walks_it(document):
    heading, fenced = "", set()
    for line in (guide.ROOT / document).read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        if line.lstrip() == "```sh":
            fenced.add(heading)
    walked = WALKED[document]
    assert fenced == set(walked), (
        "name the test that walks the commands below each heading, or fence what cannot run as text")
    for name in set(walked.values()) - {"test_guides.py"}:
        said = (guide.ROOT / "Server/Tests/Python" / name).read_text()
        for title in [title for title, walker in walked.items() if walker == name]:
            assert f'"{title}"' in said or f"## {title}" in said, f"{name} does not walk {title}"


def test_the_readme_leads_through_the_demo(tmp_path, shell):
    ask, verify, story = blocks(README, "Five minutes with the demo", 3)
    port = free_port()
    shell.ports["8080"] = port
    base = f"http://127.0.0.1:{port}"
    # As `make run` does, which also builds.
    shell.run(
        f"tollgate demo --listen 127.0.0.1:{port} --app-store-listen 127.0.0.1:{free_port()} "
        f"--google-play-listen 127.0.0.1:{free_port()} --stripe-listen 127.0.0.1:{free_port()} &")
    guide.answering(f"{base}/demo")

    def answers(word):
        said, code = shell.run(ask)
        assert code == 0, said
        return said if re.search(rf'"entitled": ?{word}\b', said) else None

    # The demo signs its customer in a moment after it listens.
    until(lambda: answers("false"))

    # A press of the button *Subscribe: Pro, monthly*.
    with urllib.request.urlopen(urllib.request.Request(
            f"{base}/demo/buy?value=com.example.app.pro.monthly", b"", method="POST"),
            timeout=60) as answer:
        assert answer.status == 200

    said = until(lambda: answers("true"))
    assert re.search(r'"lookup_key": ?"pro"', said) and '"facts"' in said, said

    said, code = shell.run(verify)
    assert code == 0 and "DIFFERENT" not in said, said
    said, code = shell.run(story, timeout=180)
    assert code == 0, said


def test_the_app_stores_guide_takes_in_what_was_missed(tmp_path, shell):
    shell.ports |= {"8080": free_port(), "8081": free_port(), "8091": free_port()}
    play, serve = blocks("app-store.md", "Without an account", 2)
    asking, again = blocks("app-store.md", "Nothing missed", 2)
    playing, _ = play.split("&\n", 1)
    shell.run(playing + "&")
    control = f"http://127.0.0.1:{shell.ports['8091']}/sandbox"
    guide.answering(f"{control}/clock")
    own = asked("GET", f"{control}/api_key")
    settings, _ = serve.split("tollgate serve", 1)
    shell.run(substituted(
        settings, ("ISSUER_ID=…", f"ISSUER_ID={own['issuer_id']}"),
        ("KEY_ID=…", f"KEY_ID={own['key_id']}")))
    for command in commands(asking) + commands(again):
        said, code = shell.run(command, timeout=120)
        assert code == 0 and "the record holds every notification" in said, (command, said)


def test_google_plays_guide_leads_to_a_first_purchase(tmp_path, shell):
    shell.ports |= {"8080": free_port(), "8083": free_port()}
    sandbox = f"http://127.0.0.1:{shell.ports['8083']}"
    control = f"{sandbox}/sandbox"
    server = f"http://127.0.0.1:{shell.ports['8080']}"
    (play,) = blocks("google-play.md", "Without an account", 1)
    shell.run(play.rstrip() + " &")
    guide.answering(f"{control}/clock")
    asked("PUT", f"{control}/catalog", {
        "subscriptions": [{"product_id": "premium", "title": "Premium", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 9_990_000}]}],
        "one_time_products": [{"product_id": "coins.100", "price_micros": 990_000}]})
    text = (guide.ROOT / "docs/google-play.md").read_text()
    sold = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)
    (tmp_path / "catalog.yaml").write_text(sold)
    said, code = shell.run("tollgate catalog check catalog.yaml")
    assert code == 0, said

    (serve,) = blocks("google-play.md", "4. Start the server", 1)
    serve = substituted(
        serve, ("sk_test_…", SECRET), ("pk_test_…", PUBLISHABLE),
        ("/etc/tollgate/play.json", str(tmp_path / "play.json")), ("my-project", "sandbox"),
        ("MIIBIjANBgkqh…", asked("GET", f"{control}/app")["license_key"]))
    shell.run(
        f"export TOLLGATE_GOOGLE_PLAY_API_BASE={sandbox} TOLLGATE_CLOCK={control}/clock")
    shell.run(serve.rstrip() + " & SERVER=$!")
    guide.answering(f"{server}/healthz")

    people, post = blocks("google-play.md", "5. The first purchase", 2)
    customer, session = commands(substituted(people, ("https://YOUR-SERVER", server)))
    said, code = shell.run(customer)
    found = re.search(r'"id": ?"(cus_\w+)"', said)
    assert code == 0 and found, said
    said, code = shell.run(substituted(session, ("CUSTOMER", found.group(1))))
    secret = re.search(r'"client_secret": ?"(\w+)"', said)
    assert code == 0 and secret, said
    shell.run(f"export CLIENT_SECRET={secret.group(1)}")

    tester = asked("POST", f"{control}/accounts", {"tester": True})["id"]
    bought = asked("POST", f"{control}/purchases", {"product_id": "premium", "account": tester})
    token = bought["purchase_token"]
    said, code = shell.run(substituted(
        post, ("https://YOUR-SERVER", server), ('"purchase_token": "…"', f'"purchase_token": "{token}"')))
    assert code == 0 and token in said and '"error"' not in said, said
    said, code = shell.run("tollgate explain anna pro --environment sandbox")
    assert code == 0 and "yes" in said, said
    until(lambda: asked("GET", f"{control}/purchases/{token}")["acknowledged"])

    # By hand, while no server holds the database.
    shell.run("kill $SERVER; wait $SERVER")
    (reconcile,) = blocks("google-play.md", "Nothing missed", 1)
    said, code = shell.run(reconcile, timeout=120)
    assert code == 0 and "refunds with revocation: complete from" in said, said

    listed = re.search(r"```csv\n(.*?)```", text, re.S).group(1)
    (bring,) = blocks("google-play.md", "Purchases of an earlier system", 1)
    plan, pack = (
        asked("POST", f"{control}/purchases", {"product_id": product})
        for product in ("premium", "coins.100"))
    (tmp_path / "purchases.csv").write_text(substituted(
        listed, ("opaque-token-of-google", plan["purchase_token"]),
        ("GPA.3345-1234-5678-90123", pack["order_id"])))
    said, code = shell.run(bring, timeout=120)
    assert code == 0 and "2 purchases, 2 with something new" in said, said


def test_the_guide_for_webhooks_leads_to_a_first_event(tmp_path, shell):
    receiver = Receiver()
    server = Server(f"sqlite:{tmp_path}/webhooks.sqlite", environment=ALLOWED)
    try:
        (begin,) = blocks("webhooks.md", "Begin", 1)
        shell.run(f"export TOLLGATE_SECRET_KEY={SECRET}")
        said, code = shell.run(substituted(
            begin, ("https://billing.example.com", server.url),
            ("https://backend.example.com/hooks/tollgate", receiver.url)))
        secret = re.search(r'"secret": ?"(whsec_[^"]+)"', said.replace("\\/", "/"))
        assert code == 0 and secret, said
        server.call("/v1/customers", json.dumps({"app_user_id": "jenny"}).encode())
        server.call("/v1/customers/jenny/grants", json.dumps({"lookup_key": "pro"}).encode())
        headers, body = until(lambda: receiver.arrivals and receiver.arrivals[0])

        text = (guide.ROOT / "docs/webhooks.md").read_text()
        program = re.search(r"```python\n(.*?)```", text, re.S).group(1)
        known = {
            "secret": secret.group(1),
            "request": types.SimpleNamespace(body=body, headers=headers),
        }
        exec(program, known)
        assert known["event"]["type"] == "entitlements.changed"
        assert known["event"]["id"] == headers["webhook-id"]
    finally:
        server.stop()
        receiver.server.shutdown()


def test_the_commands_about_reports_work_as_written(tmp_path, shell):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    location = f"sqlite:{tmp_path}/reports.sqlite"
    server = Server(location, root)
    try:
        customer = server.call("/v1/customers", json.dumps({"app_user_id": "jenny"}).encode())
        server.call("/webhooks/app_store", apple.coins_bought(1, customer["app_account_token"]))
        until(lambda: re.search(
            r"^tollgate_figures_waiting 0$", asked("GET", f"{server.url}/metrics"), re.M))
    finally:
        server.stop()
    shell.run(f"export TOLLGATE_DATABASE={location} TOLLGATE_SECRET_KEY={SECRET}")
    text = (guide.ROOT / "docs/reports.md").read_text()
    block = re.search(r"```sh\n(.*?)```", text, re.S).group(1)
    for command in commands(block):
        said, code = shell.run(command)
        assert code == 0, (command, said)
    assert "<svg" in (tmp_path / "movement.svg").read_text()
    rows = [json.loads(line) for line in (tmp_path / "sales.ndjson").read_text().splitlines()]
    assert [row["product"] for row in rows] == ["coins_100"]


def test_the_commands_about_staff_work_as_written(tmp_path, shell):
    shell.run(
        f"export TOLLGATE_DATABASE=sqlite:{tmp_path}/staff.sqlite TOLLGATE_SECRET_KEY={SECRET} "
        f"TOLLGATE_PUBLISHABLE_KEY={PUBLISHABLE}")
    (add,) = blocks("dashboard.md", "Letting people in", 1)
    (reset,) = blocks("dashboard.md", "A second factor", 1)
    (audit,) = blocks("dashboard.md", "The audit log", 1)
    said, code = shell.run(add)
    assert code == 0 and "https://billing.example.com/dashboard" in said, said
    said, code = shell.run(reset)
    assert code == 0, said
    said, code = shell.run(audit)
    assert code == 0 and "staff.factor_reset" in said, said


def test_the_commands_about_scenarios_work_as_written(tmp_path, shell):
    # The commands take every story; three of them, one of each store, are enough here.
    here, there = guide.ROOT / "Server/Scenarios", tmp_path / "Server/Scenarios"
    for story in [
        "app-store/billing-grace-recovery.yaml", "stripe/a-retry-succeeds.yaml",
        "google-play/licence-tester.yaml",
    ]:
        (there / story).parent.mkdir(parents=True)
        shutil.copy(here / story, there / story)
    for catalog in here.glob("*.yaml"):
        shutil.copy(catalog, there)
    (block,) = blocks("scenarios.md", "Play scenarios", 1)
    for command in commands(block):
        said, code = shell.run(command, timeout=120)
        assert code == 0, (command, said)


def test_the_commands_beside_a_running_server_work_as_written(tmp_path, shell):
    location = f"sqlite:{tmp_path}/running.sqlite"
    server = Server(location)
    try:
        shell.run(f"export TOLLGATE_DATABASE={location} TOLLGATE_SECRET_KEY={SECRET}")
        (check,) = blocks("operations.md", "Who is locked out, who is let in", 1)
        said, code = shell.run(check)
        assert code == 0 and "0 findings" in said, said
        (create,) = blocks("operations.md", "Secret keys with scopes", 1)
        said, code = shell.run(substituted(create, ("https://billing.example.com", server.url)))
        made = re.search(r"sk_test_\w+", said)
        assert code == 0 and made, said
        # The key reads reports, and nothing else.
        request = urllib.request.Request(
            f"{server.url}/v1/reports/mrr", headers={"Authorization": f"Bearer {made.group(0)}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.call("/v1/events", Authorization=f"Bearer {made.group(0)}")
        assert refused.value.code == 403
    finally:
        server.stop()
