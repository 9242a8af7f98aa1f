"""Stripe's own Python library, unmodified, against what billing needs beyond the first purchase.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import os
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest
import stripe

from test_stripe_library import (
    DAY, SECRET, checkout, missing_members, plan, receiver, sandbox, subscribe,
)

__all__ = ["plan", "receiver", "sandbox"]


def yearly(plan):
    return stripe.Price.create(
        product=plan.product, currency="usd", unit_amount=9900, recurring={"interval": "year"}
    )


def dearer(plan):
    return stripe.Price.create(
        product=plan.product, currency="usd", unit_amount=1999, recurring={"interval": "month"}
    )


def form(url, **fields):
    """Sends a form as a browser would; returns the status and the page."""
    class Stay(urllib.request.HTTPRedirectHandler):
        """The shop behind Checkout is nobody's; pages of the sandbox itself are followed."""

        def redirect_request(self, request, *rest):
            if not rest[-1].startswith(url.split("/c/")[0].split("/i/")[0]):
                return None
            return super().redirect_request(request, *rest)

    request = urllib.request.Request(url, data=urllib.parse.urlencode(fields).encode())
    try:
        with urllib.request.build_opener(Stay).open(request) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


CARD = {
    "email": "jenny@example.com", "card": "4242424242424242", "expiry": "12/40", "cvc": "123",
    "name": "Jenny Rosen", "country": "US", "postal_code": "94103",
}


# Schedules


def test_a_schedule_changes_the_plan_when_its_phase_begins(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    schedule = stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
    assert (schedule.status, schedule.subscription) == ("active", subscription.id)
    assert stripe.Subscription.retrieve(subscription.id).schedule == schedule.id
    current = schedule.phases[0]
    next_price = dearer(plan)
    changed = stripe.SubscriptionSchedule.modify(
        schedule.id,
        phases=[
            {
                "items": [{"price": plan.id, "quantity": 1}],
                "start_date": current.start_date, "end_date": current.end_date,
            },
            {
                "items": [{"price": next_price.id, "quantity": 1}],
                "duration": {"interval": "month", "interval_count": 1},
            },
        ],
    )
    assert len(changed.phases) == 2
    sandbox.advance(by=30 * DAY)
    assert stripe.Subscription.retrieve(subscription.id)["items"].data[0].price.id == plan.id
    sandbox.advance(by=2 * DAY)
    renewed = stripe.Subscription.retrieve(subscription.id)
    assert renewed["items"].data[0].price.id == next_price.id
    # The renewal billed the new price, and nothing was prorated.
    invoice = stripe.Invoice.retrieve(renewed.latest_invoice)
    assert (invoice.amount_paid, len(invoice.lines.data)) == (1999, 1)
    sandbox.advance(by=32 * DAY)
    assert stripe.SubscriptionSchedule.retrieve(schedule.id).status == "released"
    assert stripe.Subscription.retrieve(subscription.id).status == "active"
    types = sandbox.receiver.types()
    for kind in ("created", "updated", "released"):
        assert f"subscription_schedule.{kind}" in types


def test_a_schedule_starts_a_subscription_later_and_ends_it(sandbox, plan):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa",
        invoice_settings={"default_payment_method": "pm_card_visa"},
    )
    schedule = stripe.SubscriptionSchedule.create(
        customer=customer.id, start_date=1767225600 + 86_400 * 3, end_behavior="cancel",
        phases=[{
            "items": [{"price": plan.id}], "duration": {"interval": "month", "interval_count": 2},
        }],
    )
    assert (schedule.status, schedule.subscription) == ("not_started", None)
    assert missing_members(
        schedule, "_subscription_schedule", "SubscriptionSchedule"
    ) == []
    sandbox.advance(by=4 * DAY)
    schedule = stripe.SubscriptionSchedule.retrieve(schedule.id)
    assert schedule.status == "active"
    assert stripe.Subscription.retrieve(schedule.subscription).status == "active"
    sandbox.advance(by=70 * DAY)
    assert stripe.SubscriptionSchedule.retrieve(schedule.id).status == "completed"
    assert stripe.Subscription.retrieve(schedule.subscription).status == "canceled"
    with pytest.raises(stripe.InvalidRequestError):
        stripe.SubscriptionSchedule.release(schedule.id)


