"""What an app's backend does without Checkout: intents, incomplete subscriptions, sent invoices;
with Stripe's own Python library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import urllib.error
import urllib.parse
import urllib.request

import pytest
import stripe

from test_stripe_billing import form
from test_stripe_library import DAY, plan, receiver, sandbox

__all__ = ["plan", "receiver", "sandbox"]

HOUR = 3_600_000
CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2034, "cvc": "123"}
CHALLENGED = {**CARD, "number": "4000002760003184"}


def incomplete(customer, price, **more):
    return stripe.Subscription.create(
        customer=customer.id, items=[{"price": price.id}], payment_behavior="default_incomplete",
        payment_settings={"save_default_payment_method": "on_subscription"},
        expand=["latest_invoice.confirmation_secret", "pending_setup_intent"], **more)


def intent_of(subscription):
    secret = subscription.latest_invoice.confirmation_secret.client_secret
    return secret.split("_secret_")[0]


def redirected(url, **answer):
    """Where the page at `url` leads when the answer is given."""
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *rest):
            return None

    data = urllib.parse.urlencode(answer).encode()
    with pytest.raises(urllib.error.HTTPError) as left:
        urllib.request.build_opener(Stay).open(urllib.request.Request(url, data=data))
    assert left.value.code == 303
    return left.value.headers["Location"]


# An incomplete subscription


def test_confirming_the_intent_pays_the_invoice_and_activates_the_subscription(sandbox, plan):
    customer = stripe.Customer.create()
    made = incomplete(customer, plan)
    assert made.status == "incomplete"
    before = len(sandbox.receiver.events)
    intent = stripe.PaymentIntent.confirm(
        intent_of(made), payment_method_data={"type": "card", "card": CARD})
    assert intent.status == "succeeded"
    after = stripe.Subscription.retrieve(made.id, expand=["latest_invoice.payments"])
    assert (after.status, after.latest_invoice.status) == ("active", "paid")
    assert after.latest_invoice.payments.data[0].payment.payment_intent == intent.id
    # The card is kept for the subscription, which renews with it.
    assert after.default_payment_method == intent.payment_method
    assert stripe.PaymentMethod.retrieve(intent.payment_method).customer == customer.id
    sandbox.settle()
    types = [event.type for event in sandbox.receiver.events[before:]]
    expected = [
        "charge.succeeded", "payment_intent.succeeded", "invoice.paid",
        "invoice.payment_succeeded", "customer.subscription.updated",
        "entitlements.active_entitlement_summary.updated",
    ]
    places = [types.index(type) for type in expected]
    assert places == sorted(places)
    sandbox.advance(by=32 * DAY)
    assert stripe.Subscription.retrieve(made.id).status == "active"


def test_without_a_default_card_the_renewal_of_a_confirmed_subscription_fails(sandbox, plan):
    customer = stripe.Customer.create()
    made = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}], payment_behavior="default_incomplete",
        expand=["latest_invoice.confirmation_secret"])
    stripe.PaymentIntent.confirm(intent_of(made), payment_method="pm_card_visa")
    assert stripe.Subscription.retrieve(made.id).default_payment_method is None
    sandbox.advance(by=32 * DAY)
    assert stripe.Subscription.retrieve(made.id).status == "past_due"


def test_a_declined_confirmation_leaves_the_subscription_incomplete(sandbox, plan):
    made = incomplete(stripe.Customer.create(), plan)
    for _ in range(2):
        with pytest.raises(stripe.CardError):
            stripe.PaymentIntent.confirm(
                intent_of(made), payment_method="pm_card_visa_chargeDeclined")
    assert stripe.Subscription.retrieve(made.id).status == "incomplete"
    invoice = stripe.Invoice.retrieve(made.latest_invoice.id)
    # Attempts by hand after the first one do not count.
    assert (invoice.status, invoice.attempt_count) == ("open", 1)
    sandbox.settle()
    assert sandbox.receiver.types().count("invoice.payment_failed") == 2
    stripe.PaymentIntent.confirm(intent_of(made), payment_method="pm_card_visa")
    assert stripe.Subscription.retrieve(made.id).status == "active"


def test_a_challenge_at_the_banks_page_leads_back_to_the_app(sandbox, plan):
    for answer, status, ends in (
        ("fail", "incomplete", "failed"), ("complete", "active", "succeeded"),
    ):
        made = incomplete(stripe.Customer.create(), plan)
        intent = stripe.PaymentIntent.confirm(
            intent_of(made), payment_method_data={"type": "card", "card": CHALLENGED},
            return_url="https://example.com/back?from=bank")
        assert (intent.status, intent.next_action.type) == ("requires_action", "redirect_to_url")
        redirect = intent.next_action.redirect_to_url
        assert redirect.return_url == "https://example.com/back?from=bank"
        with urllib.request.urlopen(redirect.url) as page:
            assert "$9.99" in page.read().decode()
        back = urllib.parse.urlparse(redirected(redirect.url, challenge=answer))
        assert back.netloc == "example.com"
        assert urllib.parse.parse_qs(back.query) == {
            "from": ["bank"], "payment_intent": [intent.id],
            "payment_intent_client_secret": [intent.client_secret], "redirect_status": [ends],
        }
        assert stripe.Subscription.retrieve(made.id).status == status
        # What was answered is answered.
        assert form(redirect.url, challenge="complete")[0] == 404


def test_a_challenge_in_the_clients_hands_is_answered_by_the_sandbox(sandbox, plan):
    made = incomplete(stripe.Customer.create(), plan)
    intent = stripe.PaymentIntent.confirm(
        intent_of(made), payment_method="pm_card_authenticationRequired")
    assert intent.next_action.type == "use_stripe_sdk"
    sandbox.call("POST", f"/sandbox/intents/{intent.id}/authenticate", {})
    assert stripe.Subscription.retrieve(made.id).status == "active"
    refused = sandbox.call("POST", f"/sandbox/intents/{intent.id}/authenticate", {})
    assert "status of succeeded" in refused["error"]["message"]


def test_a_payment_that_must_not_wait_for_its_holder_fails(sandbox):
    with pytest.raises(stripe.CardError) as refused:
        stripe.PaymentIntent.create(
            amount=500, currency="usd", confirm=True, error_on_requires_action=True,
            payment_method="pm_card_authenticationRequired")
    assert refused.value.code == "authentication_required"
    intent = stripe.PaymentIntent.list().data[0]
    assert intent.status == "requires_payment_method"


def test_a_bank_debit_activates_a_subscription_before_the_money_is_there(sandbox):
    price = stripe.Price.create(
        product_data={"name": "Pro"}, currency="eur", unit_amount=999,
        recurring={"interval": "month"})
    for iban, invoice_status in (
        ("AT321904300235473204", "paid"), ("AT861904300235473202", "open"),
    ):
        made = incomplete(stripe.Customer.create(), price)
        intent = stripe.PaymentIntent.confirm(
            intent_of(made),
            payment_method_data={
                "type": "sepa_debit", "sepa_debit": {"iban": iban},
                "billing_details": {"name": "Jenny", "email": "jenny@example.com"},
            },
            mandate_data={"customer_acceptance": {"type": "offline"}})
        assert intent.status == "processing"
        assert stripe.Subscription.retrieve(made.id).status == "active"
        assert stripe.Invoice.retrieve(made.latest_invoice.id).status == "open"
        sandbox.advance(by=DAY)
        assert stripe.Invoice.retrieve(made.latest_invoice.id).status == invoice_status
        assert stripe.Subscription.retrieve(made.id).status == "active"


# Trials


def test_a_trial_without_a_card_has_a_setup_intent_to_give_one_by(sandbox, plan):
    customer = stripe.Customer.create()
    made = incomplete(customer, plan, trial_period_days=7)
    assert made.status == "trialing"
    setup = made.pending_setup_intent
    assert (setup.status, setup.usage) == ("requires_payment_method", "off_session")
    done = stripe.SetupIntent.confirm(
        setup.id, payment_method_data={"type": "card", "card": CARD})
    assert done.status == "succeeded"
    after = stripe.Subscription.retrieve(made.id)
    assert after.pending_setup_intent is None
    assert after.default_payment_method == done.payment_method
    sandbox.advance(by=7 * DAY + 2 * HOUR)
    assert stripe.Subscription.retrieve(made.id).status == "active"
    assert stripe.Invoice.list(subscription=made.id).data[0].status == "paid"


def test_a_trial_with_a_card_asks_for_nothing_unless_its_bank_does(sandbox, plan):
    for card, waits in (
        ("pm_card_visa", False), ("pm_card_authenticationRequiredOnSetup", True),
    ):
        customer = stripe.Customer.create(
            payment_method=card, invoice_settings={"default_payment_method": card})
        made = stripe.Subscription.create(
            customer=customer.id, items=[{"price": plan.id}], trial_period_days=7,
            expand=["pending_setup_intent"])
        assert made.status == "trialing"
        if not waits:
            assert made.pending_setup_intent is None
            continue
        assert made.pending_setup_intent.status == "requires_action"
        sandbox.call("POST", f"/sandbox/intents/{made.pending_setup_intent.id}/authenticate", {})
        assert stripe.Subscription.retrieve(made.id).pending_setup_intent is None


def test_the_setup_of_a_card_goes_by_the_banks_page_too(sandbox):
    customer = stripe.Customer.create()
    for answer, status, ends in (
        ("fail", "requires_payment_method", "failed"), ("complete", "succeeded", "succeeded"),
    ):
        setup = stripe.SetupIntent.create(
            customer=customer.id, confirm=True, return_url="https://example.com/back",
            payment_method_data={"type": "card", "card": CHALLENGED})
        assert setup.next_action.type == "redirect_to_url"
        back = redirected(setup.next_action.redirect_to_url.url, challenge=answer)
        assert f"setup_intent={setup.id}" in back and f"redirect_status={ends}" in back
        after = stripe.SetupIntent.retrieve(setup.id)
        assert after.status == status
        assert (after.last_setup_error is None) == (answer == "complete")


# Sent invoices


def test_a_subscription_whose_invoices_are_sent_is_active_until_one_is_overdue(sandbox, plan):
    customer = stripe.Customer.create(email="jenny@example.com")

    def send():
        return stripe.Subscription.create(
            customer=customer.id, items=[{"price": plan.id}], collection_method="send_invoice",
            days_until_due=5)

    made = send()
    start = made.start_date
    assert (made.status, made.days_until_due) == ("active", 5)
    invoice = stripe.Invoice.retrieve(made.latest_invoice)
    assert (invoice.status, invoice.due_date) == ("draft", start + 5 * 86_400)
    assert invoice.next_payment_attempt is None
    sandbox.advance(by=2 * HOUR)
    invoice = stripe.Invoice.retrieve(made.latest_invoice, expand=["confirmation_secret"])
    assert (invoice.status, invoice.collection_method) == ("open", "send_invoice")
    assert invoice.confirmation_secret.client_secret.startswith("pi_")
    assert "invoice.sent" in sandbox.receiver.types()
    # The customer pays on the page behind the link.
    card = {
        "email": "jenny@example.com", "card": "4242424242424242", "expiry": "12/40", "cvc": "123",
        "name": "Jenny Rosen", "country": "US", "postal_code": "94103",
    }
    assert form(invoice.hosted_invoice_url, **card)[0] == 200
    assert stripe.Invoice.retrieve(invoice.id).status == "paid"
    stripe.Subscription.cancel(made.id)
    late = send()
    sandbox.advance(by=5 * DAY - 3 * HOUR)
    assert stripe.Subscription.retrieve(late.id).status == "active"
    sandbox.advance(by=4 * HOUR)
    assert stripe.Subscription.retrieve(late.id).status == "past_due"
    stripe.Invoice.pay(late.latest_invoice, payment_method="pm_card_visa")
    assert stripe.Subscription.retrieve(late.id).status == "active"
    lost = send()
    sandbox.advance(by=5 * DAY + 7 * DAY + 2 * HOUR)
    assert stripe.Subscription.retrieve(lost.id).status == "canceled"


def test_days_until_due_belong_to_sent_invoices(sandbox, plan):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa", invoice_settings={"default_payment_method": "pm_card_visa"})
    items = [{"price": plan.id}]
    with pytest.raises(stripe.InvalidRequestError) as missing:
        stripe.Subscription.create(
            customer=customer.id, items=items, collection_method="send_invoice")
    assert missing.value.param == "days_until_due"
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe.Subscription.create(customer=customer.id, items=items, days_until_due=3)
    assert refused.value.param == "days_until_due"
    invoice = stripe.Invoice.create(
        customer=customer.id, collection_method="send_invoice", days_until_due=3)
    assert invoice.due_date == invoice.created + 3 * 86_400
    invoice = stripe.Invoice.modify(invoice.id, due_date=invoice.created + 9 * 86_400)
    assert invoice.due_date == invoice.created + 9 * 86_400
    invoice = stripe.Invoice.modify(invoice.id, collection_method="charge_automatically")
    assert invoice.due_date is None
    made = stripe.Subscription.create(customer=customer.id, items=items)
    changed = stripe.Subscription.modify(
        made.id, collection_method="send_invoice", days_until_due=10)
    assert (changed.collection_method, changed.days_until_due) == ("send_invoice", 10)
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    renewal = stripe.Invoice.list(subscription=made.id).data[0]
    assert (renewal.status, renewal.due_date) == ("open", renewal.created + 10 * 86_400)


def test_a_finalized_invoice_can_be_paid_by_its_intent(sandbox):
    customer = stripe.Customer.create()
    invoice = stripe.Invoice.create(customer=customer.id, auto_advance=False)
    stripe.InvoiceItem.create(
        customer=customer.id, amount=700, currency="usd", invoice=invoice.id)
    invoice = stripe.Invoice.finalize_invoice(invoice.id, expand=["confirmation_secret"])
    intent = invoice.confirmation_secret.client_secret.split("_secret_")[0]
    stripe.PaymentIntent.confirm(intent, payment_method="pm_card_visa")
    assert stripe.Invoice.retrieve(invoice.id).status == "paid"


# What is refused


def other(currency):
    return stripe.Price.create(
        product_data={"name": "Other"}, currency=currency, unit_amount=500,
        recurring={"interval": "month"})


def refusal(attempt):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        attempt()
    assert refused.value.http_status == 400
    return refused.value


def test_currencies_are_not_mixed(sandbox, plan):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa", invoice_settings={"default_payment_method": "pm_card_visa"})
    euros, dollars = other("eur"), other("usd")

    def subscribe(*prices):
        return stripe.Subscription.create(
            customer=customer.id, items=[{"price": price.id} for price in prices])

    error = refusal(lambda: subscribe(plan, euros))
    assert error.param == "items[1][price]" and "only supports `eur`" in str(error)
    made = subscribe(plan)
    for attempt in (
        lambda: subscribe(euros),
        lambda: stripe.InvoiceItem.create(customer=customer.id, amount=100, currency="eur"),
        lambda: stripe.checkout.Session.create(
            mode="subscription", customer=customer.id,
            line_items=[{"price": euros.id, "quantity": 1}], success_url="https://example.com"),
    ):
        assert "combine currencies" in str(refusal(attempt))
    item = made["items"].data[0].id
    for attempt in (
        lambda: stripe.SubscriptionItem.create(subscription=made.id, price=euros.id),
        lambda: stripe.Subscription.modify(made.id, items=[{"id": item, "price": euros.id}]),
    ):
        assert "doesn't match the expected currency" in str(refusal(attempt))
    assert len(subscribe(dollars)["items"].data) == 1
    # Once nothing runs any more, another currency may begin.
    for one in stripe.Subscription.list(customer=customer.id).data:
        stripe.Subscription.cancel(one.id)
    assert subscribe(euros).currency == "eur"


def test_one_price_stands_in_one_item_only(sandbox, plan):
    customer = stripe.Customer.create(
        payment_method="pm_card_visa", invoice_settings={"default_payment_method": "pm_card_visa"})
    twice = [{"price": plan.id}, {"price": plan.id, "quantity": 2}]
    error = refusal(lambda: stripe.Subscription.create(customer=customer.id, items=twice))
    assert "same plan" in str(error)
    second = other("usd")
    made = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}, {"price": second.id}])
    items = {item.price.id: item.id for item in made["items"].data}
    for attempt in (
        lambda: stripe.SubscriptionItem.create(subscription=made.id, price=plan.id),
        lambda: stripe.Subscription.modify(made.id, items=[{"price": plan.id}]),
        lambda: stripe.SubscriptionItem.modify(items[second.id], price=plan.id),
    ):
        assert "same plan" in str(refusal(attempt))
    assert stripe.SubscriptionItem.modify(items[plan.id], price=plan.id, quantity=3).quantity == 3
