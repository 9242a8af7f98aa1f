"""Google's own libraries, unmodified but for addresses, against our Google Play.

`google-api-python-client` calls every method that the simulator serves; each answer is judged by
the discovery document that it brings along. `google-auth` gets access tokens and verifies push
tokens. `google-cloud-pubsub` pulls. `TOLLGATE_BIN` names the command under test.
"""

import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
import urllib.request
import zipfile

import google.auth.transport.requests
import jwt
import pytest
from google.auth import exceptions
from google.oauth2 import id_token, service_account
from googleapiclient.errors import HttpError

import guide
from google_play import DAY, HOUR, PACKAGE, SCHEMAS, SCOPE, Play, Schemas, tollgate
from ports import free_port

TRANSPORT = google.auth.transport.requests.Request()


@pytest.fixture
def play(tmp_path):
    play = Play(tmp_path)
    yield play
    play.stop()


def failing(code, reason, call, *arguments, **parameters):
    """A refusal in the shape that all of Google's APIs share."""
    with pytest.raises(HttpError) as refusal:
        call(*arguments, **parameters)
    assert refusal.value.status_code == code
    error = json.loads(refusal.value.content)["error"]
    assert error["code"] == code and error["message"]
    assert [one["reason"] for one in error["errors"]] == [reason]
    assert set(error) <= {"code", "message", "errors", "status"}
    return error


# Tokens and certificates


def test_a_service_account_gets_access_tokens(play):
    play.credentials.refresh(TRANSPORT)
    assert play.credentials.valid and play.credentials.token.startswith("ya29.")
    file = json.loads(play.key_file.read_text())
    assert file["type"] == "service_account" and file["private_key"].startswith("-----BEGIN PRIVATE")
    assert play.key_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change, words", [
    ({"client_email": "somebody@else.iam.gserviceaccount.com"}, "account not found"),
    ({"private_key_id": "0" * 40}, "Invalid JWT Signature"),
])
def test_an_assertion_that_is_not_ours_is_refused(play, change, words):
    info = json.loads(play.key_file.read_text()) | change
    credentials = service_account.Credentials.from_service_account_info(info, scopes=[SCOPE])
    with pytest.raises(exceptions.RefreshError) as refusal:
        credentials.refresh(TRANSPORT)
    assert words in str(refusal.value)


def test_a_scope_that_nobody_knows_is_refused(play):
    with pytest.raises(exceptions.RefreshError, match="invalid_scope"):
        play.scoped("https://www.googleapis.com/auth/unicorns").refresh(TRANSPORT)


def test_without_a_good_token_nothing_is_answered(play):
    other = play.client("androidpublisher", "v3", play.scoped(
        "https://www.googleapis.com/auth/pubsub"))
    request = other.purchases().subscriptionsv2().get(packageName=PACKAGE, token="t")
    failing(401, "authError", request.execute)


def test_push_tokens_verify_by_both_forms_of_certificates(play):
    play.post("notifications/test")
    (headers, body), = play.pushed
    token = headers["Authorization"].removeprefix("Bearer ")
    email = play.control("GET", "app")["service_account_email"]
    for form in ("v1", "v3"):
        claims = id_token.verify_token(
            token, TRANSPORT, audience=play.endpoint,
            certs_url=f"{play.base}/oauth2/{form}/certs")
        assert claims["iss"] == "https://accounts.google.com"
        assert claims["email"] == email and claims["email_verified"] is True
        assert claims["exp"] - claims["iat"] == 3600
        with pytest.raises((exceptions.GoogleAuthError, jwt.PyJWTError)):
            id_token.verify_token(token, TRANSPORT, audience="https://elsewhere.example",
                                  certs_url=f"{play.base}/oauth2/{form}/certs")
    message = json.loads(body)
    assert message["subscription"] == "projects/sandbox/subscriptions/play"
    assert play.notifications()[0]["testNotification"] == {"version": "1.0"}


def test_rotated_keys_verify_until_they_are_gone(play):
    def verifies(token):
        try:
            id_token.verify_token(token, TRANSPORT, audience="a",
                                  certs_url=f"{play.base}/oauth2/v1/certs")
            return True
        except (exceptions.GoogleAuthError, ValueError):
            return False

    old = play.post("identity_tokens", audience="a")["id_token"]
    play.post("keys/rotate")
    new = play.post("identity_tokens", audience="a")["id_token"]
    assert verifies(old) and verifies(new)
    play.post("keys/rotate")
    assert not verifies(old) and verifies(new)
    with urllib.request.urlopen(f"{play.base}/oauth2/v3/certs") as answer:
        assert "max-age=" in answer.headers["Cache-Control"]
        assert len(json.loads(answer.read())["keys"]) == 2


def test_what_a_device_posts_is_signed_by_the_licence_key(play):
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding

    key = serialization.load_der_public_key(
        base64.b64decode(play.control("GET", "app")["license_key"]))
    for token in (play.buy("premium"), play.buy("coins", quantity=2)):
        signed = play.control("GET", f"purchases/{token}/signed")
        key.verify(base64.b64decode(signed["signature"]), signed["original_json"].encode(),
                   padding.PKCS1v15(), hashes.SHA1())
        purchase = json.loads(signed["original_json"])
        assert purchase["purchaseToken"] == token and purchase["packageName"] == PACKAGE
    assert purchase["quantity"] == 2 and purchase["purchaseState"] == 0


# Subscriptions


