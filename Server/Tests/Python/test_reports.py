"""Every figure of the reports, computed again from the exported rows with another language's data
library, for a simulated world of 14 months (two years in the soak) in which both stores sell.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from fractions import Fraction

import pandas as pd
import pytest
import stripe
from playwright.sync_api import expect

from test_app_store_commands import DAY, MONTHLY, ROOT, SECRET, TOLLGATE, World, free_port, listening
from test_dashboard import judge, open_page, picture
from waiting import until

YEARLY = "com.example.app.pro.yearly"
COINS = "com.example.app.coins100"
TRIAL = {"offer_type": 1, "discount_type": "FREE_TRIAL", "period": "P1W", "count": 1, "price": 0}
PRODUCTS = [
    {
        "product_id": MONTHLY, "type": "Auto-Renewable Subscription", "price": 9990,
        "period": "P1M", "subscription_group_id": "pro", "level": 2,
        "introductory_offer": TRIAL,
    },
    {
        "product_id": YEARLY, "type": "Auto-Renewable Subscription", "price": 79990,
        "period": "P1Y", "subscription_group_id": "pro", "level": 1,
    },
    {"product_id": COINS, "type": "Consumable", "price": 300_000, "currency": "JPY"},
]
FACTORS = {"P1M": Fraction(1), "P1Y": Fraction(1, 12)}
AGES = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365, 730]


CATALOG = """\
entitlements:
  - {{lookup_key: pro, name: Pro}}
products:
  - id: pro_monthly
    name: Pro, monthly
    kind: auto_renewable
    app_store_product_id: com.example.app.pro.monthly
    stripe_price_ids: [{monthly}, {monthly_eur}]
    entitlements: [pro]
    subscription_group: pro
    level: 2
    duration: P1M
  - id: pro_yearly
    name: Pro, yearly
    kind: auto_renewable
    app_store_product_id: com.example.app.pro.yearly
    stripe_price_ids: [{yearly}]
    entitlements: [pro]
    coins: 50
    subscription_group: pro
    level: 1
    duration: P1Y
  - id: coins_100
    name: 100 coins
    kind: consumable
    app_store_product_id: com.example.app.coins100
    stripe_price_ids: [{coins}]
    coins: 100
offerings:
  - {{id: standard, products: [pro_yearly, pro_monthly]}}
  - {{id: with_coins, products: [pro_monthly, coins_100]}}
placements:
  - id: paywall
    variants: [{{offering: standard, percent: 50}}, {{offering: with_coins, percent: 50}}]
  - id: settings
    variants: [{{offering: with_coins, percent: 100}}]
