"""The sandbox's test cards, each asked with Stripe's own Python library for what the documentation
says of it (https://docs.stripe.com/testing).

The executable is found by the environment variable TOLLGATE_BIN.
"""

import pytest
import stripe

from test_stripe_library import DAY, checkout, receiver, sandbox

__all__ = ["receiver", "sandbox"]

CARDS = [
    # number, names of payment methods, code, decline code of a charge
    ("4242424242424242", ["visa"], None, None),
    ("5555555555554444", ["mastercard"], None, None),
    ("378282246310005", ["amex"], None, None),
    ("4000056655665556", ["visa_debit"], None, None),
    ("4000000000000002", ["visa_chargeDeclined", "chargeDeclined"],
     "card_declined", "generic_decline"),
    ("4000000000009995",
     ["visa_chargeDeclinedInsufficientFunds", "chargeDeclinedInsufficientFunds"],
     "card_declined", "insufficient_funds"),
    ("4000000000009987", ["visa_chargeDeclinedLostCard", "chargeDeclinedLostCard"],
     "card_declined", "lost_card"),
    ("4000000000009979", ["visa_chargeDeclinedStolenCard", "chargeDeclinedStolenCard"],
     "card_declined", "stolen_card"),
    ("4000000000000069", ["chargeDeclinedExpiredCard"], "expired_card", "expired_card"),
    ("4000000000000127", ["chargeDeclinedIncorrectCvc"], "incorrect_cvc", "incorrect_cvc"),
    ("4000000000000119", ["chargeDeclinedProcessingError"],
     "processing_error", "processing_error"),
    ("4000000000000019", ["radarBlock"], "card_declined", "fraudulent"),
    ("4000000000000077", ["bypassPending"], None, None),
    ("4000000000000259", ["createDispute"], None, None),
    ("4000000000002685", ["createDisputeProductNotReceived"], None, None),
    ("4000000000001976", ["createDisputeInquiry"], None, None),
    ("4000000000007726", ["pendingRefund"], None, None),
    ("4000000000005126", ["refundFail"], None, None),
    # Pays while it belongs to nobody; see below for what comes then.
    ("4000000000000341", ["chargeCustomerFail"], None, None),
]
CHALLENGED = [
    # number, name, whether it pays while its holder is away, decline code after the challenge
    ("4000002500003155", "authenticationRequiredOnSetup", False, None),
    ("4000002760003184", "authenticationRequired", False, None),
    ("4000003800000446", "authenticationRequiredSetupForOffSession", True, None),
    ("4000000000003220", "threeDSecure2Required", True, None),
    ("4000008260003178", "authenticationRequiredChargeDeclinedInsufficientFunds", False,
     "insufficient_funds"),
]


def charge(method, **more):
    return stripe.PaymentIntent.create(
        amount=1000, currency="usd", payment_method=method, confirm=True, **more)


@pytest.fixture
def price(sandbox):
    return stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)


def test_each_card_is_charged_or_declined_as_documented(sandbox, price):
    for number, names, code, decline_code in CARDS:
        for name in names:
            for method in (f"pm_card_{name}", f"tok_{name}"):
                if method.startswith("tok_"):
                    method = stripe.PaymentMethod.create(type="card", card={"token": method}).id
                if code is None:
                    intent = charge(method)
                    assert intent.status == "succeeded", name
                    shown = stripe.PaymentMethod.retrieve(intent.payment_method).card.last4
                    assert shown == number[-4:], name
                    continue
                with pytest.raises(stripe.CardError) as refused:
                    charge(method)
                error = refused.value
                assert error.http_status == 402, name
                assert (error.code, error.error.decline_code) == (code, decline_code), name
                assert error.error.payment_intent.status == "requires_payment_method", name
                assert error.error.charge.startswith("ch_"), name
        # And typed on the hosted page.
        paid = sandbox.pay(checkout(price), card=number)
        if code is None:
            assert paid.get("status") == "complete", number
        else:
            assert paid["error"]["code"] == decline_code, number


def test_each_card_that_is_declined_cannot_be_attached(sandbox):
    customer = stripe.Customer.create()
    for number, names, code, decline_code in CARDS:
        method = f"pm_card_{names[0]}"
        if code is None:
            assert stripe.PaymentMethod.attach(method, customer=customer.id).customer
            continue
        with pytest.raises(stripe.CardError) as refused:
            stripe.PaymentMethod.attach(method, customer=customer.id)
        assert (refused.value.code, refused.value.error.decline_code) == (code, decline_code)


