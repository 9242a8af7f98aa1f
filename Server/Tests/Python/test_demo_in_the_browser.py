"""A newcomer's way through the demo, clicked in a real browser (headless Chromium).

The walk runs without JavaScript, since the pages need none. With `TOLLGATE_PICTURES=1` pictures of every
stage, wide and on a phone, light and dark, go to `output/screenshots/`. The executable is found by the
environment variable TOLLGATE_BIN.
"""

import os
import pathlib
import re
import subprocess

import pytest
from playwright.sync_api import Error, expect
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTPUT = pathlib.Path(os.environ.get("TOLLGATE_TEST_OUTPUT", ROOT / "output")) / "screenshots"
SCHEMES = ("light", "dark") if os.environ.get("TOLLGATE_PICTURES") else ()
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 812}


class Demo:
    """`tollgate demo` in a process of its own, on free ports and a database of its own."""

    def __init__(self, directory):
        self.process = subprocess.Popen(
            [
                os.environ.get("TOLLGATE_BIN", ROOT / "Server/.build/debug/tollgate"), "demo",
                "--listen", f"127.0.0.1:{free_port()}", "--app-store-listen", f"127.0.0.1:{free_port()}",
                "--stripe-listen", f"127.0.0.1:{free_port()}",
                "--google-play-listen", f"127.0.0.1:{free_port()}", "--database", f"sqlite:{directory}/demo.sqlite",
                "--catalog", ROOT / "catalog.yaml",
            ],
            stdout=subprocess.PIPE, text=True, cwd=directory,
        )
        self.url = None
        while not self.url:
            line = self.process.stdout.readline()
            assert line, "the demo ended before it listened"
            found = re.search(r"http://\S+/demo", line)
            self.url = found and found.group()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=20)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("demo"))
    yield demo
    demo.stop()


@pytest.fixture
def page(browser):
    context = browser.new_context(java_script_enabled=False, viewport=WIDE)
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.complaints = []
    # A style or a form that the page's own policy forbids would show here.
    page.on("console", lambda message: page.complaints.append(message.text)
            if "Content Security Policy" in message.text else None)
    yield page
    complaints = page.complaints
    context.close()
    assert complaints == []


def picture(page, name):
    """Nothing sticks out, wide or on a phone; with `TOLLGATE_PICTURES=1`, four pictures of the page."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for device, viewport in (("wide", WIDE), ("phone", PHONE)):
        page.set_viewport_size(viewport)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], f"{name} is {width} pixels wide on the {device}"
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=OUTPUT / f"{name}-{device}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)


def press(page, name):
    page.get_by_role("button", name=name).click()


def wish(page, demo, action):
    """Presses a button that the page no longer offers."""
    answer = page.request.post(f"{demo.url}/{action}", max_redirects=0)
    assert answer.status == 303
    page.goto(demo.url)


def begin(page, demo):
    """Opens the demo as somebody who has bought nothing."""
    page.goto(demo.url)
    press(page, "Sign in as somebody new")
    expect(page.get_by_role("status")).to_have_text("Somebody new is signed in.")
    expect_locked(page)
    expect_coins(page, 0)


def expect_unlocked(page, feature="pro"):
    expect(page.locator(f"#feature-{feature} .badge")).to_have_text("unlocked")


def expect_locked(page, feature="pro"):
    expect(page.locator(f"#feature-{feature} .badge")).to_have_text("locked")


def expect_coins(page, count):
    expect(page.locator("#coins")).to_have_text(str(count))


def expect_report(page, name):
    """The newest thing that a store reported."""
    expect(page.locator("#latest li").first).to_contain_text(name)


def pay(page, card):
    page.get_by_label("Email").fill("reader@example.com")
    page.get_by_label("Card number").fill(card)
    page.get_by_label("Expiry").fill("12 / 40")
    page.get_by_label("CVC").fill("123")
    page.get_by_label("Cardholder name").fill("A Reader")
    page.get_by_role("button", name=re.compile(r"^(Pay \$|Subscribe)")).click()


def expect_nothing_in_the_app(page, demo):
    """What did not go through on Stripe's page left nothing; goes back to that page."""
    checkout = page.url
    page.goto(demo.url)
    expect_coins(page, 0)
    expect_locked(page)
    page.goto(checkout)


