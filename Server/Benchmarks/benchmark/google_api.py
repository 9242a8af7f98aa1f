"""Google's side of Google Play on loopback: the token endpoint, the keys of push tokens, and the reads of
the Developer API, each answered after `--latency` seconds and within Google's quotas.

Purchase `i` is a monthly plan of customer `i`. `POST /period/N` renews all of them; `POST /closed/1` lets
every call of the Developer API answer 503 until `POST /closed/0`; `GET /counts` tells the calls of each
kind so far.
"""

import argparse
import asyncio
import datetime
import email.utils
import http
import json
import time
from pathlib import Path

from . import population

PACKAGE = population.BUNDLE_ID
PRODUCT_ID, BASE_PLAN = "pro.monthly", "monthly"
# https://developers.google.com/android-publisher/quotas
QUOTA_PER_MINUTE = 3_000
PRICE = {"currencyCode": "USD", "units": "9", "nanos": 990_000_000}
TAX = {"currencyCode": "USD", "nanos": 830_000_000}


def purchase_token(customer: int) -> str:
    return f"benchmark.purchase-token-{customer:08d}"


def order_id(customer: int, period: int) -> str:
    first = f"GPA.3300-{customer // 10_000:04d}-{customer % 10_000:04d}-00000"
    return first if period == 0 else f"{first}..{period - 1}"


def timestamp(milliseconds: int) -> str:
    instant = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"


class API:
    def __init__(self, keys: dict, started_ms: int):
        self.keys = keys
        self.started_ms = started_ms
        self.period, self.is_closed = 0, False
        self.counts = {"subscriptions": 0, "orders": 0, "acts": 0, "voided": 0, "refused": 0, "others": 0}
        self._minute, self._used = 0, {}

    def answer(self, method: str, target: str) -> tuple[int, dict]:
        path, _, query = target.partition("?")
        parts = path.strip("/").split("/")
        if path == "/token":
            return 200, {"access_token": "ya29.benchmark", "expires_in": 3599, "token_type": "Bearer"}
        if path == "/oauth2/v3/certs":
            return 200, self.keys
        if path == "/counts":
            return 200, self.counts
        if parts[0] == "period":
            self.period = int(parts[1])
            return 200, {}
        if parts[0] == "closed":
            self.is_closed = parts[1] == "1"
            return 200, {}
        if self.is_closed:
            return 503, {"error": {"code": 503, "message": "Unavailable.", "errors": [
                {"message": "Unavailable.", "domain": "global", "reason": "backendError"}]}}
        kind = self._kind(method, parts)
        if not self._has_room(kind):
            self.counts["refused"] += 1
            return 429, {"error": {"code": 429, "message": "Quota exceeded.", "errors": [
                {"message": "Quota exceeded.", "domain": "usageLimits", "reason": "rateLimitExceeded"}]}}
        self.counts[kind] += 1
        if kind == "subscriptions":
            return 200, self._subscription(int(parts[-1][-8:]))
        if kind == "orders" and parts[-1] == "orders:batchGet":
            ids = [item.partition("=")[2] for item in query.split("&")]
            return 200, {"orders": [self._order(id) for id in ids]}
        if kind == "orders":
            return 200, self._order(parts[-1])
        return 200, {}

    def _kind(self, method: str, parts: list[str]) -> str:
        if method == "POST":
            return "acts"
        if "subscriptionsv2" in parts:
            return "subscriptions"
        if parts[-1].startswith("orders") or "orders" in parts:
            return "orders"
        return "voided" if parts[-1] == "voidedpurchases" else "others"

    def _has_room(self, kind: str) -> bool:
        """Google's buckets, each empty again when a minute begins."""
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._used = minute, {}
        self._used[kind] = self._used.get(kind, 0) + 1
        return self._used[kind] <= QUOTA_PER_MINUTE

    def _start(self, period: int) -> int:
        return self.started_ms - population.HOUR_MS + period * population.MONTH_MS

    def _subscription(self, customer: int) -> dict:
        return {
            "kind": "androidpublisher#subscriptionPurchaseV2", "etag": f"\"{customer}-{self.period}\"",
            "regionCode": "US", "startTime": timestamp(self._start(0)),
            "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "externalAccountIdentifiers": {
                "obfuscatedExternalAccountId": population.app_account_token(customer)},
            "lineItems": [{
                "productId": PRODUCT_ID, "expiryTime": timestamp(self._start(self.period + 1)),
                "latestSuccessfulOrderId": order_id(customer, self.period),
                "offerDetails": {"basePlanId": BASE_PLAN}, "offerPhase": {"basePrice": {}},
                "autoRenewingPlan": {"autoRenewEnabled": True, "recurringPrice": PRICE}}],
        }

    def _order(self, id: str) -> dict:
        first, _, renewal = id.partition("..")
        blocks = first.split("-")
        customer, period = int(blocks[1]) * 10_000 + int(blocks[2]), int(renewal) + 1 if renewal else 0
        charged = timestamp(self._start(period))
        return {
            "orderId": id, "purchaseToken": purchase_token(customer), "state": "PROCESSED",
            "createTime": charged, "lastEventTime": charged, "total": PRICE, "tax": TAX,
            "developerRevenueInBuyerCurrency": {"currencyCode": "USD", "units": "7", "nanos": 790_000_000},
            "orderDetails": {"taxInclusive": True}, "buyerAddress": {"buyerCountry": "US"},
            "orderHistory": {"processedEvent": {"eventTime": charged}}, "salesChannel": "IN_APP",
            "lineItems": [{
                "productId": PRODUCT_ID, "productTitle": "Pro", "listingPrice": PRICE, "total": PRICE,
                "tax": TAX,
                "subscriptionDetails": {
                    "basePlanId": BASE_PLAN, "servicePeriodStartTime": charged,
                    "servicePeriodEndTime": timestamp(self._start(period + 1))}}],
        }


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive; whoever asks sends one request at a time."""

    def __init__(self, api: API, latency: float):
        self._api, self._latency, self._received = api, latency, b""

    def connection_made(self, transport):
        self._transport = transport

    def data_received(self, data: bytes):
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].decode("latin-1").split("\r\n")
            length = next((int(line.partition(":")[2]) for line in head
                           if line.lower().startswith("content-length:")), 0)
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length:]
            method, target, _ = head[0].split(" ")
            status, answer = self._api.answer(method, target)
            asyncio.get_running_loop().call_later(self._latency, self._reply, status, answer)

    def _reply(self, status: int, answer: dict):
        if self._transport.is_closing():
            return
        body = json.dumps(answer).encode()
        self._transport.write(
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
            f"Date: {email.utils.formatdate(usegmt=True)}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def serve(arguments: argparse.Namespace) -> None:
    api = API(json.loads(Path(arguments.keys).read_text()), arguments.started)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(api, arguments.latency), "127.0.0.1", arguments.port)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keys", required=True, help="the JSON Web Key Set")
    parser.add_argument("--started", type=int, required=True, metavar="MS", help="when the plans began")
    parser.add_argument("--latency", type=float, required=True, metavar="SECONDS")
    asyncio.run(serve(parser.parse_args()))
