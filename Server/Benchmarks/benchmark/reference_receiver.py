"""What a team would otherwise write: FastAPI, Apple's library, stripe and SQLite.

Verifies the notification, its transaction and its renewal info with Apple's library, stores what
it says in one durable transaction (WAL, synchronous=FULL) and only then answers 200. Run by uvicorn
with four workers. Online checks are on, since only then does Apple's library remember a chain.
"""

import os
import sqlite3
import time

import stripe
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

SCHEMA = """
CREATE TABLE IF NOT EXISTS notification (
    uuid TEXT PRIMARY KEY, type TEXT NOT NULL, signed_date INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS period (
    transaction_id TEXT PRIMARY KEY, original_transaction_id TEXT NOT NULL, product TEXT NOT NULL,
    starts INTEGER NOT NULL, ends INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS subscription (
    original_transaction_id TEXT PRIMARY KEY, customer TEXT NOT NULL, product TEXT NOT NULL,
    status INTEGER, auto_renew INTEGER, ends INTEGER NOT NULL, signed_date INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS subscription_customer ON subscription (customer);
CREATE TABLE IF NOT EXISTS stripe_event (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, created INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stripe_subscription (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL, status TEXT NOT NULL, created INTEGER NOT NULL);
"""

UPSERT_SUBSCRIPTION = """
INSERT INTO subscription VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (original_transaction_id) DO UPDATE SET
    product = excluded.product, status = excluded.status, auto_renew = excluded.auto_renew,
    ends = max(ends, excluded.ends), signed_date = excluded.signed_date
WHERE excluded.signed_date >= subscription.signed_date
"""


def connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def make_verifier() -> SignedDataVerifier:
    with open(os.environ["REFERENCE_ROOT"], "rb") as file:
        root = file.read()
    return SignedDataVerifier(
        [root], True, Environment.SANDBOX, os.environ["REFERENCE_BUNDLE_ID"], None)


def make_app() -> FastAPI:
    app = FastAPI()
    verifier = make_verifier()
    database = connect(os.environ["REFERENCE_DATABASE"])
    database.executescript(SCHEMA)
    webhook_secret = os.environ["REFERENCE_STRIPE_SECRET"]

    @app.get("/healthz")
    async def healthz():
        return {"status": "ok"}

    @app.post("/webhooks/app_store")
    async def app_store(request: Request):
        signed_payload = (await request.json())["signedPayload"]
        try:
            notification = verifier.verify_and_decode_notification(signed_payload)
            transaction = verifier.verify_and_decode_signed_transaction(
                notification.data.signedTransactionInfo)
            renewal = verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)
        except VerificationException:
            return JSONResponse({"error": "signature"}, status_code=400)
        database.execute("BEGIN IMMEDIATE")
        try:
            database.execute(
                "INSERT OR IGNORE INTO notification VALUES (?, ?, ?, ?)",
                (notification.notificationUUID, notification.rawNotificationType,
                 notification.signedDate, signed_payload))
            database.execute(
                "INSERT OR REPLACE INTO period VALUES (?, ?, ?, ?, ?)",
                (transaction.transactionId, transaction.originalTransactionId,
                 transaction.productId, transaction.purchaseDate, transaction.expiresDate))
            database.execute(
                UPSERT_SUBSCRIPTION,
                (transaction.originalTransactionId, transaction.appAccountToken,
                 transaction.productId, notification.data.rawStatus, renewal.rawAutoRenewStatus,
                 transaction.expiresDate, notification.signedDate))
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        return JSONResponse({})

    @app.post("/webhooks/stripe")
    async def stripe_webhook(request: Request):
        body = await request.body()
        try:
            event = stripe.Webhook.construct_event(
                body, request.headers["stripe-signature"], webhook_secret)
        except (stripe.SignatureVerificationError, ValueError, KeyError):
            return JSONResponse({"error": "signature"}, status_code=400)
        database.execute("BEGIN IMMEDIATE")
        try:
            database.execute(
                "INSERT OR IGNORE INTO stripe_event VALUES (?, ?, ?, ?)",
                (event.id, event.type, event.created, body.decode()))
            subscription = event.data.object
            database.execute(
                "INSERT OR REPLACE INTO stripe_subscription VALUES (?, ?, ?, ?)",
                (subscription.id, subscription.customer, subscription.status, event.created))
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        return JSONResponse({})

    @app.get("/v1/customers/{customer}/entitlements")
    async def entitlements(customer: str):
        now = time.time_ns() // 1_000_000
        rows = database.execute(
            "SELECT original_transaction_id, product, ends FROM subscription"
            " WHERE customer = ? AND ends > ?", (customer, now)).fetchall()
        return JSONResponse({"data": [
            {"id": f"ent_{key}", "lookup_key": "pro", "feature": product, "since": None,
             "until": ends, "ground": "payment", "purchase": key}
            for key, product, ends in rows]})

    return app
