"""Apple's own `app-store-server-library`, unmodified but for its base URL, against our App Store.

It verifies every kind of object that the simulator signs and calls every endpoint that the
simulator serves. `TOLLGATE_BIN` names the command under test; `Server/.build/debug/tollgate` is the
default.
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
import requests
from appstoreserverlibrary.api_client import (
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.BillingPlanType import BillingPlanType
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
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier,
    VerificationException,
    VerificationStatus,
)
from ports import free_port

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


@pytest.fixture
def sandbox(tmp_path):
    store = AppStore(tmp_path, Environment.SANDBOX)
    yield store
    store.stop()


# What Apple says beside a code, as far as its documentation quotes it.
PARAMETER = re.compile(r"Invalid request\. The [A-Za-z -]+ parameter is invalid\.")
MESSAGES = {
    4000000: "Bad request.",
    4000002: "Invalid request app identifier.",
    4000004: "Invalid request limit.",
    4000005: "Invalid request revision.",
    4000006: "Invalid transaction id.",
    4000008: "Invalid original transaction id.",
    4000009: "Invalid extend by days value.",
    4000010: "Invalid extend reason code.",
    4000011: "Invalid request identifier.",
    **dict.fromkeys(range(4000021, 4000027), PARAMETER),
    4000034: "Invalid request. The consumption status field is invalid.",
    4000035: (
        "Invalid request. The customer consented field is required and must indicate the customer"
        " consented."),
    4000044: "Invalid request. The refund preference field is invalid.",
    4000048: "Invalid request. App transactions aren't supported by this endpoint.",
    4000161: "Invalid request. The image is invalid.",
    4000164: "Invalid request. Locale is invalid.",
    4000183: "Invalid request. The app account token field must be a valid UUID.",
    4000185: "Invalid request. Family Sharing transactions aren't supported by this endpoint.",
    4000187: "Invalid request. The transaction ID provided is not an original transaction ID.",
    4000209: (
        "Invalid request. The consumption percentage field is not supported for auto-renewable"
        " subscription transactions."),
    4000213: "Invalid request. Existing performance test run.",
    4000215: "Invalid request. The url is invalid.",
    4000216: "Invalid request. The image's size is invalid.",
    4000218: "Invalid request. The number of bullet points is too many.",
    4000225: "Invalid request. The group ID is invalid.",
    4000227: "Invalid request. Assigned transactions aren't supported by this endpoint.",
    4030004: "Forbidden - subscription state ineligible for extension.",
    4030005: "Forbidden - subscription has reached maximum extension count.",
    4030028: "Assigned subscriptions can't get a renewal date extension.",
    4040001: "Account not found.",
    4040002: "Account not found. Please try again.",
    4040010: "Transaction id not found.",
    4040019: "No AppTransaction exists for the customer.",
    4040022: "Group not found.",
    4290000: "Rate limit exceeded.",
    5000000: "An unknown error occurred.",
    5000001: "An unknown error occurred. Please try again.",
}


def check_message(code, message):
    """Each error has a sentence, and where Apple's is known it is Apple's."""
    assert re.fullmatch(r"[A-Z].{9,}\.", message), (code, message)
    expected = MESSAGES.get(code)
    if expected is PARAMETER:
        assert PARAMETER.fullmatch(message), (code, message)
    elif expected:
        assert message == expected, code


def refused(code, call, *arguments):
    with pytest.raises(APIException) as refusal:
        call(*arguments)
    assert refusal.value.raw_api_error == code
    assert refusal.value.http_status_code == code // 10000
    check_message(code, refusal.value.error_message)


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


# The rows of Apple's table of types and subtypes about a subscription.
OF_SUBSCRIPTIONS = [
    ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", "RESUBSCRIBE"), ("DID_RENEW", None),
    ("DID_RENEW", "BILLING_RECOVERY"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
    ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"), ("DID_CHANGE_RENEWAL_PREF", None),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("OFFER_REDEEMED", None),
    ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"),
    ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("DID_FAIL_TO_RENEW", None),
    ("GRACE_PERIOD_EXPIRED", None), ("EXPIRED", "VOLUNTARY"), ("EXPIRED", "BILLING_RETRY"),
    ("EXPIRED", "PRICE_INCREASE"), ("EXPIRED", "PRODUCT_NOT_FOR_SALE"), ("EXPIRED", None),
    ("PRICE_INCREASE", "PENDING"), ("PRICE_INCREASE", "ACCEPTED"), ("REFUND", None),
    ("REFUND_REVERSED", None), ("REFUND_DECLINED", None), ("CONSUMPTION_REQUEST", None),
    ("REVOKE", None), ("RENEWAL_EXTENDED", None), ("RENEWAL_EXTENSION", "FAILURE"),
    ("METADATA_UPDATE", None), ("MIGRATION", None), ("PRICE_CHANGE", None),
]


def test_every_row_of_the_table_is_told_as_apples_library_reads_it(store):
    bought = store.buy("monthly")["transaction_id"]
    for type_, subtype in OF_SUBSCRIPTIONS:
        store.post(f"transactions/{bought}/tell", type=type_, subtype=subtype)
        notice = store.last()
        assert (notice.rawNotificationType, notice.rawSubtype) == (type_, subtype)
        assert notice.notificationType is not None, type_
        assert subtype is None or notice.subtype is not None, subtype
        transaction = store.verifier.verify_and_decode_signed_transaction(
            notice.data.signedTransactionInfo)
        info = store.verifier.verify_and_decode_renewal_info(notice.data.signedRenewalInfo)
        assert transaction.transactionId == bought == info.originalTransactionId
        assert notice.data.rawStatus == 1
    for subtype in ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"]:
        store.post(
            f"transactions/{bought}/tell", type="EXTERNAL_PURCHASE_TOKEN", subtype=subtype)
        notice = store.last()
        assert notice.rawNotificationType == "EXTERNAL_PURCHASE_TOKEN"
        assert notice.data is None and notice.externalPurchaseToken.externalPurchaseId
        assert notice.externalPurchaseToken.bundleId == BUNDLE_ID
    store.post(f"transactions/{bought}/tell", type="RESCIND_CONSENT")
    notice = store.last()
    assert notice.data is None and notice.appData.bundleId == BUNDLE_ID
    app = store.verifier.verify_and_decode_app_transaction(notice.appData.signedAppTransactionInfo)
    assert app.bundleId == BUNDLE_ID


def test_renewals_in_the_sandbox_by_flag(tmp_path):
    """Twelve, or six as it used to be; a month may last five minutes, or an hour."""
    for number, (options, renewals, month) in enumerate([
        ([], 12, 5), (["--renewals", "6"], 6, 5),
        (["--renewals", "6", "--durations", "MONTHLY_RENEWAL_EVERY_ONE_HOUR"], 6, 60),
    ]):
        directory = tmp_path / str(number)
        directory.mkdir()
        store = AppStore(directory, Environment.SANDBOX, "--durations", "compressed", *options)
        try:
            store.buy("monthly")
            store.advance(2 * DAY)
            notices = store.notices()
            assert [notice.rawNotificationType for notice in notices] == [
                "SUBSCRIBED", *["DID_RENEW"] * renewals, "EXPIRED"]
            bought = store.verifier.verify_and_decode_signed_transaction(
                notices[0].data.signedTransactionInfo)
            assert bought.expiresDate - bought.purchaseDate == month * 60_000
        finally:
            store.stop()


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


def test_who_ordered_the_app_ahead_of_its_release_has_the_date_in_the_app_transaction(store):
    ordered = store.now() - 20 * DAY
    customer = store.customer(preorder_date=ordered)["id"]
    bought = store.buy("coins", customer)["transaction_id"]
    answer = store.client.get_app_transaction_info(bought)
    app = store.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
    assert app.preorderDate == ordered < app.originalPurchaseDate
    other = store.client.get_app_transaction_info(store.buy("coins")["transaction_id"])
    other = store.verifier.verify_and_decode_app_transaction(other.signedAppTransactionInfo)
    assert other.preorderDate is None
    for date in (store.now() + DAY, -1):
        with pytest.raises(urllib.error.HTTPError) as refusal:
            store.customer(preorder_date=date)
        assert refusal.value.code == 400


def test_a_monthly_plan_with_a_commitment_is_paid_to_its_end(store):
    store.control("PUT", "products", {"data": [{
        "product_id": "bound", "type": "Auto-Renewable Subscription", "price": 7990,
        "period": "P1M", "subscription_group_id": "21000003", "level": 1,
        "commitment_periods": 12}]})
    bought = store.buy("bound")["original_transaction_id"]

    def state():
        item = store.client.get_all_subscription_statuses(bought).data[0].lastTransactions[0]
        return (
            item.status,
            store.verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo),
            store.verifier.verify_and_decode_renewal_info(item.signedRenewalInfo))

    status, transaction, renewal = state()
    first = transaction
    assert transaction.billingPlanType == BillingPlanType.MONTHLY and transaction.price == 7990
    info = transaction.commitmentInfo
    assert (info.billingPeriodNumber, info.totalBillingPeriods) == (1, 12)
    assert info.commitmentPrice == 12 * 7990
    assert 360 * DAY < info.commitmentExpiresDate - transaction.purchaseDate < 370 * DAY
    assert renewal.rawRenewalBillingPlanType == "MONTHLY" and renewal.renewalPrice == 7990
    after = renewal.commitmentInfo
    assert after.commitmentAutoRenewProductId == "bound"
    assert after.rawCommitmentAutoRenewStatus == 1
    assert after.rawCommitmentRenewalBillingPlanType == "MONTHLY"
    assert after.commitmentRenewalDate == info.commitmentExpiresDate
    assert after.commitmentRenewalPrice == 12 * 7990

    store.advance(65 * DAY)
    _, transaction, _ = state()
    assert transaction.commitmentInfo.billingPeriodNumber == 3
    assert transaction.commitmentInfo.commitmentExpiresDate == info.commitmentExpiresDate
    # Cancelled, it is paid on to its end, and ends there.
    store.post(f"subscriptions/{bought}/cancel")
    assert store.last().rawSubtype == "AUTO_RENEW_DISABLED"
    _, _, renewal = state()
    assert renewal.rawAutoRenewStatus == 1
    assert renewal.commitmentInfo.rawCommitmentAutoRenewStatus == 0
    store.advance(info.commitmentExpiresDate - DAY - store.now())
    status, transaction, renewal = state()
    assert status == Status.ACTIVE and transaction.commitmentInfo.billingPeriodNumber == 12
    assert transaction.expiresDate == info.commitmentExpiresDate
    assert renewal.rawAutoRenewStatus == 0
    store.advance(2 * DAY)
    assert state()[0] == Status.EXPIRED
    assert (store.last().rawNotificationType, store.last().rawSubtype) == ("EXPIRED", "VOLUNTARY")

    # Bought again and kept, another commitment follows the first.
    store.buy("bound", store.control("GET", "customers")["data"][-1]["id"])
    _, again, _ = state()
    assert again.originalTransactionId == first.transactionId
    store.advance(again.commitmentInfo.commitmentExpiresDate + DAY - store.now())
    _, transaction, _ = state()
    assert transaction.commitmentInfo.billingPeriodNumber == 1
    assert transaction.purchaseDate == again.commitmentInfo.commitmentExpiresDate
    # Other plans have none of this.
    plain = store.verifier.verify_and_decode_signed_transaction(
        store.buy("monthly")["signed_transaction"])
    assert plain.billingPlanType is None and plain.commitmentInfo is None
    for wrong in (1, 13):
        with pytest.raises(urllib.error.HTTPError) as refusal:
            store.control("PUT", "products", {"data": [PRODUCTS[0] | {"commitment_periods": wrong}]})
        assert refusal.value.code == 400


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


def verify(store, directory, text, *flags, **changes):
    """Exit code, answer and complaint of `tollgate verify` about something that `store` signed."""
    (directory / "root.der").write_bytes(store.root)
    options = {
        "root": "root.der", "bundle_id": BUNDLE_ID, "environment": store.environment.value,
        "app_apple_id": APP_APPLE_ID, **changes}
    (directory / "signed").write_text(text)
    ended = subprocess.run(
        [tollgate(), "verify", "signed", *(
            word for name, value in options.items() if value is not None
            for word in (f"--{name.replace('_', '-')}", str(value))), *flags],
        cwd=directory, text=True, capture_output=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


def test_the_command_verify_prints_any_signed_object_or_the_rule_it_broke(store, tmp_path):
    customer = store.customer()["id"]
    bought = store.buy("monthly", customer)
    view = store.control("GET", f"customers/{customer}/transactions")
    notice = store.verifier.verify_and_decode_notification(store.received[-1])
    for text, field, value in [
        (bought["signed_transaction"], "transactionId", bought["transaction_id"]),
        (notice.data.signedRenewalInfo, "autoRenewProductId", "monthly"),
        (view["app_transaction"], "bundleId", BUNDLE_ID),
        (store.received[-1], "notificationType", "SUBSCRIBED"),
        (json.dumps({"signedPayload": store.received[-1]}), "notificationType", "SUBSCRIBED"),
    ]:
        code, printed, complaint = verify(store, tmp_path, text)
        assert code == 0, complaint
        assert json.loads(printed)[field] == value

    head, payload, signature = bought["signed_transaction"].split(".")
    (tmp_path / "other").mkdir()
    other = AppStore(tmp_path / "other", store.environment)
    other.stop()
    (tmp_path / "other.der").write_bytes(other.root)
    elsewhere = next(
        e for e in (Environment.PRODUCTION, Environment.SANDBOX) if e != store.environment)
    for text, changes, rule in [
        (f"{head}.{payload}.{signature[:-4]}AAAA", {}, "jws_signature"),
        ("not signed", {}, "jws_encoding"),
        (bought["signed_transaction"], {"root": "other.der"}, "jws_untrusted"),
        (bought["signed_transaction"], {"bundle_id": "com.example.other"}, "app_unknown"),
        (bought["signed_transaction"], {"environment": elsewhere.value}, "environment"),
        # Long before it was signed.
        (bought["signed_transaction"], {"at": 1_000_000_000_000}, "jws_date"),
    ]:
        code, printed, complaint = verify(store, tmp_path, text, **changes)
        assert (code, printed) == (1, ""), rule
        assert rule in complaint
        assert payload not in complaint
        code, printed, complaint = verify(store, tmp_path, text, "--json", **changes)
        assert (code, complaint) == (1, "")
        refused = json.loads(printed)["error"]
        assert refused["code"] == rule and refused["message"] and payload not in printed
    # What is missing is said, with the words of the command line.
    code, _, complaint = verify(store, tmp_path, bought["signed_transaction"], root="nowhere.der")
    assert code == 1 and "nowhere.der" in complaint
    code, _, complaint = verify(store, tmp_path, bought["signed_transaction"], bundle_id=None)
    assert code == 2 and "--bundle-id" in complaint


@pytest.mark.parametrize("environment", [Environment.PRODUCTION, Environment.SANDBOX])
def test_the_command_verify_reads_a_realtime_request(environment, tmp_path):
    store = AppStore(tmp_path, environment, "--state", str(tmp_path / "state.json"))
    try:
        store.buy("monthly")
    finally:
        store.stop()
    # Nobody sends one in the sandbox; its keys sign it.
    authority = json.loads((tmp_path / "state.json").read_text())["authority"]
    request = {
        "originalTransactionId": "1", "appAppleId": APP_APPLE_ID, "productId": "monthly",
        "userLocale": "en-US", "requestIdentifier": "48ccfa42-7431-4f22-9908-7e88983e105a",
        "environment": environment.value, "signedDate": int(time.time() * 1000)}

    def sign(**changes):
        return jwt.encode(
            {**request, **changes}, authority["leaf"]["privateKey"], algorithm="ES256",
            headers={"x5c": [
                authority[name]["certificate"] for name in ("leaf", "intermediate", "root")]})

    code, printed, complaint = verify(store, tmp_path, sign())
    assert code == 0, complaint
    assert json.loads(printed) == request
    # Apple's own reader agrees.
    read = store.verifier.verify_and_decode_realtime_request(sign())
    assert str(read.requestIdentifier) == request["requestIdentifier"]
    code, printed, complaint = verify(store, tmp_path, sign(environment="Xcode"))
    assert (code, printed) == (1, "") and "environment" in complaint
    if environment == Environment.PRODUCTION:
        code, printed, complaint = verify(store, tmp_path, sign(appAppleId=7))
        assert (code, printed) == (1, "") and "app_unknown" in complaint


def test_the_command_verify_looks_from_the_instant_it_is_told(store, tmp_path):
    store.advance(3000 * DAY)
    signed = store.buy("monthly")["signed_transaction"]
    code, printed, complaint = verify(store, tmp_path, signed)
    assert (code, printed) == (1, "") and "jws_date" in complaint
    code, printed, complaint = verify(store, tmp_path, signed, at=store.now())
    assert code == 0, complaint
    assert json.loads(printed)["productId"] == "monthly"


def test_signatures_hold_far_in_the_future(store):
    store.buy("monthly")
    store.advance(3000 * DAY)
    assert len(store.notices()) > 3


def test_online_checks_ask_the_stores_own_responder(tmp_path):
    port = free_port()
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


def test_history_pages_over_hundreds_of_transactions(production):
    production.control("PUT", "app", {"notification_url": ""})
    customer = production.customer()["id"]
    bought = [production.buy("coins", customer)["transaction_id"] for _ in range(300)]
    transactions, revision, pages = history(production, bought[150])
    assert [transaction.transactionId for transaction in transactions] == bought
    assert pages == 15
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


def test_a_place_in_the_notification_history_is_forgotten_after_a_day(production):
    customer = production.customer()["id"]
    start = production.now()
    for _ in range(21):
        production.buy("coins", customer)
    request = NotificationHistoryRequest(startDate=start, endDate=start + DAY)
    token = production.client.get_notification_history(None, request).paginationToken
    production.advance(DAY - HOUR)
    page = production.client.get_notification_history(token, request)
    assert len(page.notificationHistory) == 1
    production.advance(2 * HOUR)
    refused(4000017, production.client.get_notification_history, token, request)


def test_who_never_downloaded_the_app_has_no_app_transaction(store):
    customer = store.customer(has_downloaded_app=False)["id"]
    bought = store.buy("monthly", customer)["transaction_id"]
    refused(4040019, store.client.get_app_transaction_info, bought)
    with pytest.raises(urllib.error.HTTPError) as refusal:
        store.control("GET", f"customers/{customer}/transactions")
    assert refusal.value.code == 409
    store.advance(HOUR // 60)
    store.post(f"customers/{customer}/download")
    answer = store.client.get_app_transaction_info(bought)
    app = store.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
    assert app.originalPurchaseDate == store.now()


def test_what_apple_does_by_itself_can_be_done_by_the_control_api(store):
    bought = [store.buy("monthly")["original_transaction_id"] for _ in range(3)]
    store.received.clear()
    summary = store.post("products/monthly/extend", days=10, request_identifier="outage-1")
    assert summary == {
        "request_identifier": "outage-1", "succeeded_count": 3, "failed_count": 0}
    kinds = [(notice.rawNotificationType, notice.rawSubtype) for notice in store.notices()]
    assert kinds == [("RENEWAL_EXTENDED", None)] * 3 + [("RENEWAL_EXTENSION", "SUMMARY")]
    # The same request again is the same extension.
    assert store.post("products/monthly/extend", days=10, request_identifier="outage-1") == summary
    assert len(store.received) == 4

    store.post(f"transactions/{bought[0]}/tell", type="REFUND", subtype="SEATS")
    notice = store.last()
    assert (notice.rawNotificationType, notice.rawSubtype) == ("REFUND", "SEATS")
    assert notice.data.status == Status.ACTIVE

    store.post(f"subscriptions/{bought[0]}/attach", app_account_token=TOKEN.upper())
    info = store.client.get_transaction_info(bought[0]).signedTransactionInfo
    assert store.verifier.verify_and_decode_signed_transaction(info).appAccountToken == TOKEN

    state = store.post(f"subscriptions/{bought[1]}/end")
    assert state["status"] == 1 and not state["auto_renews"]
    products = store.post("products/monthly/withdraw")["data"]
    assert not next(one for one in products if one["product_id"] == "monthly")["for_sale"]
    store.advance(70 * DAY)
    ended = {
        (notice.rawNotificationType, notice.rawSubtype) for notice in store.notices()
        if notice.rawNotificationType == "EXPIRED"}
    assert ended == {("EXPIRED", None), ("EXPIRED", "PRODUCT_NOT_FOR_SALE")}
    for path, body, code in [
        ("products/none/withdraw", {}, 404), ("products/monthly/extend", {"days": 91}, 400),
        (f"subscriptions/{bought[1]}/end", {}, 409), ("transactions/1/tell", {"type": "X"}, 404),
        (f"subscriptions/{bought[0]}/attach", {"app_account_token": "me"}, 400),
    ]:
        with pytest.raises(urllib.error.HTTPError) as refusal:
            store.post(path, **body)
        assert refusal.value.code == code, path


def test_the_command_line_acts_in_a_running_sandbox(production):
    done = set()

    def act(*words, code=0):
        done.add(words[0])
        ended = subprocess.run(
            [tollgate(), "sandbox", "app-store", "act", *words,
             "--control", production.control_base], text=True, capture_output=True, timeout=60)
        assert ended.returncode == code, ended.stderr
        if code == 2:
            return ended.stderr
        return json.loads(ended.stdout) if ended.stdout.strip() else None

    user = act("customer", f"app_account_token={TOKEN}")["id"]
    bought = act("buy", "product_id=monthly", f"customer={user}")["original_transaction_id"]
    assert act("show-subscription", bought)["status"] == 1
    assert act("extend-all", "monthly", "days=3")["succeeded_count"] == 1
    assert "signed_transaction" in act("tell", bought, "type=METADATA_UPDATE")
    assert act("notifications")["data"][-1]["notificationType"] == "METADATA_UPDATE"
    act("faults", "drop=1")
    act("tell", bought, "type=PRICE_CHANGE")
    assert act("notifications")["data"][-1]["sendAttempts"][0]["sendAttemptResult"] == "NO_RESPONSE"
    act("faults")
    assert act("clock")["now"] < act("advance", f"by={DAY}")["now"]
    assert act("app")["bundle_id"] == BUNDLE_ID
    assert not act("cancel", bought)["auto_renews"]
    assert act("resume", bought)["auto_renews"]
    assert act("extend", bought, "days=2")["status"] == 1
    act("change", bought, "product_id=gold")
    assert act("notifications")["data"][-1]["subtype"] == "UPGRADE"
    production.control("PUT", "products", {"data": [PRODUCTS[1] | {"offers": [
        {"offer_type": 3, "offer_id": "half", "discount_type": "PAY_AS_YOU_GO", "period": "P1M",
         "price": 9990}]}]})
    assert "signed_transaction" in act("redeem", bought, "offer=half")
    notice = production.last()
    assert notice.rawNotificationType == "OFFER_REDEEMED" and notice.rawSubtype is None
    renewal = production.verifier.verify_and_decode_renewal_info(notice.data.signedRenewalInfo)
    assert (renewal.rawOfferType, renewal.offerIdentifier) == (3, "half")
    assert "error" in act("redeem", bought, "offer=none", code=1)
    act("raise-price", "gold", "price=29990", "consent_required=true")
    act("advance", f"by={DAY}")
    act("consent", bought)
    kinds = [notice["notificationType"] for notice in act("notifications")["data"]]
    assert "PRICE_INCREASE" in kinds
    act("fail-billing", user)
    act("advance", f"by={45 * DAY}")
    assert act("show-subscription", bought)["status"] in (3, 4)
    act("recover-billing", user)
    assert act("show-subscription", bought)["status"] == 1
    unlock = act("buy", "product_id=unlock", f"customer={user}")["transaction_id"]
    for action, kind, *details in [
        ("request-refund", "CONSUMPTION_REQUEST", "reason=LEGAL"), ("decline-refund", "REFUND_DECLINED"),
        ("refund", "REFUND", "reason=1"), ("reverse", "REFUND_REVERSED"),
    ]:
        act(action, unlock, *details)
        assert act("notifications")["data"][-1]["notificationType"] == kind
    act("finish", unlock)
    assert len(act("show", user)["current_entitlements"]) == 2
    assert act("restore", user)["data"]
    act("family", user, "family=f")
    member = act("customer", "family=f")["id"]
    shared = act("buy", "product_id=family", f"customer={user}")["original_transaction_id"]
    assert len(act("show", member)["current_entitlements"]) == 1
    theirs = production.verifier.verify_and_decode_signed_transaction(
        act("show", member)["current_entitlements"][0])
    assert theirs.originalTransactionId != shared
    act("revoke-family-share", theirs.originalTransactionId)
    assert act("show", member)["current_entitlements"] == []
    act("attach", bought, "app_account_token=7d2c1f8e-61f4-4a4e-9f0b-2f8f5f0f7a11")
    assert "app_transaction" in act("show", user)
    act("download", act("customer", "has_downloaded_app=false")["id"])
    act("test-notification")
    assert act("notifications")["data"][-1]["notificationType"] == "TEST"
    act("behaviour")
    act("set-app", "notification_version=1")
    assert act("app")["notification_version"] == 1
    act("set-app", "notification_version=2")
    # Seats, and subscriptions that go on under another original transaction id: newer than the library.
    production.control("PUT", "products", {"data": [PRODUCTS[0] | {
        "product_id": "team", "subscription_group_id": "21000003", "multiseat": True}]})

    def told():
        body = production.last().data.signedTransactionInfo.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))

    team = act("buy", "product_id=team", f"customer={user}", "quantity=3")["original_transaction_id"]
    assert act("add-seats", team, "seats=2")["status"] == 1
    assert told()["originalTransactionId"] == team and told()["quantity"] == 2
    act("assign-seat", team, f"customer={act('customer')['id']}")
    assert told()["inAppOwnershipType"] == "ASSIGNED"
    solo = act("buy", "product_id=monthly", f"customer={act('customer')['id']}")[
        "original_transaction_id"]
    assert act("migrate", solo)["status"] == 2
    moved = told()
    assert moved["previousOriginalTransactionId"] == solo
    assert act("switch-to-bundle", moved["originalTransactionId"])["status"] == 5
    assert told()["previousOriginalTransactionId"] == moved["originalTransactionId"]
    assert told()["bundleProductId"] == "monthly.bundle"
    assert told()["bundleTransactionId"] == told()["bundleOriginalTransactionId"]
    # Retention messages.
    text, picture = uuid.uuid4(), uuid.uuid4()
    production.client.upload_message(text, UploadMessageRequestBody(header="Stay", body="Please."))
    assert act("review-message", str(text), "state=APPROVED")["messageIdentifiers"][0][
        "messageState"] == "APPROVED"
    assert "error" in act("review-image", str(picture), "state=REJECTED", code=1)
    act("pass-performance-test")
    assert act("show-retention-message", team, "locale=ja") == {"source": "none"}
    act("withdraw", "gold")
    assert not act("end", bought)["auto_renews"]
    assert "error" in act("end", "1", code=1)
    assert "is no action" in act("dance", code=2)
    # Each that the command knows was done here.
    told = subprocess.run(
        [tollgate(), "sandbox", "app-store", "act", "--help"], text=True, capture_output=True)
    known = re.search(r"Actions: ([a-z, \n-]+)\.", told.stdout).group(1)
    assert {word.strip() for word in known.replace("\n", " ").split(",")} - done == set()
    ended = subprocess.run(
        [tollgate(), "sandbox", "app-store", "act", "clock", "--control", "http://127.0.0.1:9"],
        text=True, capture_output=True, timeout=60)
    assert ended.returncode == 1 and "No sandbox answers" in ended.stderr


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


def test_each_field_of_the_old_consumption_answer_has_its_error(production):
    coins = production.buy("coins")["transaction_id"]
    monthly = production.buy("monthly")["transaction_id"]
    path = f"/inApps/v1/transactions/consumption/{coins}"
    good = {
        "customerConsented": True, "appAccountToken": "", "sampleContentProvided": False,
        "consumptionStatus": 1, "platform": 2, "deliveryStatus": 0, "accountTenure": 4,
        "playTime": 5, "lifetimeDollarsRefunded": 1, "lifetimeDollarsPurchased": 7,
        "userStatus": 1, "refundPreference": 2}
    assert requests.put(
        production.base + path, json=good, headers=production.client._get_headers(),
        timeout=30).status_code == 202
    for change, code in [
        ({"accountTenure": 8}, 4000032), ({"appAccountToken": "me"}, 4000033),
        ({"consumptionStatus": 4}, 4000034), ({"customerConsented": False}, 4000035),
        ({"deliveryStatus": 6}, 4000036), ({"lifetimeDollarsPurchased": 8}, 4000037),
        ({"lifetimeDollarsRefunded": -1}, 4000038), ({"platform": 3}, 4000039),
        ({"playTime": 8}, 4000040), ({"sampleContentProvided": None}, 4000041),
        ({"userStatus": 5}, 4000042), ({"refundPreference": 4}, 4000044),
    ]:
        assert raw(production, "PUT", path, None, {**good, **change}) == (400, code), code
    # The old form is for consumables and, since API 1.11, for subscriptions that renew.
    for product in ("unlock", "season"):
        other = production.buy(product)["transaction_id"]
        path = f"/inApps/v1/transactions/consumption/{other}"
        assert raw(production, "PUT", path, None, good) == (400, 4000047)
    path = f"/inApps/v1/transactions/consumption/{monthly}"
    assert requests.put(
        production.base + path, json=good, headers=production.client._get_headers(),
        timeout=30).status_code == 202
    assert raw(production, "PUT", path.replace("v1", "v2"), None, ["nonsense"]) == (400, 4000000)


def test_every_error_that_the_simulator_knows_is_provoked_here():
    """Whoever is provoked is asked for a sentence: `refused` and `raw` look at it."""
    root = pathlib.Path(__file__).resolve().parents[2]
    known = set()
    for path in (root.parent / "Sandbox/Sources/AppStoreSimulator").rglob("*.swift"):
        known |= set(re.findall(r"\b[45]_\d{3}_\d{3}\b", path.read_text()))
    known = {code.replace("_", "") for code in known if int(code.replace("_", "")) >= 4_000_000}
    assert len(known) > 50
    # Without the list of messages, which provokes nothing.
    before, after = pathlib.Path(__file__).read_text().split("\nMESSAGES = {", 1)
    here = before + after.split("\n}\n", 1)[1]
    here += (root / "Tests/Python/test_retention_messaging.py").read_text()
    assert sorted(code for code in known if code not in here) == []


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A store with something of each kind, for questions that change nothing."""
    store = AppStore(tmp_path_factory.mktemp("asked"), Environment.PRODUCTION)
    member = store.customer(family="f")["id"]
    store.buy("family", store.customer(family="f")["id"])
    shared = store.control("GET", f"customers/{member}/transactions")["current_entitlements"][0]
    monthly = store.buy("monthly")["transaction_id"]
    app = store.client.get_app_transaction_info(monthly).signedAppTransactionInfo
    store.names = {
        "monthly": monthly, "coins": store.buy("coins")["transaction_id"],
        "app": store.verifier.verify_and_decode_app_transaction(app).appTransactionId,
        "shared": store.verifier.verify_and_decode_signed_transaction(shared).transactionId,
        "trial": store.buy("family")["transaction_id"],
        "unseen": store.buy(
            "monthly", store.customer(has_downloaded_app=False)["id"])["transaction_id"],
    }
    yield store
    store.stop()


