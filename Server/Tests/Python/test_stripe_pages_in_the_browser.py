"""The hosted pages of the sandbox's Stripe in a real browser (headless Chromium), without Tollgate.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import re

import pytest
import stripe
from playwright.sync_api import expect

from test_demo_in_the_browser import WIDE, page, pay, picture, press
from test_stripe_library import DAY, plan, receiver, sandbox, subscribe

__all__ = ["page", "plan", "receiver", "sandbox"]


@pytest.fixture
def coins(sandbox):
    return stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)


def open_checkout(page, sandbox, price, mode="payment"):
    # The sandbox's own first page plays the shop that the payer returns to.
    session = stripe.checkout.Session.create(
        mode=mode, line_items=[{"price": price.id, "quantity": 1}],
        success_url=sandbox.base + "/?paid={CHECKOUT_SESSION_ID}", cancel_url=sandbox.base + "/")
    page.goto(session.url)
    return session


def expect_paid(page, session):
    expect(page).to_have_url(re.compile(rf"/\?paid={session.id}$"))
    kept = stripe.checkout.Session.retrieve(session.id)
    assert (kept.status, kept.payment_status) == ("complete", "paid")
    return kept


def test_the_wallet_pays_with_one_button(page, sandbox, coins):
    session = open_checkout(page, sandbox, coins)
    press(page, "Pay with the sandbox wallet")
    paid = expect_paid(page, session)
    charge = stripe.Charge.list(payment_intent=paid.payment_intent).data[0]
    assert charge.payment_method_details.card.wallet is not None
    assert charge.billing_details.name == "Wallet Holder"


def fields(page):
    """What the page shows before anybody typed: email, card, expiry, CVC, country, postal code."""
    return [
        page.locator(f"[name={name}]").input_value()
        for name in ("email", "card", "expiry", "cvc", "country", "postal_code")]


def test_the_latest_saved_card_fills_the_page_if_it_has_an_address(page, sandbox, coins, plan):
    customer = stripe.Customer.create(email="reader@example.com").id

    def open_for_the_customer(mode="payment", price=coins):
        session = stripe.checkout.Session.create(
            mode=mode, customer=customer, line_items=[{"price": price.id, "quantity": 1}],
            success_url=sandbox.base + "/?paid={CHECKOUT_SESSION_ID}",
            cancel_url=sandbox.base + "/")
        page.goto(session.url)
        return session

    saved = page.get_by_label("Save this card")
    nothing = ["reader@example.com", "", "", "", "US", ""]
    # Saving is the payer's choice, and not made for them.
    session = open_for_the_customer()
    assert fields(page) == nothing
    expect(saved).not_to_be_checked()
    page.get_by_label("ZIP or postal code").fill("10115")
    page.get_by_label("Country").select_option("DE")
    pay(page, "4242 4242 4242 4242")
    expect_paid(page, session)
    assert stripe.PaymentMethod.list(customer=customer).data == []
    session = open_for_the_customer()
    assert fields(page) == nothing

    # Saved with an address, it fills email, card and address; the security code never.
    page.get_by_label("ZIP or postal code").fill("10115")
    page.get_by_label("Country").select_option("DE")
    saved.check()
    pay(page, "5555 5555 5555 4444")
    expect_paid(page, session)
    [kept] = stripe.PaymentMethod.list(customer=customer).data
    assert kept.billing_details.address.postal_code == "10115"
    session = open_for_the_customer()
    email, card, *rest = fields(page)
    assert (email, card.replace(" ", "")) == ("reader@example.com", "5555555555554444")
    assert rest == ["12 / 40", "", "DE", "10115"]
    expect(page.get_by_label("Cardholder name")).to_have_value("A Reader")
    expect(saved).not_to_be_checked()
    picture(page, "32-stripe-saved-card")
    page.get_by_label("CVC").fill("123")
    page.get_by_role("button", name=re.compile(r"^Pay \$")).click()
    paid = expect_paid(page, session)
    charge = stripe.Charge.list(payment_intent=paid.payment_intent).data[0]
    assert charge.payment_method_details.card.last4 == "4444"
    assert len(stripe.PaymentMethod.list(customer=customer).data) == 1

    # Only in payment mode.
    open_for_the_customer("subscription", plan)
    assert fields(page)[1:] == nothing[1:]
    # The latest one decides: without an address it fills nothing, whatever an earlier one has.
    stripe.PaymentMethod.attach("pm_card_visa", customer=customer)
    open_for_the_customer()
    assert fields(page) == nothing
    # An address that is none (no country, no postal code) is as little a valid one.
    for address in ({"country": "DE"}, {"postal_code": "10115"}):
        latest = stripe.PaymentMethod.create(
            type="card", card={"token": "tok_visa"},
            billing_details={"email": "reader@example.com", "address": address})
        stripe.PaymentMethod.attach(latest.id, customer=customer)
        open_for_the_customer()
        assert fields(page)[1] == ""


def test_a_payment_link_is_paid(page, sandbox, coins):
    link = stripe.PaymentLink.create(
        line_items=[{"price": coins.id, "quantity": 2}],
        after_completion={
            "type": "redirect",
            "redirect": {"url": sandbox.base + "/?paid={CHECKOUT_SESSION_ID}"},
        })
    page.goto(link.url + "?client_reference_id=reader-1&prefilled_email=reader%40example.com")
    expect(page.get_by_label("Email")).to_have_value("reader@example.com")
    pay(page, "4242 4242 4242 4242")
    expect(page).to_have_url(re.compile(r"/\?paid=cs_test_"))
    session = stripe.checkout.Session.list(payment_link=link.id).data[0]
    assert (session.payment_status, session.amount_total) == ("paid", 2000)
    assert session.client_reference_id == "reader-1"


def test_checkout_is_done_by_keyboard_alone(page, sandbox, coins):
    session = open_checkout(page, sandbox, coins)
    typed = {
        "email": "reader@example.com", "card": "4242424242424242", "expiry": "12/40",
        "cvc": "123", "name": "A Reader", "postal_code": "94103",
    }
    for _ in range(30):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        outline = focused.evaluate(
            "e => getComputedStyle(e).outlineStyle + getComputedStyle(e).boxShadow")
        assert outline != "nonenone", focused.evaluate("e => e.outerHTML")
        name = focused.get_attribute("name")
        if name in typed:
            page.keyboard.type(typed.pop(name))
        elif name is None and re.match(r"Pay \$", focused.inner_text() or ""):
            break
    assert typed == {}
    page.keyboard.press("Enter")
    expect_paid(page, session)


def open_portal(page, sandbox, plan):
    """Stripe's portal of somebody with `plan`; the subscription, and the price to switch to."""
    yearly = stripe.Price.create(
        product=plan.product, currency="usd", unit_amount=9900, recurring={"interval": "year"})
    made = subscribe(sandbox, plan)
    configuration = stripe.billing_portal.Configuration.create(features={
        "subscription_update": {
            "enabled": True, "default_allowed_updates": ["price"],
            "proration_behavior": "create_prorations",
            "products": [{"product": plan.product, "prices": [plan.id, yearly.id]}],
        },
        "subscription_cancel": {"enabled": True, "mode": "at_period_end"},
        "payment_method_update": {"enabled": True}, "invoice_history": {"enabled": True},
    })
    portal = stripe.billing_portal.Session.create(
        customer=made.customer, configuration=configuration.id, return_url=sandbox.base + "/")
    page.goto(portal.url)
    return made, yearly