def pass_the_end_of_a_month(page):
    """The clock keeps to the 28th once it has passed a February; stores come back to the 31st."""
    for _ in range(4):
        press(page, "+1 day")


def test_a_subscription_opens_a_feature_renews_and_lapses(page, demo):
    begin(page, demo)
    picture(page, "01-locked")

    press(page, "Subscribe: Pro, monthly")
    expect_unlocked(page)
    expect_locked(page, "archive")
    expect_report(page, "SUBSCRIBED")
    expect(page.locator("#feature-pro .why")).to_contain_text("Paid for in the App Store, until")
    page.get_by_text("Why? The facts about Pro features").click()
    facts = page.locator("#feature-pro .facts")
    expect(facts).to_contain_text("decides")
    # Instants as people write them.
    expect(facts).to_contain_text(re.compile(r"\d\d:\d\d UTC"))
    expect(facts).not_to_contain_text(re.compile(r"\dT\d"))
    picture(page, "02-subscribed")

    paid_until = page.locator("#feature-pro .why").text_content()
    press(page, "+1 month")
    expect_unlocked(page)
    expect_report(page, "DID_RENEW")
    expect(page.locator("#feature-pro .why")).not_to_have_text(paid_until)
    picture(page, "03-renewed")

    press(page, "Cancel the subscription")
    expect_unlocked(page)
    expect_report(page, "AUTO_RENEW_DISABLED")
    press(page, "+1 month")
    pass_the_end_of_a_month(page)
    expect_locked(page)
    expect_report(page, "EXPIRED")
    picture(page, "04-lapsed")


def test_coins_are_bought_at_checkout_and_spent(page, demo):
    begin(page, demo)
    press(page, "Buy 100 coins USD 10.00")
    expect(page.get_by_role("heading", name="Pay with card")).to_be_visible()
    picture(page, "05-checkout")

    pay(page, "4000 0000 0000 0002")
    expect(page.get_by_role("alert")).to_have_text("Your card was declined.")
    picture(page, "06-declined")
    expect_nothing_in_the_app(page, demo)

    pay(page, "4242 4242 4242 4242")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    picture(page, "07-thank-you")

    page.get_by_role("link", name="Back to the app").click()
    expect_coins(page, 100)
    expect_report(page, "checkout.session.completed")
    press(page, "Spend 10 coins")
    expect_coins(page, 90)
    picture(page, "08-coins")


def test_a_checkout_that_is_given_up_leads_back(page, demo):
    begin(page, demo)
    press(page, "Buy 100 coins USD 10.00")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", name="Checkout was cancelled")).to_be_visible()
    picture(page, "09-cancelled")
    page.get_by_role("link", name="Back to the app").click()
    expect_coins(page, 0)


def test_a_subscription_on_the_web_opens_the_same_feature(page, demo):
    begin(page, demo)
    press(page, re.compile("^Subscribe USD"))
    pay(page, "4242 4242 4242 4242")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_role("link", name="Back to the app").click()
    expect_unlocked(page)
    expect(page.locator("#feature-pro .why")).to_contain_text("Paid for on the web, until")
    press(page, "+1 month")
    press(page, "+1 day")
    expect_unlocked(page)
    expect(page.locator("#latest")).to_contain_text("invoice.paid")


def test_a_refund_ends_access_and_takes_the_coins_back(page, demo):
    begin(page, demo)
    press(page, "Subscribe: Pro, yearly")
    expect_unlocked(page)
    expect_unlocked(page, "archive")
    expect_coins(page, 50)
    press(page, "Spend 10 coins")
    press(page, "Refund the latest purchase")
    expect_locked(page)
    expect_locked(page, "archive")
    expect_report(page, "REFUND")
    expect(page.get_by_text("10 are owed")).to_be_visible()
    picture(page, "10-refunded")


