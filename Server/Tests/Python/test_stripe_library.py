"""Stripe's own Python library, unmodified, against `tollgate sandbox stripe`.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import ast
import functools
import http.server
import json
import os
import pathlib
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
import stripe

SECRET = "whsec_of_the_test"
DAY = 86_400_000


class Receiver(http.server.ThreadingHTTPServer):
    """A webhook endpoint that checks every delivery with `Webhook.construct_event`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiver.Handler)
        self.events = []
        self.failures = []
        self.status = 200
        self.is_ending = False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/webhooks"

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if len(body) < length and self.server.is_ending:
                # The test is over: the sandbox was ended in the middle of a delivery.
                self.close_connection = True
                return
            try:
                event = stripe.Webhook.construct_event(
                    body, self.headers["Stripe-Signature"], SECRET
                )
                self.server.events.append(event)
            except Exception as error:  # The test fails on it later.
                self.server.failures.append(error)
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    def types(self):
        return [event.type for event in self.events]

    def last(self, type):
        return [event for event in self.events if event.type == type][-1]


class Sandbox:
    def __init__(self, base, receiver):
        self.base = base
        self.receiver = receiver

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def pay(self, session, **fields):
        return self.call("POST", f"/sandbox/checkout/{session.id}/pay", fields)

    def advance(self, **span):
        return self.call("POST", "/sandbox/clock/advance", span)["now"]

    def settle(self):
        self.call("POST", "/sandbox/settle")


@pytest.fixture
def receiver():
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    assert server.failures == []
    assert lacking_in_events(server.events) == {}


