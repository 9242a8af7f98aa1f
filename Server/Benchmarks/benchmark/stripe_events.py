"""Signed Stripe webhook events of realistic length (about 4 KB): `customer.subscription.updated`."""

import hashlib
import hmac
import json

API_VERSION = "2026-09-30.endive"
WEBHOOK_SECRET = "whsec_benchmark0000000000000000000"
PRICE_ID = "price_benchmark_pro_monthly"


def event_body(sequence: int, created: int) -> bytes:
    """Event number `sequence`, created at UNIX second `created`, as Stripe prints it (indented)."""
    customer, subscription = f"cus_Bench{sequence:09d}", f"sub_1Bench{sequence:015d}"
    start = created - 86_400
    price = {
        "id": PRICE_ID, "object": "price", "active": True, "billing_scheme": "per_unit",
        "created": 1_700_000_000, "currency": "usd", "custom_unit_amount": None, "livemode": False,
        "lookup_key": None, "metadata": {}, "nickname": None, "product": "prod_benchmark_pro",
        "recurring": {
            "interval": "month", "interval_count": 1, "meter": None, "trial_period_days": None,
            "usage_type": "licensed"},
        "tax_behavior": "unspecified", "tiers_mode": None, "transform_quantity": None,
        "type": "recurring", "unit_amount": 999, "unit_amount_decimal": "999",
    }
    plan = {
        "id": PRICE_ID, "object": "plan", "active": True, "amount": 999, "amount_decimal": "999",
        "billing_scheme": "per_unit", "created": 1_700_000_000, "currency": "usd",
        "interval": "month", "interval_count": 1, "livemode": False, "metadata": {}, "meter": None,
        "nickname": None, "product": "prod_benchmark_pro", "tiers_mode": None,
        "transform_usage": None, "trial_period_days": None, "usage_type": "licensed",
    }
    item = {
        "id": f"si_Bench{sequence:09d}", "object": "subscription_item", "billing_thresholds": None,
        "created": start, "current_period_end": start + 30 * 86_400, "current_period_start": start,
        "discounts": [], "metadata": {}, "plan": plan, "price": price, "quantity": 1,
        "subscription": subscription, "tax_rates": [],
    }
    event = {
        "id": f"evt_1Bench{sequence:015d}", "object": "event", "api_version": API_VERSION,
        "created": created,
        "data": {
            "object": {
                "id": subscription, "object": "subscription", "application": None,
                "application_fee_percent": None,
                "automatic_tax": {"disabled_reason": None, "enabled": False, "liability": None},
                "billing_cycle_anchor": start, "billing_cycle_anchor_config": None,
                "billing_mode": {"type": "flexible", "flexible": None, "updated_at": start},
                "billing_thresholds": None, "cancel_at": None, "cancel_at_period_end": False,
                "canceled_at": None,
                "cancellation_details": {"comment": None, "feedback": None, "reason": None},
                "collection_method": "charge_automatically", "created": start, "currency": "usd",
                "customer": customer, "days_until_due": None,
                "default_payment_method": f"pm_1Bench{sequence:015d}", "default_source": None,
                "default_tax_rates": [], "description": None, "discounts": [], "ended_at": None,
                "invoice_settings": {"account_tax_ids": None, "issuer": {"type": "self"}},
                "items": {
                    "object": "list", "data": [item], "has_more": False, "total_count": 1,
                    "url": f"/v1/subscription_items?subscription={subscription}"},
                "latest_invoice": f"in_1Bench{sequence:015d}", "livemode": False, "metadata": {},
                "next_pending_invoice_item_invoice": None, "on_behalf_of": None,
                "pause_collection": None,
                "payment_settings": {
                    "payment_method_options": None, "payment_method_types": None,
                    "save_default_payment_method": "off"},
                "pending_invoice_item_interval": None, "pending_setup_intent": None,
                "pending_update": None, "schedule": None, "start_date": start, "status": "active",
                "test_clock": None, "transfer_data": None, "trial_end": None,
                "trial_settings": {"end_behavior": {"missing_payment_method": "create_invoice"}},
                "trial_start": None,
            },
            "previous_attributes": {"status": "incomplete"},
        },
        "livemode": False, "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "type": "customer.subscription.updated",
    }
    return json.dumps(event, indent=2).encode()


def signature_header(body: bytes, timestamp: int, secret: str = WEBHOOK_SECRET) -> str:
    """The value of `Stripe-Signature`; its tolerance is 300 s, so sign just before sending."""
    digest = hmac.new(secret.encode(), b"%d." % timestamp + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"
