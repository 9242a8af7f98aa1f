"""What accounts see, recomputed: `import reports` and `report …` over exports of Stripe's, with
Python's `csv` and `decimal`; and the sandbox's payouts with Stripe's own library.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import csv
import decimal
import io
import json
import os
import pathlib
import random
import subprocess
import urllib.request

import pytest
import stripe

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
COLUMNS = [
    "balance_transaction_id", "created_utc", "available_on_utc", "currency", "gross", "fee",
    "net", "reporting_category", "source_id", "description", "customer_facing_amount",
    "customer_facing_currency", "automatic_payout_id", "payment_intent_id", "invoice_id",
]


def tollgate(database, *arguments):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
    return subprocess.run(
        [TOLLGATE, *arguments, "--database", f"sqlite:{database}"],
        capture_output=True, text=True, env=plain, timeout=300)


def transactions(seed):
    """Some weeks of charges, refunds, fees and payouts in two currencies."""
    chance = random.Random(seed)
    rows = []
    for number in range(300):
        day = 1 + number // 10
        month, day = (5, day + 20) if day <= 11 else (6, day - 11)
        currency = chance.choice(["usd", "usd", "eur"])
        kind = chance.choice(["charge"] * 8 + ["refund", "fee", "payout", "dispute"])
        gross = decimal.Decimal(chance.randrange(100, 20000)) / 100
        fee = decimal.Decimal(0)
        if kind == "charge":
            fee = (gross * decimal.Decimal("0.029")).quantize(
                decimal.Decimal("0.01"), decimal.ROUND_HALF_UP) + decimal.Decimal("0.30")
        else:
            gross = -gross
        source = {"charge": "ch", "refund": "re", "fee": "", "payout": "po", "dispute": "dp"}
        rows.append({
            "balance_transaction_id": f"txn_{number:04}",
            "created_utc": f"2026-{month:02}-{day:02} {number % 24:02}:30:00",
            "available_on_utc": f"2026-{month:02}-{day:02} 00:00:00", "currency": currency,
            "gross": f"{gross:,.2f}", "fee": f"{fee}", "net": f"{gross - fee:,.2f}",
            "reporting_category": kind,
            "source_id": f"{source[kind]}_{number}" if source[kind] else "",
            "description": 'A "quoted", long one' if number == 7 else "",
            "payment_intent_id": f"pi_{number}" if kind == "charge" else "",
        })
    return rows


def amount(text):
    return decimal.Decimal(text.replace(",", ""))


@pytest.fixture
def books(tmp_path):
    rows = transactions(7)
    file = tmp_path / "itemized_balance_change.csv"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    database = tmp_path / "books.sqlite"
    done = tollgate(database, "import", "reports", str(file), "--json")
    assert done.returncode == 0, done.stderr
    imported = json.loads(done.stdout)
    assert sum(line["rows"] for line in imported) == len(rows)
    assert all(line["new"] for line in imported)
    again = tollgate(database, "import", "reports", str(file), "--json")
    assert not any(line["new"] for line in json.loads(again.stdout))
    return database, rows


def test_with_one_app_no_command_has_a_column_or_a_filter_for_it(books):
    database, _ = books
    for command in (["report", "payments"], ["report", "sales"], ["export", "sales"]):
        done = tollgate(database, *command, "--app", "reader")
        assert done.returncode == 1, done.stderr
        assert "does not list several apps" in done.stderr
    for command in (["report", "payments"], ["report", "sales"]):
        done = tollgate(database, *command, "--format", "csv")
        assert done.returncode == 0, done.stderr
        assert "app" not in done.stdout.splitlines()[0].split(",")


def test_the_balance_of_a_statement_is_what_the_export_sums_to(books):
    database, rows = books
    done = tollgate(
        database, "report", "statement", "--to", "2026-06-30", "--format", "csv",
        "--environment", "production")
    assert done.returncode == 0, done.stderr
    stated = {
        (line["currency"], line["item"]): amount(line["amount"])
        for line in csv.DictReader(io.StringIO(done.stdout)) if line["section"] == "balance"
    }
    names = {"charge": "charges", "refund": "refunds", "fee": "fees", "payout": "payouts",
             "dispute": "disputes"}
    for currency in ["usd", "eur"]:
        expected = dict.fromkeys(
            ["opening", "closing", "other", *names.values()], decimal.Decimal(0))
        for row in rows:
            if row["currency"] != currency:
                continue
            expected["closing"] += amount(row["net"])
            if row["created_utc"] < "2026-06":
                expected["opening"] += amount(row["net"])
                continue
            expected[names[row["reporting_category"]]] += amount(row["gross"])
            expected["fees"] -= amount(row["fee"])
        assert expected["closing"] != 0
        found = {item: value for (code, item), value in stated.items() if code == currency.upper()}
        assert found == expected


def test_what_nobody_here_knows_is_listed_first_and_ends_with_1(books):
    database, rows = books
    done = tollgate(
        database, "report", "reconciliation", "--from", "2026-06-01", "--to", "2026-06-30",
        "--environment", "production", "--format", "csv")
    assert done.returncode == 1
    assert "nobody can explain" in done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    of_june = [row for row in rows if row["created_utc"] >= "2026-06"]
    unknown = [row["balance_transaction_id"] for row in of_june
               if row["reporting_category"] in ["charge", "refund", "dispute"]]
    fees = [row["balance_transaction_id"] for row in of_june
            if row["reporting_category"] == "fee"]
    missing = [line for line in found if line["reason"] == "missing_here"]
    assert found[:len(missing)] == missing
    assert sorted(line["line"] for line in missing) == sorted(unknown)
    assert sorted(line["line"] for line in found if line["reason"] == "commission_rate") == fees
    assert len(found) == len(unknown) + len(fees)


def test_a_file_that_cannot_be_read_says_where(tmp_path):
    file = tmp_path / "broken.csv"
    file.write_text("id,Net,Fee,Amount,Currency,Created (UTC)\ntxn_1,1.00,0,1.00,usd,yesterday\n")
    done = tollgate(tmp_path / "books.sqlite", "import", "reports", str(file))
    assert done.returncode == 1
    assert "line 2" in done.stderr and "yesterday" in done.stderr


def test_payouts_of_the_sandbox_are_stripes():
    process = subprocess.Popen(
        [TOLLGATE, "sandbox", "stripe", "--listen", "127.0.0.1:0", "--secret-key",
         "sk_test_tollgate"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if line.startswith("stripe listening on "):
                base = line.split()[-1]
                break
        stripe.api_base = base
        stripe.api_key = "sk_test_tollgate"

        def call(path, body):
            request = urllib.request.Request(
                base + path, method="POST", data=json.dumps(body).encode())
            with urllib.request.urlopen(request) as response:
                return json.load(response)

        for _ in range(3):
            stripe.PaymentIntent.create(
                amount=1000, currency="usd", confirm=True, payment_method="pm_card_visa",
                automatic_payment_methods={"enabled": True, "allow_redirects": "never"})
        before = stripe.Balance.retrieve()
        assert before.pending[0].amount == 3 * (1000 - 59) and not before.available
        call("/sandbox/policy", {"payouts": "daily"})
        call("/sandbox/clock/advance", {"by": 4 * 86_400_000})
        payout, = stripe.Payout.list().data
        assert payout.amount == 3 * (1000 - 59) and payout.automatic
        assert payout.status == "paid"
        went = stripe.BalanceTransaction.list(payout=payout.id, expand=["data.source"]).data
        assert sum(one.net for one in went if one.type == "charge") == payout.amount
        assert [one.source.payment_intent[:3] for one in went if one.type == "charge"] == ["pi_"] * 3
        assert stripe.BalanceTransaction.retrieve(payout.balance_transaction).net == -payout.amount
        assert stripe.Balance.retrieve().available[0].amount == 0
    finally:
        process.terminate()
        process.wait(timeout=30)
