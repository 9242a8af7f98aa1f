"""Apple's own `app-store-server-library`, unmodified but for its base URL, against our App Store.

It verifies every kind of object that the simulator signs and calls every endpoint that the
simulator serves. `TOLLGATE_BIN` names the command under test; `Server/.build/debug/tollgate` is the
default.
"""

import json
import os
import pathlib
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from appstoreserverlibrary.api_client import (
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import (
    Order,
    ProductType,
    TransactionHistoryRequest,
)
from appstoreserverlibrary.models.Type import Type
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier,
    VerificationException,
    VerificationStatus,
)

BUNDLE_ID = "com.example.app"
APP_APPLE_ID = 1234567890
TOKEN = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
HOUR = 3_600_000
DAY = 24 * HOUR
PRODUCTS = [
    {
        "product_id": "monthly", "type": "Auto-Renewable Subscription", "price": 9990,
        "period": "P1M", "subscription_group_id": "21000001", "level": 2,
    },
    {
        "product_id": "gold", "type": "Auto-Renewable Subscription", "price": 19990,
        "period": "P1M", "subscription_group_id": "21000001", "level": 1,
    },
    {
        "product_id": "family", "type": "Auto-Renewable Subscription", "price": 14990,
        "period": "P1M", "subscription_group_id": "21000002", "level": 1,
        "family_shareable": True,
        "introductory_offer": {"discount_type": "FREE_TRIAL", "period": "P1W"},
    },
    {"product_id": "coins", "type": "Consumable", "price": 990},
    {"product_id": "unlock", "type": "Non-Consumable", "price": 4990},
    {"product_id": "season", "type": "Non-Renewing Subscription", "price": 14990},
]


def tollgate():
    default = pathlib.Path(__file__).resolve().parents[2] / ".build" / "debug" / "tollgate"
    return os.environ.get("TOLLGATE_BIN", str(default))


class AppStore:
    """One simulated App Store in a process of its own, and the app's server that it tells."""

    def __init__(self, directory, environment, *options):
        self.environment = environment
        self.received = []
        self.failing = False
        self.inbox = self.listen()
        root = directory / "root.der"
        self.process = subprocess.Popen(
            [
                tollgate(), "sandbox", "app-store", "--listen", "127.0.0.1:0",
                "--control", "127.0.0.1:0", "--environment", environment.value.lower(),
                "--durations", "real", "--bundle-id", BUNDLE_ID,
                "--app-apple-id", str(APP_APPLE_ID), "--root-out", str(root),
                "--notification-url", f"http://127.0.0.1:{self.inbox.server_port}/app-store",
                *options,
            ],
            stdout=subprocess.PIPE, text=True,
        )
        self.base = self.control_base = None
        while not (self.base and self.control_base):
            line = self.process.stdout.readline()
            assert line, "the simulator ended before it listened"
            if line.startswith("app-store control listening on "):
                self.control_base = line.split()[-1]
            elif line.startswith("app-store listening on "):
                self.base = line.split()[-1]
        self.control("PUT", "products", {"data": PRODUCTS})
        key = self.control("GET", "api_key")
        self.client = AppStoreServerAPIClient(
            key["private_key"].encode(), key["key_id"], key["issuer_id"], BUNDLE_ID, environment)
        self.client._base_url = self.base
        self.verifier = SignedDataVerifier(
            [root.read_bytes()], False, environment, BUNDLE_ID, APP_APPLE_ID)
        self.root = root.read_bytes()

    def listen(self):
        store = self

        class Inbox(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                store.received.append(json.loads(body)["signedPayload"])
                self.send_response(500 if store.failing else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Inbox)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.inbox.shutdown()

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.control_base}/sandbox/{path}", method=method,
            data=None if body is None and method == "GET" else json.dumps(body or {}).encode())
        with urllib.request.urlopen(request, timeout=120) as response:
            answer = response.read()
        return json.loads(answer) if answer.startswith((b"{", b"[")) else answer

    def post(self, path, **body):
        return self.control("POST", path, body)

    def now(self):
        return self.control("GET", "clock")["now"]

    def advance(self, milliseconds):
        return self.post("clock/advance", by=milliseconds)["now"]

    def customer(self, **properties):
        return self.post("customers", **properties)

    def buy(self, product, customer=None, **options):
        customer = customer or self.customer()["id"]
        return self.post("purchases", product_id=product, customer=customer, **options)

    def notices(self):
        return [self.verifier.verify_and_decode_notification(payload) for payload in self.received]

    def last(self):
        return self.verifier.verify_and_decode_notification(self.received[-1])