@pytest.fixture
def sandbox(receiver):
    process = subprocess.Popen(
        [
            os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "--listen", "127.0.0.1:0",
            "--secret-key", "sk_test_python", "--forward-to", receiver.url,
            "--webhook-secret", SECRET, "--portal", "--now", "1767225600000",
            "--api-version", stripe.api_version,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    assert line.startswith("stripe listening on "), line
    base = line.split()[-1]
    stripe.api_key = "sk_test_python"
    stripe.api_base = base
    stripe.max_network_retries = 0
    yield Sandbox(base, receiver)
    receiver.is_ending = True
    process.terminate()
    process.wait()


@pytest.fixture
def plan(sandbox):
    feature = stripe.entitlements.Feature.create(lookup_key="pro", name="Pro features")
    product = stripe.Product.create(name="Pro")
    stripe.Product.create_feature(product.id, entitlement_feature=feature.id)
    return stripe.Price.create(
        product=product.id, currency="usd", unit_amount=999, recurring={"interval": "month"}
    )


def checkout(price, mode="payment", **more):
    return stripe.checkout.Session.create(
        mode=mode,
        line_items=[{"price": price.id, "quantity": 1}],
        success_url="https://example.com/done?session={CHECKOUT_SESSION_ID}",
        cancel_url="https://example.com/back",
        **more,
    )


def subscribe(sandbox, price, card="4242424242424242", **more):
    session = checkout(price, "subscription", **more)
    assert sandbox.pay(session, card=card, email="jenny@example.com")["status"] == "complete"
    session = stripe.checkout.Session.retrieve(session.id)
    return stripe.Subscription.retrieve(session.subscription)


# Buying


def test_coins_are_bought_and_the_return_page_learns_the_session(sandbox):
    customer = stripe.Customer.create(email="jenny@example.com", metadata={"user": "42"})
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    session = checkout(price, customer=customer.id, client_reference_id="user-42")
    assert session.url.startswith(sandbox.base + "/c/pay/cs_test_")
    assert (session.status, session.payment_status) == ("open", "unpaid")
    assert session.amount_total == 1000
    assert session.payment_intent is None

    paid = sandbox.pay(session, card="4242 4242 4242 4242", email="new@example.com")
    assert paid == {
        "status": "complete",
        "redirect": f"https://example.com/done?session={session.id}",
    }
    session = stripe.checkout.Session.retrieve(
        session.id, expand=["line_items", "payment_intent.latest_charge", "customer"]
    )
    assert (session.status, session.payment_status, session.url) == ("complete", "paid", None)
    assert session.line_items.data[0].price.id == price.id
    assert session.payment_intent.latest_charge.paid
    assert session.customer.email == "new@example.com"
    # The payment returned only after the endpoint had answered.
    types = sandbox.receiver.types()
    for type in (
        "charge.succeeded", "payment_intent.succeeded", "checkout.session.completed",
    ):
        assert type in types
    completed = sandbox.receiver.last("checkout.session.completed")
    assert completed.data.object.client_reference_id == "user-42"
    assert completed.data.object.payment_status == "paid"


def test_a_declined_card_leaves_the_session_open(sandbox):
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    session = checkout(price)
    refused = sandbox.pay(session, card="4000000000009995")
    assert refused["error"]["code"] == "insufficient_funds"
    assert refused["error"]["message"] == "Your card has insufficient funds."
    assert stripe.checkout.Session.retrieve(session.id).status == "open"
    assert "payment_intent.payment_failed" in sandbox.receiver.types()
    assert sandbox.pay(session, card="4242424242424242")["status"] == "complete"
    intents = stripe.PaymentIntent.list()
    assert len(intents.data) == 1


def test_a_session_expires_after_a_day(sandbox):
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    session = checkout(price)
    sandbox.advance(by=DAY - 1000)
    assert stripe.checkout.Session.retrieve(session.id).status == "open"
    sandbox.advance(by=1000)
    assert stripe.checkout.Session.retrieve(session.id).status == "expired"
    assert "checkout.session.expired" in sandbox.receiver.types()
    with pytest.raises(stripe.InvalidRequestError):
        stripe.checkout.Session.expire(session.id)


def test_refunds_partial_and_whole(sandbox):
    product = stripe.Product.create(name="100 coins")
    price = stripe.Price.create(product=product.id, currency="usd", unit_amount=1000)
    session = checkout(price)
    sandbox.pay(session)
    intent = stripe.checkout.Session.retrieve(session.id).payment_intent
    first = stripe.Refund.create(payment_intent=intent, amount=300)
    assert (first.status, first.amount) == ("succeeded", 300)
    sandbox.settle()
    event = sandbox.receiver.last("charge.refunded")
    assert event.data.object.amount_refunded == 300
    assert event.data.previous_attributes["amount_refunded"] == 0
    stripe.Refund.create(payment_intent=intent)
    charge = stripe.Charge.list(payment_intent=intent).data[0]
    assert (charge.refunded, charge.amount_refunded) == (True, 1000)
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        stripe.Refund.create(payment_intent=intent)
    assert refusal.value.code == "charge_already_refunded"


# Subscriptions


def test_a_subscription_renews_month_by_month_from_its_anchor(sandbox, plan):
    sandbox.advance(to=1769860800000)  # 31 January 2026, 12:00 UTC
    subscription = subscribe(sandbox, plan)
    assert subscription.status == "active"
    item = subscription["items"].data[0]
    assert item.current_period_start == 1769860800
    assert item.current_period_end == 1772280000  # 28 February, 12:00
    invoice = stripe.Invoice.retrieve(subscription.latest_invoice)
    assert (invoice.billing_reason, invoice.status) == ("subscription_create", "paid")
    assert invoice.parent.subscription_details.subscription == subscription.id
    assert invoice.lines.data[0].pricing.price_details.price == plan.id

    sandbox.advance(to=1772280000000)
    draft = stripe.Invoice.list(subscription=subscription.id).data[0]
    assert (draft.billing_reason, draft.status) == ("subscription_cycle", "draft")
    assert draft.period_end == 1772280000
    assert draft.lines.data[0].period.end == 1774958400  # 31 March, 12:00: counted from the anchor
    sandbox.advance(by=3_600_000)
    assert stripe.Invoice.retrieve(draft.id).status == "paid"
    updated = sandbox.receiver.last("customer.subscription.updated")
    assert updated.data.object["items"].data[0].current_period_end == 1774958400
    old = updated.data.previous_attributes["items"]["data"][0]
    assert old["current_period_end"] == 1772280000
    types = sandbox.receiver.types()
    assert types.count("invoice.paid") == 2
    assert types.count("entitlements.active_entitlement_summary.updated") == 1
    entitlements = stripe.entitlements.ActiveEntitlement.list(
        customer=subscription.customer, expand=["data.feature"]
    )
    assert [e.lookup_key for e in entitlements.data] == ["pro"]
    assert entitlements.data[0].feature.name == "Pro features"


def test_a_card_that_fails_renewals_ends_in_cancellation(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    sandbox.call(
        "POST", f"/sandbox/customers/{subscription.customer}/default_card",
        {"card": "4000000000000341"},
    )
    sandbox.advance(by=31 * DAY + 2 * 3_600_000)
    assert stripe.Subscription.retrieve(subscription.id).status == "past_due"
    invoice = stripe.Invoice.list(subscription=subscription.id).data[0]
    assert (invoice.status, invoice.attempt_count) == ("open", 1)
    assert invoice.next_payment_attempt is not None
    sandbox.advance(by=3 * DAY)
    assert stripe.Invoice.retrieve(invoice.id).attempt_count == 2
    sandbox.advance(by=5 * DAY)
    subscription = stripe.Subscription.retrieve(subscription.id)
    assert subscription.status == "canceled"
    assert subscription.cancellation_details.reason == "payment_failed"
    assert sandbox.receiver.last("customer.subscription.deleted").data.object.id == subscription.id
    summary = sandbox.receiver.last("entitlements.active_entitlement_summary.updated")
    assert summary.data.object.entitlements.data == []


def test_a_new_card_saves_a_subscription_that_is_past_due(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    customer = f"/sandbox/customers/{subscription.customer}/default_card"
    sandbox.call("POST", customer, {"card": "4000000000000341"})
    sandbox.advance(by=31 * DAY + 2 * 3_600_000)
    sandbox.call("POST", customer, {"card": "4242424242424242"})
    sandbox.advance(by=3 * DAY)
    assert stripe.Subscription.retrieve(subscription.id).status == "active"


def test_cancelling_at_the_end_of_the_period(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    end = subscription["items"].data[0].current_period_end
    changed = stripe.Subscription.modify(subscription.id, cancel_at_period_end=True)
    assert (changed.cancel_at_period_end, changed.cancel_at) == (True, end)
    stripe.Subscription.modify(subscription.id, cancel_at_period_end=False)
    stripe.Subscription.modify(subscription.id, cancel_at_period_end=True)
    sandbox.advance(to=end * 1000)
    ended = stripe.Subscription.retrieve(subscription.id)
    assert (ended.status, ended.ended_at) == ("canceled", end)
    assert stripe.Subscription.list(customer=subscription.customer).data == []
    assert len(stripe.Subscription.list(customer=subscription.customer, status="all").data) == 1


def test_a_change_of_price_is_prorated_to_the_second(sandbox):
    # Reference figures: 445,540 of 2,678,400 seconds left, 10.00 → 32.52.
    sandbox.advance(to=1772323200000)  # 1 March 2026
    product = stripe.Product.create(name="Seat")
    recurring = {"interval": "month"}
    small = stripe.Price.create(
        product=product.id, currency="usd", unit_amount=1000, recurring=recurring)
    large = stripe.Price.create(
        product=product.id, currency="usd", unit_amount=3252, recurring=recurring)
    subscription = subscribe(sandbox, small)
    end = subscription["items"].data[0].current_period_end
    assert end - 1772323200 == 2_678_400
    sandbox.advance(to=(end - 445_540) * 1000)
    item = subscription["items"].data[0].id
    changed = stripe.Subscription.modify(
        subscription.id, items=[{"id": item, "price": large.id}])
    assert changed["items"].data[0].price.id == large.id
    amounts = [i.amount for i in stripe.InvoiceItem.list(customer=subscription.customer).data]
    assert sorted(amounts) == [-166, 541]
    sandbox.advance(to=(end + 3600) * 1000)
    invoice = stripe.Invoice.list(subscription=subscription.id).data[0]
    assert invoice.total == 3252 - 166 + 541
    updated = [
        e for e in sandbox.receiver.events
        if e.type == "customer.subscription.updated" and "items" in e.data.previous_attributes
    ][0]
    previous = updated.data.previous_attributes["items"]["data"][0]["price"]["id"]
    assert previous == small.id


def test_a_trial_starts_free_and_is_billed_at_its_end(sandbox, plan):
    subscription = subscribe(sandbox, plan, subscription_data={"trial_period_days": 7})
    assert subscription.status == "trialing"
    assert stripe.Invoice.retrieve(subscription.latest_invoice).total == 0
    sandbox.advance(by=5 * DAY)
    assert "customer.subscription.trial_will_end" in sandbox.receiver.types()
    sandbox.advance(by=2 * DAY + 3_600_000)
    assert stripe.Subscription.retrieve(subscription.id).status == "active"
    assert stripe.Invoice.list(subscription=subscription.id).data[0].amount_paid == 999


def test_an_incomplete_subscription_expires_after_23_hours(sandbox, plan):
    customer = stripe.Customer.create(email="jenny@example.com")
    subscription = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}], payment_behavior="default_incomplete",
        expand=["latest_invoice.confirmation_secret"],
    )
    assert subscription.status == "incomplete"
    assert subscription.latest_invoice.confirmation_secret.client_secret.startswith("pi_")
    sandbox.advance(by=23 * 3_600_000)
    assert stripe.Subscription.retrieve(subscription.id).status == "incomplete_expired"
    assert stripe.Invoice.retrieve(subscription.latest_invoice.id).status == "void"


def test_test_clocks_move_only_their_own_customers(sandbox, plan):
    clock = stripe.test_helpers.TestClock.create(frozen_time=1769904000, name="own time")
    customer = stripe.Customer.create(test_clock=clock.id, payment_method="pm_card_visa")
    method = stripe.Customer.list_payment_methods(customer.id).data[0].id
    subscription = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}], default_payment_method=method
    )
    assert subscription.created == 1769904000
    stripe.test_helpers.TestClock.advance(clock.id, frozen_time=1769904000 + 28 * 86400 + 3600)
    assert stripe.test_helpers.TestClock.retrieve(clock.id).status == "ready"
    assert len(stripe.Invoice.list(subscription=subscription.id).data) == 2