EXTENSION = {"extendByDays": 1, "extendReasonCode": 0, "requestIdentifier": "x"}


@pytest.mark.parametrize(
    "code, method, path, query, body",
    [
        (4000000, "PUT", "v2/transactions/consumption/{coins}", None, ["nonsense"]),
        (4000005, "GET", "v2/history/{monthly}", {"revision": "x"}, None),
        (4000006, "GET", "v1/transactions/no", None, None),
        (4000008, "PUT", "v1/subscriptions/extend/no", None, EXTENSION),
        (4000009, "PUT", "v1/subscriptions/extend/{monthly}", None, EXTENSION | {"extendByDays": 0}),
        (4000010, "PUT", "v1/subscriptions/extend/{monthly}", None,
         EXTENSION | {"extendReasonCode": 9}),
        (4000011, "PUT", "v1/subscriptions/extend/{monthly}", None,
         EXTENSION | {"requestIdentifier": ""}),
        (4000021, "GET", "v2/history/{monthly}", {"sort": "UP"}, None),
        (4000022, "GET", "v2/history/{monthly}", {"productType": "RENTAL"}, None),
        (4000023, "GET", "v2/history/{monthly}", {"productId": ""}, None),
        (4000024, "GET", "v2/history/{monthly}", {"subscriptionGroupIdentifier": ""}, None),
        (4000025, "GET", "v2/history/{monthly}", {"excludeRevoked": "maybe"}, None),
        (4000026, "GET", "v2/history/{monthly}", {"inAppOwnershipType": "LENT"}, None),
        (4000048, "GET", "v1/transactions/{app}", None, None),
        (4000183, "PUT", "v1/transactions/{monthly}/appAccountToken", None,
         {"appAccountToken": "me"}),
        (4000185, "PUT", "v1/transactions/{shared}/appAccountToken", None,
         {"appAccountToken": TOKEN}),
        (4030004, "PUT", "v1/subscriptions/extend/{trial}", None, EXTENSION),
        (4040010, "GET", "v1/transactions/1", None, None),
        (4040019, "GET", "v1/transactions/appTransactions/{unseen}", None, None),
    ])