@pytest.fixture(params=[Environment.PRODUCTION, Environment.SANDBOX], ids=lambda e: e.value)
def store(request, tmp_path):
    store = AppStore(tmp_path, request.param)
    yield store
    store.stop()


@pytest.fixture
def production(tmp_path):
    store = AppStore(tmp_path, Environment.PRODUCTION)
    yield store
    store.stop()


def refused(code, call, *arguments):
    with pytest.raises(APIException) as refusal:
        call(*arguments)
    assert refusal.value.raw_api_error == code
    assert refusal.value.http_status_code == code // 10000
    assert refusal.value.error_message


# Signed objects


def test_a_signed_transaction_says_what_was_bought(store):
    bought = store.buy("monthly", app_account_token=TOKEN)
    transaction = store.verifier.verify_and_decode_signed_transaction(bought["signed_transaction"])
    assert transaction.transactionId == transaction.originalTransactionId
    assert transaction.productId == "monthly"
    assert transaction.type == Type.AUTO_RENEWABLE_SUBSCRIPTION
    assert transaction.appAccountToken == TOKEN
    assert transaction.inAppOwnershipType == InAppOwnershipType.PURCHASED
    assert transaction.price == 9990 and transaction.currency == "USD"
    assert transaction.storefront == "USA" and transaction.storefrontId == "143441"
    assert transaction.expiresDate > transaction.purchaseDate == transaction.signedDate
    assert transaction.webOrderLineItemId and transaction.appTransactionId
    assert transaction.revocationDate is None and transaction.isUpgraded is None
    assert transaction.environment == store.environment


@pytest.mark.parametrize(
    "product, kind",
    [("coins", Type.CONSUMABLE), ("unlock", Type.NON_CONSUMABLE),
     ("season", Type.NON_RENEWING_SUBSCRIPTION)])
def test_one_time_purchases_are_told_as_such(production, product, kind):
    bought = production.buy(product)
    notice = production.last()
    assert notice.notificationType == NotificationTypeV2.ONE_TIME_CHARGE
    assert notice.data.status is None and notice.data.signedRenewalInfo is None
    transaction = production.verifier.verify_and_decode_signed_transaction(
        notice.data.signedTransactionInfo)
    assert transaction.transactionId == bought["transaction_id"]
    assert transaction.type == kind
    assert transaction.expiresDate is None and transaction.webOrderLineItemId is None


