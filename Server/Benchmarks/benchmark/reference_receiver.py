"""What a team would otherwise write: FastAPI, Apple's library, stripe and SQLite.

Verifies the notification, its transaction and its renewal info with Apple's library, stores what
it says in one durable transaction (WAL, synchronous=FULL) and only then answers 200. Run by uvicorn
with four workers. Online checks are on, since only then does Apple's library remember a chain.

Entitlements are read by the store's account token, by the team's own user id, and by a session whose
answer is signed for the device.
"""

import hashlib
import os
import sqlite3
import time

import jwt
import stripe
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography.hazmat.primitives.asymmetric import ec
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
CREATE TABLE IF NOT EXISTS customer (
    app_user_id TEXT PRIMARY KEY, app_account_token TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS session (
    token_hash TEXT PRIMARY KEY, customer TEXT NOT NULL, expires INTEGER NOT NULL);
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
    signing_key = ec.generate_private_key(ec.SECP256R1())

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

    def active(customer: str, now: int) -> list[dict]:
        rows = database.execute(
            "SELECT original_transaction_id, product, ends FROM subscription"
            " WHERE customer = ? AND ends > ?", (customer, now)).fetchall()
        return [
            {"id": f"ent_{key}", "lookup_key": "pro", "feature": product, "since": None,
             "until": ends, "ground": "payment", "purchase": key}
            for key, product, ends in rows]

    @app.get("/v1/customers/{customer}/entitlements")
    async def entitlements(customer: str):
        return JSONResponse({"data": active(customer, time.time_ns() // 1_000_000)})

    @app.get("/v1/users/{user}/entitlements")
    async def entitlements_of_user(user: str):
        row = database.execute(
            "SELECT app_account_token FROM customer WHERE app_user_id = ?", (user,)).fetchone()
        if row is None:
            return JSONResponse({"error": "unknown"}, status_code=404)
        return JSONResponse({"data": active(row[0], time.time_ns() // 1_000_000)})

    @app.get("/v1/session/entitlements")
    async def entitlements_of_session(request: Request):
        secret = request.headers.get("authorization", "").removeprefix("Bearer ")
        now = time.time_ns() // 1_000_000
        row = database.execute(
            "SELECT customer, expires FROM session WHERE token_hash = ?",
            (hashlib.sha256(secret.encode()).hexdigest(),)).fetchone()
        if row is None or row[1] <= now // 1000:
            return JSONResponse({"error": "session"}, status_code=401)
        data = active(row[0], now)
        claims = {
            "sub": row[0], "aud": "reference", "iat": now // 1000, "exp": now // 1000 + 3 * 86_400,
            "entitlements": {entry["lookup_key"]: entry["until"] for entry in data}}
        return JSONResponse({
            "data": data, "signed_answer": jwt.encode(claims, signing_key, algorithm="ES256")})

    return app
