"""Which events each flow brings about, and in which order where Stripe states one; read from the
sandbox's log with Stripe's own Python library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import functools
import json
import os
import subprocess

import pytest
import stripe

from test_stripe_library import DAY, checkout, plan, receiver, sandbox, subscribe

__all__ = ["plan", "receiver", "sandbox"]

HOUR = 3_600_000
SUMMARY = "entitlements.active_entitlement_summary.updated"
PAID_INVOICE = {
    "invoice.created", "invoice.finalized", "invoice.paid", "invoice.payment_succeeded",
    "invoice_payment.paid", "invoice.updated", "payment_intent.created", "payment_intent.succeeded",
    "charge.succeeded",
}


def coins(currency="usd"):
    return stripe.Price.create(
        product_data={"name": "100 coins"}, currency=currency, unit_amount=1000)


class Log:
    """The events since it was begun, the oldest first."""

    def __init__(self):
        self.known = {event.id for event in stripe.Event.list(limit=100).auto_paging_iter()}

    def types(self):
        events = list(stripe.Event.list(limit=100).auto_paging_iter())
        return [event.type for event in reversed(events) if event.id not in self.known]


def one_off(sandbox, plan):
    session = checkout(coins())
    log = Log()
    sandbox.pay(session)
    return log


def bank_debit(account):
    def flow(sandbox, plan):
        session = checkout(coins("eur"))
        log = Log()
        sandbox.pay(session, card=account)
        sandbox.advance(by=DAY)
        return log
    return flow


def subscription(sandbox, plan):
    session = checkout(plan, "subscription")
    log = Log()
    sandbox.pay(session)
    return log


def incomplete(sandbox, plan):
    customer = stripe.Customer.create()
    log = Log()
    made = stripe.Subscription.create(
        customer=customer.id, items=[{"price": plan.id}], payment_behavior="default_incomplete")
    return log, made


def default_incomplete(sandbox, plan):
    return incomplete(sandbox, plan)[0]


def incomplete_paid(sandbox, plan):
    _, made = incomplete(sandbox, plan)
    log = Log()
    stripe.Invoice.pay(made.latest_invoice, payment_method="pm_card_visa")
    return log


def incomplete_expired(sandbox, plan):
    incomplete(sandbox, plan)
    log = Log()
    sandbox.advance(by=23 * HOUR)
    return log


def renewal(sandbox, plan):
    subscribe(sandbox, plan)
    log = Log()
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    return log


def failed_renewal(sandbox, plan):
    subscribe(sandbox, plan, card="4000000000000341")
    sandbox.advance(by=31 * DAY)
    log = Log()
    sandbox.advance(by=2 * HOUR)
    return log


def end_of_dunning(sandbox, plan):
    subscribe(sandbox, plan, card="4000000000000341")
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    log = Log()
    sandbox.advance(by=8 * DAY)
    return log


def at_period_end(sandbox, plan):
    made = subscribe(sandbox, plan)
    log = Log()
    stripe.Subscription.modify(made.id, cancel_at_period_end=True)
    stripe.Subscription.modify(made.id, cancel_at_period_end=False)
    stripe.Subscription.modify(made.id, cancel_at_period_end=True)
    sandbox.advance(by=31 * DAY)
    return log


def at_once(sandbox, plan):
    made = subscribe(sandbox, plan)
    log = Log()
    stripe.Subscription.cancel(made.id)
    return log


def other_price(behavior):
    def flow(sandbox, plan):
        made = subscribe(sandbox, plan)
        dearer = stripe.Price.create(
            product=plan.product, currency="usd", unit_amount=1999,
            recurring={"interval": "month"})
        sandbox.advance(by=DAY)
        log = Log()
        stripe.Subscription.modify(
            made.id, items=[{"id": made["items"].data[0].id, "price": dearer.id}],
            proration_behavior=behavior)
        return log
    return flow


def trial(sandbox, plan):
    log = Log()
    subscribe(sandbox, plan, subscription_data={"trial_period_days": 7})
    log = Log()
    sandbox.advance(by=7 * DAY + 2 * HOUR)
    return log


def pause(sandbox, plan):
    made = subscribe(sandbox, plan)
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": sandbox.base})
    log = Log()
    client.raw_request("post", f"/v1/subscriptions/{made.id}/pause")
    return log


def collection_pause(sandbox, plan):
    made = subscribe(sandbox, plan)
    log = Log()
    stripe.Subscription.modify(made.id, pause_collection={"behavior": "void"})
    return log


def refund(card):
    def flow(sandbox, plan):
        session = checkout(coins())
        sandbox.pay(session, card=card)
        intent = stripe.checkout.Session.retrieve(session.id).payment_intent
        log = Log()
        stripe.Refund.create(payment_intent=intent)
        sandbox.advance(by=DAY)
        return log
    return flow


def dispute(evidence):
    def flow(sandbox, plan):
        sandbox.pay(checkout(coins()), card="4000000000000259")
        log = Log()
        stripe.Dispute.modify(
            stripe.Dispute.list().data[0].id, evidence={"uncategorized_text": evidence})
        return log
    return flow


def expiry(sandbox, plan):
    checkout(coins())
    log = Log()
    sandbox.advance(by=DAY)
    return log


FLOWS = [
    (one_off, {
        "payment_intent.created", "charge.succeeded", "payment_intent.succeeded",
        "checkout.session.completed",
    }, ["payment_intent.created", "charge.succeeded", "payment_intent.succeeded",
        "checkout.session.completed"]),
    (bank_debit("AT611904300234573201"), {
        "payment_intent.created", "payment_intent.processing", "charge.pending",
        "checkout.session.completed", "charge.succeeded", "payment_intent.succeeded",
        "checkout.session.async_payment_succeeded",
    }, ["checkout.session.completed", "charge.succeeded", "payment_intent.succeeded",
        "checkout.session.async_payment_succeeded"]),
    (bank_debit("AT861904300235473202"), {
        "payment_intent.created", "payment_intent.processing", "charge.pending",
        "checkout.session.completed", "charge.failed", "payment_intent.payment_failed",
        "checkout.session.async_payment_failed",
    }, ["checkout.session.completed", "charge.failed", "payment_intent.payment_failed",
        "checkout.session.async_payment_failed"]),
    (subscription, PAID_INVOICE | {
        "payment_method.attached", "customer.created", "customer.updated",
        "checkout.session.completed", "customer.subscription.created", SUMMARY,
    }, []),
    (default_incomplete, {
        "customer.subscription.created", "invoice.created", "invoice.finalized",
        "payment_intent.created",
    }, ["invoice.created", "invoice.finalized"]),
    (incomplete_paid, {
        "charge.succeeded", "payment_intent.succeeded", "invoice.paid",
        "invoice.payment_succeeded", "invoice_payment.paid", "invoice.updated",
        "customer.subscription.updated",
        SUMMARY,
    }, ["charge.succeeded", "payment_intent.succeeded", "invoice.paid"]),
    (incomplete_expired, {
        "invoice.voided", "payment_intent.canceled", "customer.subscription.updated",
    }, []),
    (renewal, PAID_INVOICE | {
        "invoice.upcoming", "customer.subscription.updated",
    }, ["invoice.upcoming", "invoice.created", "invoice.finalized", "charge.succeeded",
        "payment_intent.succeeded", "invoice.paid"]),
    (failed_renewal, {
        "invoice.finalized", "payment_intent.created", "charge.failed",
        "payment_intent.payment_failed", "invoice.payment_failed", "invoice.updated",
        "customer.subscription.updated",
    }, ["charge.failed", "payment_intent.payment_failed", "invoice.payment_failed"]),
    (end_of_dunning, {
        "charge.failed", "payment_intent.payment_failed", "invoice.payment_failed",
        "invoice.updated", "customer.subscription.deleted", SUMMARY,
    }, ["charge.failed", "invoice.payment_failed", "customer.subscription.deleted"]),
    (at_period_end, {  # And no invoice is announced.
        "customer.subscription.updated", "customer.subscription.deleted", SUMMARY,
    }, ["customer.subscription.updated", "customer.subscription.deleted"]),
    (at_once, {"customer.subscription.deleted", SUMMARY}, []),
    (other_price("create_prorations"), {
        "customer.subscription.updated", "invoiceitem.created",
    }, []),
    (other_price("always_invoice"), PAID_INVOICE | {
        "customer.subscription.updated", "invoiceitem.created",
    }, ["invoiceitem.created", "invoice.created", "invoice.finalized", "invoice.paid"]),
    (trial, PAID_INVOICE | {
        "customer.subscription.trial_will_end", "customer.subscription.updated",
    }, ["customer.subscription.trial_will_end", "invoice.created", "invoice.paid"]),
    (pause, {"customer.subscription.paused", "customer.subscription.updated", SUMMARY}, []),
    (collection_pause, {"customer.subscription.updated"}, []),
    (refund("4242424242424242"), {
        "refund.created", "charge.refunded", "refund.updated", "charge.refund.updated",
    }, ["refund.created", "charge.refunded", "refund.updated", "charge.refund.updated"]),
    (refund("4000000000005126"), {
        "refund.created", "charge.refunded", "refund.updated", "charge.refund.updated",
        "refund.failed",
    }, ["refund.created", "refund.failed"]),
    (dispute("winning_evidence"), {
        "charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_reinstated",
    }, ["charge.dispute.updated", "charge.dispute.closed"]),
    (dispute("losing_evidence"), {"charge.dispute.updated", "charge.dispute.closed"}, []),
    (expiry, {"checkout.session.expired"}, []),
]
# What says nothing new, and comes or not with the card and the customer.
BESIDES = {"charge.updated", "customer.updated", "customer.created", "payment_method.attached"}


@pytest.mark.parametrize(
    ("flow", "expected", "order"), FLOWS,
    ids=[f"{index}-{flow[0].__qualname__.split('.')[0]}" for index, flow in enumerate(FLOWS)])
def test_a_flow_brings_about_its_events(sandbox, plan, flow, expected, order):
    types = flow(sandbox, plan).types()
    assert set(types) - BESIDES == expected - BESIDES
    places = [types.index(type) for type in order]
    assert places == sorted(places), types


def test_a_refund_that_went_through_gets_the_banks_reference_later(sandbox):
    session = checkout(coins())
    sandbox.pay(session)
    intent = stripe.checkout.Session.retrieve(session.id).payment_intent
    made = stripe.Refund.create(payment_intent=intent)
    before = made.destination_details.card
    assert (made.status, before.reference_status, before.reference) == (
        "succeeded", "pending", None)
    sandbox.advance(by=DAY)
    after = stripe.Refund.retrieve(made.id)
    card = after.destination_details.card
    assert (after.status, card.reference_status, card.reference_type) == (
        "succeeded", "available", "acquirer_reference_number")
    assert len(card.reference) == 23 and card.reference.isdigit()
    for type in ("refund.updated", "charge.refund.updated"):
        event = stripe.Event.list(type=type).data[0]
        assert event.data.object.id == made.id
        assert event.data.previous_attributes["destination_details"]["card"].to_dict() == {
            "reference": None, "reference_status": "pending", "reference_type": None}
    sandbox.advance(by=30 * DAY)
    assert stripe.Refund.retrieve(made.id) == after
    assert len(stripe.Event.list(type="refund.updated").data) == 1


# What `trigger` knows, and the kind of object that the event is about.
TRIGGERS = {
    "charge": "failed pending refunded succeeded updated",
    "dispute": "closed created funds_reinstated funds_withdrawn updated",
    "refund": "created failed updated",
    "checkout.session":
        "async_payment_failed async_payment_succeeded completed expired",
    "customer": "created deleted updated",
    "subscription":
        "created deleted paused pending_update_applied pending_update_expired resumed "
        "trial_will_end updated",
    "entitlements.active_entitlement_summary": "updated",
    "invoice":
        "created finalized paid payment_action_required payment_failed payment_succeeded "
        "upcoming updated voided",
    "invoice_payment": "paid",
    "invoiceitem": "created",
    "payment_intent": "canceled created payment_failed processing requires_action succeeded",
    "payment_method": "attached",
    "price": "created",
    "product": "created",
    "subscription_schedule": "aborted canceled completed created expiring released updated",
}
PREFIX = {"dispute": "charge.dispute", "subscription": "customer.subscription"}
STORIES = [
    (f"{PREFIX.get(kind, kind)}.{what}", kind)
    for kind, whats in TRIGGERS.items() for what in whats.split()
] + [("charge.refund.updated", "refund")]


@functools.cache
def listed():
    shown = subprocess.run(
        [os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "trigger", "--list"],
        capture_output=True, text=True, check=True)
    return shown.stdout.split()


@pytest.mark.parametrize(("type", "kind"), STORIES, ids=[type for type, _ in STORIES])
def test_trigger_brings_its_event_about(sandbox, type, kind):
    assert type in listed()
    before = len(sandbox.receiver.events)
    triggered = subprocess.run(
        [os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "trigger", type,
         "--sandbox", sandbox.base],
        capture_output=True, text=True)
    assert triggered.returncode == 0, triggered.stderr
    assert triggered.stdout == f"Triggered {type}.\n"
    sandbox.settle()
    found = [event for event in sandbox.receiver.events[before:] if event.type == type]
    assert found
    for event in found:
        assert event.data.object.object == kind
    # It is about something that is there, and was not made up for the event.
    subject = found[-1].data.object.to_dict()
    reading = {
        "charge": stripe.Charge, "dispute": stripe.Dispute, "refund": stripe.Refund,
        "checkout.session": stripe.checkout.Session, "customer": stripe.Customer,
        "subscription": stripe.Subscription, "invoice": stripe.Invoice,
        "invoice_payment": stripe.InvoicePayment, "invoiceitem": stripe.InvoiceItem,
        "payment_intent": stripe.PaymentIntent, "payment_method": stripe.PaymentMethod,
        "price": stripe.Price, "product": stripe.Product,
        "subscription_schedule": stripe.SubscriptionSchedule,
    }.get(kind)
    if reading and "id" in subject:
        assert reading.retrieve(subject["id"]).id == subject["id"]


def test_trigger_lists_what_it_knows_and_refuses_the_rest(sandbox):
    assert sorted(listed()) == sorted(type for type, _ in STORIES)
    assert len(set(listed())) == len(listed())
    shown = subprocess.run(
        [os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "trigger", "--list", "--json"],
        capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == listed()
    for arguments, words in [(["no.such.event"], "not supported"), ([], "--list")]:
        refused = subprocess.run(
            [os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "trigger", *arguments,
             "--sandbox", sandbox.base],
            capture_output=True, text=True)
        assert refused.returncode != 0 and words in refused.stderr
    # Every type of every flow above can be brought about.
    told = set().union(*(expected for _, expected, _ in FLOWS))
    assert told - set(listed()) == set()
    # Where the sandbox is set so that it does not happen, it says so.
    sandbox.call("POST", "/sandbox/policy", {"upcoming_days": 0})
    refused = subprocess.run(
        [os.environ["TOLLGATE_BIN"], "sandbox", "stripe", "trigger", "invoice.upcoming",
         "--sandbox", sandbox.base],
        capture_output=True, text=True)
    assert refused.returncode != 0 and "did not come of it" in refused.stderr