def test_an_error_has_the_message_that_apple_documents(asked, code, method, path, query, body):
    assert code in MESSAGES
    assert raw(asked, method, "/inApps/" + path.format(**asked.names), query, body) == (
        code // 10_000, code)




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


def test_the_sandbox_looks_up_no_order(sandbox):
    customer = sandbox.customer()["id"]
    sandbox.buy("coins", customer)
    [order] = sandbox.control("GET", f"customers/{customer}/orders")["data"]
    refused(4000000, sandbox.client.look_up_order_id, order)
    refused(4000000, sandbox.client.look_up_order_id, "NOSUCHORDER")


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
    if answer.status_code >= 400:
        assert answer.json().keys() == {"errorCode", "errorMessage"}
        check_message(answer.json()["errorCode"], answer.json()["errorMessage"])
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
        # Of three letters, and of no storefront: a typing mistake must not extend nobody's.
        ("POST", "subscriptions/extend/mass", None,
         {**extension, "productId": "monthly", "storefrontCountryCodes": ["USA", "XXX"]}, 4000028),
        ("POST", "subscriptions/extend/mass", None,
         {**extension, "productId": "monthly", "storefrontCountryCodes": ["usa"]}, 4000028),
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
        # Each second has a count of its own, so the first of these may meet a new one.
        for _ in range(30):
            answer = requests.post(
                f"{store.base}/inApps/v1/notifications/test",
                headers=store.client._get_headers(), timeout=30)
            if answer.status_code == 429:
                break
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
