"""Prices by tiers and by choice, taxes, credit notes, balances, discounts, previews, and the keys of a
device; with Stripe's own Python library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

from decimal import Decimal

import pytest
import stripe

from test_stripe_billing import CARD, form
from test_stripe_library import (
    DAY, checkout, missing_members, plan, receiver, sandbox, subscribe,
)

__all__ = ["plan", "receiver", "sandbox"]

HOUR = 3_600_000


def payer(**more):
    return stripe.Customer.create(
        email="jenny@example.com", payment_method="pm_card_visa",
        invoice_settings={"default_payment_method": "pm_card_visa"}, **more)


def refusal(attempt):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        attempt()
    return refused.value


def draft(customer, *amounts, **more):
    invoice = stripe.Invoice.create(customer=customer.id, auto_advance=False, **more)
    for amount in amounts:
        stripe.InvoiceItem.create(
            customer=customer.id, amount=amount, currency="usd", invoice=invoice.id)
    return stripe.Invoice.retrieve(invoice.id)


# Tax rates


def rate(percentage, inclusive=False, **more):
    return stripe.TaxRate.create(
        display_name="VAT", percentage=percentage, inclusive=inclusive, **more)


def test_exclusive_tax_comes_on_top_and_inclusive_tax_is_within(sandbox, plan):
    for inclusive, total, without, tax in ((False, 1189, 999, 190), (True, 999, 839, 160)):
        vat = rate(19, inclusive, jurisdiction="DE", country="DE")
        made = stripe.Subscription.create(
            customer=payer().id, items=[{"price": plan.id}], default_tax_rates=[vat.id])
        assert [one.id for one in made.default_tax_rates] == [vat.id]
        invoice = stripe.Invoice.retrieve(made.latest_invoice)
        assert (invoice.subtotal, invoice.total, invoice.amount_paid) == (999, total, total)
        assert invoice.total_excluding_tax == without
        [sum] = invoice.total_taxes
        assert (sum.amount, sum.taxable_amount) == (tax, without)
        assert sum.tax_behavior == ("inclusive" if inclusive else "exclusive")
        assert sum.tax_rate_details.tax_rate == vat.id
        assert invoice.lines.data[0].taxes[0].amount == tax
        assert missing_members(invoice, "_invoice", "Invoice") == []


def test_a_discount_is_taken_off_before_the_tax(sandbox, plan):
    vat = rate(10)
    half = stripe.Coupon.create(percent_off=50, duration="once")
    made = stripe.Subscription.create(
        customer=payer().id, items=[{"price": plan.id, "quantity": 2, "tax_rates": [vat.id]}],
        discounts=[{"coupon": half.id}])
    invoice = stripe.Invoice.retrieve(made.latest_invoice)
    assert (invoice.subtotal, invoice.total) == (1998, 999 + 100)
    # An item's own rates go with its renewals, and change with it.
    item = made["items"].data[0]
    assert item.tax_rates[0].id == vat.id
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    assert stripe.Invoice.list(subscription=made.id).data[0].total == 1998 + 200
    stripe.SubscriptionItem.modify(item.id, tax_rates="")
    sandbox.advance(by=31 * DAY)
    assert stripe.Invoice.list(subscription=made.id).data[0].total == 1998


def test_who_is_exempt_pays_no_tax(sandbox):
    vat = rate(10)
    for exempt, reason in (("exempt", "customer_exempt"), ("reverse", "reverse_charge")):
        customer = payer(tax_exempt=exempt)
        invoice = draft(customer, 1000, default_tax_rates=[vat.id])
        assert invoice.total == 1000
        assert invoice.total_taxes[0].taxability_reason == reason


def test_checkout_takes_the_tax(sandbox, plan):
    vat = rate(20)
    coins = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    lines = [{"price": coins.id, "quantity": 2, "tax_rates": [vat.id]}]
    session = stripe.checkout.Session.create(
        mode="payment", line_items=lines, success_url="https://example.com",
        invoice_creation={"enabled": True}, customer_creation="always")
    assert (session.amount_subtotal, session.amount_total) == (2000, 2400)
    assert session.total_details.amount_tax == 400
    sandbox.pay(session)
    session = stripe.checkout.Session.retrieve(
        session.id, expand=["payment_intent", "invoice", "line_items.data.taxes"])
    assert session.payment_intent.amount_received == 2400
    assert (session.invoice.total, session.invoice.total_taxes[0].amount) == (2400, 400)
    assert session.line_items.data[0].taxes[0].rate.percentage == 20
    for data in (
        {"line_items": [{"price": plan.id, "quantity": 1, "tax_rates": [vat.id]}]},
        {
            "line_items": [{"price": plan.id, "quantity": 1}],
            "subscription_data": {"default_tax_rates": [vat.id]},
        },
    ):
        session = stripe.checkout.Session.create(
            mode="subscription", success_url="https://example.com", **data)
        assert session.amount_total == 1199
        sandbox.pay(session)
        session = stripe.checkout.Session.retrieve(session.id, expand=["invoice"])
        assert session.invoice.amount_paid == 1199
        sandbox.advance(by=31 * DAY + 2 * HOUR)
        assert stripe.Invoice.list(subscription=session.subscription).data[0].amount_paid == 1199


def test_a_tax_rate_keeps_its_percentage_and_may_be_archived(sandbox):
    vat = rate(7.7, state="BE", tax_type="vat")
    assert (vat.percentage, vat.state, vat.active) == (7.7, "BE", True)
    assert refusal(lambda: stripe.TaxRate.modify(vat.id, percentage=8)).code == "parameter_unknown"
    assert not stripe.TaxRate.modify(vat.id, active=False, display_name="Old").active
    assert [one.id for one in stripe.TaxRate.list(active=False).data] == [vat.id]
    assert stripe.TaxRate.list(active=True, inclusive=False).data == []
    error = refusal(lambda: draft(payer(), 100, default_tax_rates=[vat.id]))
    assert error.param == "default_tax_rates[0]"
    for lacking in ("display_name", "inclusive", "percentage"):
        fields = {"display_name": "VAT", "inclusive": False, "percentage": 5}
        del fields[lacking]
        assert refusal(lambda: stripe.TaxRate.create(**fields)).param == lacking


# Credit notes


def test_a_credit_note_before_the_payment_leaves_less_to_pay(sandbox):
    invoice = draft(payer(), 1000, 500)
    invoice = stripe.Invoice.finalize_invoice(invoice.id)
    line = invoice.lines.data[1]
    note = stripe.CreditNote.create(
        invoice=invoice.id, reason="order_change", memo="Too much",
        lines=[{"type": "invoice_line_item", "invoice_line_item": line.id, "amount": 200}])
    assert (note.type, note.status, note.total) == ("pre_payment", "issued", 200)
    assert note.number == f"{invoice.number}-CN-01"
    assert missing_members(note, "_credit_note", "CreditNote") == []
    assert missing_members(
        note.lines.data[0], "_credit_note_line_item", "CreditNoteLineItem") == []
    after = stripe.Invoice.retrieve(invoice.id)
    assert (after.amount_due, after.amount_remaining) == (1300, 1300)
    assert after.pre_payment_credit_notes_amount == 200
    assert stripe.CreditNote.void_credit_note(note.id).status == "void"
    assert stripe.Invoice.retrieve(invoice.id).amount_remaining == 1500
    stripe.CreditNote.create(invoice=invoice.id, amount=400)
    paid = stripe.Invoice.pay(invoice.id)
    assert (paid.status, paid.amount_paid) == ("paid", 1100)
    # Nothing is left to pay of one that is credited whole.
    whole = stripe.Invoice.finalize_invoice(draft(payer(), 700).id)
    stripe.CreditNote.create(invoice=whole.id, amount=700)
    after = stripe.Invoice.retrieve(whole.id)
    assert (after.status, after.amount_paid) == ("paid", 0)
    sandbox.settle()
    types = sandbox.receiver.types()
    assert types.count("credit_note.created") == 3 and types.count("credit_note.voided") == 1


def test_a_credit_note_after_the_payment_says_where_the_money_goes(sandbox):
    customer = payer()
    vat = rate(10)
    invoice = draft(customer, 1000, default_tax_rates=[vat.id])
    invoice = stripe.Invoice.pay(invoice.id)
    assert invoice.amount_paid == 1100
    line = invoice.lines.data[0].id
    lines = [{"type": "invoice_line_item", "invoice_line_item": line, "quantity": 1}]
    preview = stripe.CreditNote.preview(
        invoice=invoice.id, lines=lines, refund_amount=600, credit_amount=500)
    assert (preview.subtotal, preview.total) == (1000, 1100)
    shown = stripe.CreditNote.preview_lines(
        invoice=invoice.id, lines=lines, refund_amount=600, credit_amount=500)
    assert shown.data[0].taxes[0].amount == 100
    assert stripe.CreditNote.list().data == []
    error = refusal(lambda: stripe.CreditNote.create(
        invoice=invoice.id, lines=lines, refund_amount=600))
    assert "must equal the credit note amount" in str(error)
    error = refusal(lambda: stripe.CreditNote.create(
        invoice=invoice.id, amount=1200, refund_amount=1200))
    assert "more than the invoice leaves" in str(error)
    note = stripe.CreditNote.create(
        invoice=invoice.id, lines=lines, refund_amount=600, credit_amount=500)
    assert (note.type, note.post_payment_amount) == ("post_payment", 1100)
    assert stripe.Refund.retrieve(note.refunds[0].refund).amount == 600
    assert stripe.Customer.retrieve(customer.id).balance == -500
    movement = stripe.Customer.retrieve_balance_transaction(
        customer.id, note.customer_balance_transaction)
    assert (movement.type, movement.credit_note, movement.amount) == (
        "credit_note", note.id, -500)
    assert stripe.Invoice.retrieve(invoice.id).post_payment_credit_notes_amount == 1100
    assert stripe.CreditNote.modify(note.id, memo="Sorry").memo == "Sorry"
    assert [one.id for one in stripe.CreditNote.list(invoice=invoice.id).data] == [note.id]
    assert len(stripe.CreditNote.list_lines(note.id).data) == 1
    assert "only void" in str(refusal(lambda: stripe.CreditNote.void_credit_note(note.id)))
    error = refusal(lambda: stripe.CreditNote.create(invoice=draft(customer, 100).id, amount=50))
    assert error.param == "invoice"


# The customer's balance


def test_the_balance_pays_invoices_and_says_why_it_moved(sandbox):
    customer = payer()
    credit = stripe.Customer.create_balance_transaction(
        customer.id, amount=-700, currency="usd", description="Sorry", metadata={"a": "b"})
    assert (credit.type, credit.ending_balance, credit.metadata.a) == ("adjustment", -700, "b")
    assert missing_members(
        credit, "_customer_balance_transaction", "CustomerBalanceTransaction") == []
    invoice = stripe.Invoice.finalize_invoice(draft(customer, 500).id)
    assert (invoice.status, invoice.amount_due) == ("open", 0)
    assert (invoice.starting_balance, invoice.ending_balance) == (-700, -200)
    invoice = stripe.Invoice.finalize_invoice(draft(customer, 500).id)
    assert (invoice.amount_due, invoice.ending_balance) == (300, 0)
    assert stripe.Customer.retrieve(customer.id).balance == 0
    stripe.Invoice.void_invoice(invoice.id)
    assert stripe.Customer.retrieve(customer.id).balance == -200
    stripe.Customer.modify(customer.id, balance=0)
    moved = stripe.Customer.list_balance_transactions(customer.id).data
    assert [(one.type, one.amount, one.ending_balance) for one in moved] == [
        ("adjustment", 200, 0), ("unapplied_from_invoice", -200, -200),
        ("applied_to_invoice", 200, 0), ("applied_to_invoice", 500, -200),
        ("adjustment", -700, -700),
    ]
    assert moved[2].invoice == invoice.id
    changed = stripe.Customer.modify_balance_transaction(
        customer.id, credit.id, description="So sorry")
    assert changed.description == "So sorry"
    error = refusal(lambda: stripe.Customer.create_balance_transaction(
        customer.id, amount=5, currency="eur"))
    assert error.param == "currency"
    other = stripe.Customer.create(balance=-300)
    assert stripe.Customer.list_balance_transactions(other.id).data[0].type == "initial"
    missing = refusal(lambda: stripe.Customer.retrieve_balance_transaction(other.id, credit.id))
    assert missing.http_status == 404


@pytest.mark.parametrize("balance", (-700, 500))
def test_the_balance_is_no_part_of_what_checkout_was_paid(sandbox, balance):
    """https://docs.stripe.com/billing/customer/balance: "The credit balance doesn't apply to invoices
    created by Checkout Sessions with invoice_creation enabled."
    """
    customer = stripe.Customer.create(balance=balance)
    coins = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    session = stripe.checkout.Session.create(
        mode="payment", customer=customer.id, line_items=[{"price": coins.id, "quantity": 1}],
        invoice_creation={"enabled": True}, success_url="https://example.com")
    sandbox.pay(session)
    session = stripe.checkout.Session.retrieve(session.id, expand=["payment_intent", "invoice"])
    assert session.payment_intent.amount_received == 1000
    assert (session.invoice.amount_paid, session.invoice.status) == (1000, "paid")
    assert stripe.Customer.retrieve(customer.id).balance == balance


# Discounts


def test_a_discount_is_taken_off_a_subscription(sandbox, plan):
    half = stripe.Coupon.create(percent_off=50, duration="forever")
    made = stripe.Subscription.create(
        customer=payer().id, items=[{"price": plan.id}], discounts=[{"coupon": half.id}])
    gone = stripe.Subscription.delete_discount(made.id)
    assert (gone.object, gone.deleted, gone.source.coupon) == ("discount", True, half.id)
    assert stripe.Subscription.retrieve(made.id).discounts == []
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    assert stripe.Invoice.list(subscription=made.id).data[0].total == 999
    assert "customer.discount.created" in sandbox.receiver.types()
    assert "customer.discount.deleted" in sandbox.receiver.types()
    for attempt in (
        lambda: stripe.Subscription.delete_discount(made.id),
        lambda: stripe.Customer.delete_discount(made.customer),
    ):
        error = refusal(attempt)
        assert (error.http_status, error.code) == (404, "resource_missing")
    # Emptied by an update, too.
    stripe.Subscription.modify(made.id, discounts=[{"coupon": half.id}])
    assert stripe.Subscription.modify(made.id, discounts="").discounts == []
    sandbox.settle()
    assert sandbox.receiver.types().count("customer.discount.deleted") == 2


def test_a_discount_for_once_given_in_the_middle_is_for_the_next_invoice(sandbox, plan):
    made = subscribe(sandbox, plan)
    half = stripe.Coupon.create(percent_off=50, duration="once")
    tenth = stripe.Coupon.create(percent_off=10, duration="forever")
    stripe.Subscription.modify(made.id, discounts=[{"coupon": half.id}, {"coupon": tenth.id}])
    sandbox.advance(by=31 * DAY + 2 * HOUR)
    sandbox.advance(by=28 * DAY)
    totals = [one.total for one in stripe.Invoice.list(subscription=made.id).data]
    # The second takes a tenth of what the first left: 999, 999 − 500 − 50, 999 − 100.
    assert totals == [899, 449, 999]
    assert len(stripe.Subscription.retrieve(made.id).discounts) == 1


# Previews


def test_a_preview_shows_what_a_new_subscription_would_cost(sandbox, plan):
    customer = payer()
    vat = rate(10)
    half = stripe.Coupon.create(percent_off=50, duration="once")
    setup = stripe.Price.create(
        product_data={"name": "Setting up"}, currency="usd", unit_amount=500)
    preview = stripe.Invoice.create_preview(
        customer=customer.id, discounts=[{"coupon": half.id}],
        subscription_details={
            "items": [{"price": plan.id, "quantity": 2}], "default_tax_rates": [vat.id]},
        invoice_items=[{"price": setup.id}])
    assert preview.id.startswith("upcoming_in_") and preview.status == "draft"
    assert [line.amount for line in preview.lines.data] == [1998, 500]
    assert (preview.subtotal, preview.total) == (2498, 1249 + 125)
    assert preview.parent.subscription_details.subscription is None
    assert stripe.Subscription.list(customer=customer.id, status="all").data == []
    assert stripe.Invoice.list().data == [] and stripe.Coupon.retrieve(half.id).times_redeemed == 0
    end = 1767225600 + 7 * 86_400
    trial = stripe.Invoice.create_preview(
        customer=customer.id,
        subscription_details={"items": [{"price": plan.id}], "trial_end": end})
    assert (trial.total, trial.lines.data[0].period.end) == (0, end)
    # Nobody has to be a customer yet.
    visitor = stripe.Invoice.create_preview(
        customer_details={"address": {"country": "US"}},
        subscription_details={"items": [{"price": plan.id}]})
    assert (visitor.total, visitor.customer) == (999, None)
    assert len(stripe.Customer.list().data) == 1
    euros = stripe.Price.create(
        product_data={"name": "Other"}, currency="eur", unit_amount=1,
        recurring={"interval": "month"})
    assert refusal(lambda: stripe.Invoice.create_preview(customer=customer.id)).param == (
        "subscription_details[items]")
    error = refusal(lambda: stripe.Invoice.create_preview(
        customer=customer.id, subscription_details={"items": [{"cost": euros.id}]}))
    assert error.param in ("subscription_details[items][0][price]",)


def test_a_preview_of_a_change_takes_other_items_and_discounts(sandbox, plan):
    made = subscribe(sandbox, plan)
    half = stripe.Coupon.create(percent_off=50, duration="once")
    preview = stripe.Invoice.create_preview(
        subscription=made.id, discounts=[{"coupon": half.id}],
        invoice_items=[{"amount": 300, "currency": "usd", "description": "Extra"}])
    assert (preview.subtotal, preview.lines.data[-1].description) == (1299, "Extra")
    assert preview.total == 1299 - 500 - 150
    assert stripe.Subscription.retrieve(made.id).discounts == []
    assert stripe.InvoiceItem.list().data == []


# Prices


SEATS = [
    {"up_to": 2, "unit_amount": 500, "flat_amount": 1000}, {"up_to": 5, "unit_amount": 400},
    {"up_to": "inf", "unit_amount_decimal": Decimal("250.5")},
]


@pytest.mark.parametrize("mode, sums", [
    ("graduated", {1: 1500, 2: 2000, 3: 2400, 5: 3200, 7: 3701}),
    ("volume", {1: 1500, 2: 2000, 3: 1200, 5: 2000, 7: 1754}),
])
def test_tiers_decide_what_a_quantity_costs(sandbox, mode, sums):
    price = stripe.Price.create(
        product_data={"name": "Seat"}, currency="usd", recurring={"interval": "month"},
        billing_scheme="tiered", tiers_mode=mode, tiers=SEATS, expand=["tiers"])
    assert (price.unit_amount, price.billing_scheme, price.tiers_mode) == (None, "tiered", mode)
    assert [tier.up_to for tier in price.tiers] == [2, 5, None]
    assert price.tiers[2].unit_amount is None
    assert missing_members(price, "_price", "Price") == []
    for quantity, total in sums.items():
        preview = stripe.Invoice.create_preview(
            customer=stripe.Customer.create().id,
            subscription_details={"items": [{"price": price.id, "quantity": quantity}]})
        assert preview.total == total, quantity
    made = stripe.Subscription.create(
        customer=payer().id, items=[{"price": price.id, "quantity": 3}])
    assert stripe.Invoice.retrieve(made.latest_invoice).amount_paid == sums[3]
    session = stripe.checkout.Session.create(
        mode="subscription", line_items=[{"price": price.id, "quantity": 7}],
        success_url="https://example.com")
    assert session.amount_total == sums[7]
    sandbox.pay(session)
    session = stripe.checkout.Session.retrieve(session.id, expand=["invoice"])
    assert session.invoice.amount_paid == sums[7]


def test_packages_are_rounded_as_the_price_says(sandbox):
    for round, total in (("up", 600), ("down", 400)):
        price = stripe.Price.create(
            product_data={"name": "Ten"}, currency="usd", unit_amount=200,
            transform_quantity={"divide_by": 10, "round": round})
        session = stripe.checkout.Session.create(
            mode="payment", line_items=[{"price": price.id, "quantity": 25}],
            success_url="https://example.com")
        assert session.amount_total == total


def test_tiers_that_make_no_sense_are_refused(sandbox):
    def make(**more):
        fields = {
            "product_data": {"name": "Seat"}, "currency": "usd", "billing_scheme": "tiered",
            "tiers_mode": "volume", "tiers": SEATS, **more}
        return lambda: stripe.Price.create(**{k: v for k, v in fields.items() if v is not None})

    assert refusal(make(tiers=None)).param == "tiers"
    assert refusal(make(tiers_mode=None)).param == "tiers_mode"
    assert refusal(make(tiers=SEATS[:2])).param == "tiers"
    assert refusal(make(tiers=[SEATS[1], SEATS[0], SEATS[2]])).param == "tiers[1][up_to]"
    assert refusal(make(tiers=[{"up_to": "inf"}])).param == "tiers[0][unit_amount]"
    assert refusal(make(billing_scheme="per_unit")).param == "unit_amount"
    # Usage is not played.
    metered = {"interval": "month", "usage_type": "metered"}
    assert refusal(make(recurring=metered)).param == "recurring[meter]"
    error = refusal(make(recurring={**metered, "meter": "mtr_1"}))
    assert (error.code, error.param) == ("resource_missing", "recurring[meter]")


def test_the_payer_chooses_what_to_give(sandbox):
    price = stripe.Price.create(
        product_data={"name": "Thanks"}, currency="usd",
        custom_unit_amount={"enabled": True, "minimum": 200, "maximum": 5000, "preset": 1000})
    assert price.unit_amount is None and price.custom_unit_amount.preset == 1000
    first = checkout(price)
    assert first.amount_total == 1000
    for amount in (199, 5001):
        answer = sandbox.pay(first, amount=amount)
        assert "from $2.00 to $50.00" in answer["error"]["message"]
    assert sandbox.pay(first, amount=350)["status"] == "complete"
    paid = stripe.checkout.Session.retrieve(first.id, expand=["payment_intent", "line_items"])
    assert (paid.amount_total, paid.payment_intent.amount_received) == (350, 350)
    assert paid.line_items.data[0].amount_total == 350
    # On the page, a payer types it.
    second = checkout(price)
    status, _ = form(second.url, **CARD, amount="12.34")
    assert status == 303
    assert stripe.checkout.Session.retrieve(second.id).amount_total == 1234
    error = refusal(lambda: stripe.Price.create(
        product_data={"name": "Thanks"}, currency="usd", recurring={"interval": "month"},
        custom_unit_amount={"enabled": True}))
    assert error.param == "custom_unit_amount"
    for lines in ({"quantity": 2}, {"quantity": 1, "mode": "subscription"}):
        mode = lines.pop("mode", "payment")
        error = refusal(lambda: stripe.checkout.Session.create(
            mode=mode, success_url="https://example.com",
            line_items=[{"price": price.id, **lines}]))
        assert error.param == "line_items[0][price]"


# The account, and keys for devices


def test_the_account_of_the_key(sandbox):
    account = stripe.Account.retrieve()
    assert account.id.startswith("acct_") and account.charges_enabled
    assert stripe.Account.retrieve(account.id).id == account.id
    with pytest.raises(stripe.PermissionError):
        stripe.Account.retrieve("acct_1other")


def test_a_device_gets_a_key_for_one_customer(sandbox):
    customer = stripe.Customer.create()
    key = stripe.EphemeralKey.create(customer=customer.id, stripe_version="2026-09-30.endive")
    assert key.secret.startswith("ek_test_") and key.expires == key.created + 3600
    assert key.associated_objects[0].id == customer.id
    assert missing_members(key, "_ephemeral_key", "EphemeralKey") == []
    assert stripe.EphemeralKey.delete(key.id).secret is None
    missing = refusal(lambda: stripe.EphemeralKey.create(
        customer="cus_none", stripe_version="2026-09-30.endive"))
    assert missing.code == "resource_missing"
