"""The shapes of Stripe's last three dated versions, asked for with its own Python library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import pytest
import stripe

from test_stripe_library import checkout, plan, receiver, sandbox, subscribe

__all__ = ["plan", "receiver", "sandbox"]

ENDIVE, SEPTEMBER, DAHLIA = "2026-10-28.endive", "2026-09-30.endive", "2026-08-26.dahlia"


def objects(plan, subscription, version):
    asked = {"stripe_version": version}
    made = stripe.Subscription.retrieve(subscription.id, expand=["latest_invoice"], **asked)
    return {
        "product": stripe.Product.retrieve(plan.product, **asked),
        "session": checkout(plan, "subscription", **asked),
        "subscription": made,
        "item": made["items"].data[0],
        "invoice": made.latest_invoice,
        "pending": stripe.InvoiceItem.list(**asked).data[0],
        "portal": stripe.billing_portal.Session.create(customer=made.customer, **asked),
        "settings": stripe.billing_portal.Configuration.list(**asked).data[0],
        "dispute": stripe.Dispute.list(**asked).data[0],
    }


# Where each member is, and the first version that has it.
CAME = [
    ("portal", "after_expiration", ENDIVE),
    ("settings", "features.subscription_pause", ENDIVE),
    ("dispute", "intended_submission_method", ENDIVE),
    ("dispute", "evidence_details.submission_method", ENDIVE),
    ("product", "tax_details", SEPTEMBER),
    ("session", "allowed_payment_method_types", SEPTEMBER),
    ("subscription", "status_details", SEPTEMBER),
    ("subscription", "trial_settings.end_behavior.billing_cycle_anchor", SEPTEMBER),
    ("item", "current_trial", SEPTEMBER),
    ("invoice", "status_details", SEPTEMBER),
    ("pending", "invoicing_rules", SEPTEMBER),
    ("pending", "frozen_fields", DAHLIA),
    ("subscription", "cancellation_details.feedback_option", DAHLIA),
    ("settings", "features.subscription_cancel.cancellation_reason.feedback_options", DAHLIA),
]


def has(value, path):
    for name in path.split("."):
        if name not in value:
            return False
        value = value[name]
    return True


def test_members_are_there_from_their_version_on(sandbox, plan):
    subscription = subscribe(sandbox, plan)
    stripe.InvoiceItem.create(customer=subscription.customer, amount=100, currency="usd")
    stripe.PaymentIntent.create(
        amount=500, currency="usd", payment_method="pm_card_createDispute", confirm=True)
    for version in (ENDIVE, SEPTEMBER, DAHLIA):
        shown = {
            name: value.to_dict() for name, value in objects(plan, subscription, version).items()}
        for name, path, first in CAME:
            assert has(shown[name], path) == (version >= first), (version, name, path)


def test_an_event_has_the_shapes_of_the_account_whoever_asks(sandbox, plan):
    stripe.Product.modify(plan.product, name="Another")
    for version in (ENDIVE, DAHLIA):
        event = stripe.Event.list(type="product.updated", stripe_version=version).data[0]
        assert event.api_version == stripe.api_version
        assert "tax_details" in event.data.object


def test_checkouts_words_are_those_of_the_version(sandbox, plan):
    made = checkout(plan, "subscription", ui_mode="hosted_page")
    assert made.ui_mode == "hosted_page"
    old = stripe.checkout.Session.retrieve(made.id, stripe_version="2025-12-15.clover")
    assert old.ui_mode == "hosted"
    old = checkout(plan, "subscription", ui_mode="hosted", stripe_version="2025-12-15.clover")
    assert stripe.checkout.Session.retrieve(old.id).ui_mode == "hosted_page"
    assert old.url


def test_a_version_that_is_none_is_refused(sandbox):
    for version in ("endive", "2026-9-30", "2026-09-30.", "20260930"):
        with pytest.raises(stripe.InvalidRequestError) as refused:
            stripe.Customer.list(stripe_version=version)
        assert "Invalid Stripe API version" in str(refused.value)
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe.WebhookEndpoint.create(
            url="https://example.com/hooks", enabled_events=["*"], api_version="newest")
    assert refused.value.param == "api_version"