"""


# The world


class BothStores(World):
    """The sandbox's App Store and Stripe, whose clocks go together, and a Tollgate beside them."""

    def __init__(self, directory):
        super().__init__(directory)
        port = free_port()
        self.stripe_base = f"http://127.0.0.1:{port}"
        listening(
            self.start(
                self.environment, "sandbox", "stripe", "--listen", f"127.0.0.1:{port}",
                "--now", str(self.now()), "--secret-key", "sk_test_sandbox",
                "--forward-to", f"http://127.0.0.1:{self.port}/webhooks/stripe"),
            "stripe listening on ")
        stripe.api_base, stripe.api_key = self.stripe_base, "sk_test_sandbox"
        month = {"interval": "month"}
        self.prices = {
            "monthly": self.price("Pro", "usd", 999, recurring=month),
            "monthly_eur": self.price("Pro", "eur", 899, recurring=month),
            "yearly": self.price("Pro", "usd", 7999, recurring={"interval": "year"}),
            "coins": self.price("100 coins", "usd", 1000),
        }
        catalog = directory / "catalog.yaml"
        catalog.write_text(CATALOG.format(**self.prices))
        self.environment |= {
            "TOLLGATE_CATALOG": str(catalog),
            "TOLLGATE_STRIPE_API_BASE": self.stripe_base,
            "TOLLGATE_STRIPE_SECRET_KEY": "sk_test_sandbox",
            "TOLLGATE_STRIPE_WEBHOOK_SECRETS": "whsec_sandbox",
        }

    @staticmethod
    def price(name, currency, amount, **more):
        return stripe.Price.create(
            currency=currency, unit_amount=amount, product_data={"name": name}, **more).id

    def play(self, path, **body):
        request = urllib.request.Request(
            f"{self.stripe_base}/sandbox/{path}", method="POST", data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def pass_time(self, milliseconds):
        """Both stores live to the same instant, the one after the other."""
        until = self.now() + milliseconds
        self.control("POST", "clock/advance", {"to": until})
        self.play("clock/advance", to=until)

    def has_unanswered_questions(self):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/metrics",
            headers={"Authorization": f"Bearer {SECRET}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return any(line.startswith("tollgate_wanted{") and not line.endswith(" 0")
                   for line in lines)


class OnTheWeb:
    """People who buy at Stripe: some of the app's users, some whom the app does not know yet, some
    guests."""

    def __init__(self, world, seed):
        self.world = world
        self.chance = random.Random(seed)
        self.charges, self.customers, self.refunded = [], [], set()

    def buy(self, user=None):
        chance, world = self.chance, self.world
        price = chance.choice(["monthly", "monthly", "monthly_eur", "yearly", "coins", "coins"])
        mode = "payment" if price == "coins" else "subscription"
        if user and price != "monthly_eur":
            product = "coins_100" if price == "coins" else f"pro_{price}"
            session = attempt(
                world.api, "/v1/checkout_sessions", {"customer": user, "product": product})
            if session is None:
                return
            session = session["url"].split("?")[0].split("#")[0].rsplit("/", 1)[1]
        else:
            more = {}
            if mode == "subscription" and chance.random() < 0.4:
                more["subscription_data"] = {"trial_period_days": 7}
            if mode == "subscription" or chance.random() < 0.5:
                more["customer"] = stripe.Customer.create().id
            session = stripe.checkout.Session.create(
                mode=mode, success_url="http://127.0.0.1:1/done",
                line_items=[{"price": world.prices[price], "quantity": chance.randint(1, 3)
                             if mode == "payment" else 1}], **more).id
        card = chance.choice(["4242424242424242"] * 6 + ["4000000000000341", "4000000000000259"])
        attempt(lambda: world.play(f"checkout/{session}/pay", card=card))

    def change_something(self):
        chance, world = self.chance, self.world
        there = stripe.Subscription.list(limit=100).data
        for subscription in chance.sample(there, min(2, len(there))):
            item = subscription["items"].data[0]
            verb = chance.choice(["cancel", "end", "up", "down", "fail", "mend"])
            try:
                if verb == "cancel":
                    stripe.Subscription.modify(subscription.id, cancel_at_period_end=True)
                elif verb == "end":
                    stripe.Subscription.cancel(subscription.id)
                elif verb in ("up", "down") and item.price.currency == "usd":
                    price = world.prices["yearly" if verb == "up" else "monthly"]
                    if item.price.id != price:
                        stripe.Subscription.modify(
                            subscription.id, items=[{"id": item.id, "price": price}],
                            proration_behavior="always_invoice" if verb == "up" else "none")
                elif verb in ("fail", "mend"):
                    card = "4000000000000341" if verb == "fail" else "4242424242424242"
                    world.play(f"customers/{subscription.customer}/default_card", card=card)
            except stripe.StripeError as error:
                # A card that is refused, a subscription that has ended.
                assert error.http_status in (400, 402, 404), error

    def take_back(self):
        charges = [c for c in stripe.Charge.list(limit=100).data
                   if c.paid and not c.refunded and not c.disputed]
        if charges:
            charge = self.chance.choice(charges)
            part = {} if self.chance.random() < 0.5 else {"amount": charge.amount // 3}
            attempt(lambda: self.world.play("refunds", charge=charge.id, **part))


def postgres(folder):
    """A server of its own, and its end."""
    say = "import os, sys; print(os.environ['TOLLGATE_DATABASE'], flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        ["bash", str(ROOT / "scripts/with-postgres.sh"), sys.executable, "-c", say],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process.stdout.readline().strip(), lambda: (process.stdin.close(), process.wait())


def sqlite(folder):
    return f"sqlite:{pathlib.Path(folder) / 'tollgate.sqlite'}", lambda: None


def attempt(call, *arguments):
    """Does what may be refused: a subscription that has ended cannot be cancelled."""
    try:
        return call(*arguments)
    except urllib.error.HTTPError as error:
        assert error.code in (400, 404, 409, 422), error.read()
        return None


def see(world, user, placement, offering):
    """The app shows an offering to somebody who is signed in."""
    session = world.api("/v1/customer_sessions", {
        "customer": user, "components": {"customer_portal": {"enabled": True}}})["client_secret"]
    request = urllib.request.Request(
        f"http://127.0.0.1:{world.port}/v1/placements/{placement}/shown", method="POST",
        data=json.dumps({"offering": offering}).encode(),
        headers={"Authorization": f"Bearer {session}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def live(world, seed):
    """People come, try, pay, change, fail to pay, leave, come back, get money back."""
    chance = random.Random(seed)
    subscriptions, transactions, people = [], [], []
    web = OnTheWeb(world, seed)
    # Of its own, so that what is seen changes nothing of what is bought.
    eyes = random.Random(seed)

    def look():
        """Some of the app's users see a placement; some of them have seen it before."""
        users = range(1, len(people) + 1, 2)
        for user in eyes.sample(users, min(3, len(users))):
            offering = eyes.choice(["standard", "with_coins"])
            see(world, f"user-{user}", "paywall", offering)
            if eyes.random() < 0.4:
                see(world, f"user-{user}", "settings", "with_coins")

    def buy(customer, product):
        bought = attempt(
            world.control, "POST", "purchases", {"customer": customer, "product_id": product})
        if bought:
            transactions.append((bought["transaction_id"], product))
            if product != COINS:
                subscriptions.append((bought["original_transaction_id"], customer))

    for month in range(MONTHS):
        for _ in range(3):
            token = f"{chance.getrandbits(128):032x}"
            token = "-".join((token[:8], token[8:12], token[12:16], token[16:20], token[20:]))
            customer = world.control("POST", "customers", {
                "app_account_token": token,
                "storefront": chance.choice(["USA", "DEU", "JPN"]),
            })["id"]
            people.append((customer, token))
            if len(people) % 2:
                world.api("/v1/customers", {
                    "app_user_id": f"user-{len(people)}", "app_account_token": token})
                if eyes.random() < 0.7:
                    see(world, f"user-{len(people)}", "paywall", eyes.choice(
                        ["standard", "with_coins"]))
            buy(customer, chance.choice([MONTHLY, MONTHLY, YEARLY, COINS]))
        for customer, _ in chance.sample(people, min(2, len(people))):
            buy(customer, chance.choice([COINS, MONTHLY]))
        for subscription, customer in chance.sample(subscriptions, min(4, len(subscriptions))):
            verb = chance.choice(["cancel", "cancel", "resume", "change", "fail", "recover"])
            if verb == "change":
                attempt(world.control, "POST", f"subscriptions/{subscription}/change",
                        {"product_id": chance.choice([MONTHLY, YEARLY])})
            elif verb in ("fail", "recover"):
                attempt(world.control, "POST", f"customers/{customer}/billing/{verb}")
            else:
                attempt(world.control, "POST", f"subscriptions/{subscription}/{verb}")
        if month % 2 and transactions:
            refunded, _ = chance.choice(transactions)
            attempt(world.control, "POST", f"transactions/{refunded}/refund", {"reason": 0})
        for number in range(1, len(people), 8):
            request = urllib.request.Request(
                f"http://127.0.0.1:{world.port}/v1/customers/user-{number + 1 - number % 2}"
                "/coins/spend",
                method="POST", data=json.dumps({"amount": chance.randint(1, 40)}).encode(),
                headers={
                    "Authorization": f"Bearer {SECRET}",
                    "Content-Type": "application/json", "Idempotency-Key": f"{month}-{number}"})
            attempt(lambda request: urllib.request.urlopen(request, timeout=60).read(), request)
        for user in (None, None, f"user-{chance.randrange(0, len(people), 2) + 1}"):
            web.buy(user)
        look()
        web.change_something()
        web.take_back()
        world.pass_time(30 * DAY + chance.randint(0, DAY))


# Long enough for a year's plan to be renewed.
MONTHS = 24 if os.environ.get("TOLLGATE_SOAK") else 14
# The same figures on PostgreSQL are for `make soak`: ReportsTests have both databases.
DATABASES = [sqlite, postgres] if os.environ.get("TOLLGATE_SOAK") else [sqlite]


@pytest.fixture(scope="module", params=DATABASES)
def told(request, tmp_path_factory):
    """The rows and a way to ask for reports, when they have lived."""
    folder = tmp_path_factory.mktemp("reports")
    location, end = request.param(folder)
    world = BothStores(folder)
    world.environment["TOLLGATE_DATABASE"] = location
    world.control("PUT", "products", {"data": PRODUCTS})
    world.first = world.now()
    server = world.serve()
    live(world, seed=11)
    world.play("settle")
    until(lambda: not world.has_unanswered_questions(), "what the stores were asked is not answered")
    world.end(server)
    world.days = (day(world.first), day(world.now()))
    world.kind = request.param.__name__
    yield Told(world)
    world.stop()
    end()


def day(milliseconds):
    return milliseconds // DAY


def iso(number):
    return (pd.Timestamp(0) + pd.Timedelta(days=number)).strftime("%Y-%m-%d")


class Told:
    def __init__(self, world):
        self.world = world
        self.first, self.last = world.days
        self.sales = with_fees(self.export("sales"))
        self.periods = self.export("periods")
        self.coins = self.export("coins")

    def export(self, name):
        answer = self.world.run("export", name)
        assert answer.returncode == 0, answer.stderr
        return pd.read_csv(io.StringIO(answer.stdout), keep_default_na=False)

    def report(self, name, by="month", *more, first=None):
        answer = self.world.run(
            "report", name, "--from", iso(first or self.first), "--to", iso(self.last), "--by", by,
            "--json", *more)
        assert answer.returncode == 0, answer.stderr
        table = json.loads(answer.stdout)
        assert table["definitions"] and not [n for n in table["notes"] if "behind" in n]
        return [{k: exact(v) for k, v in row.items()} for row in table["rows"]]

    def pieces(self, by):
        """First and last day of each piece of the range."""
        starts = []
        for number in range(self.first, self.last + 1):
            stamp = pd.Timestamp(0) + pd.Timedelta(days=number)
            is_start = by == "day" or (by == "week" and stamp.day_of_week == 0) or (
                by == "month" and stamp.day == 1)
            if is_start or number == self.first:
                starts.append(number)
        return list(zip(starts, [s - 1 for s in starts[1:]] + [self.last]))


def exact(value):
    if isinstance(value, dict):
        return Fraction(int(value["numerator"]), int(value["denominator"]))
    return value


# What is computed again, by the definitions of docs/reports.md alone


def is_paid(period):
    granted = (period.offer not in ("", "trial") and period.milliunits == 0
               and not period.unpriced)
    return (period.offer != "trial" and not granted and not period.family_shared
            and period.start < period.effective_end)


def in_grace(period, at):
    awaited = int(period.awaited_until) if period.awaited_until != "" else period.start
    return is_paid(period) and (
        period.start <= at < awaited or period.paid_until <= at < period.effective_end)


def monthly(period):
    # An offer that is paid up front has no duration: its real days count.
    if period.duration in FACTORS and period.offer != "introductory" and not period.proration:
        return period.milliunits * FACTORS[period.duration]
    days = max(1, (period.end - period.start + DAY // 2) // DAY)
    factor = 1 if 27 <= days <= 33 else Fraction(1, 12) if 363 <= days <= 375 else Fraction(
        28, int(days))
    value = period.milliunits * Fraction(factor)
    # Other denominators are rounded to one.
    is_common = 12 % value.denominator == 0
    return value if is_common else Fraction(int(value * 12_000 + Fraction(1, 2)), 12_000)


def with_fees(sales):
    """Stripe takes its fixed fee once for a payment: at the first line of it that cost something."""
    paid = sales[(sales.kind == "charge") & (sales.milliunits > 0) & (sales.payment != "")]
    again = paid.index[paid.duplicated("payment")]
    return sales.assign(fee=~sales.index.isin(again))


def proceeds_of(sale):
    sign = 1 if sale.kind == "charge" else -1
    if sale.store == "app_store":
        share = Fraction(85, 100) if sale.after_one_year else Fraction(70, 100)
        return sign * sale.milliunits * share
    if sale.kind != "charge":
        return Fraction(-sale.milliunits)
    fixed = 300 if sale.currency == "USD" and sale.milliunits and sale.fee else 0
    return sale.milliunits * Fraction(971, 1000) - fixed


def at_end_of(number):
    return (number + 1) * DAY - 1


def active(periods, number):
    at = at_end_of(number)
    return [p for p in periods if p.start <= at < p.effective_end]


def paid_periods(told):
    return [p for p in told.periods.itertuples() if is_paid(p)]


def test_the_world_is_rich_enough(told):
    assert 2 * len(told.sales) > 25 * MONTHS
    for store in ("app_store", "stripe"):
        sales = told.sales[told.sales.store == store]
        assert (sales.kind == "refund").sum() > 3, store
        assert set(sales["product"]) == {"pro_monthly", "pro_yearly", "coins_100"}, store
        assert {"", "trial"} <= set(told.periods[told.periods.store == store].offer), store
        assert told.coins[told.coins.store == store].kind.eq("sold").sum() > 5, store
    of_stripe = told.sales[told.sales.store == "stripe"]
    assert (of_stripe.kind == "chargeback").any()
    assert {"USD", "EUR"} <= set(of_stripe.currency)
    # Some have bought in both.
    assert (told.sales.groupby("customer").store.nunique() == 2).any()
    assert len(set(told.sales.country)) >= 3
    assert set(told.coins.kind) == {"sold", "spent", "refunded"} or set(
        told.coins.kind) == {"sold", "spent"}
    assert told.periods.effective_end.ne(told.periods.end).any()


@pytest.mark.parametrize("by", ["day", "week", "month"])
def test_sales(told, by):
    rows = told.report("sales", by)
    expected = []
    sales = told.sales[told.sales.family_shared == 0]
    for first, last in told.pieces(by):
        within = sales[(sales["at"] >= first * DAY) & (sales["at"] <= at_end_of(last))]
        for (store, product, currency), group in within.groupby(
                ["store", "product", "currency"]):
            charges = group[group.kind == "charge"]
            back = group[group.kind != "charge"]
            proceeds = sum(map(proceeds_of, group.itertuples()))
            expected.append({
                "day": iso(first), "store": store, "product": product, "currency": currency,
                "units": int(charges.quantity.sum()),
                "transactions": int((charges.milliunits > 0).sum()),
                "gross": Fraction(int(charges.milliunits.sum())),
                "refunded_units": int(back[back.first_refund == 1].quantity.sum()),
                "refunds": Fraction(int(back.milliunits.sum())),
                "net": Fraction(int(charges.milliunits.sum() - back.milliunits.sum())),
                "estimated_proceeds": Fraction(proceeds),
            })
    assert rows == expected


def test_revenue_and_refunds(told):
    sales = told.sales[told.sales.family_shared == 0]
    revenue = {(r["day"], r["currency"]): r for r in told.report("revenue")}
    refunds = {(r["day"], r["currency"]): r for r in told.report("refunds")}
    seen = 0
    for first, last in told.pieces("month"):
        for currency in set(sales.currency) - {""}:
            own = sales[sales.currency == currency]
            within = own[(own["at"] >= first * DAY) & (own["at"] <= at_end_of(last))]
            charges, back = within[within.kind == "charge"], within[within.kind != "charge"]
            row = revenue[iso(first), currency]
            assert row["gross"] == int(charges.milliunits.sum())
            assert row["refunds"] == int(back.milliunits.sum())
            assert row["net"] == row["gross"] - row["refunds"]
            since = own[(own.kind != "charge") & (own.purchased_at >= first * DAY)
                        & (own.purchased_at <= at_end_of(last))]
            # Who gets nothing back of what cost nothing is not among the refunded.
            once = since[(since.first_refund == 1) & (since.milliunits > 0)]
            now = back[(back.first_refund == 1) & (back.milliunits > 0)]
            paid = int((charges.milliunits > 0).sum())
            row = refunds[iso(first), currency]
            assert row["paid"] == paid
            assert row["refunded_by_purchase"] == len(once)
            assert row["refunded_by_date"] == len(now)
            assert row["amount_by_purchase"] == int(since.milliunits.sum())
            assert row["amount_by_date"] == int(back.milliunits.sum())
            assert row["rate_by_purchase"] == (
                Fraction(len(once), paid) if paid else None)
            assert row["rate_by_date"] == (
                Fraction(len(now), paid) if paid else None)
            seen += paid
    assert seen > 100


@pytest.mark.parametrize("more", [
    (), ("--country", "JP"), ("--product", "pro_monthly"), ("--store", "stripe")])
def test_subscriptions_and_mrr(told, more):
    periods = list(told.periods.itertuples())
    if more:
        field, value = more[0][2:], more[1]
        periods = [p for p in periods if getattr(p, field) == value]
    paid = [p for p in periods if is_paid(p)]
    states = {r["day"]: r for r in told.report("subscriptions", "week", *more)}
    assert len(states) == len(told.pieces("week"))
    for _, last in told.pieces("week"):
        at = at_end_of(last)
        row = states[iso(last)]
        assert row["active"] == len(active(paid, last))
        own = [p for p in periods if not p.family_shared]
        assert row["trials"] == sum(
            p.offer == "trial" and p.start <= at < p.effective_end for p in own)
        assert row["grace"] == sum(in_grace(p, at) for p in own)
    for row in told.report("mrr", "week", *more):
        last = (pd.Timestamp(row["day"]) - pd.Timestamp(0)).days
        there = [p for p in active(paid, last) if p.currency == row["currency"]]
        assert row["mrr"] == sum((monthly(p) for p in there), Fraction(0))
        assert row["arr"] == 12 * row["mrr"]
        assert row["active"] == len(there)


def returning(told):
    """The subscriptions with which customers of Stripe came back: each follows one of the same
    customer's that had ended, and that nothing else follows."""
    spans = {}
    for period in told.periods[told.periods.store == "stripe"].itertuples():
        first, last = day(period.start), day(period.effective_end)
        if is_paid(period) and first < last:
            known = spans.setdefault(period.customer, {}).get(period.purchase, (first, last))
            spans[period.customer][period.purchase] = (
                min(first, known[0]), max(last, known[1]))
    came_back = set()
    for own in spans.values():
        ended = {}
        for first, purchase, last in sorted((f, p, l) for p, (f, l) in own.items()):
            before = [(l, p) for p, l in ended.items() if l <= first]
            if before:
                del ended[max(before)[1]]
                came_back.add(purchase)
            ended[purchase] = last
    return came_back


def movements(told):
    """What changed on each day: (day, kind, currency) to value and number."""
    changes = {}
    came_back = returning(told)
    for purchase, group in told.periods.groupby("purchase"):
        periods = [p for p in group.itertuples() if is_paid(p)]
        days = sorted({d for p in periods for d in (day(p.start), day(p.effective_end))})
        before, was_active = [], False
        for number in days:
            after = active(periods, number)
            if {p.Index for p in before} == {p.Index for p in after}:
                continue
            if not before:
                kind = "returned" if was_active or purchase in came_back else "new"
            elif not after:
                kind = "churned"
            else:
                grows = sum(map(monthly, after)) >= sum(map(monthly, before))
                kind = "expansion" if grows else "contraction"
            for sign, there in ((-1, before), (1, after)):
                for period in there:
                    value, count = changes.get((number, kind, period.currency), (Fraction(0), 0))
                    changes[number, kind, period.currency] = (
                        value + sign * monthly(period), count + sign)
            before, was_active = after, was_active or bool(after)
    return changes


def test_movement_and_churn(told):
    changes = movements(told)
    kinds = ["new", "expansion", "contraction", "churned", "returned"]
    for row in told.report("mrr-movement"):
        first = (pd.Timestamp(row["day"]) - pd.Timestamp(0)).days
        last = dict(told.pieces("month"))[first]

        def of(kind, part):
            return sum((change[part] for (number, of_kind, currency), change in changes.items()
                        if first <= number <= last and of_kind == kind
                        and currency == row["currency"]), Fraction(0))

        for kind in kinds:
            assert row[kind] == of(kind, 0), (row["day"], kind)
        assert row["opening"] + sum(row[kind] for kind in kinds) == row["closing"]
        assert row["new_count"] == of("new", 1)
        assert row["churned_count"] == -of("churned", 1)
        assert row["returned_count"] == of("returned", 1)
    paid = paid_periods(told)
    rates = 0
    for row, (first, last) in zip(told.report("churn"), told.pieces("month")):
        def total(kind):
            return sum(change[1] for (number, of_kind, _), change in changes.items()
                       if first <= number <= last and of_kind == kind)

        start = len(active(paid, first - 1))
        assert (row["active_at_start"], row["expired"], row["resubscribed"]) == (
            start, -total("churned"), total("returned"))
        expected = Fraction(-total("churned") - total("returned"), start) if start else None
        assert row["rate"] == expected
        rates += expected is not None
    assert rates > MONTHS - 3


def test_trials(told):
    rows = {r["day"]: r for r in told.report("trials")}
    total = 0
    for first, last in told.pieces("month"):
        started = converted = pending = 0
        for _, group in told.periods.groupby("purchase"):
            periods = sorted(group.itertuples(), key=lambda p: (p.start, str(p.id)))
            for index, trial in enumerate(periods):
                begun = first * DAY <= trial.start <= at_end_of(last)
                if trial.offer != "trial" or trial.family_shared or not begun:
                    continue
                started += 1
                # A plan that ran beside the trial does not convert it.
                beside = {p.store_product for p in periods if p.store_product != trial.store_product
                          and p.start < trial.paid_until and trial.start < p.paid_until}
                later = [p for p in periods[index + 1:] if p.store_product not in beside
                         and (is_paid(p) or p.refunded_at != "")]
                if later and later[0].refunded_at == "":
                    converted += 1
                elif not later and day(trial.effective_end) >= told.last:
                    pending += 1
        if not started:
            assert iso(first) not in rows or rows[iso(first)]["started"] == 0
            continue
        row = rows[iso(first)]
        assert (row["started"], row["converted"], row["pending"]) == (
            started, converted, pending)
        assert row["abandoned"] == started - converted - pending
        assert row["conversion"] == Fraction(converted, started)
        total += started
    assert total > 10


def calendar_length(first):
    """The product's duration; nothing where the period was sold for less than half of it, as all
    that a sandbox lasts, unless it is what was left of one that was changed in its middle."""
    length = {"P1M": pd.DateOffset(months=1), "P1Y": pd.DateOffset(years=1)}.get(first.duration)
    begun, end = (pd.Timestamp(int(at), unit="ms") for at in (first.start, first.end))
    is_whole = first.proration or length is None or end - begun >= (begun + length - begun) / 2
    return length if is_whole else None


def numbered(first, period):
    """The number of a period, counted from the first one of the same product; it may begin up to
    half of one early, but what is left of one in its middle belongs to that one."""
    length = calendar_length(first)
    if length is None:
        length = first.end - first.start
        early = 0 if period.proration else length // 2
        return (period.start - first.start + early) // length
    anchor = pd.Timestamp(int(first.start), unit="ms")
    early = pd.Timedelta(0) if period.proration else (anchor + length - anchor) / 2
    target = pd.Timestamp(int(period.start), unit="ms") + early
    number = 0
    while anchor + length * (number + 1) <= target:
        number += 1
    return number


def is_due(number, begun, first, today):
    """Whether everybody who began on that day had the chance to pay for the period."""
    begun = pd.Timestamp(0) + pd.Timedelta(days=begun)
    step = calendar_length(first) or pd.Timedelta(days=max(1, (first.end - first.start) // DAY))
    at = begun + step * number if number else begun
    return at <= pd.Timestamp(0) + pd.Timedelta(days=today)


def test_retention(told):
    cohorts = {}
    for (_, product), group in told.periods.groupby(["purchase", "product"]):
        own = sorted(
            (p for p in group.itertuples()
             if (is_paid(p) or (p.refunded_at != "" and not p.family_shared))
             and p.offer != "introductory"),
            key=lambda p: (p.start, str(p.id)))
        standard = [p for p in own if p.offer == ""]
        if not standard:
            continue
        first = standard[0]
        numbers = {numbered(first, p) for p in own
                   if p.start >= first.start and p.refunded_at == ""}
        cohorts.setdefault(product, []).append((day(first.start), first, numbers))
    months = dict(told.pieces("month"))
    expected = []
    for first, last in months.items():
        for product in sorted(cohorts):
            members = [m for m in cohorts[product] if first <= m[0] <= last]
            for number in range(61):
                had = [m for m in members if is_due(number, m[0], m[1], told.last)]
                if not had:
                    break
                paid = sum(number in m[2] for m in had)
                expected.append((iso(first), product, number, paid, len(had),
                                 Fraction(paid, len(had))))
    rows = [(r["day"], r["product"], r["period"], r["paid"], r["subscriptions"], r["retention"])
            for r in told.report("retention")]
    assert rows == expected and len(rows) > 100


def test_lifetime_value(told):
    sales = told.sales[told.sales.family_shared == 0]
    people = []
    for _, group in sales.groupby("customer"):
        charges = group[group.kind == "charge"]
        first = day(charges["at"].min())
        paid = charges[charges.milliunits > 0]["at"]
        people.append((first, day(paid.min()) - first if len(paid) else None, group))
    rows = {(r["day"], r["currency"], r["age"]): r for r in told.report("ltv")}
    seen = 0
    for first, last in told.pieces("month"):
        cohort = [p for p in people if first <= p[0] <= last]
        for age in AGES:
            if not last + age < told.last:
                continue
            payers = sum(p[1] is not None and p[1] <= age for p in cohort)
            for currency in {c for p in cohort for c in p[2].currency if c}:
                own = [(p[0], p[2][(p[2].currency == currency) & (p[2].milliunits > 0)])
                       for p in cohort]
                if not any(len(group) for _, group in own):
                    continue
                revenue = sum(
                    (1 if s.kind == "charge" else -1) * s.milliunits
                    for begun, group in own for s in group.itertuples()
                    if day(s.at) - begun <= age)
                row = rows.get((iso(first), currency, age))
                if row is None:
                    assert revenue == 0, "all of it went back at once"
                    continue
                assert (row["customers"], row["payers"]) == (len(cohort), payers)
                assert row["revenue"] == revenue
                assert row["ltv"] == Fraction(int(revenue), len(cohort))
                assert row["per_payer"] == (Fraction(int(revenue), payers) if payers else None)
                seen += 1
    assert seen > 50


def test_coins(told):
    outstanding = 0
    for row, (first, last) in zip(told.report("coins"), told.pieces("month")):
        within = told.coins[
            (told.coins["at"] >= first * DAY) & (told.coins["at"] <= at_end_of(last))]
        by_kind = within.groupby("kind").coins.sum()
        sold, back, spent = (int(by_kind.get(k, 0)) for k in ("sold", "refunded", "spent"))
        outstanding += sold - back - spent
        assert (row["sold"], row["refunded"], row["spent"], row["outstanding"]) == (
            sold, back, spent, outstanding)


def in_sandbox(subject):
    """The key in sales of a customer whom the journal knows by `subject`."""
    return f"{int(subject, 16) ^ 0x73616E64626F7821 << 64:032x}"


def placements(told, first):
    """The lines of the report from a day on, by the exported rows alone."""
    journal = told.export("journal")
    seen = {}
    for row in journal[journal.shown != ""].itertuples():
        placement, offering = row.shown.split("/")
        seen.setdefault((row.subject, placement), []).append((row.stated, offering))
    sales = told.sales[(told.sales.family_shared == 0) & (told.sales.milliunits > 0)]
    counts, money = {}, {}
    for (subject, placement), showings in seen.items():
        at, offering = min(showings)
        if not first <= day(at) <= told.last:
            continue
        end, over = at + 30 * DAY, (told.last + 1) * DAY
        own = sales[(sales.customer == in_sandbox(subject)) & (sales.purchased_at >= at)
                    & (sales["at"] < min(end, over))]
        line = counts.setdefault((placement, offering), [0, 0, 0])
        line[0] += 1
        line[1] += bool((own.kind == "charge").any())
        line[2] += end > over
        for sale in own.itertuples():
            sums = money.setdefault((placement, offering), {})
            sums[sale.currency] = sums.get(sale.currency, 0) + int(
                sale.milliunits if sale.kind == "charge" else -sale.milliunits)
    return [
        {"placement": placement, "offering": offering, "currency": currency,
         "customers": customers, "bought": bought, "conversion": Fraction(bought, customers),
         "open": still, "net": net, "net_per_customer": net and Fraction(net, customers)}
        for (placement, offering), (customers, bought, still) in sorted(counts.items())
        for currency, net in sorted(money.get((placement, offering), {"": None}).items())]


@pytest.mark.parametrize("days", [None, 20, 200])
def test_placements(told, days):
    first = told.first if days is None else told.last - days
    rows = told.report("placements", first=first)
    assert rows == placements(told, first)
    if days is None:
        assert {(r["placement"], r["offering"]) for r in rows} == {
            ("paywall", "standard"), ("paywall", "with_coins"), ("settings", "with_coins")}
        assert all(0 < r["bought"] < r["customers"] for r in rows if r["placement"] == "paywall")
        assert len({r["currency"] for r in rows}) > 1


def overview(told, first, currencies):
    """The numbers of the overview from a day on, for each currency."""
    paid = paid_periods(told)
    at = at_end_of(told.last)
    changes = [(kind, value, currency, count)
               for (number, kind, currency), (value, count) in movements(told).items()
               if first <= number <= told.last]
    start = len(active(paid, first - 1))
    gone = -sum(count for kind, _, _, count in changes if kind in ("churned", "returned"))
    trials = sum(p.offer == "trial" and not p.family_shared and p.start <= at < p.effective_end
                 for p in told.periods.itertuples())
    coins = told.coins[told.coins["at"] <= at].groupby("kind").coins.sum()
    sales = told.sales[(told.sales.family_shared == 0) & (told.sales["at"] <= at)]
    sales = sales[sales["at"] >= first * DAY]
    numbers = {}
    for currency in currencies:
        there = [p for p in active(paid, told.last) if p.currency == currency]
        own = sales[sales.currency == currency]
        gross = int(own[own.kind == "charge"].milliunits.sum())
        back = int(own[own.kind != "charge"].milliunits.sum())
        numbers[currency] = {
            "day": iso(told.last), "currency": currency, "gross": gross, "refunds": back,
            "net": gross - back,
            "estimated_proceeds": sum(map(proceeds_of, own.itertuples()), Fraction(0)),
            "mrr": sum((monthly(p) for p in there), Fraction(0)),
            "mrr_change": sum((value for _, value, own_currency, _ in changes
                               if own_currency == currency), Fraction(0)),
            "active": len(active(paid, told.last)), "trials": trials,
            "churn_rate": Fraction(gone, start) if start else None,
            "coins_outstanding": int(
                coins.get("sold", 0) - coins.get("refunded", 0) - coins.get("spent", 0)),
        }
    return numbers


@pytest.mark.parametrize("days", [None, 30, 200])
def test_overview(told, days):
    """Each number, over all days and over the last ones."""
    first = told.last - days + 1 if days else told.first
    rows = {row["currency"]: row for row in told.report("overview", "day", first=first)}
    assert rows.keys() >= {"USD", "EUR"}
    assert rows == overview(told, first, rows)


def chains(periods):
    """For each period, the place of the one that it comes after: of the App Store the last; of
    Stripe, whose subscriptions may have several items at once, the one of its product that it goes
    on with, else the last one that ended before and that nothing goes on with."""
    if not any(p.store == "stripe" for p in periods):
        return [None, *range(len(periods) - 1)]
    before = []
    for index, period in enumerate(periods):
        own = [i for i in range(index) if periods[i].product == period.product
               and periods[i].effective_end >= period.start]
        before.append(own[-1] if own else None)
    for index, period in enumerate(periods):
        if before[index] is None:
            ended = [(periods[i].effective_end, periods[i].product == period.product, i)
                     for i in range(index)
                     if periods[i].effective_end <= period.start and i not in before]
            before[index] = max(ended)[2] if ended else None
    return before


def test_events(told):
    """Subscribes and renewals are the charges of plans; ends are those after which nothing came."""
    periods = told.periods[told.periods.family_shared == 0]
    counts = {}
    for row in told.report("events"):
        counts[row["event"]] = counts.get(row["event"], 0) + row["count"]
    expected_begun = expected_ends = 0
    for _, group in periods.groupby("purchase"):
        ordered = sorted(group.itertuples(), key=lambda p: (p.start, str(p.id)))
        before = chains(ordered)
        for index, period in enumerate(ordered):
            last = None if before[index] is None else ordered[before[index]]
            # More seats of the same plan in the middle of a period are no renewal.
            more = (period.proration and last is not None and last.product == period.product
                    and period.start <= last.effective_end)
            expected_begun += not more and period.start <= at_end_of(told.last)
            followed = any(b == index and later.start <= period.effective_end
                           for b, later in zip(before, ordered))
            expected_ends += not followed and day(period.effective_end) <= told.last
    begun = sum(n for event, n in counts.items() if event not in ("Cancel", "Refund"))
    assert begun == expected_begun
    refunded = periods[periods.refunded_at != ""]
    assert counts.get("Refund", 0) == len(refunded)
    assert counts["Cancel"] == expected_ends


def test_an_export_goes_on_where_it_ended(told):
    """In pieces as in one go; the journal too."""
    cursor = told.world.directory / "cursor"
    for source in ("sales", "journal"):
        whole = told.world.run("export", source).stdout
        text = ""
        while True:
            part = told.world.run(
                "export", source, "--limit", "400", "--cursor-file", str(cursor))
            assert part.returncode == 0, part.stderr
            if not part.stdout:
                break
            text += part.stdout
        cursor.unlink()
        assert list(csv.reader(io.StringIO(text))) == list(csv.reader(io.StringIO(whole)))
    lines = told.world.run("export", "journal", "--format", "ndjson", "--limit", "5").stdout
    assert [json.loads(line)["id"] for line in lines.splitlines()] == [1, 2, 3, 4, 5]


def test_commands_say_at_which_instant_they_looked_and_cut_nothing_silently(told):
    """The sandbox's clock is years away from this machine's."""
    run, last = told.world.run, iso(told.last)
    table = json.loads(run("report", "sales", "--json").stdout)
    assert [n for n in table["notes"] if n.startswith("As of ") and "sandbox's clock" in n]
    for command in (["report", "sales"], ["report", "payments"]):
        assert "Note: As of " in run(*command).stdout
    for command in (["report", "sales", "--format", "csv"], ["export", "sales"]):
        answer = run(*command)
        assert answer.stderr.startswith("As of ") and "As of" not in answer.stdout
        assert "goes on until" not in answer.stderr
    whole = run("export", "journal").stdout
    # Where nobody names the sandbox's clock, a record that is ahead is named, and given out.
    elsewhere = {"TOLLGATE_CLOCK": "system"}
    behind = run("export", "journal", **elsewhere)
    assert behind.stdout == whole and "this machine's clock" in behind.stderr
    for source in ("sales", "periods", "coins"):
        assert run("export", source, **elsewhere).stdout == run("export", source).stdout
    is_ahead = told.world.now() > (time.time() + 3600) * 1000
    for command in (["export", "journal"], ["report", "sales"], ["report", "payments"]):
        answer = run(*command, **elsewhere)
        assert ("TOLLGATE_CLOCK=" in answer.stderr) == is_ahead, answer.stderr
    # Days that lie ahead are left out, and that is said.
    later = iso(told.last + 100)
    ahead = json.loads(run("report", "sales", "--from", last, "--to", later, "--json").stdout)
    assert [n for n in ahead["notes"] if n == f"Days after {last} have not come yet."]


def test_formats(told):
    """Every report in every format says the same."""
    world = told.world
    names = [r["name"] for r in json.loads(world.run("report", "list", "--json").stdout)]
    assert "mrr-movement" in names
    # Those about money that the stores pay have tests of their own (test_finance.py).
    for name in set(names) - {"payments", "payouts", "statement", "reconciliation"}:
        said = {}
        for form in ("table", "csv", "tsv", "json", "svg"):
            answer = world.run("report", name, "--by", "month", "--format", form)
            assert answer.returncode == 0, answer.stderr
            said[form] = answer.stdout
        assert "(v1)" in said["table"]
        table = json.loads(said["json"])
        keys = [column["key"] for column in table["columns"]]
        sheet = pd.read_csv(io.StringIO(said["csv"]), keep_default_na=False, dtype=str)
        tabs = pd.read_csv(io.StringIO(said["tsv"]), sep="\t", keep_default_na=False, dtype=str)
        assert list(sheet.columns) == keys and len(sheet) == len(table["rows"]), name
        assert list(tabs.columns) == [column["title"] for column in table["columns"]]
        assert tabs.values.tolist() == sheet.values.tolist()
        for line, row in zip(sheet.to_dict("records"), table["rows"]):
            for column in table["columns"]:
                value, text = row[column["key"]], line[column["key"]]
                if value is None:
                    assert text == ""
                elif column["kind"] == "money":
                    assert abs(Fraction(text) - exact(value) / 1000) <= Fraction(1, 2000)
                elif column["kind"] == "ratio":
                    assert abs(Fraction(text) - exact(value)) <= Fraction(1, 2_000_000)
                else:
                    assert text == str(value)
        plot = said["svg"]
        assert plot.startswith("<svg") and "role=\"img\"" in plot and "style=" not in plot
    assert world.run("report", "nonsense").returncode == 1
    assert world.run("report", "mrr", "--from", "yesterday").returncode == 2


def test_in_apples_columns(told):
    """What reads Apple's files by their columns finds in ours what the exports say."""
    def apple(name, first=None):
        answer = told.world.run(
            "report", name, "--format", "apple", "--from", iso(first or told.first), "--to",
            iso(told.last))
        assert answer.returncode == 0, answer.stderr
        return pd.read_csv(io.StringIO(answer.stdout), sep="\t", keep_default_na=False)

    within = told.sales[(told.sales.family_shared == 0) & (told.sales["at"] <= at_end_of(told.last))]
    charges = within[within.kind == "charge"]
    sales = apple("sales")
    assert list(sales.columns[:3]) == ["Provider", "Provider Country", "SKU"]
    # What went back in part is no unit.
    back = within[within.first_refund == 1]
    assert sales.Units.sum() == charges.quantity.sum() - back.quantity.sum()
    for currency in ("USD", "EUR"):
        own = sales[(sales.Units > 0) & (sales["Customer Currency"] == currency)]
        assert round(float((own.Units * own["Customer Price"].astype(float)).sum()) * 1000) == int(
            charges[charges.currency == currency].milliunits.sum())
    assert set(sales["Begin Date"]) == {
        (pd.Timestamp(0) + pd.Timedelta(days=told.first)).strftime("%m/%d/%Y")}

    state = apple("subscriptions", told.last)
    standard = [p for p in active(paid_periods(told), told.last)
                if p.offer in ("", "discount") and not in_grace(p, at_end_of(told.last))]
    assert state["Active Standard Price Subscriptions"].sum() == len(standard) > 0

    events = apple("events").groupby("Event").Quantity.sum()
    counts = {}
    for row in told.report("events"):
        counts[row["event"]] = counts.get(row["event"], 0) + row["count"]
    for event in ("Renew", "Subscribe", "Start Introductory Offer"):
        assert events.get(event, 0) == counts.get(event, 0) > 0, event

    people = apple("subscribers")
    plans = within[within.product_kind == "auto_renewable"]
    assert (people.Units == 1).sum() == (plans.kind == "charge").sum()


def test_a_rebuild_derives_the_same_figures(told):
    answer = told.world.run("rebuild", "--verify", "--json")
    assert answer.returncode == 0, answer.stderr
    tables = {t["table"]: t for t in json.loads(answer.stdout)}
    assert tables["figure"]["identical"] and tables["rollup"]["identical"]
    assert tables["rollup"]["rows"] > 100


# The dashboard over the same time, in a real browser


@pytest.fixture(scope="module")
def desk(told, browser):
    """Somebody of the staff, signed in."""
    answer = told.world.run(
        "staff", "add", "reader", "--role", "admin", "--public-url", "https://billing.example.com")
    assert answer.returncode == 0, answer.stderr
    answer = subprocess.run(
        [TOLLGATE, "staff", "password", "reader", "--stdin"], input="a sentence to remember\n",
        cwd=told.world.directory, env=told.world.environment, text=True, capture_output=True)
    assert answer.returncode == 0, answer.stderr
    server = told.world.serve()
    page = open_page(browser, None, locale="en-US")
    page.goto(f"http://127.0.0.1:{told.world.port}/dashboard")
    page.get_by_label("Your name").fill("reader")
    page.get_by_label("Password").fill("a sentence to remember")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    yield page
    page.context.close()
    told.world.end(server)
    assert page.complaints == []


def shown_number(text):
    """What a tile shows, as a number; `None` for a dash."""
    digits = re.sub(r"[^\d.−-]", "", text).replace("−", "-")
    return None if digits in ("", "-") or text == "–" else Fraction(digits)


@pytest.mark.parametrize("days", [30, 90, 365])
def test_the_overview_shows_these_numbers(told, desk, days):
    """Each tile is what the rows come to, rounded to what is shown: cents, and tenths of a percent."""
    desk.goto(f"http://127.0.0.1:{told.world.port}/dashboard?span={days}")
    tiles = dict(
        desk.locator(".tiles .figure a").nth(number).get_attribute("aria-label").rsplit(": ", 1)
        for number in range(desk.locator(".tiles .figure a").count()))
    numbers = overview(told, told.last - days + 1, ["USD", "EUR", "JPY"])
    # The tiles tell the currency with the largest amount, in cents and yen.
    currency = {"$": "USD", "€": "EUR", "¥": "JPY"}[re.search("[$€¥]", tiles["Revenue"]).group()]
    expected = numbers[currency]
    assert currency == max(
        numbers, key=lambda each: numbers[each]["gross"] * (1 if each == "JPY" else 100))
    assert expected["gross"] > 0
    money = Fraction(1) if currency == "JPY" else Fraction(1, 100)
    rate = expected["churn_rate"]
    for label, value, unit in [
        ("Revenue", expected["gross"] / Fraction(1000), money),
        ("MRR", expected["mrr"] / Fraction(1000), money),
        ("Active subscriptions", Fraction(expected["active"]), Fraction(0)),
        ("Trials", Fraction(expected["trials"]), Fraction(0)),
        ("Churn", None if rate is None else rate * 100, Fraction(1, 10)),
        ("Refunds", expected["refunds"] / Fraction(1000), money),
        ("Estimated proceeds", expected["estimated_proceeds"] / Fraction(1000), money),
        ("Coins outstanding", Fraction(expected["coins_outstanding"]), Fraction(0)),
    ]:
        shown = shown_number(tiles[label])
        if value is None:
            assert shown is None, label
        else:
            assert abs(shown - value) <= unit / 2, (label, tiles[label], float(value))


@pytest.mark.parametrize("name", ["retention", "ltv"])
def test_cohorts_are_a_grid(told, desk, name):
    """One row for each month in which people began, one column for each period or age, with sizes; the
    last cohorts have come less far than the first."""
    base = f"http://127.0.0.1:{told.world.port}/dashboard/reports"
    desk.goto(f"{base}/{name}?from={iso(told.first)}&to={iso(told.last)}&by=month")
    grid = desk.locator("table.cohorts").first
    rows = grid.locator("tbody tr")
    assert rows.count() > 3 and desk.locator("svg.plot").count() == 0
    filled = [
        sum(1 for text in rows.nth(number).locator("td").all_inner_texts()[1:] if text.strip())
        for number in (0, rows.count() - 1)
    ]
    assert filled[0] > filled[1]
    assert all(int(rows.nth(number).locator("td").first.inner_text().replace(",", "")) > 0
               for number in range(rows.count()))
    expect(grid.locator("tfoot th")).to_have_text("Average")
    # The grid is walked by keyboard where it is wider than the page.
    desk.set_viewport_size({"width": 390, "height": 844})
    scroll = desk.locator(".scroll.grid").first
    assert scroll.evaluate("scroll => scroll.scrollWidth > scroll.clientWidth && scroll.tabIndex === 0")
    assert desk.evaluate("document.documentElement.scrollWidth") <= 390
    if told.world.kind == "sqlite":
        picture(desk, f"months-{name}")
        # A half-year's grid has every kind of cell; axe looks at each for seconds.
        desk.goto(f"{base}/{name}?from={iso(told.last - 180)}&to={iso(told.last)}&by=month")
        judge(desk, name)
    desk.set_viewport_size({"width": 1280, "height": 900})


def test_placements_over_http_and_on_the_dashboard(told, desk):
    """The table of the API, of the page and of its CSV is that of the command."""
    days = f"from={iso(told.first)}&to={iso(told.last)}"
    expected = placements(told, told.first)
    base = f"http://127.0.0.1:{told.world.port}"
    request = urllib.request.Request(
        f"{base}/v1/reports/placements?{days}", headers={"Authorization": f"Bearer {SECRET}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        table = json.loads(answer.read())
    assert [{k: exact(v) for k, v in row.items()} for row in table["rows"]] == expected
    desk.goto(f"{base}/dashboard/reports/placements?{days}")
    rows = desk.locator("table tbody tr")
    assert rows.count() == len(expected) and desk.locator("svg.plot").count() == 0
    assert [rows.nth(number).locator("td").nth(3).inner_text() for number in range(len(expected))
            ] == [str(row["customers"]) for row in expected]
    with desk.expect_download() as download:
        desk.locator(".taken a").click()
    lines = list(csv.reader(download.value.path().open(newline="")))
    assert [line[:2] for line in lines[1:]] == [
        [row["placement"], row["offering"]] for row in expected]
    judge(desk, "placements")


def test_plots_of_all_of_it_are_seen(told, desk):
    """Pictures of the overview and of reports, wide and on a phone, light and dark; every report has a
    table."""
    base = f"http://127.0.0.1:{told.world.port}/dashboard"
    desk.goto(f"{base}?span=365")
    assert desk.locator("svg.plot").count() == 4
    # Thousands of yen are less than hundreds of dollars.
    expect(desk.locator("figcaption").first).to_contain_text("USD")
    if told.world.kind == "sqlite":
        picture(desk, "months-overview")
    desk.goto(f"{base}/reports")
    names = {link.split("/")[-1].split("?")[0] for link in desk.locator("main a").evaluate_all(
        "links => links.map(link => link.pathname)") if "/dashboard/reports/" in link}
    assert names >= {"sales", "revenue", "mrr", "mrr-movement", "subscriptions", "churn", "retention"}
    for name in sorted(names):
        answer = desk.goto(
            f"{base}/reports/{name}?from={iso(told.first)}&to={iso(told.last)}&by=month")
        assert answer.status == 200, name
        assert desk.locator("table tbody tr").count() > 0, name
        # One database's are enough to look at, and these have the plots that say most.
        if told.world.kind == "sqlite" and name in ("revenue", "mrr-movement", "subscriptions", "churn"):
            picture(desk, f"months-{name}")