def test_the_portal_shows_what_was_bought_in_either_store(page, demo):
    begin(page, demo)
    press(page, "Open the customer portal")
    expect(page.get_by_text("You have not bought anything yet.")).to_be_visible()
    picture(page, "11-portal-empty")
    page.get_by_role("link", name="Back to the app").click()

    press(page, "Subscribe: Pro, monthly")
    press(page, "Buy 100 coins USD 10.00")
    pay(page, "4242 4242 4242 4242")
    page.get_by_role("link", name="Back to the app").click()
    expect_coins(page, 100)
    press(page, "Open the customer portal")
    expect(page.get_by_role("heading", name="Your purchases")).to_be_visible()
    expect(page.get_by_text("Pro, monthly")).to_be_visible()
    expect(page.get_by_text("100 coins")).to_be_visible()
    picture(page, "12-portal")

    page.get_by_role("link", name="Billing details").click()
    expect(page.get_by_role("link", name="Return to the app")).to_be_visible()
    picture(page, "13-stripe-portal")
    page.get_by_role("link", name="Return to the app").click()
    expect(page.get_by_role("heading", name="Your purchases")).to_be_visible()
    page.get_by_role("link", name="Back to the app").click()
    expect_unlocked(page)


def test_a_challenge_is_passed_before_coins_come(page, demo):
    begin(page, demo)
    press(page, "Buy 100 coins USD 10.00")
    pay(page, "4000 0000 0000 3220")
    expect(page.get_by_role("heading", name="Confirm your payment")).to_be_visible()
    picture(page, "15-challenge")
    press(page, "Fail")
    expect(page.get_by_role("alert")).to_be_visible()
    expect_nothing_in_the_app(page, demo)
    pay(page, "4000 0000 0000 3220")
    press(page, "Complete")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_role("link", name="Back to the app").click()
    expect_coins(page, 100)


def test_a_plan_of_the_web_is_changed_cancelled_and_kept_in_the_portal(page, demo):
    begin(page, demo)
    press(page, re.compile("^Subscribe USD"))
    pay(page, "4242 4242 4242 4242")
    page.get_by_role("link", name="Back to the app").click()
    expect_unlocked(page)
    expect_locked(page, "archive")

    press(page, "Open the customer portal")
    expect(page.get_by_text("Renews on")).to_be_visible()
    expect(page.get_by_role("heading", name="Invoices")).to_be_visible()
    picture(page, "16-portal-plan")
    page.get_by_role("link", name="Change to Pro, yearly").click()
    expect(page.get_by_role("heading", name="Change to Pro, yearly?")).to_be_visible()
    picture(page, "17-portal-change")
    press(page, "Change plan")
    expect(page.get_by_role("status")).to_have_text("Your plan has been changed.")
    expect(page.get_by_text("Pro, yearly", exact=True)).to_be_visible()
    page.get_by_role("link", name="Back to the app").click()
    expect_unlocked(page)
    expect_unlocked(page, "archive")

    press(page, "Open the customer portal")
    page.get_by_role("link", name="Cancel Pro, yearly").click()
    picture(page, "18-portal-cancel")
    press(page, "Cancel subscription")
    expect(page.get_by_text("Ends on")).to_be_visible()
    page.get_by_role("link", name="Keep Pro, yearly").click()
    press(page, "Keep subscription")
    expect(page.get_by_text("Renews on")).to_be_visible()
    page.get_by_role("link", name="Cancel Pro, yearly").click()
    press(page, "Cancel subscription")
    expect(page.get_by_role("status")).to_contain_text("You keep it until the end")
    page.get_by_role("link", name="Back to the app").click()
    expect_unlocked(page)
    for _ in range(12):
        press(page, "+1 month")
    pass_the_end_of_a_month(page)
    expect_locked(page)
    expect_locked(page, "archive")


def test_the_portal_speaks_the_customers_language(page, demo):
    begin(page, demo)
    press(page, "Subscribe: Pro, monthly")
    expect_unlocked(page)
    press(page, "Open the customer portal")
    expect(page.get_by_text(re.compile("^Next charge: .*9.99 on "))).to_be_visible()
    page.get_by_role("link", name="日本語").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page.get_by_role("heading", level=1)).to_have_text("購入履歴")
    picture(page, "19-portal-japanese")
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your purchases")


def test_the_portal_warns_who_pays_in_both_stores_and_is_reached_by_keyboard(page, demo):
    begin(page, demo)
    # Not the other way round: Checkout refuses who has it already, the App Store cannot know.
    press(page, re.compile("^Subscribe USD"))
    pay(page, "4242 4242 4242 4242")
    page.get_by_role("link", name="Back to the app").click()
    press(page, "Subscribe: Pro, monthly")
    expect_unlocked(page)
    press(page, "Open the customer portal")
    expect(page.get_by_role("note")).to_contain_text("You are paying twice for Pro features")
    expect(page.get_by_role("link", name="Manage Pro, monthly in the App Store")).to_be_visible()
    picture(page, "19-portal-twice")
    links = page.get_by_role("link")
    for index in range(links.count()):
        page.keyboard.press("Tab")
        focused = page.locator("a:focus, summary:focus")
        assert focused.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.get_by_role("link", name="Cancel Pro, monthly").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Cancel Pro, monthly?")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ends on")).to_be_visible()


