"""Who the customers are. Everything about customer `i` follows from `i`, so that the corpus and the
filled database agree without a list in between."""

import hashlib
import uuid

BUNDLE_ID = "com.example.app"
PRODUCT_ID = "com.example.app.pro.monthly"
LOOKUP_KEY = "pro"
MONTH_MS = 30 * 86_400_000
HOUR_MS = 3_600_000
FIRST_TRANSACTION_ID = 2_000_000_000_000_000
FIRST_LINE_ITEM_ID = 2_500_000_000_000_000
# A renewal's own transaction id: far from every first one, and distinct for each period.
RENEWAL_STRIDE = 10_000_000_000_000


def app_user_id(customer: int) -> str:
    return f"user-{customer:08d}"


def app_account_token(customer: int) -> str:
    """A UUID that looks random, as real ones do: index pages are touched in no order."""
    digest = hashlib.md5(b"app account token %d" % customer).digest()
    return str(uuid.UUID(bytes=digest, version=4))


def original_transaction_id(customer: int) -> str:
    return str(FIRST_TRANSACTION_ID + customer)


def transaction_id(customer: int, period: int) -> str:
    return str(FIRST_TRANSACTION_ID + RENEWAL_STRIDE * period + customer)


def web_order_line_item_id(customer: int, period: int) -> str:
    return str(FIRST_LINE_ITEM_ID + RENEWAL_STRIDE * period + customer)


def period_start(customer: int, period: int, run_started_ms: int) -> int:
    """Period 0 covers the whole run and ends within a day after it; renewals are sent up to a day
    early, so period 1 starts then. Milliseconds."""
    ends = run_started_ms + HOUR_MS + (customer * 7_919_000) % (22 * HOUR_MS)
    return ends - MONTH_MS + MONTH_MS * period


def shuffled(position: int, count: int) -> int:
    """A fixed permutation of 0..<count, so that consecutive notifications concern distant customers."""
    step = 6_700_417  # prime, larger than any count that is not a multiple of it
    return (position * step + 12_345) % count