def test_a_subscription_is_bought_read_and_acknowledged(play):
    buyer = play.account(obfuscated_account_id="c-1")
    token = play.buy("premium", acknowledge=False, account=buyer, offer_id="trial")
    read = play.read(token)
    assert read["subscriptionState"] == "SUBSCRIPTION_STATE_ACTIVE"
    assert read["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING"
    assert read["externalAccountIdentifiers"] == {"obfuscatedExternalAccountId": "c-1"}
    item, = read["lineItems"]
    assert item["productId"] == "premium" and item["offerPhase"] == {"freeTrial": {}}
    assert item["offerDetails"] == {
        "basePlanId": "monthly", "offerId": "trial", "offerTags": ["standard", "new"]}
    assert item["autoRenewingPlan"]["recurringPrice"] == {
        "currencyCode": "USD", "units": "9", "nanos": 990_000_000}
    play.call("purchases.subscriptions.acknowledge", subscriptionId="premium", token=token, body={})
    assert play.read(token)["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
    assert play.hints(token) == [4]
    play.advance(8 * DAY)
    assert play.read(token)["lineItems"][0]["offerPhase"] == {"introductoryPrice": {}}
    assert play.hints(token) == [4, 2]


def test_every_state_is_read(play):
    buyer = play.account()
    token = play.buy("premium", account=buyer)
    play.post(f"purchases/{token}/pause", length="P1M")
    play.advance(32 * DAY)
    assert play.state(token) == "PAUSED"
    assert play.read(token)["pausedStateContext"]["autoResumeTime"]
    play.post(f"accounts/{buyer}", payment="declines")
    play.advance(31 * DAY)
    assert play.state(token) == "ON_HOLD"
    pending = play.read(token)["onHoldStateContext"]["renewalDeclined"]["pendingOrderId"]
    assert play.call("orders.get", orderId=pending)["state"] == "PENDING"
    play.post(f"accounts/{buyer}", payment="approves")
    assert play.state(token) == "ACTIVE"
    assert play.call("orders.get", orderId=pending)["state"] == "PROCESSED"
    play.post(f"accounts/{buyer}", payment="declines")
    play.advance(32 * DAY)
    assert play.state(token) == "IN_GRACE_PERIOD"
    assert "inGracePeriodStateContext" in play.read(token)
    play.post(f"accounts/{buyer}", payment="approves")
    play.post(f"purchases/{token}/cancel", reason="TECHNICAL_ISSUES", words="slow")
    assert play.state(token) == "CANCELED"
    canceled = play.read(token)["canceledStateContext"]["userInitiatedCancellation"]
    assert canceled["cancelSurveyResult"]["reason"] == "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"
    play.advance(40 * DAY)
    assert play.state(token) == "EXPIRED"
    assert play.hints(token) == [4, 11, 10, 5, 1, 6, 2, 3, 13]
    waiting = play.account(payment="cash")
    pending = play.buy("basic", account=waiting)
    assert play.state(pending) == "PENDING"
    play.advance(4 * DAY)
    assert play.state(pending) == "PENDING_PURCHASE_CANCELED"


@pytest.mark.parametrize("mode", [
    "WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION", "CHARGE_FULL_PRICE",
    "DEFERRED"])
def test_each_replacement_mode_links_the_old_token(play, mode):
    old = play.buy("basic")
    play.advance(10 * DAY)
    new = play.post(f"purchases/{old}/change", product_id="premium", replacement_mode=mode)
    read = play.read(new["purchase_token"])
    assert read["linkedPurchaseToken"] == old
    assert play.state(old) == "EXPIRED"
    assert play.read(old)["canceledStateContext"] == {"replacementCancellation": {}}
    products = [item["productId"] for item in read["lineItems"]]
    assert products == (["basic", "premium"] if mode == "DEFERRED" else ["premium"])
    if mode != "DEFERRED":
        assert read["lineItems"][0]["itemReplacement"]["replacementMode"] == mode


def test_installments_step_ups_promotions_and_price_changes_are_read(play):
    plan = play.buy("premium", base_plan_id="installments")
    play.post(f"purchases/{plan}/cancel")
    details = play.read(plan)["lineItems"][0]["autoRenewingPlan"]["installmentDetails"]
    assert details == {"initialCommittedPaymentsCount": 3, "remainingCommittedPaymentsCount": 2,
                       "pendingCancellation": {}}
    seoul = play.buy("premium", account=play.account(region="KR"), offer_id="trial")
    play.post(f"purchases/{seoul}/step_up")
    step = play.read(seoul)["lineItems"][0]["autoRenewingPlan"]["priceStepUpConsentDetails"]
    assert step["state"] == "PENDING" and step["newPrice"] == {"currencyCode": "KRW", "units": "12000"}
    code = play.buy("basic", promotion="SPRING")
    item = play.read(code)["lineItems"][0]
    assert item["signupPromotion"] == {"vanityCode": {"promotionCode": "SPRING"}}
    assert item["offerPhase"] == {"freeTrial": {}}
    play.post("products/basic/price", base_plan_id="monthly", price_micros=6_990_000)
    change = play.read(code)["lineItems"][0]["autoRenewingPlan"]["priceChangeDetails"]
    assert change["priceChangeMode"] == "PRICE_INCREASE"
    assert change["priceChangeState"] == "OUTSTANDING" and change["expectedNewPriceChargeTime"]
    play.post(f"purchases/{code}/consent")
    assert play.hints(code) == [4, 19, 19, 8]


def test_subscriptions_are_acted_upon_by_the_api(play):
    token = play.buy("premium")
    read = play.read(token)
    body = {"deferralContext": {"deferDuration": f"{5 * 86_400}s", "etag": read["etag"],
                                "validateOnly": True}}
    play.call("purchases.subscriptionsv2.defer", token=token, body=body)
    assert play.read(token) == read
    body["deferralContext"]["validateOnly"] = False
    deferred = play.call("purchases.subscriptionsv2.defer", token=token, body=body)
    assert deferred["itemExpiryTimeDetails"][0]["expiryTime"] == (
        play.read(token)["lineItems"][0]["expiryTime"]) > read["lineItems"][0]["expiryTime"]
    failing(409, "concurrentUpdate", play.call, "purchases.subscriptionsv2.defer", token=token,
            body=body)
    play.call("purchases.subscriptionsv2.cancel", token=token, body={
        "cancellationContext": {"cancellationType": "USER_REQUESTED_STOP_RENEWALS"}})
    assert play.state(token) == "CANCELED"
    play.post(f"purchases/{token}/restore")
    play.call("purchases.subscriptionsv2.revoke", token=token, body={
        "revocationContext": {"proratedRefund": {}}})
    assert play.state(token) == "EXPIRED"
    assert play.hints(token) == [4, 9, 3, 7, 12]
    old = play.buy("basic")
    play.call("purchases.subscriptions.cancel", subscriptionId="basic", token=old)
    assert play.read(old)["canceledStateContext"] == {"developerInitiatedCancellation": {}}
    failing(400, "failedPrecondition", play.call, "purchases.subscriptions.cancel",
            subscriptionId="basic", token=old)
    other = play.buy("sports", add_ons=["basic"])
    play.call("purchases.subscriptionsv2.revoke", token=other, body={
        "revocationContext": {"itemBasedRefund": {"productId": "basic"}}})
    assert play.state(other) == "ACTIVE" and play.hints(other) == [4, 17]
    running = play.control("GET", f"purchases/{other}")["products"][0]["expires"]
    moved = play.call("purchases.subscriptions.defer", subscriptionId="sports", token=other, body={
        "deferralInfo": {"expectedExpiryTimeMillis": str(running),
                         "desiredExpiryTimeMillis": str(running + DAY)}})
    assert moved == {"newExpiryTimeMillis": str(running + DAY)}


# One-time products, orders, what is taken back


def test_one_time_products_are_read_acknowledged_and_consumed(play):
    token = play.buy("coins", acknowledge=False, quantity=3, obfuscated_account_id="c")
    read = play.read_product(token)
    assert read["purchaseStateContext"] == {"purchaseState": "PURCHASED"}
    line, = read["productLineItem"]
    assert line["productOfferDetails"]["quantity"] == 3
    assert line["productOfferDetails"]["consumptionState"] == "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
    one = play.call("purchases.products.get", productId="coins", token=token)
    assert one["purchaseState"] == 0 and one["quantity"] == 3 and "purchaseType" not in one
    play.call("purchases.products.acknowledge", productId="coins", token=token, body={})
    play.call("purchases.products.consume", productId="coins", token=token)
    assert play.call("purchases.products.get", productId="coins", token=token)["consumptionState"] == 1
    failing(400, "productNotOwnedByUser", play.call, "purchases.products.consume",
            productId="coins", token=token)
    failing(400, "invalid", play.call, "purchases.products.get", productId="level", token=token)
    for options in ({"product": "film"}, {"product": "game", "offer_id": "early"},
                    {"product": "level", "promotion": "CODE"},
                    {"product": "level", "bundle": ["coins", "film"]},
                    {"product": "level", "account": play.account(tester=True)},
                    {"product": "level", "account": play.account(payment="cash")}):
        bought = play.buy(options.pop("product"), **options)
        assert play.read_product(bought)["productLineItem"]


def test_a_release_that_is_moved_is_read_and_charged_then(play):
    token = play.buy("game", offer_id="early")
    later = play.now() + 30 * DAY
    play.post("products/game/release", offer_id="early", release_time=later)
    offer, = play.call("monetization.onetimeproducts.purchaseOptions.offers.list",
                       productId="game", purchaseOptionId="buy")["oneTimeProductOffers"]
    line, = play.read_product(token)["productLineItem"]
    details = line["productOfferDetails"]["preorderOfferDetails"]
    assert details == {"preorderReleaseTime": offer["preOrderOffer"]["releaseTime"]}
    for until, state in ((later - HOUR, "PENDING"), (later + HOUR, "PURCHASED")):
        play.post("clock/advance", to=until)
        assert play.read_product(token)["purchaseStateContext"] == {"purchaseState": state}


def test_orders_tell_money_and_dates_period_by_period(play):
    berlin = play.account(region="DE")
    token = play.buy("premium", account=berlin, offer_id="trial")
    coins = play.buy("coins", account=berlin, quantity=10)
    play.advance(45 * DAY)
    ids = play.control("GET", f"purchases/{token}")["orders"]
    assert [one.split("..")[1:] for one in ids] == [[], ["0"], ["1"]]
    orders = play.call("orders.batchget", orderIds=ids)["orders"]
    periods = [one["lineItems"][0]["subscriptionDetails"] for one in orders]
    assert [period["offerPhaseDetails"] for period in periods] == [
        {"freeTrialDetails": {}}, {"introductoryPriceDetails": {}}, {"introductoryPriceDetails": {}}]
    for one, next_one in zip(periods, periods[1:]):
        assert one["servicePeriodEndTime"] == next_one["servicePeriodStartTime"]
    assert orders[0]["total"] == {"currencyCode": "EUR"}
    assert orders[1]["orderDetails"] == {"taxInclusive": True}
    last = play.read(token)["lineItems"][0]["latestSuccessfulOrderId"]
    assert last == ids[-1]
    # Too many for an address: Google's client posts its question then.
    many = [play.control("GET", f"purchases/{play.buy('coins')}")["order_id"] for _ in range(100)]
    assert len(play.call("orders.batchget", orderIds=many)["orders"]) == 100
    failing(404, "notFound", play.call, "orders.batchget", orderIds=[ids[0], "GPA.0"])
    failing(404, "notFound", play.call, "orders.get", orderId=f"{ids[0]}..99")
    play.control("POST", f"orders/{ids[1]}/refund", {"amount_micros": 1_000_000})
    part = play.call("orders.get", orderId=ids[1])
    assert part["state"] == "PARTIALLY_REFUNDED"
    play.post(f"purchases/{coins}/refund_pieces", quantity=4)
    order = play.control("GET", f"purchases/{coins}")["order_id"]
    events = play.call("orders.get", orderId=order)["orderHistory"]["partialRefundEvents"]
    assert events[0]["refundDetails"]["total"] == {
        "currencyCode": "USD", "units": "3", "nanos": 960_000_000}
    play.call("orders.refund", orderId=order, revoke=True)
    assert play.call("orders.get", orderId=order)["orderHistory"]["refundEvent"]["refundReason"] == "OTHER"


def test_voided_purchases_are_listed_page_by_page(play):
    buyer = play.account()
    pieces = play.buy("coins", account=buyer, quantity=10)
    for quantity in (2, 3, 5):
        play.post(f"purchases/{pieces}/refund_pieces", quantity=quantity)
    premium = play.buy("premium", account=buyer)
    play.post(f"purchases/{premium}/revoke", reason=5, source=2)
    silent = play.buy("level", account=buyer, acknowledge=False)
    play.advance(4 * DAY)

    def listed(**query):
        found, token = [], None
        while True:
            page = play.call("purchases.voidedpurchases.list", maxResults=1, token=token, **query)
            found += page.get("voidedPurchases", [])
            token = page.get("tokenPagination", {}).get("nextPageToken")
            if not token:
                return found

    everything = listed(type=1, includeQuantityBasedPartialRefund=True)
    assert [one.get("voidedQuantity") for one in everything] == [2, 3, None, None, None]
    assert [one["voidedReason"] for one in everything] == [0, 0, 0, 5, 8]
    assert [one["purchaseToken"] for one in listed()] == [pieces, silent]
    assert {one["kind"] for one in everything} == {"androidpublisher#voidedPurchase"}
    assert listed(type=1, endTime=play.now() - 3 * DAY) == everything[2:4]
    told = [one["voidedPurchaseNotification"] for one in play.notifications()
            if "voidedPurchaseNotification" in one]
    assert [(one["productType"], one["refundType"]) for one in told] == [
        (2, 2), (2, 2), (2, 1), (1, 1), (2, 1)]
    play.advance(31 * DAY)
    assert listed(type=1, includeQuantityBasedPartialRefund=True) == []


def test_a_refund_is_reviewed(play):
    token = play.buy("coins", obfuscated_account_id="customer")
    order = play.control("GET", f"purchases/{token}")["order_id"]
    play.post(f"orders/{order}/review")
    asked = play.notifications()[-1]["pendingRefundReviewNotification"]
    assert asked["orderId"] == order and asked["refundReason"] == 7
    assert asked["obfuscatedAccountId"] == "customer"
    assert play.call("orders.get", orderId=order)["state"] == "PENDING_REFUND"
    answer = {
        "pendingRefundToken": asked["pendingRefundToken"], "sampleContentProvided": False,
        "refundPreference": "DECLINE", "consumptionPercentageMilliunits": 100_000,
        "consumptionUsageEvents": [{"consumptionItemDescription": "100 coins",
                                    "location": {"regionCode": "US"}}]}
    failing(400, "invalid", play.call, "orders.reviewrefund", orderId=order,
            body=answer | {"pendingRefundToken": "another"})
    failing(400, "required", play.call, "orders.reviewrefund", orderId=order,
            body={**answer, "refundPreference": "PERHAPS"})
    play.call("orders.reviewrefund", orderId=order, body=answer)
    assert play.call("orders.get", orderId=order)["state"] == "PROCESSED"
    assert play.control("GET", "reviews")["data"][0]["answer"] == answer


def test_external_transactions_are_reported_and_refunded(play):
    body = {
        "originalPreTaxAmount": {"priceMicros": "9990000", "currency": "USD"},
        "originalTaxAmount": {"priceMicros": "1000000", "currency": "USD"},
        "transactionTime": "2026-11-01T00:00:00Z", "userTaxAddress": {"regionCode": "US"},
        "oneTimeTransaction": {"externalTransactionToken": "from-the-app"}}
    create = "externaltransactions.createexternaltransaction"
    made = play.call(create, externalTransactionId="t-1", body=body)
    assert made["transactionState"] == "TRANSACTION_REPORTED"
    assert made["oneTimeTransaction"] == {}
    failing(409, "alreadyExists", play.call, create, externalTransactionId="t-1", body=body)
    failing(400, "invalid", play.call, create, externalTransactionId="not valid!", body=body)
    name = f"applications/{PACKAGE}/externalTransactions/t-1"
    refund = "externaltransactions.refundexternaltransaction"
    part = {"refundTime": "2026-11-02T00:00:00Z", "partialRefund": {
        "refundId": "r-1", "refundPreTaxAmount": {"priceMicros": "990000", "currency": "USD"}}}
    assert play.call(refund, name=name, body=part)["currentPreTaxAmount"]["priceMicros"] == "9000000"
    play.call(refund, name=name, body={"refundTime": "2026-11-02T00:00:00Z", "fullRefund": {}})
    read = play.call("externaltransactions.getexternaltransaction", name=name)
    assert read["transactionState"] == "TRANSACTION_CANCELED"
    first = {**body, "recurringTransaction": {
        "externalTransactionToken": "x", "externalSubscription": {"subscriptionType": "RECURRING"}}}
    del first["oneTimeTransaction"]
    play.call(create, externalTransactionId="s-1", body=first)
    later = {**first, "recurringTransaction": {
        "initialExternalTransactionId": "s-1",
        "externalSubscription": {"subscriptionType": "RECURRING"}}}
    play.call(create, externalTransactionId="s-2", body=later)


def test_the_catalog_is_read(play):
    listed = play.call("monetization.subscriptions.list", pageSize=2)
    assert [one["productId"] for one in listed["subscriptions"]] == ["premium", "basic"]
    rest = play.call("monetization.subscriptions.list", pageSize=2,
                     pageToken=listed["nextPageToken"])
    assert [one["productId"] for one in rest["subscriptions"]] == ["sports"]
    premium = play.call("monetization.subscriptions.get", productId="premium")
    assert [plan["basePlanId"] for plan in premium["basePlans"]] == [
        "monthly", "strict", "yearly", "prepaid", "installments"]
    play.call("monetization.subscriptions.batchGet", productIds=["premium", "basic"])
    offers = play.call("monetization.subscriptions.basePlans.offers.list", productId="premium",
                       basePlanId="monthly")
    assert [phase["duration"] for phase in offers["subscriptionOffers"][0]["phases"]] == ["P1W", "P1M"]
    play.call("monetization.subscriptions.basePlans.offers.get", productId="premium",
              basePlanId="monthly", offerId="trial")
    assert len(play.call("monetization.onetimeproducts.list")["oneTimeProducts"]) == 4
    play.call("monetization.onetimeproducts.get", productId="film")
    play.call("monetization.onetimeproducts.batchGet", productIds=["coins", "game"])
    play.call("monetization.onetimeproducts.purchaseOptions.offers.list", productId="game",
              purchaseOptionId="buy")
    trial = {"packageName": PACKAGE, "productId": "premium", "basePlanId": "monthly",
             "offerId": "trial"}
    of_plans = "monetization.subscriptions.basePlans.offers.batchGet"
    # "-" where the offers may be of several products or plans.
    for product, plan in (("premium", "monthly"), ("-", "-")):
        found = play.call(of_plans, productId=product, basePlanId=plan,
                          body={"requests": [trial]})
        assert [one["offerId"] for one in found["subscriptionOffers"]] == ["trial"]
    for plan, requests, status, reason in (
            ("monthly", [{**trial, "offerId": "unicorn"}], 404, "notFound"),
            ("yearly", [trial], 400, "invalid"), ("monthly", [trial, trial], 400, "invalid"),
            ("monthly", [], 400, "invalid")):
        failing(status, reason, play.call, of_plans, productId="premium", basePlanId=plan,
                body={"requests": requests})
    early = {"packageName": PACKAGE, "productId": "game", "purchaseOptionId": "buy",
             "offerId": "early"}
    found = play.call("monetization.onetimeproducts.purchaseOptions.offers.batchGet",
                      productId="game", purchaseOptionId="buy", body={"requests": [early]})
    assert [one["offerId"] for one in found["oneTimeProductOffers"]] == ["early"]
    failing(404, "notFound", play.call, "monetization.subscriptions.get", productId="unicorn")


# Errors


def test_tokens_that_are_no_good_are_refused_as_google_does(play):
    unknown = "a" * 24 + ".AO-J1O" + "b" * 86
    for method in ("purchases.subscriptionsv2.get", "purchases.productsv2.getproductpurchasev2"):
        error = failing(404, "purchaseTokenNotFound", play.call, method, token=unknown)
        assert error["message"] == "The purchase token was not found."
        failing(400, "invalid", play.call, method, token="nonsense")
    token = play.buy("premium")
    play.post(f"purchases/{token}/cancel")
    play.advance(31 * DAY + 61 * DAY)
    failing(410, "subscriptionPurchaseNoLongerAvailable", play.call,
            "purchases.subscriptionsv2.get", token=token)
    play.control("PUT", "behaviour", {"refunded_product_is_gone": True})
    coins = play.buy("coins")
    play.post(f"purchases/{coins}/revoke")
    failing(410, "purchaseTokenNoLongerValid", play.call,
            "purchases.productsv2.getproductpurchasev2", token=coins)


@pytest.mark.parametrize("status, reason", [
    (401, "permissionDenied"), (403, "forbidden"), (409, "concurrentUpdate"),
    (429, "rateLimitExceeded"), (500, "backendError"), (503, "backendError")])
def test_every_error_can_be_called_for(play, status, reason):
    token = play.buy("premium")
    play.control("PUT", "faults", {"api_status": status})
    failing(status, reason, play.call, "purchases.subscriptionsv2.get", token=token)
    play.control("PUT", "faults", {})
    assert play.state(token) == "ACTIVE"


def test_an_answer_may_be_lost_after_the_call_was_done(play):
    token = play.buy("level", acknowledge=False)
    play.control("PUT", "faults", {"api_slow": 1})
    failing(503, "backendError", play.call, "purchases.products.acknowledge",
            productId="level", token=token, body={})
    play.control("PUT", "faults", {})
    assert play.read_product(token)["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"


def test_permissions_are_needed(play):
    play.control("PUT", "permissions", {"permissions": ["view_app"]})
    token = play.buy("premium")
    play.read(token)
    failing(401, "permissionDenied", play.call, "purchases.voidedpurchases.list")
    failing(401, "permissionDenied", play.call, "orders.get", orderId="GPA.1")
    foreign = play.api.purchases().subscriptionsv2().get(packageName="com.stranger", token=token)
    failing(401, "permissionDenied", foreign.execute)


def test_the_retries_of_googles_client_get_through(play):
    token = play.buy("premium")
    play.control("PUT", "faults", {"api_status": 503, "api_failures": 2})
    request = play.api.purchases().subscriptionsv2().get(packageName=PACKAGE, token=token)
    assert request.execute(num_retries=3)["lineItems"]


def test_quotas_are_counted_by_the_minute(tmp_path):
    play = Play(tmp_path, "--quotas")
    try:
        token = play.buy("premium")
        headers = {"Authorization": f"Bearer {play.control_token()}"}
        codes = play.hammer(
            f"{play.base}/androidpublisher/v3/applications/{PACKAGE}/purchases/voidedpurchases",
            headers, 150)
        assert codes.count(429) >= 20 and codes[0] == 200
        assert play.state(token) == "ACTIVE"
    finally:
        play.stop()


def test_every_method_that_is_served_was_judged(play):
    """What the simulator serves is what these tests call: a new method needs a test."""
    served = set(play.control("GET", "methods")["data"])
    text = open(__file__, encoding="utf-8").read() + open(
        __file__.replace("test_google_play_library", "google_play"), encoding="utf-8").read()
    assert {method for method in served if f'"{method}"' not in text} == set()
    assert served <= set(SCHEMAS.methods)
    assert len(served) == 30


# Pub/Sub


def pulled(play, limit=10):
    from google.cloud import pubsub_v1

    subscriber = pubsub_v1.SubscriberClient(
        credentials=play.scoped("https://www.googleapis.com/auth/pubsub"), transport="rest",
        client_options={"api_endpoint": play.base})
    name = subscriber.subscription_path("sandbox", "play")
    answer = subscriber.pull(subscription=name, max_messages=limit, retry=None)
    return subscriber, name, list(answer.received_messages)


def test_googles_pub_sub_client_pulls_and_acknowledges(tmp_path):
    play = Play(tmp_path, push=False)
    try:
        token = play.buy("premium")
        subscriber, name, received = pulled(play)
        one, = received
        notification = json.loads(one.message.data)
        assert notification["packageName"] == PACKAGE
        assert notification["subscriptionNotification"]["purchaseToken"] == token
        assert notification["eventTimeMillis"] == str(play.now())
        assert pulled(play)[2] == []
        subscriber.modify_ack_deadline(subscription=name, ack_ids=[one.ack_id],
                                       ack_deadline_seconds=0)
        again, = pulled(play)[2]
        assert again.message.message_id == one.message.message_id
        play.advance(11_000)
        third, = pulled(play)[2]
        subscriber.acknowledge(subscription=name, ack_ids=[third.ack_id])
        play.advance(8 * DAY)
        assert pulled(play)[2] == []
        described = subscriber.get_subscription(subscription=name)
        assert described.ack_deadline_seconds == 10
        assert described.message_retention_duration.total_seconds() == 7 * 86_400
    finally:
        play.stop()


def test_the_other_client_of_google_pulls_too(tmp_path):
    play = Play(tmp_path, push=False)
    try:
        play.buy("coins")
        client = play.client("pubsub", "v1", play.scoped("https://www.googleapis.com/auth/pubsub"))
        subscriptions = client.projects().subscriptions()
        name = "projects/sandbox/subscriptions/play"
        schemas = Schemas("pubsub.v1")
        described = subscriptions.get(subscription=name).execute()
        schemas.check(described, {"$ref": "Subscription"}, "Subscription")
        answer = subscriptions.pull(subscription=name, body={"maxMessages": 5}).execute()
        schemas.check(answer, {"$ref": "PullResponse"}, "PullResponse")
        one, = answer["receivedMessages"]
        assert json.loads(base64.b64decode(one["message"]["data"]))["oneTimeProductNotification"]
        subscriptions.acknowledge(subscription=name, body={"ackIds": [one["ackId"]]}).execute()
        assert subscriptions.pull(subscription=name, body={"maxMessages": 5}).execute() == {}
        failing(404, "notFound", subscriptions.get(
            subscription="projects/sandbox/subscriptions/other").execute)
    finally:
        play.stop()


def test_a_push_is_retried_and_ends_as_a_dead_letter(play):
    play.control("PUT", "subscriptions", {
        "push_endpoint": play.endpoint, "max_delivery_attempts": 5})
    play.status = 500
    play.post("notifications/test")
    play.advance(HOUR)
    bodies = [json.loads(body) for _, body in play.pushed]
    assert [one["deliveryAttempt"] for one in bodies] == [1, 2, 3, 4, 5]
    assert len({one["message"]["messageId"] for one in bodies}) == 1
    queue, = play.control("GET", "subscriptions")["data"]
    assert queue["waiting"] == 0 and len(queue["dead_letters"]) == 1
    play.control("PUT", "subscriptions", {"push_endpoint": play.endpoint})
    play.post("notifications/test")
    play.status = 204
    play.advance(60_000)
    assert len(play.pushed) == 7 and "deliveryAttempt" not in json.loads(play.pushed[-1][1])


def test_hints_are_lost_doubled_late_and_without_meaning(play):
    play.control("PUT", "faults", {"lost": 1})
    play.post("notifications/test")
    assert play.pushed == []
    play.control("PUT", "faults", {"doubled": 1})
    play.post("notifications/test")
    ids = [json.loads(body)["message"]["messageId"] for _, body in play.pushed]
    assert len(set(ids)) == 2
    play.control("PUT", "faults", {"duplicate": 1})
    play.post("notifications/test")
    ids = [json.loads(body)["message"]["messageId"] for _, body in play.pushed]
    assert len(ids) == 4 and len(set(ids)) == 3
    play.control("PUT", "faults", {"late": 1, "longest_delay": DAY})
    play.post("notifications/test")
    assert len(play.pushed) == 4
    play.advance(DAY)
    assert len(play.pushed) == 5
    play.control("PUT", "faults", {})
    play.post("notifications/publish", data="no JSON")
    assert base64.b64decode(json.loads(play.pushed[-1][1])["message"]["data"]) == b"no JSON"
    token = play.buy("premium")
    play.post(f"purchases/{token}/tell", type=23)
    assert play.hints(token)[-1] == 23


def test_reads_lag_behind_hints_and_event_times_are_numbers_if_one_says_so(play):
    play.control("PUT", "behaviour", {"stale_reads": 1, "event_time_is_number": True})
    token = play.buy("premium", acknowledge=False)
    failing(404, "purchaseTokenNotFound", play.call, "purchases.subscriptionsv2.get", token=token)
    assert play.state(token) == "ACTIVE"
    assert play.notifications()[-1]["eventTimeMillis"] == play.now()


# Reports


def rows(bytes_, name=None):
    with zipfile.ZipFile(io.BytesIO(bytes_)) as archive:
        inner, = archive.namelist()
        assert name is None or inner == name
        return list(csv.DictReader(io.StringIO(archive.read(inner).decode())))


def test_the_reports_are_in_the_bucket(tmp_path):
    play = Play(tmp_path, "--now", "1780000000000")  # 2026-05-28
    try:
        berlin = play.account(region="DE")
        play.buy("premium", account=berlin)
        coins = play.buy("coins", account=berlin, quantity=10)
        play.advance(2 * DAY)
        play.post(f"purchases/{coins}/refund_pieces", quantity=4)
        play.advance(10 * DAY)
        storage = play.client(
            "storage", "v1", play.scoped("https://www.googleapis.com/auth/devstorage.read_only"),
            path="/storage/v1/")
        bucket = play.control("GET", "app")["bucket"]
        assert bucket.startswith("pubsite_prod_rev_")
        listed = storage.objects().list(bucket=bucket).execute()
        Schemas("storage.v1").check(listed, {"$ref": "Objects"}, "Objects")
        names = [one["name"] for one in listed["items"]]
        sales = "sales/salesreport_202605.zip"
        earned, = [one for one in names if one.startswith("earnings/earnings_202605_")]
        assert sales in names

        def get(name):
            return storage.objects().get_media(bucket=bucket, object=name).execute()

        sold = rows(get(sales), "salesreport_202605.csv")
        assert [(one["Financial Status"], one["Charged Amount"]) for one in sold] == [
            ("Charged", "10.99"), ("Charged", "9.90"), ("Partial refund", "-3.96")]
        order = play.control("GET", f"purchases/{coins}")["order_id"]
        assert {one["Order Number"] for one in sold[1:]} == {order}
        assert sold[0]["Currency of Sale"] == "EUR" and sold[0]["Base Plan ID"] == "monthly"
        paid = rows(get(earned), "PlayApps_202605.csv")
        kinds = [one["Transaction Type"] for one in paid]
        assert kinds == ["Charge", "Google fee"] * 2 + ["Charge refund", "Google fee refund"]
        assert paid[0]["Transaction Date"].startswith("May ")
        # What the earnings of May bring is paid on the 15th of June.
        cents = sum(round(float(one["Amount (Merchant Currency)"]) * 100) for one in paid)
        assert not [one for one in names if one.startswith("payouts/")]
        play.advance(7 * DAY)
        listed = storage.objects().list(bucket=bucket, prefix="payouts/").execute()
        Schemas("storage.v1").check(listed, {"$ref": "Objects"}, "Objects")
        payout, = listed["items"]
        assert payout["name"] == "payouts/payout_202606.zip"
        transferred, = rows(storage.objects().get_media(
            bucket=bucket, object=payout["name"], generation=payout["generation"]).execute())
        assert transferred["Payout Date"] == "2026-06-15"
        assert transferred["Earnings Month"] == "2026-05" and transferred["Payout Currency"] == "USD"
        assert round(float(transferred["Payout Amount"]) * 100) == cents
        failing(404, "notFound", storage.objects().get_media(
            bucket=bucket, object=payout["name"], generation="1").execute)
        statistics, = [one for one in names if one.startswith("financial-stats/") and "202605" in one]
        text = get(statistics).decode("utf-16")
        assert text.startswith("Date,Package Name,Product ID,Country")
        failing(404, "notFound", storage.objects().get(bucket=bucket, object="x").execute)
        failing(404, "notFound", storage.objects().list(bucket="another").execute)
    finally:
        play.stop()


def test_the_reports_are_taken_in_from_the_bucket_and_from_files(tmp_path):
    play = Play(tmp_path, "--now", "1780000000000", push=False)  # 2026-05-28
    try:
        berlin = play.account(region="DE")
        play.buy("premium", account=berlin)
        play.buy("level", account=play.account())
        play.advance(20 * DAY)  # past the 15th of June
        storage = play.client(
            "storage", "v1", play.scoped("https://www.googleapis.com/auth/devstorage.read_only"),
            path="/storage/v1/")
        bucket = play.control("GET", "app")["bucket"]
        plain = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
        settings = {
            "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE": str(play.key_file),
            "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME": PACKAGE,
            "TOLLGATE_GOOGLE_PLAY_API_BASE": play.base,
            "TOLLGATE_GOOGLE_PLAY_BUCKET": f"gs://{bucket}/sales/"}

        def take(*files, **more):
            done = subprocess.run(
                [tollgate(), "import", "reports", *files, "--json", "--database",
                 f"sqlite:{tmp_path}/books.db"],
                capture_output=True, text=True, timeout=300, env=plain | settings | more)
            return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr

        code, taken = take()
        assert code == 0, taken
        assert sorted((one["kind"], one["rows"], one["new"]) for one in taken) == [
            ("GOOGLE_PLAY_EARNINGS", 4, True), ("GOOGLE_PLAY_PAYOUT", 1, True),
            ("GOOGLE_PLAY_SALES", 2, True)]
        assert take() == (0, [])
        # The same files, as Google's own client gives them out.
        for one in storage.objects().list(bucket=bucket).execute()["items"]:
            if not one["name"].startswith(("sales/", "earnings/", "payouts/")):
                continue
            path = tmp_path / one["name"].split("/")[-1]
            path.write_bytes(storage.objects().get_media(
                bucket=bucket, object=one["name"]).execute())
            code, (line,) = take(str(path))
            assert code == 0 and line["new"] is False
        report = subprocess.run(
            [tollgate(), "report", "reconciliation", "--from", "2026-05-01", "--to", "2026-05-31",
             "--environment", "production", "--json", "--database",
             f"sqlite:{tmp_path}/books.db"],
            capture_output=True, text=True, timeout=300, env=plain)
        # The record of this database is empty: all that was sold is missing here.
        assert report.returncode == 1, report.stderr
        found = json.loads(report.stdout)["differences"]
        assert sorted((one["source"], one["reason"]) for one in found) == [
            ("GOOGLE_PLAY_EARNINGS", "missing_here"), ("GOOGLE_PLAY_EARNINGS", "missing_here"),
            ("GOOGLE_PLAY_SALES", "missing_here"), ("GOOGLE_PLAY_SALES", "missing_here")]
        cut = tmp_path / "salesreport_202604.zip"
        cut.write_bytes(path.read_bytes()[:40])
        code, words = take(str(cut))
        assert code == 1
        assert "salesreport_202604.zip: the zip file ends too early; download it again." in words
        code, words = take(TOLLGATE_GOOGLE_PLAY_BUCKET="Not a bucket")
        assert code == 2 and "copy the Cloud Storage URI from the Play Console" in words
    finally:
        play.stop()


# Persistence


def test_everything_survives_kill_9(tmp_path):
    play = Play(tmp_path, "--state", str(tmp_path / "state.json"), push=False)
    try:
        token = play.buy("premium")
        before, key = play.read(token), play.key_file.read_text()
        certificates = play.certificates()
        play.control("PUT", "behaviour", {"token_days": 90})
        play.advance(DAY)
        at = play.now()
        play.kill()
        play.start()
        assert play.read(token) == before and play.now() == at
        assert play.certificates() == certificates
        assert json.loads(play.key_file.read_text())["private_key"] == json.loads(key)["private_key"]
        assert len(pulled(play)[2]) == 1
        play.advance(31 * DAY)
        assert play.read(token)["lineItems"][0]["latestSuccessfulOrderId"].endswith("..0")
        assert play.control("GET", "behaviour")["token_days"] == 90
    finally:
        play.stop()


def test_the_same_seed_has_the_same_ids(tmp_path):
    seen = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        play = Play(tmp_path / name, "--seed", "7", "--now", "1780000000000", push=False)
        seen.append([play.buy("premium"), play.buy("coins")])
        play.stop()
    assert seen[0] == seen[1]


# The control API


def test_keys_and_values_that_nobody_knows_are_refused_by_name(play):
    token = play.buy("premium")
    for method, path, body in (
        ("POST", "accounts", {}), ("POST", "purchases", {"product_id": "coins"}),
        ("POST", f"purchases/{token}/cancel", {}), ("POST", "clock/advance", {"by": 1}),
        ("PUT", "faults", {}), ("PUT", "behaviour", {}), ("PUT", "subscriptions", {}),
        ("POST", "keys/rotate", {}), ("POST", "notifications/test", {}),
    ):
        status, message = play.refused(method, path, {**body, "colour": "red"})
        assert (status, message) == (400, "Unknown key: colour"), path
    plan = {"base_plan_id": "m", "period": "P1M", "price_micros": 1, "prise": 2}
    status, message = play.refused("PUT", "catalog", {
        "subscriptions": [{"product_id": "p", "base_plans": [plan]}]})
    assert (status, message) == (400, "Unknown key: subscriptions.0.base_plans.0.prise")
    assert play.refused("POST", "purchases", {})[1] == "'product_id' is missing."
    assert play.refused("POST", "purchases", {"product_id": "unicorn"})[0] == 404
    assert play.refused("POST", f"purchases/{token}/resume")[0] == 409
    assert play.refused("POST", "purchases/x/cancel")[0] == 404
    assert play.refused("POST", f"purchases/{token}/pause", {"length": "P9M"})[0] == 400


@pytest.mark.parametrize("method, path, body", [
    ("PUT", "catalog", {"subscriptions": [{"product_id": "p", "base_plans": [
        {"base_plan_id": "m", "period": "P0D", "price_micros": 1}]}]}),
    ("PUT", "catalog", {"one_time_products": [{"product_id": "p", "price_micros": 2**62}]}),
    ("PUT", "catalog", {"subscriptions": [{"product_id": "p", "base_plans": [
        {"base_plan_id": "m", "period": "a month", "price_micros": 1}]}]}),
    ("PUT", "subscriptions", {"minimum_backoff_seconds": 2**62}),
    ("POST", "clock/advance", {"by": -2**63}), ("POST", "clock/advance", {"to": 2**63 - 1}),
    ("POST", "identity_tokens", {"audience": "a", "age": -2**63}),
    ("POST", "products/premium/price", {"base_plan_id": "monthly", "price_micros": -1}),
    ("POST", "products/game/release", {"offer_id": "early", "release_time": 1}),
    ("POST", "purchases", {"product_id": "coins", "quantity": 2**40}),
])
def test_what_makes_no_sense_is_refused_and_ends_nothing(play, method, path, body):
    assert play.refused(method, path, body)[0] == 400
    assert play.control("GET", "clock")


def test_what_is_refused_changes_nothing(play):
    buyer = play.account(payment="declines")
    before = play.control("GET", "purchases")
    assert play.refused("POST", "purchases", {"product_id": "premium", "account": buyer})[0] == 409
    assert play.control("GET", "purchases") == before and play.pushed == []


def test_every_switch_and_act_is_in_the_guide(play):
    text = (guide.ROOT / "docs/sandbox.md").read_text().split("## Google Play\n")[1]
    for switch in play.control("GET", "behaviour"):
        assert f"| `{switch}` |" in text, switch
    for act in play.control("GET", "acts")["data"]:
        assert f"`{act}" in text, act


def test_the_guide_is_walked(tmp_path):
    text = (guide.ROOT / "docs/sandbox.md").read_text().split("## Google Play\n")[1]
    blocks = {language: re.findall(rf"```{language}\n(.*?)```", text, re.S)
              for language in ("json", "sh", "python")}
    ports = {"8083": free_port(), "3000": free_port()}
    shell = guide.Shell(tmp_path, ports)
    (tmp_path / "catalog.json").write_text(blocks["json"][0])
    start, acts = blocks["sh"][:2]
    try:
        shell.run(start.rstrip() + " &")
        guide.answering(f"http://127.0.0.1:{ports['8083']}/sandbox/clock")
        token = None
        for line in acts.strip().splitlines():
            command = line.split("#")[0].rstrip() + f" --control http://127.0.0.1:{ports['8083']}"
            said, code = shell.run(command.replace("PURCHASE_TOKEN", str(token)))
            assert code == 0, said
            found = re.search(r'"purchase_token":"([^"]+)"', said)
            token = token or (found and found.group(1))
        program = shell.local(blocks["python"][0]).replace("PURCHASE_TOKEN", token).replace(
            "service-account.json", str(tmp_path / "service-account.json"))
        made = subprocess.run(
            [sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
        assert made.stdout == "SUBSCRIPTION_STATE_CANCELED\n", made.stderr
    finally:
        shell.end()


def test_what_was_done_is_written_down(tmp_path):
    file = tmp_path / "run.yaml"
    play = Play(tmp_path, "--save-scenario", str(file), "--now", "1780000000000")
    try:
        buyer = play.account(region="DE")
        token = play.buy("premium", account=buyer, offer_id="trial")
        play.advance(DAY)
        play.post(f"purchases/{token}/cancel", reason="OTHERS")
        play.post("products/game/release", offer_id="early", release_time=1_790_000_000_000)
        written = file.read_text()
        assert "customers:\n  - {name: account_1, region: DE, tester: false}\n" in written
        assert ("    google_play: buy\n    customer: account_1\n    product: premium\n"
                "    offer_id: trial\n") in written
        assert ("    google_play: cancel\n    customer: account_1\n    purchase: 1\n"
                "    reason: OTHERS\n") in written
        assert ("    google_play: move_release\n    product: game\n    offer_id: preorder\n"
                "    release_time: 2026-09-21 14:13:20\n") in written
        assert "google_play_product_id: premium" in (tmp_path / "run.catalog.yaml").read_text()
    finally:
        play.stop()


def test_plans_offers_and_releases_are_written_down_and_played(tmp_path):
    file = tmp_path / "run.yaml"
    play = Play(tmp_path, "--save-scenario", str(file), "--now", "1780000000000")
    try:
        play.buy("premium", account=play.account(), offer_id="trial")
        play.buy("premium", account=play.account(), base_plan_id="prepaid")
        play.buy("game", account=play.account(), offer_id="early")
        play.post("products/game/release", offer_id="early",
                  release_time=1_780_000_000_000 + 30 * DAY)
    finally:
        play.stop()
    written = file.read_text()
    assert ("    - {product: premium, id: trial, phases: [{duration: P1W, count: 1}, "
            "{duration: P1M, count: 2, price: 4.990000}]}\n") in written
    assert "    - {product: premium_prepaid, kind: prepaid}\n" in written
    assert "    - {product: game, release: 2026-06-27 20:26:40}\n" in written
    assert "    product: premium_prepaid\n" in written
    assert "    product: game\n    offer_id: preorder\n" in written
    with file.open("a") as story:
        for after, answers in (("+1m", (("premium", 0), ("premium", 0), ("", 0))),
                               ("+40d", (("premium", 0), ("", 0), ("", 1)))):
            for number, (has, coins) in enumerate(answers, 1):
                story.write(f"  - at: {after}\n" if number == 1 else "  -\n")
                story.write(f"    customer: account_{number}\n"
                            f"    check: [{has}]\n    coins: {coins}\n")
    ended = subprocess.run(
        [tollgate(), "scenario", "run", str(file)], text=True, capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed, 0 failed" in ended.stdout


def test_what_was_written_down_is_played(tmp_path):
    file = tmp_path / "run.yaml"
    play = Play(tmp_path, "--save-scenario", str(file), "--now", "1780000000000")
    try:
        buyer = play.account(region="DE")
        token = play.buy("premium", account=buyer)
        play.post(f"purchases/{token}/acknowledge")
        play.advance(DAY)
        play.post(f"purchases/{token}/cancel", reason="OTHERS")
    finally:
        play.stop()
    with file.open("a") as story:
        story.write("  - at: +1m\n    check: [premium]\n  - at: +40d\n    check: []\n")
    ended = subprocess.run(
        [tollgate(), "scenario", "run", str(file)], text=True, capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed, 0 failed" in ended.stdout