def test_one_customer_buys_on_an_iphone_an_android_phone_and_in_a_browser(page, demo):
    begin(page, demo)
    press(page, "Subscribe on Android: Pro, monthly")
    expect(page.get_by_role("status")).to_have_text("Bought in Google Play: Pro, monthly.")
    expect_unlocked(page)
    expect_locked(page, "archive")
    expect_report(page, "SUBSCRIPTION_PURCHASED")
    expect(page.locator("#feature-pro .why")).to_contain_text("Paid for in Google Play, until")
    page.get_by_text("Why? The facts about Pro features").click()
    expect(page.locator("#feature-pro .facts")).to_contain_text("decides")

    # Coins of the three stores are one balance.
    press(page, "100 coins on Android")
    expect_coins(page, 100)
    page.get_by_role("button", name="100 coins USD 10.00", exact=True).click()
    expect_coins(page, 200)
    press(page, "Buy 100 coins USD 10.00")
    pay(page, "4242 4242 4242 4242")
    page.get_by_role("link", name="Back to the app").click()
    expect_coins(page, 300)
    # What was consumed can be bought again.
    press(page, "100 coins on Android")
    expect_coins(page, 400)
    picture(page, "20-three-stores")

    press(page, "+1 month")
    pass_the_end_of_a_month(page)
    expect_unlocked(page)
    expect(page.locator("#latest")).to_contain_text("SUBSCRIPTION_RENEWED")
    press(page, "Cancel in Google Play")
    expect_unlocked(page)
    expect_report(page, "SUBSCRIPTION_CANCELED")
    press(page, "+1 month")
    pass_the_end_of_a_month(page)
    expect_locked(page)
    expect(page.locator("#latest")).to_contain_text("SUBSCRIPTION_EXPIRED")


def test_a_refund_in_google_play_ends_access_and_takes_the_coins_back(page, demo):
    begin(page, demo)
    press(page, "Subscribe on Android: Pro, monthly")
    expect_locked(page, "archive")
    # Another base plan of the same subscription takes its place.
    press(page, "Subscribe on Android: Pro, yearly")
    expect_unlocked(page, "archive")
    press(page, "Subscribe on Android: Pro, yearly")
    expect(page.get_by_role("alert")).to_have_text("This account has Pro, yearly already.")
    press(page, "Let Google refund what was bought last")
    expect_locked(page)
    expect_locked(page, "archive")
    expect_coins(page, 0)
    expect(page.locator("#latest")).to_contain_text("voidedPurchaseNotification")
    expect(page.get_by_role("button", name="Cancel in Google Play")).to_be_disabled()
    expect(page.get_by_role("button", name="Let Google refund what was bought last")).to_be_disabled()


def test_somebody_new_has_nothing(page, demo):
    begin(page, demo)
    press(page, "Subscribe: Pro, yearly")
    expect_unlocked(page)
    first = page.locator("#user").text_content()
    press(page, "Sign in as somebody new")
    expect(page.locator("#user")).not_to_have_text(first)
    expect_locked(page)
    expect_locked(page, "archive")
    expect_coins(page, 0)
    expect(page.get_by_text("Nothing yet. Buy something.")).to_be_visible()


def test_a_double_click_buys_once(page, demo):
    begin(page, demo)
    page.get_by_role("button", name="100 coins USD 10.00", exact=True).dblclick()
    expect_coins(page, 100)
    # Both requests have been answered once the page is asked for again.
    page.goto(demo.url)
    expect_coins(page, 100)
    expect(page.locator("#latest li")).to_have_count(1)