def test_a_preview_shows_the_change_and_leaves_the_subscription(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    item = subscription["items"].data[0]
    sandbox.advance(by=15 * DAY + DAY // 2)  # The middle of January.
    preview = stripe.Invoice.create_preview(
        subscription=subscription.id,
        subscription_details={"items": [{"id": item.id, "quantity": 3}]},
    )
    assert preview.total == 3 * 999 - 500 + 1499
    assert preview.id.startswith("upcoming_in_")
    assert stripe.Subscription.retrieve(subscription.id)["items"].data[0].quantity == 1
    assert len(stripe.Invoice.list().data) == 1
    changed = stripe.Subscription.modify(
        subscription.id, items=[{"id": item.id, "quantity": 3}],
        proration_behavior="always_invoice",
    )
    assert changed["items"].data[0].price.id == plan.id
    invoice = stripe.Invoice.retrieve(changed.latest_invoice)
    assert (invoice.billing_reason, invoice.total) == ("subscription_update", 1499 - 500)
    assert (invoice.status, invoice.amount_paid) == ("paid", 999)


def test_a_renewal_is_announced_a_week_ahead(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    sandbox.advance(by=25 * DAY)
    upcoming = sandbox.receiver.last("invoice.upcoming").data.object.to_dict()
    assert "id" not in upcoming
    assert upcoming["amount_due"] == 999
    assert upcoming["parent"]["subscription_details"]["subscription"] == subscription.id


def test_a_coupon_is_taken_off_once(sandbox, plan):
    coupon = stripe.Coupon.create(percent_off=50, duration="once", id="HALF")
    stripe.PromotionCode.create(
        promotion={"type": "coupon", "coupon": coupon.id}, code="Spring")
    code = stripe.PromotionCode.list(code="SPRING").data[0]
    subscription = subscribe(
        sandbox, plan, discounts=[{"promotion_code": code.id}])
    invoice = stripe.Invoice.retrieve(subscription.latest_invoice)
    assert (invoice.subtotal, invoice.total, invoice.amount_paid) == (999, 499, 499)
    assert stripe.Coupon.retrieve("HALF").times_redeemed == 1
    sandbox.advance(by=31 * DAY + 3_600_000)
    assert stripe.Invoice.list(subscription=subscription.id).data[0].total == 999


def test_a_bank_debit_is_unpaid_until_the_bank_answers(sandbox):
    price = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="eur", unit_amount=1000)
    good, bad = checkout(price), checkout(price)
    sandbox.pay(good, card="AT321904300235473204")
    sandbox.pay(bad, card="AT861904300235473202")
    session = stripe.checkout.Session.retrieve(good.id)
    assert (session.status, session.payment_status) == ("complete", "unpaid")
    sandbox.advance(by=DAY)
    assert stripe.checkout.Session.retrieve(good.id).payment_status == "paid"
    assert stripe.checkout.Session.retrieve(bad.id).payment_status == "unpaid"
    types = sandbox.receiver.types()
    assert "checkout.session.async_payment_succeeded" in types
    assert "checkout.session.async_payment_failed" in types


def test_a_disputed_payment_is_won_by_evidence(sandbox):
    price = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    sandbox.pay(checkout(price), card="4000000000000259")
    dispute = stripe.Dispute.list().data[0]
    assert dispute.status == "needs_response"
    assert "charge.dispute.funds_withdrawn" in sandbox.receiver.types()
    stripe.Dispute.modify(dispute.id, evidence={"uncategorized_text": "winning_evidence"})
    assert stripe.Dispute.retrieve(dispute.id).status == "won"
    sandbox.settle()
    assert "charge.dispute.funds_reinstated" in sandbox.receiver.types()
    # What is over is over: the money comes back once.
    for evidence in ("winning_evidence", "losing_evidence"):
        with pytest.raises(stripe.InvalidRequestError):
            stripe.Dispute.modify(dispute.id, evidence={"uncategorized_text": evidence})
    assert stripe.Dispute.close(dispute.id).status == "won"
    sandbox.settle()
    assert sandbox.receiver.types().count("charge.dispute.funds_reinstated") == 1


def test_a_refund_can_fail_afterwards(sandbox):
    price = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    session = checkout(price)
    sandbox.pay(session, card="4000000000005126")
    intent = stripe.checkout.Session.retrieve(session.id).payment_intent
    refund = stripe.Refund.create(payment_intent=intent)
    assert refund.status == "succeeded"
    sandbox.advance(by=DAY)
    assert stripe.Refund.retrieve(refund.id).status == "failed"
    charge = stripe.Charge.list(payment_intent=intent).data[0]
    assert (charge.amount_refunded, charge.refunded) == (0, False)
    assert "refund.failed" in sandbox.receiver.types()


def test_what_is_paid_is_not_paid_again(sandbox):
    intent = stripe.PaymentIntent.create(
        amount=500, currency="usd", payment_method="pm_card_visa", confirm=True)
    assert intent.status == "succeeded"
    for again in (
        lambda: stripe.PaymentIntent.modify(intent.id, payment_method="pm_card_visa"),
        lambda: stripe.PaymentIntent.confirm(intent.id),
    ):
        with pytest.raises(stripe.InvalidRequestError) as refused:
            again()
        assert refused.value.code == "payment_intent_unexpected_state"
    assert len(stripe.Charge.list(payment_intent=intent.id).data) == 1
    setup = stripe.SetupIntent.create(payment_method="pm_card_visa")
    stripe.SetupIntent.cancel(setup.id)
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe.SetupIntent.confirm(setup.id)
    assert refused.value.code == "setup_intent_unexpected_state"


def test_numbers_that_no_store_would_take_are_refused_and_end_nothing(sandbox, plan):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa",
        invoice_settings={"default_payment_method": "pm_card_visa"})
    subscription = stripe.Subscription.create(customer=customer.id, items=[{"price": plan.id}])
    item = subscription["items"].data[0].id
    huge, far = 2**63 - 1, 9_300_000_000_000_000
    phases = [{"items": [{"price": plan.id}]}]

    def schedule(**more):
        return lambda: stripe.SubscriptionSchedule.create(
            **{"customer": customer.id, "start_date": "now", "phases": phases} | more)

    for number, attempt in enumerate((
        lambda: stripe.Customer.search(query='email:"a"', page="-1"),
        schedule(start_date=huge), schedule(start_date=far),
        schedule(phases=[phases[0] | {"iterations": huge}]),
        schedule(phases=[phases[0] | {"duration": {"interval": "month", "interval_count": huge}}]),
        lambda: stripe.Subscription.modify(subscription.id, cancel_at=far),
        lambda: stripe.Subscription.modify(subscription.id, trial_end=far),
        lambda: stripe.Subscription.modify(
            subscription.id, proration_date=-huge, items=[{"id": item, "quantity": 2}]),
        lambda: stripe.test_helpers.TestClock.create(frozen_time=huge),
        lambda: stripe.Price.create(
            product_data={"name": "gold"}, currency="usd", unit_amount_decimal="9" + "0" * 18),
        lambda: stripe.Customer.modify(customer.id, balance=huge),
        lambda: stripe.InvoiceItem.create(customer=customer.id, amount=huge, currency="usd"),
    )):
        with pytest.raises(stripe.InvalidRequestError) as refused:
            assert attempt() is None, number
        assert refused.value.http_status == 400
    for path, body in (
        ("/sandbox/clock/advance", {"by": huge}), ("/sandbox/clock/advance", {"to": huge}),
        ("/sandbox/policy", {"retry_days": [huge]}),
    ):
        assert "error" in sandbox.call("POST", path, body)
    sandbox.advance(by=40 * DAY)
    assert stripe.Subscription.retrieve(subscription.id).status == "active"


def test_a_schedule_of_somebody_without_a_card_ends_and_leaves_nothing(sandbox, plan):
    customer = stripe.Customer.create()
    for start in ("now", 1767225600 + 86_400):
        schedule = stripe.SubscriptionSchedule.create(
            customer=customer.id, start_date=start, phases=[{"items": [{"price": plan.id}]}])
        sandbox.advance(by=2 * DAY) if start != "now" else sandbox.settle()
        assert stripe.SubscriptionSchedule.retrieve(schedule.id).status == "canceled"
    assert sandbox.receiver.types().count("subscription_schedule.aborted") == 2
    assert stripe.Subscription.list(customer=customer.id, status="all").data == []
    assert stripe.Invoice.list(customer=customer.id).data == []


def test_a_card_that_wants_its_holder_fails_without_them(sandbox, plan):
    subscription = subscribe(sandbox, plan, card="4000002760003184")
    sandbox.advance(by=31 * DAY + 3_600_000)
    assert stripe.Subscription.retrieve(subscription.id).status == "past_due"
    intent = stripe.PaymentIntent.list(customer=subscription.customer).data[0]
    assert intent.last_payment_error.code == "authentication_required"


def test_saving_a_card_without_paying(sandbox):
    session = stripe.checkout.Session.create(
        mode="setup", currency="usd", success_url="https://example.com/done")
    sandbox.pay(session)
    session = stripe.checkout.Session.retrieve(session.id, expand=["setup_intent"])
    assert (session.status, session.payment_status) == ("complete", "no_payment_required")
    assert session.setup_intent.status == "succeeded"


def test_the_official_command_lines_way_to_pay_a_session(sandbox):
    price = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    session = checkout(price)
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": sandbox.base})
    page = client.raw_request("get", f"/v1/payment_pages/{session.id}")
    assert page.code == 200
    client.raw_request(
        "post", f"/v1/payment_pages/{session.id}/confirm",
        payment_method="pm_card_visa", expected_amount=1000,
    )
    assert stripe.checkout.Session.retrieve(session.id).status == "complete"


def test_each_story_brings_its_event_about(sandbox):
    listed = sandbox.call("POST", "/sandbox/trigger", {"event": "no.such.event"})
    names = listed["error"]["message"].split("Supported are: ")[1].rstrip(".").split(", ")
    assert len(names) > 50
    # One after the other in one sandbox; each by itself is in test_stripe_events.py.
    for name in names:
        before = len(sandbox.receiver.events)
        answer = sandbox.call("POST", "/sandbox/trigger", {"event": name})
        assert answer == {"event": name}
        assert name in [event.type for event in sandbox.receiver.events[before:]], name


@pytest.mark.parametrize("end", ["unpaid", "past_due"])
def test_dunning_ends_as_the_account_wants(sandbox, plan, end):
    sandbox.call("POST", "/sandbox/policy", {"dunning_end": end, "retry_days": [1]})
    subscription = subscribe(sandbox, plan, card="4000000000000341")
    sandbox.advance(by=34 * DAY)
    assert stripe.Subscription.retrieve(subscription.id).status == end
    invoice = stripe.Invoice.list(subscription=subscription.id).data[0]
    stripe.Invoice.pay(invoice.id, payment_method="pm_card_visa")
    assert stripe.Subscription.retrieve(subscription.id).status == "active"


# Conventions


def test_errors_have_stripes_shapes(sandbox):
    with pytest.raises(stripe.InvalidRequestError) as missing:
        stripe.Customer.retrieve("cus_missing")
    assert missing.value.http_status == 404
    assert missing.value.code == "resource_missing"
    assert missing.value.param == "id"
    assert "No such customer: 'cus_missing'" in str(missing.value)
    with pytest.raises(stripe.InvalidRequestError) as unknown:
        stripe.Customer.create(favourite_colour="blue")
    assert (unknown.value.http_status, unknown.value.code) == (400, "parameter_unknown")
    with pytest.raises(stripe.InvalidRequestError) as nested:
        stripe.Customer.create(address={"planet": "Mars"})
    assert nested.value.param == "address[planet]"
    with pytest.raises(stripe.AuthenticationError):
        stripe.Customer.list(api_key="sk_test_wrong")
    customer = stripe.Customer.create()
    with pytest.raises(stripe.CardError) as declined:
        stripe.PaymentIntent.create(
            amount=500, currency="usd", customer=customer.id, confirm=True,
            payment_method="pm_card_visa_chargeDeclinedInsufficientFunds",
        )
    assert declined.value.code == "card_declined"
    assert declined.value.error.decline_code == "insufficient_funds"
    assert declined.value.error.payment_intent.status == "requires_payment_method"
    assert declined.value.request_id.startswith("req_")


def test_a_repeated_idempotency_key_does_nothing_twice(sandbox):
    first = stripe.Customer.create(name="Jenny", idempotency_key="key-1")
    again = stripe.Customer.create(name="Jenny", idempotency_key="key-1")
    assert first.id == again.id
    assert again.last_response.headers["Idempotent-Replayed"] == "true"
    assert len(stripe.Customer.list().data) == 1
    with pytest.raises(stripe.IdempotencyError):
        stripe.Customer.create(name="Other", idempotency_key="key-1")


def test_a_twin_of_a_request_that_is_being_worked_on_is_a_conflict(sandbox):
    sandbox.call("PUT", "/sandbox/faults", {"api_delay": 3_000})
    both_begin, outcomes = threading.Barrier(2), []

    def create(retries, api_key):
        both_begin.wait()
        client = stripe.StripeClient(
            api_key, base_addresses={"api": sandbox.base}, max_network_retries=retries)
        try:
            outcomes.append(client.v1.customers.create(
                {"name": "Jenny"}, {"idempotency_key": "twin"}))
        except stripe.StripeError as error:
            outcomes.append(error)

    def at_once(*retries, keys=("sk_test_python", "sk_test_python")):
        outcomes.clear()
        threads = [threading.Thread(target=create, args=one) for one in zip(retries, keys)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    refused, made = sorted(at_once(0, 0), key=lambda one: not isinstance(one, Exception))
    assert isinstance(refused, stripe.StripeError)
    assert refused.http_status == 409
    assert refused.json_body["error"]["code"] == "idempotency_key_in_use"
    assert "twin" in str(refused) and refused.request_id.startswith("req_")
    # Nothing of the refusal is kept: the key gives the answer of the one that went through.
    sandbox.call("PUT", "/sandbox/faults", {})
    again = stripe.Customer.create(name="Jenny", idempotency_key="twin")
    assert again.id == made.id
    assert again.last_response.headers["Idempotent-Replayed"] == "true"
    # Who tries again, as Stripe's libraries do by themselves, never sees the conflict.
    sandbox.call("PUT", "/sandbox/faults", {"api_delay": 300})
    first, second = at_once(4, 4)
    assert first.id == second.id == made.id
    # Who has no key of this account is told that, and nothing of what others are doing.
    refused, made = sorted(at_once(0, 0, keys=("sk_test_wrong", "sk_test_python")),
                           key=lambda one: not isinstance(one, Exception))
    assert isinstance(refused, stripe.AuthenticationError)
    assert made.id == first.id
    sandbox.call("PUT", "/sandbox/faults", {})
    assert [customer.name for customer in stripe.Customer.list().data] == ["Jenny"]


def test_lists_page_newest_first(sandbox):
    ids = [stripe.Customer.create(name=str(n)).id for n in range(25)]
    page = stripe.Customer.list(limit=10)
    assert [c.id for c in page.data] == ids[:14:-1]
    assert page.has_more
    assert [c.id for c in page.auto_paging_iter()] == ids[::-1]
    back = stripe.Customer.list(limit=3, ending_before=ids[10])
    assert [c.id for c in back.data] == [ids[13], ids[12], ids[11]]


def test_metadata_is_merged_and_unset(sandbox):
    customer = stripe.Customer.create(metadata={"a": "1", "b": "2"})
    changed = stripe.Customer.modify(customer.id, metadata={"b": "", "c": "3"})
    assert changed.metadata.to_dict() == {"a": "1", "c": "3"}
    assert stripe.Customer.modify(customer.id, metadata="").metadata.to_dict() == {}


def test_events_can_be_listed_and_failed_deliveries_are_retried(sandbox):
    sandbox.receiver.status = 500
    stripe.Customer.create(name="Jenny")
    sandbox.settle()
    assert len(sandbox.receiver.events) == 1
    sandbox.receiver.status = 200
    sandbox.advance(by=3_600_000)
    assert len(sandbox.receiver.events) == 2
    assert sandbox.receiver.events[0].id == sandbox.receiver.events[1].id
    event = stripe.Event.list(type="customer.created").data[0]
    assert event.id == sandbox.receiver.events[0].id
    sandbox.receiver.status = 500
    stripe.Customer.create(name="Rick")
    sandbox.settle()
    waiting = stripe.Event.list(delivery_success=False).data
    assert [e.data.object.name for e in waiting] == ["Rick"]
    assert [e.id for e in stripe.Event.list(delivery_success=True).data] == [event.id]
    assert len(stripe.Event.list().data) == 2
    sandbox.receiver.status = 200
    sandbox.advance(by=3_600_000)
    assert stripe.Event.list(delivery_success=False).data == []
    assert event.pending_webhooks == 0
    assert event.request.id.startswith("req_")


def test_the_portal_of_a_customer(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    session = stripe.billing_portal.Session.create(
        customer=subscription.customer, return_url="https://example.com/back"
    )
    with urllib.request.urlopen(session.url) as response:
        text = response.read().decode()
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "Cancel plan" in text and "$9.99 per month" in text


def test_webhook_endpoints_show_their_secret_once(sandbox):
    endpoint = stripe.WebhookEndpoint.create(
        url="https://example.com/hooks", enabled_events=["charge.succeeded"]
    )
    assert endpoint.secret.startswith("whsec_")
    assert "secret" not in stripe.WebhookEndpoint.retrieve(endpoint.id).to_dict()
    stripe.WebhookEndpoint.modify(endpoint.id, disabled=True)
    assert stripe.WebhookEndpoint.retrieve(endpoint.id).status == "disabled"
    assert stripe.WebhookEndpoint.delete(endpoint.id).deleted


def test_a_customer_session_echoes_every_component(sandbox):
    customer = stripe.Customer.create()
    session = stripe.CustomerSession.create(
        customer=customer.id, components={"buy_button": {"enabled": True}}
    )
    assert session.client_secret.startswith("cuss_secret_")
    assert session.components.buy_button.enabled
    assert not session.components.pricing_table.enabled


# Every member that the library's types promise is there.

ABSENT_UNLESS_EXPANDED = {
    "customer": {
        "cash_balance", "invoice_credit_balance", "sources", "subscriptions", "tax", "tax_ids",
    },
    "price": {"currency_options", "tiers"},
    "plan": {"tiers"},
    "coupon": {"applies_to", "currency_options"},
    "payment_link": {"line_items"},
    "checkout.session": {"line_items"},
    "invoice": {"payments", "confirmation_secret"},
    "webhook_endpoint": {"secret"},
    "event": {"account", "context"},
    # Only accounts with Connect, Issuing or instant payouts have these.
    "balance": {"connect_reserved", "instant_available", "issuing"},
}


# Members that real objects carry only in some situations.
SITUATIONAL = {
    "total_details.breakdown", "data.previous_attributes", "status_details.advancing",
    "restrictions.currency_options", "evidence.enhanced_evidence",
    "evidence_details.enhanced_eligibility",
    # By the kinds of payment method that there is money from.
    "available.source_types", "pending.source_types",
    # Of an account, those that its country and business call for.
    "capabilities.", "controller.",
    # Not in the answers that accounts usually get, as the library says.
    "card.description", "card.iin", "card.issuer",
}

# Objects with one member per payment method type, of which only those in use are there.
ONE_OF_MANY = {"payment_method_options", "payment_method_details", "destination_details"}


# Where the library describes the objects that events carry.
CLASSES = {
    "active_entitlement_summary": ("entitlements/_active_entitlement_summary",
                                   "ActiveEntitlementSummary"),
    "balance": ("_balance", "Balance"),
    "billing_portal.configuration": ("billing_portal/_configuration", "Configuration"),
    "billing_portal.session": ("billing_portal/_session", "Session"),
    "charge": ("_charge", "Charge"),
    "checkout.session": ("checkout/_session", "Session"),
    "coupon": ("_coupon", "Coupon"),
    "credit_note": ("_credit_note", "CreditNote"),
    "discount": ("_discount", "Discount"),
    "customer": ("_customer", "Customer"),
    "dispute": ("_dispute", "Dispute"),
    "entitlements.active_entitlement_summary": ("entitlements/_active_entitlement_summary",
                                                "ActiveEntitlementSummary"),
    "entitlements.feature": ("entitlements/_feature", "Feature"),
    "invoice": ("_invoice", "Invoice"),
    "invoice_payment": ("_invoice_payment", "InvoicePayment"),
    "invoiceitem": ("_invoice_item", "InvoiceItem"),
    "payment_intent": ("_payment_intent", "PaymentIntent"),
    "payment_link": ("_payment_link", "PaymentLink"),
    "payment_method": ("_payment_method", "PaymentMethod"),
    "payout": ("_payout", "Payout"),
    "price": ("_price", "Price"),
    "product": ("_product", "Product"),
    "promotion_code": ("_promotion_code", "PromotionCode"),
    "refund": ("_refund", "Refund"),
    "setup_intent": ("_setup_intent", "SetupIntent"),
    "subscription": ("_subscription", "Subscription"),
    "subscription_schedule": ("_subscription_schedule", "SubscriptionSchedule"),
    "tax_rate": ("_tax_rate", "TaxRate"),
    "test_helpers.test_clock": ("test_helpers/_test_clock", "TestClock"),
}


def lacking_in_events(events):
    """What the objects in `events` lack of what the library's types promise, by event type."""
    missing = {}
    for event in events:
        value = event.data.object.to_dict()
        found = set(lacking(value, class_of(*CLASSES[value["object"]])))
        if event.type == "invoice.upcoming":
            found.discard("id")  # It has none yet.
        if found:
            missing.setdefault(event.type, set()).update(found)
    return missing


@functools.cache
def class_of(module, name):
    source = pathlib.Path(stripe.__file__).parent / f"{module}.py"
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise AssertionError(f"{module}.{name} is not in this version of the library")


def class_words(member):
    """The names in a member's annotation, such as "List" and "Item"."""
    return {word.id for word in ast.walk(member.annotation) if isinstance(word, ast.Name)}


def lacking(value, node, path=""):
    """The members that the library's class promises and `value` lacks, nested ones included."""
    if isinstance(value, list):
        return [name for element in value for name in lacking(element, node, path)]
    if not isinstance(value, dict):
        return []
    optional = ABSENT_UNLESS_EXPANDED.get(str(value.get("object")), set()) | {"deleted"}
    inner = {child.name: child for child in node.body if isinstance(child, ast.ClassDef)}
    missing = []
    for member in node.body:
        if not isinstance(member, ast.AnnAssign) or member.target.id == "OBJECT_NAME":
            continue
        name = member.target.id
        if name not in value:
            one_of_many = "type" in value and name != "type" and path
            is_situational = any((path + name).startswith(known) for known in SITUATIONAL)
            if value.get("object") == "payment_method" and not path:
                # One member for each type that there is, of which it has its own.
                one_of_many = name != "billing_details" and class_words(member) & inner.keys()
            if name not in optional and not one_of_many and not is_situational:
                missing.append(path + name)
            continue
        if name in ONE_OF_MANY:
            continue
        for class_name in class_words(member) & inner.keys():
            missing += lacking(value[name], inner[class_name], f"{path}{name}.")
    return missing


def missing_members(value, module, name):
    return sorted(set(lacking(value.to_dict(), class_of(module, name))))


def test_every_promised_member_is_there(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    invoice = stripe.Invoice.retrieve(subscription.latest_invoice)
    charge = stripe.Charge.list().data[0]
    refund = stripe.Refund.create(charge=charge.id)
    item = stripe.InvoiceItem.create(
        customer=subscription.customer, amount=100, currency="usd", description="Extra"
    )
    product = stripe.Product.retrieve(plan.product)
    dispute_price = stripe.Price.create(
        product=product.id, currency="usd", unit_amount=1000
    )
    session = checkout(dispute_price)
    sandbox.pay(session, card="4000000000000259")
    coupon = stripe.Coupon.create(percent_off=25, duration="once")
    objects = [
        (stripe.Customer.retrieve(subscription.customer), "_customer", "Customer"),
        (product, "_product", "Product"),
        (plan, "_price", "Price"),
        (stripe.checkout.Session.retrieve(session.id), "checkout/_session", "Session"),
        (stripe.checkout.Session.list_line_items(session.id).data[0], "_line_item", "LineItem"),
        (subscription, "_subscription", "Subscription"),
        (subscription["items"].data[0], "_subscription_item", "SubscriptionItem"),
        (subscription["items"].data[0].plan, "_plan", "Plan"),
        (invoice, "_invoice", "Invoice"),
        (invoice.lines.data[0], "_invoice_line_item", "InvoiceLineItem"),
        (stripe.InvoicePayment.list().data[0], "_invoice_payment", "InvoicePayment"),
        (item, "_invoice_item", "InvoiceItem"),
        (stripe.PaymentIntent.list().data[0], "_payment_intent", "PaymentIntent"),
        (charge, "_charge", "Charge"),
        (refund, "_refund", "Refund"),
        (stripe.Dispute.list().data[0], "_dispute", "Dispute"),
        (stripe.Event.list().data[0], "_event", "Event"),
        (stripe.WebhookEndpoint.list().data[0], "_webhook_endpoint", "WebhookEndpoint"),
        (stripe.BalanceTransaction.list().data[0], "_balance_transaction", "BalanceTransaction"),
        (stripe.entitlements.Feature.list().data[0], "entitlements/_feature", "Feature"),
        (
            stripe.entitlements.ActiveEntitlement.list(customer=subscription.customer).data[0],
            "entitlements/_active_entitlement", "ActiveEntitlement",
        ),
        (stripe.Product.list_features(product.id).data[0], "_product_feature", "ProductFeature"),
        (
            stripe.billing_portal.Session.create(customer=subscription.customer),
            "billing_portal/_session", "Session",
        ),
        (
            stripe.billing_portal.Configuration.list().data[0],
            "billing_portal/_configuration", "Configuration",
        ),
        (
            stripe.test_helpers.TestClock.create(frozen_time=1767225600),
            "test_helpers/_test_clock", "TestClock",
        ),
        (coupon, "_coupon", "Coupon"),
        (
            stripe.PromotionCode.create(promotion={"type": "coupon", "coupon": coupon.id}),
            "_promotion_code", "PromotionCode",
        ),
        (
            stripe.PaymentLink.create(line_items=[{"price": plan.id, "quantity": 1}]),
            "_payment_link", "PaymentLink",
        ),
        (stripe.SetupIntent.create(), "_setup_intent", "SetupIntent"),
        (stripe.PaymentMethod.list(customer=subscription.customer).data[0],
         "_payment_method", "PaymentMethod"),
        (
            stripe.CustomerSession.create(
                customer=subscription.customer, components={"buy_button": {"enabled": True}}),
            "_customer_session", "CustomerSession",
        ),
        (stripe.Balance.retrieve(), "_balance", "Balance"),
        (stripe.Account.retrieve(), "_account", "Account"),
    ]
    large = stripe.Price.create(product=product.id, currency="usd", unit_amount=100_000)
    sandbox.pay(checkout(large))
    sandbox.advance(by=10 * DAY)  # What was charged can be paid out by then.
    objects.append((stripe.Payout.create(amount=100, currency="usd"), "_payout", "Payout"))
    assert "entitlements.active_entitlement_summary.updated" in sandbox.receiver.types()
    missing = {
        f"{module}.{name}": members
        for value, module, name in objects
        if (members := missing_members(value, module, name))
    }
    assert missing == {}, json.dumps(missing, indent=1)
