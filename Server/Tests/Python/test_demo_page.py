"""A newcomer clicks through the demo's page in a real browser.

`TOLLGATE_BIN` names the command under test. Screenshots go to `output/screenshots`.
"""

import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading
import time

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
OUTPUT = pathlib.Path(os.environ.get("TOLLGATE_TEST_OUTPUT", ROOT / "output")) / "screenshots"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The address of a demo of our own, on free ports, in a folder of its own."""
    process = subprocess.Popen(
        [TOLLGATE, "demo", "--catalog", str(ROOT / "catalog.yaml"), "--listen", "127.0.0.1:0"]
        + ["--app-store-listen", "127.0.0.1:0", "--stripe-listen", "127.0.0.1:0"],
        cwd=tmp_path_factory.mktemp("demo"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        yield address(lines)
    finally:
        process.terminate()
        process.wait(timeout=20)


def address(lines):
    deadline = time.monotonic() + 30
    while True:
        line = lines.get(timeout=max(0.1, deadline - time.monotonic()))
        assert line is not None, "the demo ended before it was ready"
        if found := re.search(r"(http://\S+)/demo", line):
            return found[1]


@pytest.fixture
def page(demo):
    browser_path = next(
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    )
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        page = browser.new_page(viewport={"width": 900, "height": 1200})
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.goto(f"{demo}/demo")
        press(page, "newcomer")
        yield page
        browser.close()
        assert complaints == []


def press(page, action):
    """Presses the button of a form, found by what it does."""
    page.locator(f'form[action="/demo/{action}"] button').click()


def shot(page, name):
    page.screenshot(path=str(OUTPUT / f"{name}.png"), full_page=True)


def has(page, lookup_key, is_on):
    expect(page.locator(f"#feature-{lookup_key}")).to_have_attribute(
        "data-on", "yes" if is_on else "no"
    )


def test_a_subscription_in_the_app_store_opens_renews_and_lapses(page):
    has(page, "pro", False)
    shot(page, "demo-newcomer")
    press(page, "buy?value=com.example.app.pro.monthly")
    has(page, "pro", True)
    shot(page, "demo-subscribed")
    press(page, "wait?value=P1M")
    has(page, "pro", True)
    press(page, "cancel")
    has(page, "pro", True)
    press(page, "wait?value=P1M")
    press(page, "wait?value=P1D")
    has(page, "pro", False)
    shot(page, "demo-lapsed")


def test_a_refund_ends_access_and_takes_the_coins_back(page):
    press(page, "buy?value=com.example.app.pro.yearly")
    has(page, "pro", True)
    has(page, "archive", True)
    expect(page.locator("#coins")).to_have_text("50")
    press(page, "refund")
    has(page, "pro", False)
    expect(page.locator("#coins")).to_have_text("0")
    shot(page, "demo-refunded")


def test_coins_are_bought_at_checkout_and_spent_in_the_app(page, demo):
    press(page, "checkout?value=buy_coins_100")
    page.wait_for_url("**/c/pay/**")
    shot(page, "checkout")
    page.fill("#email", "reader@example.com")
    page.fill("#card", "4242 4242 4242 4242")
    page.fill("#expiry", "12 / 60")
    page.fill("#cvc", "123")
    page.fill("#name", "A Reader")
    page.locator('form[action^="/c/pay/"] button[type="submit"]').click()
    page.wait_for_url("**/checkout_redirect/success**")
    shot(page, "checkout-success")
    page.goto(f"{demo}/demo")
    expect(page.locator("#coins")).to_have_text("100")
    press(page, "spend")
    expect(page.locator("#coins")).to_have_text("90")


def test_the_portal_opens_for_who_has_bought_on_the_web(page):
    press(page, "checkout?value=buy_pro_monthly")
    page.wait_for_url("**/c/pay/**")
    page.go_back()
    press(page, "portal")
    expect(page.locator("body")).to_be_visible()
    assert "/demo" not in page.url
    shot(page, "portal")