def test_the_card_that_attaches_fails_every_later_charge(sandbox):
    customer = stripe.Customer.create()
    method = stripe.PaymentMethod.attach("pm_card_chargeCustomerFail", customer=customer.id)
    for _ in range(2):
        with pytest.raises(stripe.CardError) as refused:
            charge(method.id, customer=customer.id)
        assert refused.value.code == "card_declined"


def test_each_card_that_asks_its_holder_does_so_as_documented(sandbox, price):
    for number, name, pays_without_holder, decline_code in CHALLENGED:
        customer = stripe.Customer.create()
        intent = charge(f"pm_card_{name}", customer=customer.id)
        assert intent.status == "requires_action", name
        assert intent.next_action.type in ("use_stripe_sdk", "redirect_to_url"), name

        method = stripe.PaymentMethod.attach(f"pm_card_{name}", customer=customer.id).id
        if pays_without_holder:
            assert charge(method, customer=customer.id, off_session=True).status == "succeeded"
        else:
            with pytest.raises(stripe.CardError) as refused:
                charge(method, customer=customer.id, off_session=True)
            assert refused.value.code == "authentication_required", name
            assert refused.value.http_status == 402

        session = checkout(price)
        unanswered = sandbox.pay(session, card=number, passes_challenge=False)
        assert unanswered["error"]["code"] == "authentication_required", name
        answered = sandbox.pay(session, card=number)
        if decline_code:
            assert answered["error"]["code"] == decline_code, name
        else:
            assert answered["status"] == "complete", name


@pytest.mark.parametrize(("number", "reason", "status"), [
    ("4000000000000259", "fraudulent", "needs_response"),
    ("4000000000002685", "product_not_received", "needs_response"),
    ("4000000000001976", "fraudulent", "warning_needs_response"),
])
def test_a_card_that_disputes_does_so_with_its_reason(sandbox, price, number, reason, status):
    assert sandbox.pay(checkout(price), card=number)["status"] == "complete"
    dispute = stripe.Dispute.list().data[0]
    assert (dispute.reason, dispute.status) == (reason, status)
    types = sandbox.receiver.types()
    # An inquiry takes no money.
    withdrawn = "charge.dispute.funds_withdrawn" in types
    assert withdrawn == (status == "needs_response")


def test_an_inquiry_becomes_a_chargeback_by_the_evidence_for_tests(sandbox, price):
    sandbox.pay(checkout(price), card="4000000000001976")
    inquiry = stripe.Dispute.list().data[0]
    stripe.Dispute.modify(
        inquiry.id, evidence={"uncategorized_text": "escalate_inquiry_evidence"})
    sandbox.settle()
    chargeback = stripe.Dispute.retrieve(inquiry.id)
    assert chargeback.status == "needs_response" and chargeback.created == inquiry.created
    assert chargeback.payment_method_details.card.case_type == "chargeback"
    assert [one.amount for one in chargeback.balance_transactions] == [-inquiry.amount]
    assert "charge.dispute.funds_withdrawn" in sandbox.receiver.types()


@pytest.mark.parametrize(("number", "at_first", "in_the_end"), [
    ("4000000000007726", "pending", "succeeded"), ("4000000000005126", "succeeded", "failed"),
])
def test_a_cards_refund_changes_its_mind(sandbox, price, number, at_first, in_the_end):
    session = checkout(price)
    sandbox.pay(session, card=number)
    intent = stripe.checkout.Session.retrieve(session.id).payment_intent
    refund = stripe.Refund.create(payment_intent=intent)
    assert refund.status == at_first
    sandbox.advance(by=DAY)
    assert stripe.Refund.retrieve(refund.id).status == in_the_end


@pytest.mark.parametrize(("account", "seconds", "payment_status"), [
    ("AT611904300234573201", 60, "paid"), ("AT321904300235473204", 180, "paid"),
    ("AT861904300235473202", 60, "unpaid"),
])
def test_a_bank_account_answers_later(sandbox, account, seconds, payment_status):
    price = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="eur", unit_amount=1000)
    session = checkout(price)
    sandbox.pay(session, card=account)
    sandbox.advance(by=(seconds - 1) * 1000)
    kept = stripe.checkout.Session.retrieve(session.id)
    assert (kept.status, kept.payment_status) == ("complete", "unpaid")
    assert "async_payment" not in " ".join(sandbox.receiver.types())
    sandbox.advance(by=1000)
    assert stripe.checkout.Session.retrieve(session.id).payment_status == payment_status
    ending = "succeeded" if payment_status == "paid" else "failed"
    assert f"checkout.session.async_payment_{ending}" in sandbox.receiver.types()