def reach(page, words):
    """Goes on by the tabulator to what bears these words, and sees on the way where it is."""
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() == 0:
            continue
        outline = focused.evaluate(
            "e => getComputedStyle(e).outlineStyle + getComputedStyle(e).boxShadow")
        assert outline != "nonenone", focused.evaluate("e => e.outerHTML")
        said = focused.evaluate("e => e.labels?.[0]?.innerText ?? e.innerText ?? ''")
        if said.strip() == words:
            return focused
    raise AssertionError(f"‘{words}’ is not reached by keyboard")


def test_stripes_portal_is_used_by_keyboard_alone(page, sandbox, plan):
    made, yearly = open_portal(page, sandbox, plan)

    def now():
        return stripe.Subscription.retrieve(made.id)

    choice = reach(page, "Switch to")
    for _ in range(5):
        if choice.input_value() == yearly.id:
            break
        page.keyboard.press("ArrowDown")
    assert choice.input_value() == yearly.id
    reach(page, "Update plan")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Your plan has been changed.")
    assert now()["items"].data[0].price.id == yearly.id

    reach(page, "Cancel plan")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You keep what you paid for until")).to_be_visible()
    reach(page, "Cancel plan")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ends on")).to_be_visible()
    assert now().cancel_at is not None
    reach(page, "Don’t cancel plan")
    page.keyboard.press("Space")
    expect(page.get_by_text("Renews on")).to_be_visible()
    assert now().cancel_at is None

    reach(page, "Use another card")
    page.keyboard.press("Enter")
    for label, text in [
        ("Card number", "5555555555554444"), ("Expiry (MM / YY)", "12/40"), ("CVC", "123"),
    ]:
        reach(page, label)
        page.keyboard.type(text)
    reach(page, "Save card")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Your card has been saved.")
    expect(page.get_by_text("Mastercard ending in 4444")).to_be_visible()

    reach(page, "← Return to the app")
    page.keyboard.press("Enter")
    expect(page).to_have_url(sandbox.base + "/")