def test_every_notification_verifies_with_what_is_in_it(store):
    buyer = store.customer(family="f")["id"]
    member = store.customer(family="f")["id"]
    monthly = store.buy("monthly", buyer)
    original = monthly["original_transaction_id"]
    store.post(f"subscriptions/{original}/change", product_id="gold")
    store.post(f"subscriptions/{original}/change", product_id="monthly")
    store.post(f"subscriptions/{original}/cancel")
    store.post(f"subscriptions/{original}/resume")
    store.post(f"subscriptions/{original}/extend", days=5)
    store.post("products/monthly/price", price=12990, consent_required=True)
    store.post("products/gold/price", price=29990, consent_required=False)
    store.buy("family", buyer)
    store.advance(40 * DAY)
    store.post(f"customers/{buyer}/billing/fail")
    store.advance(40 * DAY)
    store.post(f"customers/{buyer}/billing/recover")
    coins = store.buy("coins", buyer, quantity=3)
    store.post(f"transactions/{coins['transaction_id']}/request_refund")
    store.post(f"transactions/{coins['transaction_id']}/decline_refund")
    store.post(f"transactions/{coins['transaction_id']}/refund", reason=1, percentage=50000)
    store.post(f"transactions/{coins['transaction_id']}/reverse")
    store.post("notifications/test")
    store.control("GET", f"customers/{member}/transactions")
    notices = store.notices()
    seen = {(notice.rawNotificationType, notice.rawSubtype) for notice in notices}
    assert {
        ("SUBSCRIBED", "INITIAL_BUY"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
        ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
        ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
        ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"), ("RENEWAL_EXTENDED", None),
        ("PRICE_INCREASE", "ACCEPTED"), ("DID_RENEW", None),
        ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("DID_RENEW", "BILLING_RECOVERY"),
        ("CONSUMPTION_REQUEST", None), ("REFUND_DECLINED", None), ("REFUND", None),
        ("REFUND_REVERSED", None), ("ONE_TIME_CHARGE", None), ("TEST", None),
    } <= seen
    assert len({notice.notificationUUID for notice in notices}) == len(notices)
    for notice in notices:
        assert notice.notificationType is not None, notice.rawNotificationType
        assert notice.rawSubtype is None or notice.subtype is not None, notice.rawSubtype
        assert notice.version == "2.0"
        assert notice.data.bundleId == BUNDLE_ID
        expected = APP_APPLE_ID if store.environment == Environment.PRODUCTION else None
        assert notice.data.appAppleId == expected
        if notice.data.signedTransactionInfo:
            store.verifier.verify_and_decode_signed_transaction(notice.data.signedTransactionInfo)
        if notice.data.signedRenewalInfo:
            info = store.verifier.verify_and_decode_renewal_info(notice.data.signedRenewalInfo)
            assert info.renewalDate and info.recentSubscriptionStartDate
            assert notice.data.status is not None


def test_a_device_shows_its_entitlements_and_app_transaction(store):
    customer = store.customer()["id"]
    store.buy("unlock", customer)
    coins = store.buy("coins", customer)
    store.post(f"transactions/{coins['transaction_id']}/finish")
    view = store.control("GET", f"customers/{customer}/transactions")
    verify = store.verifier.verify_and_decode_signed_transaction
    assert [verify(jws).productId for jws in view["current_entitlements"]] == ["unlock"]
    assert [verify(jws).productId for jws in view["unfinished"]] == ["unlock"]
    app = store.verifier.verify_and_decode_app_transaction(view["app_transaction"])
    assert app.bundleId == BUNDLE_ID and app.appAppleId == APP_APPLE_ID
    assert app.appTransactionId and app.rawOriginalPlatform == "iOS"


def test_another_app_environment_or_root_is_refused(store, tmp_path):
    bought = store.buy("monthly")["signed_transaction"]
    other = next(e for e in (Environment.PRODUCTION, Environment.SANDBOX) if e != store.environment)
    for verifier, status in [
        (SignedDataVerifier([store.root], False, store.environment, "com.example.other", 1),
         VerificationStatus.INVALID_APP_IDENTIFIER),
        (SignedDataVerifier([store.root], False, other, BUNDLE_ID, APP_APPLE_ID),
         VerificationStatus.INVALID_ENVIRONMENT),
    ]:
        with pytest.raises(VerificationException) as refusal:
            verifier.verify_and_decode_signed_transaction(bought)
        assert refusal.value.status == status
    (tmp_path / "second").mkdir()
    second = AppStore(tmp_path / "second", store.environment)
    try:
        with pytest.raises(VerificationException) as refusal:
            second.verifier.verify_and_decode_signed_transaction(bought)
        assert refusal.value.status == VerificationStatus.VERIFICATION_FAILURE
    finally:
        second.stop()


def test_signatures_hold_far_in_the_future(store):
    store.buy("monthly")
    store.advance(3000 * DAY)
    assert len(store.notices()) > 3


def test_online_checks_ask_the_stores_own_responder(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = AppStore(
        tmp_path, Environment.SANDBOX, "--listen", f"127.0.0.1:{port}",
        "--ocsp-url", f"http://127.0.0.1:{port}/ocsp")
    try:
        bought = store.buy("monthly")["signed_transaction"]

        def verify():
            SignedDataVerifier(
                [store.root], True, Environment.SANDBOX, BUNDLE_ID
            ).verify_and_decode_signed_transaction(bought)

        verify()
        for answer, status in [
            ("revoked", VerificationStatus.VERIFICATION_FAILURE),
            ("unavailable", VerificationStatus.RETRYABLE_VERIFICATION_FAILURE),
        ]:
            store.control("PUT", "ocsp", {"answer": answer})
            with pytest.raises(VerificationException) as refusal:
                verify()
            assert refusal.value.status == status
    finally:
        store.stop()


def test_a_transaction_id_is_found_in_receipts(store):
    customer = store.customer()["id"]
    bought = store.buy("unlock", customer)["transaction_id"]
    receipts = ReceiptUtility()
    app = store.control("GET", f"customers/{customer}/receipt")["receipt_data"]
    assert receipts.extract_transaction_id_from_app_receipt(app) == bought
    single = store.control("GET", f"transactions/{bought}/receipt")["receipt_data"]
    assert receipts.extract_transaction_id_from_transaction_receipt(single) == bought
    nobody = store.control("GET", f"customers/{store.customer()['id']}/receipt")["receipt_data"]
    assert receipts.extract_transaction_id_from_app_receipt(nobody) is None


# Endpoints


def test_transaction_info(store):
    bought = store.buy("coins")
    answer = store.client.get_transaction_info(bought["transaction_id"])
    transaction = store.verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
    assert transaction.productId == "coins"
    refused(4040010, store.client.get_transaction_info, "1")
    refused(4000006, store.client.get_transaction_info, "not-a-number")
    refused(4000048, store.client.get_transaction_info, transaction.appTransactionId)


def test_app_transaction_info(store):
    bought = store.buy("coins")
    answer = store.client.get_app_transaction_info(bought["transaction_id"])
    app = store.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
    again = store.client.get_app_transaction_info(app.appTransactionId)
    same = store.verifier.verify_and_decode_app_transaction(again.signedAppTransactionInfo)
    assert same.appTransactionId == app.appTransactionId
    refused(4040010, store.client.get_app_transaction_info, "1")


def test_all_subscription_statuses(store):
    customer = store.customer()["id"]
    bought = store.buy("monthly", customer)
    store.buy("family", customer)
    answer = store.client.get_all_subscription_statuses(bought["transaction_id"])
    assert answer.environment == store.environment and answer.bundleId == BUNDLE_ID
    assert {group.subscriptionGroupIdentifier for group in answer.data} == {"21000001", "21000002"}
    item = answer.data[0].lastTransactions[0]
    assert item.status == Status.ACTIVE
    store.verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
    info = store.verifier.verify_and_decode_renewal_info(item.signedRenewalInfo)
    assert info.rawAutoRenewStatus == 1 and info.autoRenewProductId == "monthly"
    expired = store.client.get_all_subscription_statuses(
        bought["transaction_id"], [Status.EXPIRED])
    assert expired.data == []
    store.post(f"subscriptions/{bought['transaction_id']}/cancel")
    store.advance(32 * DAY)
    expired = store.client.get_all_subscription_statuses(
        bought["transaction_id"], [Status.EXPIRED, Status.REVOKED])
    assert [g.subscriptionGroupIdentifier for g in expired.data] == ["21000001"]
    refused(4040010, store.client.get_all_subscription_statuses, "1")


def history(store, any_id, request=None, version=GetTransactionHistoryVersion.V2, revision=None):
    request = request or TransactionHistoryRequest()
    transactions, pages = [], 0
    while True:
        answer = store.client.get_transaction_history(any_id, revision, request, version)
        assert len(answer.signedTransactions) <= 20 and answer.revision
        pages += 1
        transactions += [
            store.verifier.verify_and_decode_signed_transaction(jws)
            for jws in answer.signedTransactions
        ]
        revision = answer.revision
        if not answer.hasMore:
            return transactions, revision, pages


def test_history_pages_over_a_thousand_transactions(production):
    production.control("PUT", "app", {"notification_url": ""})
    customer = production.customer()["id"]
    bought = [production.buy("coins", customer)["transaction_id"] for _ in range(1000)]
    transactions, revision, pages = history(production, bought[500])
    assert [transaction.transactionId for transaction in transactions] == bought
    assert pages == 50
    news, revision, _ = history(production, bought[0], revision=revision)
    assert news == []
    production.post(f"transactions/{bought[3]}/refund")
    news, _, _ = history(production, bought[0], revision=revision)
    assert [transaction.transactionId for transaction in news] == [bought[3]]
    assert news[0].revocationDate is not None


def test_history_filters(store):
    customer = store.customer()["id"]
    start = store.now()
    monthly = store.buy("monthly", customer)["transaction_id"]
    coins = store.buy("coins", customer)["transaction_id"]
    store.advance(40 * DAY)
    unlock = store.buy("unlock", customer)["transaction_id"]
    store.post(f"transactions/{coins}/refund")

    def ids(version=GetTransactionHistoryVersion.V2, **filters):
        found, _, _ = history(store, monthly, TransactionHistoryRequest(**filters), version)
        return [transaction.transactionId for transaction in found]

    renewal = ids(productIds=["monthly"])[1]
    assert set(ids()) == {monthly, coins, unlock, renewal}
    assert ids(productTypes=[ProductType.CONSUMABLE, ProductType.NON_CONSUMABLE]) == [unlock, coins]
    assert ids(subscriptionGroupIdentifiers=["21000001"]) == [monthly, renewal]
    assert ids(revoked=True) == [coins]
    assert set(ids(revoked=False)) == {monthly, renewal, unlock}
    assert set(ids(endDate=start + DAY)) == {monthly, coins}
    assert set(ids(startDate=start + DAY)) == {renewal, unlock}
    assert ids(sort=Order.DESCENDING) == list(reversed(ids(sort=Order.ASCENDING)))
    assert ids(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED) == []
    finished = store.buy("coins", customer)["transaction_id"]
    store.client.finish_transaction(finished)
    assert finished in ids()
    assert finished not in ids(GetTransactionHistoryVersion.V1)
    assert coins in ids(GetTransactionHistoryVersion.V1)
    refused(4040010, history, store, "1")
    refused(4000005, store.client.get_transaction_history, monthly, "x",
            TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)


def test_refund_history(store):
    customer = store.customer()["id"]
    bought = [store.buy("coins", customer)["transaction_id"] for _ in range(25)]
    assert store.client.get_refund_history(bought[0], None).signedTransactions == []
    for transaction in bought:
        store.post(f"transactions/{transaction}/refund")
    first = store.client.get_refund_history(bought[0], None)
    second = store.client.get_refund_history(bought[0], first.revision)
    assert first.hasMore and not second.hasMore
    refunded = [
        store.verifier.verify_and_decode_signed_transaction(jws).transactionId
        for jws in first.signedTransactions + second.signedTransactions
    ]
    assert refunded == bought
    refused(4040010, store.client.get_refund_history, "1", None)
    refused(4000005, store.client.get_refund_history, bought[0], "nonsense")


def test_test_notification(store):
    token = store.client.request_test_notification().testNotificationToken
    assert store.last().notificationType == NotificationTypeV2.TEST
    status = store.client.get_test_notification_status(token)
    assert status.signedPayload == store.received[-1]
    assert [attempt.sendAttemptResult for attempt in status.sendAttempts] == [
        SendAttemptResult.SUCCESS]
    refused(4000020, store.client.get_test_notification_status, "nonsense")
    refused(4040008, store.client.get_test_notification_status, f"{TOKEN}_1")
    store.control("PUT", "app", {"notification_url": ""})
    refused(4040007, store.client.request_test_notification)


def test_notification_history_pages_and_filters(store):
    customer = store.customer()["id"]
    start = store.now()
    for _ in range(45):
        store.buy("coins", customer)
    monthly = store.buy("monthly")["transaction_id"]
    end = store.advance(1000)
    request = NotificationHistoryRequest(startDate=start, endDate=end)
    token, payloads = None, []
    while True:
        answer = store.client.get_notification_history(token, request)
        assert len(answer.notificationHistory) <= 20
        payloads += [item.signedPayload for item in answer.notificationHistory]
        token = answer.paginationToken
        if not answer.hasMore:
            break
    assert payloads == store.received

    def found(**filters):
        request = NotificationHistoryRequest(startDate=start, endDate=end, **filters)
        answer = store.client.get_notification_history(None, request)
        return [
            store.verifier.verify_and_decode_notification(item.signedPayload).rawNotificationType
            for item in answer.notificationHistory
        ]

    assert found(transactionId=monthly) == ["SUBSCRIBED"]
    assert found(notificationType=NotificationTypeV2.SUBSCRIBED) == ["SUBSCRIBED"]
    assert found(
        notificationType=NotificationTypeV2.SUBSCRIBED,
        notificationSubtype=Subtype.RESUBSCRIBE) == []
    assert found(onlyFailures=True) == []
    call = store.client.get_notification_history
    days = 180 if store.environment == Environment.PRODUCTION else 30
    for code, token, request in [
        (4000012, None, dict(startDate=end - (days + 1) * DAY, endDate=end)),
        (4000013, None, dict(startDate=end, endDate=end)),
        (4000014, "nonsense", dict(startDate=start, endDate=end)),
        (4000015, None, dict(endDate=end)),
        (4000016, None, dict(startDate=start)),
        (4000018, None, dict(startDate=start, endDate=end,
                             notificationSubtype=Subtype.INITIAL_BUY)),
        (4000018, None, dict(startDate=start, endDate=end,
                             notificationType=NotificationTypeV2.TEST,
                             notificationSubtype=Subtype.INITIAL_BUY)),
        (4000019, None, dict(startDate=start, endDate=end, transactionId=monthly,
                             notificationType=NotificationTypeV2.TEST)),
    ]:
        refused(code, call, token, NotificationHistoryRequest(**request))


def test_failures_are_listed_until_a_retry_succeeds(production):
    start = production.now()
    production.failing = True
    production.buy("coins")
    production.advance(2 * HOUR)
    request = NotificationHistoryRequest(
        startDate=start, endDate=start + 30 * DAY, onlyFailures=True)
    failures = production.client.get_notification_history(None, request).notificationHistory
    assert [len(failure.sendAttempts) for failure in failures] == [2]
    assert failures[0].sendAttempts[0].sendAttemptResult == (
        SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE)
    production.failing = False
    production.advance(13 * HOUR)
    assert production.client.get_notification_history(None, request).notificationHistory == []
    request.onlyFailures = None
    everything = production.client.get_notification_history(None, request).notificationHistory
    assert [len(item.sendAttempts) for item in everything] == [3]
    assert len(set(production.received)) == 1 and len(production.received) == 3


def test_app_account_token(store):
    bought = store.buy("monthly")["transaction_id"]
    store.client.set_app_account_token(bought, UpdateAppAccountTokenRequest(TOKEN))
    answer = store.client.get_transaction_info(bought)
    transaction = store.verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
    assert transaction.appAccountToken == TOKEN
    store.advance(32 * DAY)
    assert store.verifier.verify_and_decode_signed_transaction(
        store.last().data.signedTransactionInfo).appAccountToken == TOKEN
    renewal = history(store, bought)[0][-1].transactionId
    call = store.client.set_app_account_token
    refused(4000187, call, renewal, UpdateAppAccountTokenRequest(TOKEN))
    refused(4000183, call, bought, UpdateAppAccountTokenRequest("me"))
    refused(4040005, call, "1", UpdateAppAccountTokenRequest(TOKEN))


def test_consumption(store):
    coins = store.buy("coins")["transaction_id"]
    store.post(f"transactions/{coins}/request_refund", reason="LEGAL")
    assert store.last().data.rawConsumptionRequestReason == "LEGAL"
    good = dict(
        customerConsented=True, sampleContentProvided=False,
        deliveryStatus=DeliveryStatus.DELIVERED, consumptionPercentage=50000,
        refundPreference=RefundPreference.DECLINE)
    send = store.client.send_consumption_information
    send(coins, ConsumptionRequest(**good))
    refused(4000035, send, coins, ConsumptionRequest(**{**good, "customerConsented": False}))
    monthly = store.buy("monthly")["transaction_id"]
    refused(4000209, send, monthly, ConsumptionRequest(**good))
    refused(4040010, send, "1", ConsumptionRequest(**good))
    old = ConsumptionRequestV1(
        customerConsented=True, consumptionStatus=ConsumptionStatus.NOT_CONSUMED,
        platform=Platform.NON_APPLE, sampleContentProvided=False,
        deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY, appAccountToken=TOKEN,
        accountTenure=AccountTenure.THIRTY_DAYS_TO_NINETY_DAYS,
        playTime=PlayTime.ONE_DAY_TO_FOUR_DAYS,
        lifetimeDollarsRefunded=LifetimeDollarsRefunded.ZERO_DOLLARS,
        lifetimeDollarsPurchased=LifetimeDollarsPurchased.ZERO_DOLLARS,
        userStatus=UserStatus.ACTIVE)
    store.client.send_consumption_data(coins, old)
    answers = store.control("GET", "consumption")["data"]
    assert [answer["version"] for answer in answers] == [2, 1]
    assert json.loads(answers[0]["body"])["consumptionPercentage"] == 50000


def test_finish(store):
    customer = store.customer()["id"]
    coins = store.buy("coins", customer)["transaction_id"]
    store.client.finish_transaction(coins)
    assert store.control("GET", f"customers/{customer}/transactions")["unfinished"] == []
    refused(4040010, store.client.finish_transaction, "1")


def test_order_lookup(production):
    customer = production.customer()["id"]
    production.buy("coins", customer)
    order = production.control("GET", f"customers/{customer}/orders")["data"][0]
    found = production.client.look_up_order_id(order)
    assert found.status == OrderLookupStatus.VALID
    production.verifier.verify_and_decode_signed_transaction(found.signedTransactions[0])
    missing = production.client.look_up_order_id("NOSUCHORDER")
    assert missing.status == OrderLookupStatus.INVALID and missing.signedTransactions is None


def test_extension_of_one_subscription(store):
    bought = store.buy("monthly")
    original = bought["transaction_id"]
    before = store.verifier.verify_and_decode_signed_transaction(bought["signed_transaction"])
    request = ExtendRenewalDateRequest(
        extendByDays=10, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
        requestIdentifier="one")
    extend = store.client.extend_subscription_renewal_date
    answer = extend(original, request)
    assert answer.success and answer.originalTransactionId == original
    assert answer.effectiveDate == before.expiresDate + 10 * DAY
    assert store.last().notificationType == NotificationTypeV2.RENEWAL_EXTENDED
    extend(original, request)
    refused(4030005, extend, original, request)
    refused(4040005, extend, "1", request)
    refused(4000009, extend, original, ExtendRenewalDateRequest(
        extendByDays=91, extendReasonCode=ExtendReasonCode.UNDECLARED, requestIdentifier="x"))
    refused(4000011, extend, original, ExtendRenewalDateRequest(
        extendByDays=1, extendReasonCode=ExtendReasonCode.UNDECLARED))
    trial = store.buy("family")["transaction_id"]
    refused(4030004, extend, trial, request)


def test_mass_extension(store):
    for _ in range(3):
        store.buy("monthly")
    request = MassExtendRenewalDateRequest(
        extendByDays=2, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="all",
        productId="monthly", storefrontCountryCodes=["USA"])
    client = store.client
    answer = client.extend_renewal_date_for_all_active_subscribers(request)
    assert answer.requestIdentifier == "all"
    status = client.get_status_of_subscription_renewal_date_extensions("all", "monthly")
    assert status.complete and status.succeededCount == 3 and status.failedCount == 0
    summary = store.last()
    assert summary.subtype == Subtype.SUMMARY and summary.summary.succeededCount == 3
    refused(4040009, client.get_status_of_subscription_renewal_date_extensions, "no", "monthly")
    request.storefrontCountryCodes = []
    refused(4000027, client.extend_renewal_date_for_all_active_subscribers, request)


def raw(store, method, path, parameters=None, body=None):
    """A call that the library's types would not let through."""
    answer = requests.request(
        method, store.base + path, params=parameters, json=body,
        headers=store.client._get_headers(), timeout=30)
    return answer.status_code, answer.json().get("errorCode")


@pytest.mark.parametrize(
    "parameters, code",
    [
        ({"revision": "x"}, 4000005), ({"startDate": "soon"}, 4000015),
        ({"startDate": "1.5"}, 4000015), ({"endDate": "-1"}, 4000016), ({"sort": "UP"}, 4000021),
        ({"productType": "RENTAL"}, 4000022), ({"productId": ""}, 4000023),
        ({"subscriptionGroupIdentifier": ""}, 4000024), ({"excludeRevoked": "maybe"}, 4000025),
        ({"inAppOwnershipType": "LENT"}, 4000026), ({"revoked": "maybe"}, 4000030),
    ])
def test_each_filter_of_the_history_has_its_error(production, parameters, code):
    bought = production.buy("monthly")["transaction_id"]
    for version in ("v1", "v2"):
        assert raw(production, "GET", f"/inApps/{version}/history/{bought}", parameters) == (
            400, code)


def test_errors_of_the_other_endpoints(production):
    bought = production.buy("monthly")["transaction_id"]
    coins = production.buy("coins")["transaction_id"]
    app = production.client.get_app_transaction_info(bought).signedAppTransactionInfo
    app = production.verifier.verify_and_decode_app_transaction(app).appTransactionId
    consumption = {
        "customerConsented": True, "sampleContentProvided": False, "deliveryStatus": "DELIVERED"}
    extension = {"extendByDays": 1, "extendReasonCode": 0, "requestIdentifier": "x"}
    start, now = production.now() - DAY, production.now()
    for method, path, parameters, body, code in [
        ("GET", f"subscriptions/{bought}", {"status": "9"}, None, 4000031),
        ("GET", "subscriptions/no", None, None, 4000006),
        ("GET", "history/no", None, None, 4000006),
        ("GET", "transactions/appTransactions/no", None, None, 4000006),
        ("POST", "transactions/no/finish", None, None, 4000006),
        ("POST", f"transactions/{app}/finish", None, None, 4000048),
        ("PUT", f"transactions/{app}/appAccountToken", None, {"appAccountToken": TOKEN}, 4000048),
        ("PUT", f"transactions/consumption/{app}", None, consumption, 4000048),
        ("PUT", "subscriptions/extend/no", None, extension, 4000008),
        ("PUT", f"subscriptions/extend/{bought}", None, {**extension, "extendByDays": 0}, 4000009),
        ("PUT", f"subscriptions/extend/{bought}", None, {**extension, "extendReasonCode": 4},
         4000010),
        ("PUT", f"subscriptions/extend/{bought}", None,
         {**extension, "requestIdentifier": "x" * 129}, 4000011),
        ("POST", "subscriptions/extend/mass", None, {**extension, "productId": "none"}, 4000023),
        ("POST", "subscriptions/extend/mass", None,
         {**extension, "productId": "monthly", "storefrontCountryCodes": ["US"]}, 4000028),
        ("POST", "notifications/history", None, {"startDate": start + 0.5, "endDate": now},
         4000015),
        ("POST", "notifications/history", None, {"startDate": start, "endDate": "now"}, 4000016),
        ("POST", "notifications/history", None,
         {"startDate": start, "endDate": now, "notificationType": "NONE"}, 4000018),
    ]:
        assert raw(production, method, f"/inApps/v1/{path}", parameters, body) == (
            code // 10000, code), path
    path = f"/inApps/v2/transactions/consumption/{coins}"
    for change, code in [
        ({"customerConsented": None}, 4000035), ({"deliveryStatus": "LOST"}, 4000036),
        ({"sampleContentProvided": None}, 4000041), ({"refundPreference": "MAYBE"}, 4000044),
    ]:
        assert raw(production, "PUT", path, None, {**consumption, **change}) == (400, code)


def test_what_is_shared_by_the_family_cannot_be_changed_by_its_member(store):
    buyer = store.customer(family="f")["id"]
    member = store.customer(family="f")["id"]
    store.buy("family", buyer)
    shared = store.control("GET", f"customers/{member}/transactions")["current_entitlements"][0]
    shared = store.verifier.verify_and_decode_signed_transaction(shared).transactionId
    refused(4000185, store.client.set_app_account_token, shared,
            UpdateAppAccountTokenRequest(TOKEN))
    refused(4000185, store.client.send_consumption_information, shared, ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False,
        deliveryStatus=DeliveryStatus.DELIVERED))
    refused(4030007, store.client.extend_subscription_renewal_date, shared,
            ExtendRenewalDateRequest(
                extendByDays=1, extendReasonCode=ExtendReasonCode.UNDECLARED,
                requestIdentifier="x"))


def test_too_many_calls_are_told_when_to_come_back(tmp_path):
    store = AppStore(tmp_path, Environment.SANDBOX, "--rate-limits")
    try:
        before = time.time() * 1000
        with pytest.raises(APIException) as refusal:
            for _ in range(30):
                store.client.request_test_notification()
        assert refusal.value.raw_api_error == 4290000
        assert refusal.value.api_error == APIError.RATE_LIMIT_EXCEEDED
        answer = requests.post(
            f"{store.base}/inApps/v1/notifications/test", headers=store.client._get_headers(),
            timeout=30)
        assert answer.status_code == 429
        # An instant in milliseconds, not seconds from now.
        assert before < int(answer.headers["Retry-After"]) < before + 2 * HOUR
    finally:
        store.stop()


def test_an_internal_error_may_be_tried_again(store):
    bought = store.buy("coins")["transaction_id"]
    store.control("PUT", "faults", {"api_errors": 1})
    refused(5000001, store.client.get_transaction_info, bought)
    store.control("PUT", "faults", {})
    store.client.get_transaction_info(bought)


def test_an_outage_is_listed_whole_and_empties_as_it_is_made_up_for(production):
    start = production.now()
    production.control(
        "PUT", "faults", {"outage_start": start, "outage_end": start + 10 * HOUR})
    customer = production.customer()["id"]
    for _ in range(45):
        production.buy("coins", customer)
    production.advance(2 * HOUR)
    request = NotificationHistoryRequest(
        startDate=start, endDate=start + 30 * DAY, onlyFailures=True)
    token, failures = None, []
    while True:
        answer = production.client.get_notification_history(token, request)
        failures += answer.notificationHistory
        token = answer.paginationToken
        if not answer.hasMore:
            break
    assert len(failures) == 45 and production.received == []
    assert {len(failure.sendAttempts) for failure in failures} == {2}
    assert {failure.sendAttempts[0].sendAttemptResult for failure in failures} == {
        SendAttemptResult.NO_RESPONSE}
    for failure in failures:
        production.verifier.verify_and_decode_notification(failure.signedPayload)
    production.advance(12 * HOUR)
    assert len(production.received) == 45
    assert production.client.get_notification_history(None, request).notificationHistory == []


def test_a_notification_that_never_arrives_is_tried_six_times(production):
    start = production.now()
    production.failing = True
    production.buy("coins")
    production.advance(30 * DAY)
    request = NotificationHistoryRequest(
        startDate=start, endDate=production.now(), onlyFailures=True)
    attempts = production.client.get_notification_history(
        None, request).notificationHistory[0].sendAttempts
    hours = [(attempt.attemptDate - start) // HOUR for attempt in attempts]
    assert hours == [0, 1, 13, 37, 85, 157]


def test_a_stranger_gets_401_without_a_body(store):
    bought = store.buy("coins")["transaction_id"]
    key = store.control("GET", "api_key")
    stranger = AppStoreServerAPIClient(
        key["private_key"].encode(), key["key_id"], key["issuer_id"], "com.example.other",
        store.environment)
    stranger._base_url = store.base
    with pytest.raises(APIException) as refusal:
        stranger.get_transaction_info(bought)
    assert refusal.value.http_status_code == 401
    assert refusal.value.api_error is None


def test_tokens_are_checked_by_real_time_however_far_the_virtual_clock_went(store):
    bought = store.buy("coins")["transaction_id"]
    store.advance(5000 * DAY)
    answer = store.client.get_transaction_info(bought)
    transaction = store.verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
    assert transaction.signedDate == store.now()