def test_a_schedule_is_cancelled_with_its_subscription_or_released_from_it(sandbox, plan):
    for end, status in ((stripe.SubscriptionSchedule.cancel, "canceled"),
                        (stripe.SubscriptionSchedule.release, "active")):
        subscription = subscribe(sandbox, plan)
        schedule = stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
        end(schedule.id)
        left = stripe.Subscription.retrieve(subscription.id)
        assert (left.status, left.schedule) == (status, None)


# Changes


def test_a_change_that_cannot_be_paid_waits_or_is_refused(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    item = subscription["items"].data[0].id
    sandbox.call(
        "POST", f"/sandbox/customers/{subscription.customer}/default_card",
        {"card": "4000000000000341"},
    )
    price = dearer(plan)
    with pytest.raises(stripe.CardError):
        stripe.Subscription.modify(
            subscription.id, items=[{"id": item, "price": price.id}],
            proration_behavior="always_invoice", payment_behavior="error_if_incomplete",
        )
    untouched = stripe.Subscription.retrieve(subscription.id)
    assert untouched["items"].data[0].price.id == plan.id
    assert untouched.latest_invoice == subscription.latest_invoice

    waiting = stripe.Subscription.modify(
        subscription.id, items=[{"id": item, "price": price.id}],
        proration_behavior="always_invoice", payment_behavior="pending_if_incomplete",
    )
    assert (waiting.status, waiting["items"].data[0].price.id) == ("active", plan.id)
    assert waiting.pending_update.subscription_items[0].price.id == price.id
    invoice = stripe.Invoice.retrieve(waiting.latest_invoice)
    assert invoice.status == "open"
    stripe.Invoice.pay(invoice.id, payment_method="pm_card_visa")
    applied = stripe.Subscription.retrieve(subscription.id)
    assert applied["items"].data[0].price.id == price.id
    assert applied.pending_update is None
    sandbox.settle()
    assert "customer.subscription.pending_update_applied" in sandbox.receiver.types()


def test_a_change_of_one_item_that_cannot_be_paid_waits_or_is_refused(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    item = subscription["items"].data[0].id
    sandbox.call(
        "POST", f"/sandbox/customers/{subscription.customer}/default_card",
        {"card": "4000000000000341"},
    )
    price = dearer(plan)
    extra = stripe.Price.create(
        currency="usd", unit_amount=500, recurring={"interval": "month"},
        product_data={"name": "Extra"})
    for change in [
        lambda behavior: stripe.SubscriptionItem.modify(
            item, price=price.id, proration_behavior="always_invoice", payment_behavior=behavior),
        lambda behavior: stripe.SubscriptionItem.create(
            subscription=subscription.id, price=extra.id, proration_behavior="always_invoice",
            payment_behavior=behavior),
    ]:
        before = stripe.Subscription.retrieve(subscription.id)
        with pytest.raises(stripe.CardError):
            change("error_if_incomplete")
        untouched = stripe.Subscription.retrieve(subscription.id)
        assert untouched.latest_invoice == before.latest_invoice
        assert [one.price.id for one in untouched["items"].data] == [
            one.price.id for one in before["items"].data]
        change("pending_if_incomplete")
        waiting = stripe.Subscription.retrieve(subscription.id)
        assert waiting.status == "active" and waiting.pending_update is not None
        assert len(waiting["items"].data) == len(before["items"].data)
        stripe.Invoice.pay(waiting.latest_invoice, payment_method="pm_card_visa")
        assert stripe.Subscription.retrieve(subscription.id).pending_update is None
    applied = stripe.Subscription.retrieve(subscription.id)
    assert {one.price.id for one in applied["items"].data} == {price.id, extra.id}
    with pytest.raises(stripe.InvalidRequestError):
        stripe.SubscriptionItem.modify(item, quantity=2, payment_behavior="perhaps")


def test_a_change_that_is_never_paid_is_forgotten_after_23_hours(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    sandbox.call(
        "POST", f"/sandbox/customers/{subscription.customer}/default_card",
        {"card": "4000000000000341"},
    )
    waiting = stripe.Subscription.modify(
        subscription.id,
        items=[{"id": subscription["items"].data[0].id, "price": dearer(plan).id}],
        proration_behavior="always_invoice", payment_behavior="pending_if_incomplete",
    )
    sandbox.advance(by=DAY)
    left = stripe.Subscription.retrieve(subscription.id)
    assert (left.pending_update, left.status) == (None, "active")
    assert left["items"].data[0].price.id == plan.id
    assert stripe.Invoice.retrieve(waiting.latest_invoice).status == "void"
    assert "customer.subscription.pending_update_expired" in sandbox.receiver.types()


def test_the_billing_cycle_can_be_begun_anew(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    before = subscription["items"].data[0]
    sandbox.advance(by=10 * DAY)
    now = 1767225600 + 10 * 86_400
    changed = stripe.Subscription.modify(
        subscription.id, billing_cycle_anchor={"type": "now"},
    )
    item = changed["items"].data[0]
    assert item.current_period_start == changed.billing_cycle_anchor == now
    assert item.current_period_end > before.current_period_end
    invoice = stripe.Invoice.retrieve(changed.latest_invoice)
    credit, debit = sorted(line.amount for line in invoice.lines.data)
    assert debit == 999
    share = (before.current_period_end - now) / (
        before.current_period_end - before.current_period_start
    )
    assert credit == -round(999 * share)
    assert invoice.status == "paid"


# Pages


def test_a_promotion_code_is_typed_on_the_page(sandbox):
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    coupon = stripe.Coupon.create(percent_off=25, duration="once")
    stripe.PromotionCode.create(
        promotion={"type": "coupon", "coupon": coupon.id}, code="SPRING",
        restrictions={"minimum_amount": 500, "minimum_amount_currency": "usd"},
    )
    session = checkout(price, allow_promotion_codes=True)
    _, page = form(session.url, promotion_code="nonsense")
    assert "This code is invalid." in page
    _, page = form(session.url, promotion_code=" spring ")
    assert "SPRING" in page and "−$2.50" in page and "Pay $7.50" in page
    _, page = form(session.url, promotion_code="")
    assert "Pay $10.00" in page
    form(session.url, promotion_code="SPRING")
    sandbox.pay(session)
    paid = stripe.checkout.Session.retrieve(session.id)
    assert (paid.amount_total, paid.total_details.amount_discount) == (750, 250)
    assert stripe.PromotionCode.list(code="SPRING").data[0].times_redeemed == 1
    # Without being offered, none is taken.
    plain = checkout(price)
    assert "Promotion code" not in urllib.request.urlopen(plain.url).read().decode()
    form(plain.url, promotion_code="SPRING")
    assert stripe.checkout.Session.retrieve(plain.id).amount_total == 1000


def test_an_open_invoice_is_paid_on_its_page(sandbox, plan):
    subscription = subscribe(sandbox, plan, card="4000000000000341")
    sandbox.advance(by=31 * DAY)
    sandbox.advance(by=2 * 3_600_000)
    invoice = stripe.Invoice.retrieve(
        stripe.Subscription.retrieve(subscription.id).latest_invoice
    )
    assert invoice.status == "open"
    _, page = form(invoice.hosted_invoice_url, **CARD | {"card": "4000000000000002"})
    assert "Your card was declined." in page
    _, page = form(invoice.hosted_invoice_url, **CARD | {"card": "4000000000003220"})
    assert "Confirm your payment" in page
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
    _, page = form(invoice.hosted_invoice_url, **fields, cvc="123", challenge="complete")
    assert stripe.Invoice.retrieve(invoice.id).status == "paid"
    assert stripe.Subscription.retrieve(subscription.id).status == "active"
    assert "Pay this invoice" not in page


def test_only_the_latest_saved_card_with_a_valid_address_fills_the_fields(sandbox):
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    customer = stripe.Customer.create(email="first@example.com")

    def page():
        return urllib.request.urlopen(checkout(price, customer=customer.id).url).read().decode()

    assert 'value="4242' not in page()
    # Saving is the payer's choice.
    form(checkout(price, customer=customer.id).url, **CARD)
    assert 'value="4242' not in page()
    form(checkout(price, customer=customer.id).url, **CARD | {"save": "true"})
    filled = page()
    assert 'value="4242424242424242"' in filled and 'value="94103"' in filled
    # The address that was typed is the customer's from now on.
    assert stripe.Customer.retrieve(customer.id).email == "jenny@example.com"
    # A later card without an address decides: nothing is filled in.
    form(
        checkout(price, customer=customer.id).url,
        **CARD | {"card": "5555555555554444", "postal_code": "", "save": "true"},
    )
    bare = page()
    assert 'value="4242' not in bare and 'value="5555' not in bare


# The account


def test_while_a_secret_is_rolled_both_sign(sandbox):
    endpoint = stripe.WebhookEndpoint.list().data[0]
    rolled = sandbox.call(
        "POST", f"/sandbox/endpoints/{endpoint.id}/roll", {"overlap": 3600}
    )["secret"]
    assert rolled != SECRET
    # The receiver knows the old secret only, and fails where it does not verify.
    stripe.Customer.create()
    sandbox.settle()
    assert sandbox.receiver.types() == ["customer.created"]
    sandbox.call("POST", f"/sandbox/endpoints/{endpoint.id}/roll", {"overlap": 0})
    stripe.Customer.create()
    sandbox.settle()
    [failure] = sandbox.receiver.failures
    assert isinstance(failure, stripe.SignatureVerificationError)
    sandbox.receiver.failures.clear()


def test_the_state_survives_a_restart(receiver, tmp_path):
    def start():
        process = subprocess.Popen(
            [
                os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "--listen", "127.0.0.1:0",
                "--secret-key", "sk_test_python", "--state", tmp_path / "stripe.json",
            ],
            stdout=subprocess.PIPE, text=True,
        )
        line = process.stdout.readline()
        assert line.startswith("stripe listening on "), line
        stripe.api_key, stripe.api_base = "sk_test_python", line.split()[-1]
        stripe.max_network_retries = 0
        return process

    process = start()
    customer = stripe.Customer.create(email="jenny@example.com", idempotency_key="one")
    product = stripe.Product.create(name="Pro")
    price = stripe.Price.create(
        product=product.id, currency="usd", unit_amount=999, recurring={"interval": "month"}
    )
    stripe.PaymentMethod.attach("pm_card_visa", customer=customer.id)
    stripe.Subscription.create(
        customer=customer.id, items=[{"price": price.id}],
        default_payment_method=stripe.PaymentMethod.list(customer=customer.id).data[0].id,
    )
    events = [event.id for event in stripe.Event.list(limit=100).data]
    process.terminate()
    process.wait()
    process = start()
    try:
        assert stripe.Customer.retrieve(customer.id).email == "jenny@example.com"
        assert stripe.Subscription.list().data[0].status == "active"
        assert [event.id for event in stripe.Event.list(limit=100).data] == events
        again = stripe.Customer.create(email="jenny@example.com", idempotency_key="one")
        assert again.id == customer.id
    finally:
        process.terminate()
        process.wait()


def test_what_was_answered_survives_being_killed(tmp_path):
    def start():
        process = subprocess.Popen(
            [
                os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "--listen", "127.0.0.1:0",
                "--secret-key", "sk_test_python", "--state", tmp_path / "stripe.json",
            ],
            stdout=subprocess.PIPE, text=True,
        )
        line = process.stdout.readline()
        assert line.startswith("stripe listening on "), line
        stripe.api_key, stripe.api_base = "sk_test_python", line.split()[-1]
        stripe.max_network_retries = 0
        return process

    def pay_on_its_page(n):
        session = checkout(stripe.Price.create(
            product_data={"name": "100 coins"}, currency="usd", unit_amount=1000))
        status, _ = form(session.url, **CARD)
        assert status == 303
        return lambda: stripe.checkout.Session.retrieve(session.id).payment_status == "paid"

    def make_customer(n):
        customer = stripe.Customer.create(name=f"customer {n}", idempotency_key=f"key {n}")

        def is_there():
            again = stripe.Customer.create(name=f"customer {n}", idempotency_key=f"key {n}")
            assert again.last_response.headers["Idempotent-Replayed"] == "true"
            return again.id == stripe.Customer.retrieve(customer.id).id
        return is_there

    def delete_customer(n):
        customer = stripe.Customer.create()
        stripe.Customer.delete(customer.id)
        return lambda: customer.id not in [c.id for c in stripe.Customer.list(limit=100).data]

    stripe_checks = []
    for n, deed in enumerate([make_customer, pay_on_its_page, delete_customer, make_customer]):
        process = start()
        try:
            for check in stripe_checks:
                assert check()
            stripe_checks.append(deed(n))
        finally:
            # In the instant after the answer.
            process.kill()
            process.wait()
    process = start()
    try:
        for check in stripe_checks:
            assert check()
        events = [event.type for event in stripe.Event.list(limit=100).data]
        assert events.count("checkout.session.completed") == 1
    finally:
        process.terminate()
        process.wait()


# Billing modes


def sample_plans(sandbox):
    """The plans of Stripe's sample, 10 and 20, in a month of which a third is left later."""
    sandbox.advance(to=1775001600000)  # 1 April 2026, a month of 30 days
    product = stripe.Product.create(name="Seat")
    recurring = {"interval": "month"}
    return [
        stripe.Price.create(
            product=product.id, currency="usd", unit_amount=amount, recurring=recurring)
        for amount in (1000, 2000)
    ]


def subscription_in(mode, price, **more):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa",
        invoice_settings={"default_payment_method": "pm_card_visa"})
    return stripe.Subscription.create(
        customer=customer.id, items=[{"price": price.id}], billing_mode={"type": mode}, **more)


def switch(subscription, price, behavior="create_prorations"):
    item = subscription["items"].data[0].id
    return stripe.Subscription.modify(
        subscription.id, items=[{"id": item, "price": price.id}], proration_behavior=behavior)


def pending(subscription):
    items = stripe.InvoiceItem.list(customer=subscription.customer, pending=True, limit=100).data
    return [item.amount for item in reversed(items)]


@pytest.mark.parametrize(("mode", "amounts"), [
    ("classic", [-667, 333]),  # −334: what the price says is given back, though nobody paid it
    ("flexible", [-333, 333]),  # 0: only what was billed is given back
])
def test_a_plan_that_was_not_prorated_up_is_prorated_down_by_its_billing_mode(
        sandbox, mode, amounts):
    small, large = sample_plans(sandbox)
    subscription = subscription_in(mode, small)
    assert subscription.billing_mode.type == mode
    sandbox.advance(by=20 * DAY)
    switch(subscription, large, "none")
    assert pending(subscription) == []
    switch(subscription, small)
    assert pending(subscription) == amounts


def test_flexible_billing_credits_each_change_by_the_bill_before_it(sandbox):
    small, large = sample_plans(sandbox)
    subscription = subscription_in("flexible", small)
    sandbox.advance(by=10 * DAY)
    switch(subscription, large)
    assert pending(subscription) == [-667, 1333]
    sandbox.advance(by=10 * DAY)
    switch(subscription, small)
    # Of the 13.33 for two thirds of the month half is left.
    assert pending(subscription) == [-667, 1333, -667, 333]
    sandbox.advance(by=10 * DAY + 2 * 3_600_000)
    invoice = stripe.Invoice.list(subscription=subscription.id).data[0]
    assert invoice.total == 1000 - 667 + 1333 - 667 + 333


@pytest.mark.parametrize("mode", ["classic", "flexible"])
def test_prorations_are_net_of_the_coupon(sandbox, mode):
    small, large = sample_plans(sandbox)
    coupon = stripe.Coupon.create(percent_off=50, duration="forever")
    subscription = subscription_in(mode, small, discounts=[{"coupon": coupon.id}])
    assert stripe.Invoice.retrieve(subscription.latest_invoice).amount_paid == 500
    sandbox.advance(by=15 * DAY)
    switch(subscription, large)
    assert pending(subscription) == [-250, 500]


def test_flexible_billing_gives_back_what_a_coupon_left_of_the_bill(sandbox):
    small, large = sample_plans(sandbox)
    coupon = stripe.Coupon.create(percent_off=50, duration="once")
    subscription = subscription_in("flexible", small, discounts=[{"coupon": coupon.id}])
    sandbox.advance(by=15 * DAY)
    switch(subscription, large)
    assert pending(subscription) == [-250, 1000]


@pytest.mark.parametrize("mode", ["classic", "flexible"])
def test_a_new_interval_moves_the_anchor_in_classic_billing_only(sandbox, mode):
    small, _ = sample_plans(sandbox)
    year = stripe.Price.create(
        product=small.product, currency="usd", unit_amount=9900, recurring={"interval": "year"})
    subscription = subscription_in(mode, small)
    anchor = subscription.billing_cycle_anchor
    sandbox.advance(by=15 * DAY)
    changed = switch(subscription, year)
    item = changed["items"].data[0]
    invoice = stripe.Invoice.retrieve(changed.latest_invoice)
    assert invoice.billing_reason == "subscription_update"
    assert item.current_period_start == anchor + 15 * 86_400
    if mode == "classic":
        assert changed.billing_cycle_anchor == anchor + 15 * 86_400
        assert item.current_period_end == anchor + (15 + 365) * 86_400
        assert invoice.total == 9900 - 500
    else:
        assert changed.billing_cycle_anchor == anchor
        assert item.current_period_end == anchor + 365 * 86_400
        # The year runs from the anchor: what is left of it is paid, at its share of the price.
        rest = next(line for line in invoice.lines.data if line.amount > 0)
        assert rest.parent.subscription_item_details.proration
        assert rest.amount == round(9900 * 350 / 365)
        assert invoice.total == rest.amount - 500


@pytest.mark.parametrize("month", [3, 12])
def test_a_change_of_interval_pays_the_share_of_the_new_period(sandbox, month):
    """To the year, and back on the same day: the year runs from the anchor, the month ends where it did."""
    small, _ = sample_plans(sandbox)
    year = stripe.Price.create(
        product=small.product, currency="usd", unit_amount=9900, recurring={"interval": "year"})
    subscription = subscription_in("flexible", small)
    anchor = subscription.billing_cycle_anchor
    days = 365 * month // 12 - 10
    sandbox.advance(by=days * DAY)
    at = anchor + days * 86_400
    ends = subscription_ends(subscription.id)
    yearly = switch(subscription, year)
    assert subscription_ends(subscription.id) == anchor + 365 * 86_400
    left = round(9900 * (anchor + 365 * 86_400 - at) / (365 * 86_400))
    assert paid(yearly) == left
    monthly = switch(subscription, small)
    assert subscription_ends(subscription.id) == ends
    assert 0 < paid(monthly) < 400  # Ten days of a month for 10.00.


def subscription_ends(subscription):
    return stripe.Subscription.retrieve(subscription)["items"].data[0].current_period_end


def paid(subscription):
    """What the newest invoice charges for, without what it gives back."""
    lines = stripe.Invoice.retrieve(subscription.latest_invoice).lines.data
    return sum(line.amount for line in lines if line.amount > 0)


def test_a_subscription_migrates_to_flexible_billing_and_not_back(sandbox, plan):
    subscription = subscription_in("classic", plan)
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": sandbox.base})
    changed = client.v1.subscriptions.migrate(
        subscription.id, params={"billing_mode": {"type": "flexible"}})
    assert changed.billing_mode.type == "flexible"
    assert changed.billing_mode.flexible.proration_discounts == "included"
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.subscriptions.migrate(
            subscription.id, params={"billing_mode": {"type": "flexible"}})


def test_faults_are_set_and_a_failure_stays_with_its_idempotency_key(sandbox, receiver):
    sandbox.call("PUT", "/sandbox/faults", {"corrupt": 1})
    stripe.Customer.create(name="Jenny")
    sandbox.settle()
    assert receiver.events == []
    assert all(isinstance(f, stripe.SignatureVerificationError) for f in receiver.failures)
    assert receiver.failures
    receiver.failures.clear()

    sandbox.call("PUT", "/sandbox/faults", {"api_errors": 1})
    with pytest.raises(stripe.APIError) as failed:
        stripe.Customer.create(name="Rick", idempotency_key="rick")
    assert failed.value.http_status == 500
    sandbox.call("PUT", "/sandbox/faults", {})
    with pytest.raises(stripe.APIError) as again:
        stripe.Customer.create(name="Rick", idempotency_key="rick")
    assert again.value.headers["Idempotent-Replayed"] == "true"
    assert again.value.headers["Original-Request"] == failed.value.request_id
    stripe.Customer.create(name="Rick", idempotency_key="rick again")
    assert [c.name for c in stripe.Customer.list().data] == ["Rick", "Jenny"]

    sandbox.call("PUT", "/sandbox/faults", {"duplicate": 1})
    receiver.events.clear()
    stripe.Customer.create(name="Twice")
    sandbox.settle()
    assert [e.data.object.name for e in receiver.events] == ["Twice", "Twice"]


def test_listen_forwards_every_event_and_trigger_brings_one_about(sandbox, receiver):
    tollgate = os.environ["TOLLGATE_BIN"]
    secret = subprocess.run(
        [
            tollgate, "sandbox", "stripe", "listen", "--forward-to", receiver.url + "/second",
            "--sandbox", sandbox.base, "--print-secret",
        ],
        capture_output=True, text=True, check=True,
    ).stdout.strip()
    assert secret.startswith("whsec_")
    subprocess.run(
        [
            tollgate, "sandbox", "stripe", "trigger", "checkout.session.completed",
            "--sandbox", sandbox.base,
        ],
        check=True, capture_output=True,
    )
    sandbox.settle()
    # Once to the endpoint that the test has from the start, which knows its secret.
    assert "checkout.session.completed" in receiver.types()
    # And to the other one, signed with the secret that was printed: the first one's does not fit.
    assert receiver.failures
    assert all(isinstance(f, stripe.SignatureVerificationError) for f in receiver.failures)
    receiver.failures.clear()
