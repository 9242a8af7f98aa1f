"""Every route of the sandbox's Stripe, visited with Stripe's own Python library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import http.server
import re
import threading
import urllib.error
import urllib.request

import pytest
import stripe

from guide import ROOT
from test_stripe_library import DAY, checkout, receiver, sandbox

__all__ = ["receiver", "sandbox"]

SOURCES = ROOT / "Sandbox/Sources/StripeSimulator"


def declared_routes():
    """What the sandbox serves, as "METHOD path", by its source."""
    found = set()
    for file in SOURCES.rglob("*.swift"):
        for method, path in re.findall(r'\.(get|post|delete)\("([a-z_/:]+)"', file.read_text()):
            found.add(f"{method.upper()} {path}")
    return found


class Recorder(http.server.ThreadingHTTPServer):
    """Hands every request on to the sandbox and notes which there were."""

    def __init__(self, base):
        super().__init__(("127.0.0.1", 0), Recorder.Handler)
        self.base = base
        self.seen = set()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
            headers = {
                name: value for name, value in self.headers.items()
                if name.lower() not in ("host", "content-length", "connection")
            }
            request = urllib.request.Request(
                self.server.base + self.path, data=body, method=self.command, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    status, text, given = answer.status, answer.read(), answer.headers
            except urllib.error.HTTPError as error:
                status, text, given = error.code, error.read(), error.headers
            if status == 200:
                self.server.seen.add((self.command, self.path.split("?")[0]))
            self.send_response(status)
            for name in ("Content-Type", "Request-Id", "Idempotent-Replayed"):
                if given.get(name):
                    self.send_header(name, given[name])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *arguments):
            pass


@pytest.fixture
def recorder(sandbox):
    server = Recorder(sandbox.base)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    stripe.api_base = f"http://127.0.0.1:{server.server_address[1]}"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def visited(recorder):
    """The declared routes that were answered with 200; fixed words go before ids."""
    routes = sorted(declared_routes(), key=lambda route: route.count(":id"))
    patterns = [
        (route, re.compile("/v1/" + route.split(" ")[1].replace(":id", "[^/]+") + "$"))
        for route in routes
    ]
    found = set()
    for method, path in recorder.seen:
        for route, pattern in patterns:
            if route.startswith(method + " ") and pattern.match(path):
                found.add(route)
                break
    return found


def visit_catalog():
    feature = stripe.entitlements.Feature.create(lookup_key="pro", name="Pro")
    assert stripe.entitlements.Feature.retrieve(feature.id).lookup_key == "pro"
    assert stripe.entitlements.Feature.modify(feature.id, name="Pro 2").name == "Pro 2"
    assert len(stripe.entitlements.Feature.list().data) == 1
    product = stripe.Product.create(name="Pro")
    assert stripe.Product.retrieve(product.id).name == "Pro"
    assert stripe.Product.modify(product.id, description="Everything").description == "Everything"
    assert len(stripe.Product.list().data) == 1
    assert len(stripe.Product.search(query="active:'true'").data) == 1
    attached = stripe.Product.create_feature(product.id, entitlement_feature=feature.id)
    assert stripe.Product.retrieve_feature(product.id, attached.id).id == attached.id
    assert len(stripe.Product.list_features(product.id).data) == 1
    other = stripe.Product.create(name="Other")
    extra = stripe.Product.create_feature(other.id, entitlement_feature=feature.id)
    assert stripe.Product.delete_feature(other.id, extra.id).deleted
    assert stripe.Product.delete(other.id).deleted
    price = stripe.Price.create(
        product=product.id, currency="usd", unit_amount=999, recurring={"interval": "month"})
    assert stripe.Price.retrieve(price.id).unit_amount == 999
    assert stripe.Price.modify(price.id, nickname="monthly").nickname == "monthly"
    assert len(stripe.Price.list(product=product.id).data) == 1
    assert len(stripe.Price.search(query=f"product:'{product.id}'").data) == 1
    coupon = stripe.Coupon.create(percent_off=10, duration="once")
    assert stripe.Coupon.retrieve(coupon.id).percent_off == 10
    assert stripe.Coupon.modify(coupon.id, name="Ten").name == "Ten"
    assert len(stripe.Coupon.list().data) == 1
    code = stripe.PromotionCode.create(promotion={"type": "coupon", "coupon": coupon.id})
    assert stripe.PromotionCode.retrieve(code.id).active
    assert not stripe.PromotionCode.modify(code.id, active=False).active
    assert len(stripe.PromotionCode.list().data) == 1
    gone = stripe.Coupon.create(percent_off=20, duration="once")
    assert stripe.Coupon.delete(gone.id).deleted
    return price


def visit_customers():
    customer = stripe.Customer.create(email="jenny@example.com")
    assert stripe.Customer.retrieve(customer.id).email == "jenny@example.com"
    assert stripe.Customer.modify(customer.id, name="Jenny").name == "Jenny"
    assert len(stripe.Customer.list().data) == 1
    assert len(stripe.Customer.search(query="email:'jenny@example.com'").data) == 1
    session = stripe.CustomerSession.create(
        customer=customer.id, components={"buy_button": {"enabled": True}})
    assert session.client_secret.startswith("cuss_secret_")
    gone = stripe.Customer.create()
    assert stripe.Customer.delete(gone.id).deleted
    method = stripe.PaymentMethod.create(type="card", card={"token": "tok_visa"})
    assert stripe.PaymentMethod.retrieve(method.id).card.last4 == "4242"
    assert stripe.PaymentMethod.attach(method.id, customer=customer.id).customer == customer.id
    changed = stripe.PaymentMethod.modify(method.id, metadata={"a": "b"})
    assert changed.metadata.a == "b"
    assert len(stripe.PaymentMethod.list(customer=customer.id).data) == 1
    assert len(stripe.Customer.list_payment_methods(customer.id).data) == 1
    loose = stripe.PaymentMethod.attach("pm_card_mastercard", customer=customer.id)
    assert stripe.PaymentMethod.detach(loose.id).customer is None
    stripe.Customer.modify(
        customer.id, invoice_settings={"default_payment_method": method.id})
    return customer, method


def visit_payments(customer, method):
    intent = stripe.PaymentIntent.create(amount=1000, currency="usd", customer=customer.id)
    assert stripe.PaymentIntent.modify(intent.id, amount=1100).amount == 1100
    assert stripe.PaymentIntent.confirm(intent.id, payment_method=method.id).status == "succeeded"
    intent = stripe.PaymentIntent.retrieve(intent.id)
    held = stripe.PaymentIntent.create(
        amount=2000, currency="usd", customer=customer.id, payment_method=method.id,
        capture_method="manual", confirm=True)
    assert held.status == "requires_capture"
    assert stripe.PaymentIntent.capture(held.id).status == "succeeded"
    dropped = stripe.PaymentIntent.create(amount=1000, currency="usd")
    assert stripe.PaymentIntent.cancel(dropped.id).status == "canceled"
    assert len(stripe.PaymentIntent.list().data) == 3
    assert stripe.PaymentIntent.search(query="status:'succeeded'").data

    charge = stripe.Charge.retrieve(intent.latest_charge)
    assert stripe.Charge.modify(charge.id, metadata={"a": "b"}).metadata.a == "b"
    assert len(stripe.Charge.list().data) == 2
    assert stripe.Charge.search(query=f"customer:'{customer.id}'").data
    refund = stripe.Refund.create(charge=charge.id, amount=100)
    assert stripe.Refund.retrieve(refund.id).amount == 100
    assert stripe.Refund.modify(refund.id, metadata={"a": "b"}).metadata.a == "b"
    assert len(stripe.Refund.list().data) == 1
    assert len(stripe.Charge.list_refunds(charge.id).data) == 1

    for _ in range(2):
        stripe.PaymentIntent.create(
            amount=500, currency="usd", payment_method="pm_card_createDispute", confirm=True)
    first, second = stripe.Dispute.list().data
    assert stripe.Dispute.retrieve(first.id).amount == 500
    assert stripe.Dispute.modify(first.id, metadata={"a": "b"}).metadata.a == "b"
    assert stripe.Dispute.close(second.id).status == "lost"

    setup = stripe.SetupIntent.create(customer=customer.id, payment_method=method.id)
    assert stripe.SetupIntent.modify(setup.id, metadata={"a": "b"}).metadata.a == "b"
    assert stripe.SetupIntent.confirm(setup.id).status == "succeeded"
    assert stripe.SetupIntent.retrieve(setup.id).status == "succeeded"
    other = stripe.SetupIntent.create()
    assert stripe.SetupIntent.cancel(other.id).status == "canceled"
    assert len(stripe.SetupIntent.list().data) == 2

    movement = stripe.BalanceTransaction.list().data[0]
    assert stripe.BalanceTransaction.retrieve(movement.id).id == movement.id
    assert stripe.Balance.retrieve().object == "balance"


def visit_checkout(sandbox, customer, price):
    coins = stripe.Price.create(
        product_data={"name": "100 coins"}, currency="usd", unit_amount=1000)
    session = checkout(coins, customer=customer.id)
    assert stripe.checkout.Session.modify(session.id, metadata={"a": "b"}).metadata.a == "b"
    assert len(stripe.checkout.Session.list_line_items(session.id).data) == 1
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": stripe.api_base})
    client.raw_request("get", f"/v1/payment_pages/{session.id}")
    client.raw_request(
        "post", f"/v1/payment_pages/{session.id}/confirm", payment_method="pm_card_visa",
        expected_amount=1000)
    assert stripe.checkout.Session.retrieve(session.id).status == "complete"
    other = checkout(coins)
    assert stripe.checkout.Session.expire(other.id).status == "expired"
    assert len(stripe.checkout.Session.list().data) == 2
    link = stripe.PaymentLink.create(line_items=[{"price": coins.id, "quantity": 1}])
    assert stripe.PaymentLink.retrieve(link.id).active
    assert len(stripe.PaymentLink.list_line_items(link.id).data) == 1
    assert not stripe.PaymentLink.modify(link.id, active=False).active
    assert len(stripe.PaymentLink.list().data) == 1

    portal = stripe.billing_portal.Session.create(customer=customer.id)
    assert portal.url.startswith("http")
    configuration = stripe.billing_portal.Configuration.create(
        features={"invoice_history": {"enabled": True}})
    assert stripe.billing_portal.Configuration.retrieve(configuration.id).active
    changed = stripe.billing_portal.Configuration.modify(configuration.id, metadata={"a": "b"})
    assert changed.metadata.a == "b"
    assert len(stripe.billing_portal.Configuration.list().data) == 2


def visit_subscriptions(sandbox, customer, price):
    subscription = stripe.Subscription.create(customer=customer.id, items=[{"price": price.id}])
    assert subscription.status == "active"
    assert stripe.Subscription.modify(
        subscription.id, metadata={"a": "b"}).metadata.a == "b"
    assert len(stripe.Subscription.list().data) == 1
    assert stripe.Subscription.search(query="status:'active'").data
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": stripe.api_base})
    classic = stripe.Subscription.create(
        customer=customer.id, items=[{"price": price.id}], billing_mode={"type": "classic"})
    client.v1.subscriptions.migrate(classic.id, {"billing_mode": {"type": "flexible"}})
    assert stripe.Subscription.cancel(classic.id).status == "canceled"

    item = subscription["items"].data[0]
    assert stripe.SubscriptionItem.retrieve(item.id).price.id == price.id
    assert stripe.SubscriptionItem.modify(item.id, quantity=2).quantity == 2
    seat = stripe.Price.create(
        product_data={"name": "Seat"}, currency="usd", unit_amount=500,
        recurring={"interval": "month"})
    second = stripe.SubscriptionItem.create(subscription=subscription.id, price=seat.id)
    assert len(stripe.SubscriptionItem.list(subscription=subscription.id).data) == 2
    assert stripe.SubscriptionItem.delete(second.id).deleted
    entitlement = stripe.entitlements.ActiveEntitlement.list(customer=customer.id).data[0]
    assert stripe.entitlements.ActiveEntitlement.retrieve(entitlement.id).lookup_key == "pro"
    for path in ("customers", "customer"):  # The second stands in the summary's events.
        answer = client.raw_request("get", f"/v1/{path}/{customer.id}/entitlements")
        assert answer.code == 200 and "pro" in answer.body

    stripe.Subscription.modify(subscription.id, metadata={"a": "c"})
    client.raw_request("post", f"/v1/subscriptions/{subscription.id}/pause")
    assert stripe.Subscription.retrieve(subscription.id).status == "paused"
    assert stripe.Subscription.resume(subscription.id).status == "active"

    schedule = stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
    assert stripe.SubscriptionSchedule.retrieve(schedule.id).status == "active"
    assert stripe.SubscriptionSchedule.modify(
        schedule.id, metadata={"a": "b"}).metadata.a == "b"
    assert stripe.SubscriptionSchedule.release(schedule.id).status == "released"
    second = stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
    assert stripe.SubscriptionSchedule.cancel(second.id).status == "canceled"
    assert len(stripe.SubscriptionSchedule.list().data) == 2


def visit_invoices(customer, price):
    subscription = stripe.Subscription.create(customer=customer.id, items=[{"price": price.id}])
    preview = stripe.Invoice.create_preview(subscription=subscription.id)
    assert preview.total == 999
    item = stripe.InvoiceItem.create(customer=customer.id, amount=700, currency="usd")
    assert stripe.InvoiceItem.retrieve(item.id).amount == 700
    assert stripe.InvoiceItem.list(customer=customer.id).data
    assert stripe.InvoiceItem.delete(item.id).deleted

    def draft():
        invoice = stripe.Invoice.create(customer=customer.id, auto_advance=False)
        stripe.InvoiceItem.create(
            customer=customer.id, amount=700, currency="usd", invoice=invoice.id)
        return invoice

    invoice = draft()
    assert stripe.Invoice.modify(invoice.id, metadata={"a": "b"}).metadata.a == "b"
    assert len(stripe.Invoice.list_lines(invoice.id).data) == 1
    assert stripe.Invoice.finalize_invoice(invoice.id).status == "open"
    assert stripe.Invoice.send_invoice(invoice.id).status == "open"
    assert stripe.Invoice.pay(invoice.id).status == "paid"
    assert stripe.Invoice.retrieve(invoice.id).amount_paid == 700
    second = draft()
    stripe.Invoice.finalize_invoice(second.id)
    assert stripe.Invoice.mark_uncollectible(second.id).status == "uncollectible"
    third = draft()
    stripe.Invoice.finalize_invoice(third.id)
    assert stripe.Invoice.void_invoice(third.id).status == "void"
    assert stripe.Invoice.delete(draft().id).deleted
    assert stripe.Invoice.list().data
    assert stripe.Invoice.search(query="status:'paid'").data
    parted = draft()
    stripe.Invoice.finalize_invoice(parted.id)
    for amount, status in ((300, "open"), (400, "paid")):
        part = stripe.PaymentIntent.create(
            amount=amount, currency="usd", customer=customer.id, confirm=True,
            payment_method="pm_card_visa", return_url="https://example.com")
        assert stripe.Invoice.attach_payment(
            parted.id, payment_intent=part.id).status == status
    payment = stripe.InvoicePayment.list(status="paid").data[0]
    assert stripe.InvoicePayment.retrieve(payment.id).status == "paid"


def visit_money(customer, price):
    vat = stripe.TaxRate.create(display_name="VAT", percentage=10, inclusive=False)
    assert stripe.TaxRate.retrieve(vat.id).percentage == 10
    assert stripe.TaxRate.modify(vat.id, description="Tax").description == "Tax"
    assert len(stripe.TaxRate.list().data) == 1
    moved = stripe.Customer.create_balance_transaction(customer.id, amount=-5, currency="usd")
    assert stripe.Customer.retrieve_balance_transaction(customer.id, moved.id).amount == -5
    stripe.Customer.modify_balance_transaction(customer.id, moved.id, description="Thanks")
    assert stripe.Customer.list_balance_transactions(customer.id).data
    half = stripe.Coupon.create(percent_off=50, duration="forever")
    made = stripe.Subscription.create(
        customer=customer.id, items=[{"price": price.id}], discounts=[{"coupon": half.id}])
    assert stripe.Subscription.delete_discount(made.id).deleted
    invoice = stripe.Invoice.create(customer=customer.id, auto_advance=False)
    stripe.InvoiceItem.create(
        customer=customer.id, amount=700, currency="usd", invoice=invoice.id)
    stripe.Invoice.finalize_invoice(invoice.id)
    assert stripe.CreditNote.preview(invoice=invoice.id, amount=100).total == 100
    assert stripe.CreditNote.preview_lines(invoice=invoice.id, amount=100).data
    note = stripe.CreditNote.create(invoice=invoice.id, amount=100)
    assert stripe.CreditNote.retrieve(note.id).total == 100
    assert stripe.CreditNote.modify(note.id, memo="Sorry").memo == "Sorry"
    assert len(stripe.CreditNote.list().data) == 1
    assert len(stripe.CreditNote.list_lines(note.id).data) == 1
    assert stripe.CreditNote.void_credit_note(note.id).status == "void"
    account = stripe.Account.retrieve()
    assert stripe.Account.retrieve(account.id).id == account.id
    key = stripe.EphemeralKey.create(customer=customer.id, stripe_version=stripe.api_version)
    assert stripe.EphemeralKey.delete(key.id).secret is None


def visit_the_rest(sandbox):
    event = stripe.Event.list().data[0]
    assert stripe.Event.retrieve(event.id).type == event.type
    endpoint = stripe.WebhookEndpoint.create(
        url="https://example.com/hooks", enabled_events=["charge.succeeded"])
    assert stripe.WebhookEndpoint.modify(endpoint.id, disabled=True).status == "disabled"
    assert stripe.WebhookEndpoint.retrieve(endpoint.id).status == "disabled"
    assert len(stripe.WebhookEndpoint.list().data) == 2
    assert stripe.WebhookEndpoint.delete(endpoint.id).deleted
    clock = stripe.test_helpers.TestClock.create(frozen_time=1767225600)
    stripe.test_helpers.TestClock.advance(clock.id, frozen_time=1767225600 + 60)
    assert stripe.test_helpers.TestClock.retrieve(clock.id).frozen_time == 1767225600 + 60
    assert len(stripe.test_helpers.TestClock.list().data) == 1
    assert stripe.test_helpers.TestClock.delete(clock.id).deleted
    sandbox.advance(by=10 * DAY)  # What was charged can be paid out by then.
    payout = stripe.Payout.create(amount=100, currency="usd")
    assert stripe.Payout.retrieve(payout.id).amount == 100
    assert stripe.Payout.list().data


def test_every_route_is_visited_with_the_official_library(sandbox, recorder):
    price = visit_catalog()
    customer, method = visit_customers()
    visit_payments(customer, method)
    visit_checkout(sandbox, customer, price)
    visit_subscriptions(sandbox, customer, price)
    visit_invoices(customer, price)
    visit_money(customer, price)
    visit_the_rest(sandbox)
    # A customer's discount comes from the Dashboard alone, so there is never one to remove.
    declared = declared_routes() - {"DELETE customers/:id/discount"}
    assert len(declared) > 160
    assert sorted(declared - visited(recorder)) == []