def test_a_plan_is_switched_cancelled_kept_and_paid_anew_in_stripes_portal(page, sandbox, plan):
    made, yearly = open_portal(page, sandbox, plan)
    page.get_by_label("Switch to").select_option(yearly.id)
    press(page, "Update plan")
    expect(page.get_by_role("status")).to_have_text("Your plan has been changed.")
    changed = stripe.Subscription.retrieve(made.id)
    assert changed["items"].data[0].price.id == yearly.id

    press(page, "Cancel plan")
    expect(page.get_by_text("You keep what you paid for until")).to_be_visible()
    picture(page, "30-stripe-portal-cancel")
    press(page, "Cancel plan")
    expect(page.get_by_text("Ends on")).to_be_visible()
    assert stripe.Subscription.retrieve(made.id).cancel_at is not None
    press(page, "Don’t cancel plan")
    expect(page.get_by_text("Renews on")).to_be_visible()
    assert stripe.Subscription.retrieve(made.id).cancel_at is None

    expect(page.get_by_text("Visa ending in 4242")).to_be_visible()
    # Without a script it is opened by its summary.
    page.get_by_text("Use another card").click()
    page.get_by_label("Card number").fill("5555 5555 5555 4444")
    page.get_by_label("Expiry").fill("12 / 40")
    page.get_by_label("CVC").fill("123")
    press(page, "Save card")
    expect(page.get_by_role("status")).to_have_text("Your card has been saved.")
    expect(page.get_by_text("Mastercard ending in 4444")).to_be_visible()
    picture(page, "31-stripe-portal-card")
    sandbox.advance(by=367 * DAY)
    charge = stripe.Charge.list(customer=made.customer).data[0]
    assert charge.payment_method_details.card.last4 == "4444"


def test_no_page_of_stripes_has_a_serious_accessibility_problem(browser, sandbox, coins, plan):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    problems = []
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    page = context.new_page()

    def examine(name):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for violation in axe.run(page).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    targets = [node["target"] for node in violation["nodes"]]
                    problems.append((name, scheme, violation["id"], targets))

    open_checkout(page, sandbox, coins)
    pay(page, "4000 0000 0000 3220")
    expect(page.get_by_role("heading", name="Confirm your payment")).to_be_visible()
    examine("challenge")

    customer = stripe.Customer.create(email="reader@example.com")
    made = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}], payment_behavior="default_incomplete")
    page.goto(stripe.Invoice.retrieve(made.latest_invoice).hosted_invoice_url)
    examine("open invoice")
    stripe.Invoice.pay(made.latest_invoice, payment_method="pm_card_visa")
    page.reload()
    examine("paid invoice")

    portal = stripe.billing_portal.Session.create(customer=customer.id)
    page.goto(portal.url)
    press(page, "Cancel plan")
    examine("portal, asking")

    session = open_checkout(page, sandbox, coins)
    stripe.checkout.Session.expire(session.id)
    page.reload()
    expect(page.get_by_role("heading", name="This checkout session has timed out")).to_be_visible()
    examine("expired checkout")
    page.goto(sandbox.base + "/p/session/nobody")
    examine("expired portal")
    context.close()
    assert problems == []
