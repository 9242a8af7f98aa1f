"""Rates of the reference's libraries on one core, without HTTP and database: one JSON object.

    python -m benchmark.reference_library APP_STORE_CORPUS STRIPE_CORPUS SECONDS
"""

import json
import sys
import time
from pathlib import Path

import stripe

from . import corpus
from .reference_receiver import make_verifier
from .stripe_events import WEBHOOK_SECRET


def rate(work, inputs, seconds: float) -> float:
    work(inputs[0])  # fills Apple's chain cache, which asks the OCSP responder twice
    done, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        work(inputs[done % len(inputs)])
        done += 1
    return done / (time.process_time() - began)


def main() -> None:
    app_store, stripe_events, seconds = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    verifier = make_verifier()

    def notification(body: bytes) -> None:
        decoded = verifier.verify_and_decode_notification(json.loads(body)["signedPayload"])
        verifier.verify_and_decode_signed_transaction(decoded.data.signedTransactionInfo)
        verifier.verify_and_decode_renewal_info(decoded.data.signedRenewalInfo)

    def event(request: tuple[str, bytes]) -> None:
        stripe.Webhook.construct_event(request[1], request[0], WEBHOOK_SECRET)

    notifications = [body for _, body in corpus.bodies(app_store, 2_000)]
    events = [
        (head.decode().split(": ", 1)[1].strip(), body)
        for head, body in corpus.bodies(stripe_events, 2_000)]
    print(json.dumps({
        "notifications_per_second": rate(notification, notifications, seconds),
        "stripe_events_per_second": rate(event, events, seconds),
    }))


if __name__ == "__main__":
    main()