def test_buttons_know_what_there_is_to_act_on(page, demo):
    begin(page, demo)
    for name in ("Spend 10 coins", "Cancel the subscription", "Refund the latest purchase",
                 "Cancel in Google Play", "Let Google refund what was bought last"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    press(page, "Subscribe: Pro, monthly")
    press(page, "Cancel the subscription")
    expect(page.get_by_role("button", name="Cancel the subscription")).to_be_disabled()
    expect(page.get_by_role("button", name="Refund the latest purchase")).to_be_enabled()


def test_a_wish_that_cannot_be_met_is_answered_in_a_sentence(page, demo):
    """As from a page that was left open in another tab."""
    begin(page, demo)
    for action, sentence in (
        ("spend", "The customer has 0 coins to spend; 10 are missing."),
        ("cancel", "There is no App Store subscription to cancel."),
        ("refund", "There is no App Store purchase left to refund."),
        ("cancel-in-google-play", "There is no Google Play subscription to cancel."),
        ("refund-in-google-play", "There is no Google Play purchase left to refund."),
    ):
        wish(page, demo, action)
        expect(page.get_by_role("alert")).to_have_text(sentence)
    picture(page, "14-refusal")


def test_the_page_leads_through_the_story(page, demo):
    begin(page, demo)
    story = page.locator(".story")
    expect(story.locator("[aria-current=step]")).to_contain_text("Subscribe to Pro, monthly")
    press(page, "Subscribe: Pro, monthly")
    expect(story.locator("li").first).to_contain_text("done")
    expect(story.locator("[aria-current=step]")).to_contain_text("Press +1 month.")


def test_the_demo_is_reached_by_keyboard(page, demo):
    begin(page, demo)
    buttons = page.locator("button:enabled")
    names = [buttons.nth(index).inner_text() for index in range(buttons.count())]
    reached = []
    for _ in names:
        page.keyboard.press("Tab")
        focused = page.locator("button:focus")
        reached.append(focused.inner_text())
        assert focused.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    assert reached == names
    page.get_by_role("button", name="Subscribe: Pro, monthly").focus()
    page.keyboard.press("Enter")
    expect_unlocked(page)


def test_no_page_has_a_serious_accessibility_problem(browser, demo):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    problems = []

    def examine(page, name):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for violation in axe.run(page).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    targets = [node["target"] for node in violation["nodes"]]
                    problems.append((name, scheme, violation["id"], targets))

    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    page = context.new_page()
    begin(page, demo)
    press(page, "Subscribe: Pro, monthly")
    page.get_by_text("Why? The facts about Pro features").click()
    examine(page, "demo")
    wish(page, demo, "spend")
    examine(page, "demo, refused")
    press(page, "Buy 100 coins USD 10.00")
    examine(page, "checkout")
    pay(page, "4000 0000 0000 0002")
    expect(page.get_by_role("alert")).to_be_visible()
    examine(page, "checkout, declined")
    pay(page, "4242 4242 4242 4242")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    examine(page, "thank you")
    page.get_by_role("link", name="Back to the app").click()
    press(page, "Open the customer portal")
    expect(page.get_by_role("heading", name="Your purchases")).to_be_visible()
    examine(page, "portal")
    page.get_by_role("link", name="Billing details").click()
    examine(page, "Stripe's portal")
    page.get_by_role("link", name="Return to the app").click()
    page.get_by_role("link", name="Back to the app").click()
    press(page, "Sign in as somebody new")
    press(page, re.compile("^Subscribe USD"))
    pay(page, "4242 4242 4242 4242")
    page.get_by_role("link", name="Back to the app").click()
    press(page, "Subscribe: Pro, monthly")
    press(page, "Open the customer portal")
    examine(page, "portal, paying twice")
    page.get_by_role("link", name="Cancel Pro, monthly").click()
    examine(page, "portal, asking")
    context.close()
    assert problems == []


def test_another_site_cannot_press_the_buttons(browser, demo):
    context = browser.new_context()
    page = context.new_page()
    begin(page, demo)
    user = page.locator("#user").text_content()
    page.goto("data:text/html,<form method=post action='%s/newcomer'><button>Win</button></form>"
              % demo.url)
    press(page, "Win")
    expect(page.get_by_text("This form was not sent by the demo's page.")).to_be_visible()
    page.goto(demo.url)
    expect(page.locator("#user")).to_have_text(user)
    with pytest.raises(Error):
        # Nor can it show the page inside its own, where clicks could be stolen.
        page.set_content(f"<iframe id=inner src='{demo.url}'></iframe>")
        page.frame_locator("#inner").locator("#user").wait_for(timeout=1000)
    context.close()
