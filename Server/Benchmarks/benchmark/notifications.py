"""App Store Server Notifications V2 with correct payloads, signed by the benchmark's own chain."""

import base64
import hashlib
import json
import uuid

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from . import population as people

RENEWALS_OF_TEN = 8  # the other two of ten notifications are first purchases


class NotificationSigner:
    """Makes the body of notification `sequence` for a database of `customers` customers."""

    def __init__(self, leaf_key_pem: bytes, protected_header: bytes, run_started_ms: int):
        self._key = serialization.load_pem_private_key(leaf_key_pem, None)
        self._algorithm = ec.ECDSA(hashes.SHA256())
        self._header = protected_header
        self._run_started_ms = run_started_ms

    def first_purchase(self, customer: int) -> bytes:
        """SUBSCRIBED/INITIAL_BUY: what fills the database."""
        return self._notification(f"fill {customer}", customer, 0, signed_ms=self._run_started_ms - 5_000)

    def notification(self, sequence: int, customers: int) -> bytes:
        """Number `sequence` of the measured stream: eight renewals of known purchases, then two
        first purchases by customers the database does not know yet."""
        block, place = divmod(sequence, 10)
        signed_ms = self._run_started_ms + sequence // 100
        if place >= RENEWALS_OF_TEN:
            customer = customers + block * (10 - RENEWALS_OF_TEN) + place - RENEWALS_OF_TEN
            return self._notification(f"{customers} new {customer}", customer, 0, signed_ms)
        renewal = block * RENEWALS_OF_TEN + place
        cycle, position = divmod(renewal, customers)
        customer = people.shuffled(position, customers)
        return self._notification(
            f"{customers} renewal {customer} {cycle}", customer, cycle + 1, signed_ms)

    def _notification(self, identity: str, customer: int, period: int, signed_ms: int) -> bytes:
        payload = {
            "notificationType": "SUBSCRIBED" if period == 0 else "DID_RENEW",
            "notificationUUID": _uuid(identity),
            "data": {
                "bundleId": people.BUNDLE_ID,
                "bundleVersion": "42",
                "environment": "Sandbox",
                "signedTransactionInfo": self._sign(self._transaction(customer, period, signed_ms)),
                "signedRenewalInfo": self._sign(self._renewal_info(customer, period, signed_ms)),
                "status": 1,
            },
            "version": "2.0",
            "signedDate": signed_ms,
        }
        if period == 0:
            payload["subtype"] = "INITIAL_BUY"
        return b'{"signedPayload":"' + self._sign(payload).encode() + b'"}'

    def _transaction(self, customer: int, period: int, signed_ms: int) -> dict:
        starts = people.period_start(customer, period, self._run_started_ms)
        return {
            "transactionId": people.transaction_id(customer, period),
            "originalTransactionId": people.original_transaction_id(customer),
            "webOrderLineItemId": people.web_order_line_item_id(customer, period),
            "bundleId": people.BUNDLE_ID,
            "productId": people.PRODUCT_ID,
            "subscriptionGroupIdentifier": "20950000",
            "purchaseDate": starts,
            "originalPurchaseDate": people.period_start(customer, 0, self._run_started_ms),
            "expiresDate": starts + people.MONTH_MS,
            "quantity": 1,
            "type": "Auto-Renewable Subscription",
            "appAccountToken": people.app_account_token(customer),
            "inAppOwnershipType": "PURCHASED",
            "signedDate": signed_ms,
            "environment": "Sandbox",
            "transactionReason": "PURCHASE" if period == 0 else "RENEWAL",
            "storefront": "USA",
            "storefrontId": "143441",
            "price": 9990,
            "currency": "USD",
            "appTransactionId": str(704_000_000_000_000_000 + customer),
        }

    def _renewal_info(self, customer: int, period: int, signed_ms: int) -> dict:
        ends = people.period_start(customer, period, self._run_started_ms) + people.MONTH_MS
        return {
            "originalTransactionId": people.original_transaction_id(customer),
            "autoRenewProductId": people.PRODUCT_ID,
            "productId": people.PRODUCT_ID,
            "autoRenewStatus": 1,
            "isInBillingRetryPeriod": False,
            "renewalPrice": 9990,
            "currency": "USD",
            "signedDate": signed_ms,
            "environment": "Sandbox",
            "recentSubscriptionStartDate": people.period_start(customer, 0, self._run_started_ms),
            "renewalDate": ends,
            "appAccountToken": people.app_account_token(customer),
            "appTransactionId": str(704_000_000_000_000_000 + customer),
        }

    def _sign(self, payload: dict) -> str:
        body = base64.urlsafe_b64encode(json.dumps(payload, separators=(",", ":")).encode())
        message = self._header + b"." + body.rstrip(b"=")
        r, s = decode_dss_signature(self._key.sign(message, self._algorithm))
        signature = base64.urlsafe_b64encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return (message + b"." + signature.rstrip(b"=")).decode()


def _uuid(identity: str) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(identity.encode()).digest(), version=4))
