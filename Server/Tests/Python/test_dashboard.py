"""The dashboard in a real browser (headless Chromium): somebody's morning, and somebody's call.

Signs in by the demo's link, makes a little history by the sandbox's levers and walks every page. axe
judges every page. With `TOLLGATE_PICTURES=1` pictures of each, at three widths, light and dark, go to
`output/screenshots/`. The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import os
import pathlib
import re
import subprocess

import httpx
import pytest
from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe
from playwright.sync_api import expect
from ports import free_port
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTPUT = pathlib.Path(os.environ.get("TOLLGATE_TEST_OUTPUT", ROOT / "output")) / "screenshots"
SCHEMES = ("light", "dark") if os.environ.get("TOLLGATE_PICTURES") else ()
TOLLGATE = os.environ.get("TOLLGATE_BIN", ROOT / "Server/.build/debug/tollgate")
WIDE = {"width": 1440, "height": 900}
TABLET = {"width": 1024, "height": 768}
PHONE = {"width": 390, "height": 844}
DEVICES = (("wide", WIDE), ("tablet", TABLET), ("phone", PHONE))
KEY = {"Authorization": "Bearer sk_test_demo"}


class Demo:
    """`tollgate demo` in a process of its own, on free ports and a database of its own."""

    def __init__(self, directory, *more):
        self.process = subprocess.Popen(
            [
                TOLLGATE, "demo", "--listen", f"127.0.0.1:{free_port()}", "--app-store-listen", f"127.0.0.1:{free_port()}",
                "--stripe-listen", f"127.0.0.1:{free_port()}",
                "--google-play-listen", f"127.0.0.1:{free_port()}", "--database", f"sqlite:{directory}/demo.sqlite",
                "--catalog", ROOT / "catalog.yaml", *more,
            ],
            stdout=subprocess.PIPE, text=True, cwd=directory,
        )
        self.url = self.link = None
        while not (self.url and self.link):
            line = self.process.stdout.readline()
            assert line, "the demo ended before it listened"
            found = re.search(r"(http://\S+)/demo$", line.strip())
            self.url = self.url or (found and found.group(1))
            found = re.search(r"http://\S+/demo/dashboard", line)
            self.link = self.link or (found and found.group())

    def post(self, path, **body):
        answer = httpx.post(self.url + path, json=body, headers=KEY, timeout=60)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def told_of(self):
        """The customers of the feed's first events."""
        answer = httpx.get(self.url + "/v1/events?limit=100", headers=KEY, timeout=60)
        return {event["customer"] for event in answer.json()["data"]}

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=20)


def press(demo, action, value=""):
    """A button of the demo's app."""
    answer = httpx.post(f"{demo.url}/demo/{action}", params={"value": value}, timeout=120)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("demo"))
    # A little history: two readers, one who keeps paying, one who was refunded.
    httpx.get(demo.url + "/demo", timeout=60)
    press(demo, "buy", "com.example.app.pro.monthly")
    press(demo, "buy", "com.example.app.coins100")
    press(demo, "spend")
    press(demo, "wait", "P1M")
    press(demo, "newcomer")
    press(demo, "buy", "com.example.app.pro.yearly")
    press(demo, "wait", "P1M")
    press(demo, "refund")
    press(demo, "newcomer")
    press(demo, "buy", "com.example.app.pass30")
    press(demo, "wait", "P1D")
    until(lambda: len(demo.told_of()) == 3, "the feed does not tell of all three")
    yield demo
    demo.stop()


@pytest.fixture(scope="module")
def signed_in(browser, demo):
    """The cookies of the demo's admin."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(demo.link)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    state = context.storage_state()
    context.close()
    return state


def open_page(browser, state, **options):
    # Colours are judged as they are, not on their way from light to dark.
    context = browser.new_context(
        storage_state=state, viewport=WIDE, reduced_motion="reduce", **options
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text)
            if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    return page


@pytest.fixture
def page(browser, signed_in):
    page = open_page(browser, signed_in, locale="en-US")
    yield page
    page.context.close()
    assert page.complaints == []


def picture(page, name, devices=DEVICES):
    """Nothing sticks out at any width; with `TOLLGATE_PICTURES=1`, pictures of the page, light and dark."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for device, viewport in devices:
        page.set_viewport_size(viewport)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], f"{name} is {width} pixels wide on the {device}"
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=OUTPUT / f"dashboard-{name}-{device}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)


COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
# Only colours differ in the dark, and only the arrangement on a phone.
ENGLISH = ((WIDE, "light", DEFAULT_OPTIONS), (PHONE, "light", DEFAULT_OPTIONS), (WIDE, "dark", COLOURS))
JAPANESE = ((TABLET, "dark", DEFAULT_OPTIONS),)


def judge(page, name, views=ENGLISH):
    """axe finds nothing in any of the views."""
    found = []
    for viewport, scheme, options in views:
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        # The page's ResizeObserver runs with the next frame.
        page.evaluate("() => new Promise(seen => requestAnimationFrame(() => requestAnimationFrame(seen)))")
        for violation in Axe().run(page, options=options).response["violations"]:
            nodes = [node["html"][:200] for node in violation["nodes"][:3]]
            found.append((name, viewport["width"], scheme, violation["id"], nodes))
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    assert found == [], json.dumps(found, indent=1)


def pages(page, demo):
    """Every page, by name."""
    base = demo.url + "/dashboard"
    found = {
        "overview": base, "reports": f"{base}/reports",
        "payments": f"{base}/payments", "webhooks": f"{base}/webhooks",
        "reconciliation": f"{base}/reconciliation", "customers": f"{base}/customers",
        "purchases": f"{base}/purchases", "journal": f"{base}/deliveries",
        "parked": f"{base}/parked", "feed": f"{base}/events", "catalog": f"{base}/catalog",
        "health": f"{base}/health", "audit": f"{base}/audit", "staff": f"{base}/staff",
        "keys": f"{base}/keys", "access": f"{base}/access", "emails": f"{base}/emails",
        "app-store": f"{base}/app-store", "sales": f"{base}/reports/sales?by=month",
        "retention": f"{base}/reports/retention?by=month", "movement": f"{base}/reports/mrr-movement",
        "statement": f"{base}/statement?month=2026-01",
        "account": f"{base}/account", "factor": f"{base}/account/second-factor", "sandbox": f"{base}/sandbox",
    }
    page.goto(found["customers"])
    customer = page.get_by_role("link", name="user-1", exact=True).get_attribute("href")
    found["customer"] = demo.url + customer
    found["explain"] = f"{found['customer'].split('?')[0]}/explain?lookup_key=pro"
    found["erase"] = f"{found['customer'].split('?')[0]}/erase"
    page.goto(found["purchases"])
    found["purchase"] = demo.url + page.locator("tbody a").first.get_attribute("href")
    page.goto(found["journal"])
    found["message"] = demo.url + page.locator("tbody a").first.get_attribute("href")
    return found


def test_every_page_is_seen_and_judged(page, demo):
    for name, url in pages(page, demo).items():
        answer = page.goto(url)
        assert answer.status == 200, name
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        picture(page, name)
        judge(page, name)


# The texts of a page outside of previews of emails, ids, code, and what people wrote. In a demo no store
# says a sentence of its own, so that nothing is marked as English either.
SHOWN = """() => {
    const others = `details[lang], code, pre, textarea, script, style, .ids, a[href*="/customers/"], .top .me`
    const shown = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.closest(others)) { shown.push(walker.currentNode.textContent) }
    }
    return shown
}"""
# Names of the stores, of the sample catalog, and commands.
NAMES = re.compile("|".join(sorted(
    {"App Store Connect", "App Store Server API", "App Store", "Google Play", "Google Cloud", "Play Console",
     "Stripe Checkout", "Small Business Program", "Subscription Event", "Apple ID", r"tollgate( [a-z-]+)+"}
    | {re.escape(name) for name in re.findall(r"^ +name: (.+)$", (ROOT / "catalog.yaml").read_text(), re.M)},
    key=len, reverse=True)))
ENGLISH_WORDS = re.compile(r"[A-Za-z][a-z'’]+(?: [A-Za-z]?[a-z'’]+)+")


def english(page):
    """The runs of English words that a Japanese page shows as if they were Japanese."""
    texts = [NAMES.sub("·", text) for text in page.evaluate(SHOWN)]
    return [found.group() for text in texts for found in ENGLISH_WORDS.finditer(text)]


def test_in_japanese(browser, signed_in, demo):
    page = open_page(browser, signed_in, locale="ja-JP")
    for name, url in pages(page, demo).items():
        page.goto(url)
        assert page.locator("html").get_attribute("lang") == "ja", name
        assert english(page) == [], name
        picture(page, f"{name}-ja")
        judge(page, f"{name} in Japanese", JAPANESE)
    assert page.complaints == []
    page.context.close()


# What has the focus: whether it is seen, below the header, and marked.
FOCUS = """() => {
    const here = document.activeElement
    if (!here || here === document.body) { return null }
    const box = here.getBoundingClientRect(), top = document.querySelector(".top")
    const begin = top && !top.contains(here) && !here.closest(".side, .skip") ? top.getBoundingClientRect().bottom : 0
    const isSeen = box.bottom > begin && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    return {html: here.outerHTML.slice(0, 120), isSkip: here.matches(".skip"),
            isFine: isSeen && getComputedStyle(here).outlineStyle === "solid"}
}"""


def test_every_page_is_walked_by_keyboard(page, demo):
    """From the link that skips the menu to the last control and back, nothing traps or hides the focus."""
    lost = []
    for name, url in pages(page, demo).items():
        page.goto(url)
        page.set_viewport_size(TABLET)
        if name != "statement":
            page.keyboard.press("Tab")
            assert page.evaluate(FOCUS)["isSkip"], name
            page.keyboard.press("Enter")
        for key in ("Tab", "Shift+Tab"):
            stops = 0
            while stops < 400:
                page.keyboard.press(key)
                focus = page.evaluate(FOCUS)
                if not focus or focus["isSkip"]:
                    break
                stops += 1
                if not focus["isFine"]:
                    lost.append((name, key, focus["html"]))
            assert stops < 400, f"{name} keeps the focus"
    assert lost == [], json.dumps(lost[:40], indent=1)


def test_somebody_calls(page, demo):
    """Found by their name, understood, and helped, by keyboard alone."""
    page.goto(demo.url + "/dashboard")
    page.keyboard.press("/")
    page.keyboard.type("user-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("user-1")
    page.get_by_role("link", name=re.compile("Why.*Pro features")).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".figure")).to_contain_text("Yes, entitled")
    page.go_back()
    page.locator("summary", has_text="Correct coins").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Amount").fill("15")
    page.get_by_label("Reason").fill("a parcel that was lost")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("The coins are corrected.")
    expect(page.locator("#wallet + .figure")).to_have_text("105")
    page.get_by_text("Grant access", exact=True).first.click()
    page.get_by_label("Entitlement").select_option("archive")
    page.get_by_label("For how many days").fill("7")
    page.get_by_role("button", name="Grant access").click()
    expect(page.get_by_role("status")).to_have_text("Granted.")
    picture(page, "customer-helped")
    page.goto(demo.url + "/dashboard/audit")
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("Granted")
    expect(rows.nth(1)).to_contain_text("90 → 105")
    picture(page, "audit-filled")


def test_rows_are_read_sorted_and_taken_away(page, demo):
    """The rows behind a figure are in people's words; order and filters stay in the address, by keyboard."""
    page.goto(demo.url + "/dashboard/reports/sales")
    page.get_by_role("link", name="Rows behind it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rows of sales")
    rows = page.locator("tbody tr")
    count = rows.count()
    assert count >= 4
    # A day and an amount as people write them; the customer by the name that the app gave.
    expect(rows.first.locator("time").first).to_have_text(re.compile(r"^\d{1,2} \w{3} \d{4}, \d\d:\d\d$"))
    assert not re.search(r"\d,\d{3},\d{3},\d{3}", page.locator("main").inner_text())
    expect(page.get_by_role("link", name="user-1", exact=True).first).to_be_visible()
    # The id is one press away.
    detail = page.locator("details.ids", has_text="cus_tg_").first
    expect(detail.locator("code")).to_be_hidden()
    detail.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(detail.locator("code")).to_have_text(re.compile("^cus_tg_"))
    # Sorted by amount, the largest first; again, the smallest.
    header = page.get_by_role("columnheader", name="Amount")
    header.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(rows.first.locator("td").nth(4)).to_have_text("$79.99")
    header.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(rows.first.locator("td").nth(4)).to_have_text("−$79.99")
    # The file has the same rows in the same order.
    with page.expect_download() as download:
        page.get_by_role("link", name="These rows as CSV").click()
    lines = pathlib.Path(download.value.path()).read_text().splitlines()
    assert len(lines) == count + 1
    assert "-79.99" in lines[1] and "cus_tg_" in lines[1]
    # A filter is kept with the order.
    page.get_by_label("Kind", exact=True).select_option("refund")
    expect(rows).to_have_count(1)
    assert "kind=refund" in page.url and "sort=5" in page.url
    picture(page, "rows")
    judge(page, "rows")


def test_a_wide_table_scrolls_by_keyboard_and_keeps_its_first_column(page, demo):
    page.goto(demo.url + "/dashboard/reports/rows-periods")
    page.set_viewport_size({"width": 900, "height": 900})
    scroll = page.locator(".scroll").first
    expect(scroll).to_have_class(re.compile("more"))
    scroll.focus()
    first = page.locator("tbody td").first
    before = first.bounding_box()["x"]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    # The page's own policy refuses the script text that wait_for_function evaluates when it looks again.
    scroll.evaluate("""scroll => new Promise(moved => {
        const look = () => scroll.scrollLeft > 0 ? moved() : requestAnimationFrame(look)
        look()
    })""")
    assert abs(first.bounding_box()["x"] - before) < 1


def test_a_plot_is_read_by_keyboard_and_its_legend_filters(page, demo):
    page.goto(demo.url + "/dashboard?span=90")
    box = page.locator(".plot-box").first
    now = page.locator(".plot-now").first
    box.focus()
    newest = now.text_content()
    assert "$" in newest or "–" in newest
    page.keyboard.press("Home")
    oldest = now.text_content()
    assert oldest != newest
    page.keyboard.press("ArrowRight")
    assert now.text_content() not in (oldest, "")
    # A series that is switched off is gone from the plot, by a checkbox that needs no script.
    legend = page.locator("figure", has=page.locator(".legend")).first
    expect(legend.locator(".series-1").first).to_be_visible()
    legend.get_by_role("checkbox").first.uncheck()
    expect(legend.locator(".series-1").first).to_be_hidden()
    legend.get_by_role("checkbox").first.check()
    # Texts have the page's size, however narrow it is, and there are three to eight levels.
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        size = page.locator(".plot-label").first.evaluate("label => getComputedStyle(label).fontSize")
        assert float(size.removesuffix("px")) >= 12
        scale = page.locator(".plot-label").first.evaluate("label => label.getScreenCTM().a")
        assert abs(scale - 1) < 0.01
    page.set_viewport_size(WIDE)
    assert 3 <= page.locator("svg.plot").first.locator(":scope > .plot-grid, :scope > .plot-zero").count() <= 8
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("^SVG: ")).first.click()
    assert pathlib.Path(download.value.path()).read_text().startswith("<svg")


def test_the_whole_menu_is_seen(page, demo):
    """Its last entry does not hide below the reader's name."""
    page.goto(demo.url + "/dashboard")
    entry = page.locator(".side nav a").last.bounding_box()
    assert entry["y"] + entry["height"] <= page.locator(".side .mine").bounding_box()["y"]


def test_a_name_is_suggested(page, demo):
    page.goto(demo.url + "/dashboard")
    with page.expect_response(re.compile("/dashboard/suggestions")):
        page.get_by_role("combobox", name="Search by any id").press_sequentially("ser-1")
    expect(page.locator("#suggestions option[value=user-1]")).to_have_count(1)
    assert all("ser-1" in each.get_attribute("value") for each in page.locator("#suggestions option").all())


def test_an_address_without_a_page_leads_back(page, demo):
    answer = page.goto(demo.url + "/nothing/here")
    assert answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    judge(page, "nothing here")
    page.get_by_role("link", name="To the dashboard").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    # The browser writes the 404 of the page itself into its console.
    page.complaints.clear()


def test_without_scripts(browser, signed_in, demo):
    page = open_page(browser, signed_in, locale="en-US", java_script_enabled=False)
    page.set_viewport_size(PHONE)
    page.goto(demo.url + "/dashboard")
    page.locator("summary", has_text="Menu").click()
    picture(page, "menu", devices=(("phone", PHONE),))
    page.set_viewport_size(PHONE)
    page.locator(".sheet").get_by_role("link", name="Sandbox").click()
    now = page.locator("main time").first.text_content()
    page.get_by_role("button", name="+1 day").click()
    expect(page.get_by_role("status")).to_contain_text("Done.")
    assert page.locator("main time").first.text_content() != now
    page.context.close()


def test_signing_in(browser, demo):
    page = open_page(browser, None, locale="en-US")
    page.goto(demo.url + "/dashboard/customers")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    picture(page, "sign-in")
    judge(page, "sign-in")
    page.get_by_label("Your name").fill("nobody")
    page.get_by_label("Password").fill("not my password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    # The demo's own link works again and again; those that it leads to work once.
    once = httpx.get(demo.link, timeout=60).headers["location"]
    for _ in range(2):
        page.goto(demo.link)
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.goto(once)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.goto(once)
    expect(page.get_by_role("alert")).to_contain_text("used already")
    page.context.close()


def test_nothing_that_is_written_into_a_name_is_run(browser, signed_in, demo):
    """B2 in a real browser: no handler, no script, no request to anywhere else."""
    payloads = [
        "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>",
        "\"><svg/onload=window.hit=1>", "'><svg/onload=window.hit=1>",
        "</title><script>window.hit=1</script>", "</textarea><img src=x onerror=window.hit=1>",
        "<iframe srcdoc='<script>parent.hit=1</script>'>", "javascript:window.hit=1",
        "\" autofocus onfocus=window.hit=1 x=\"", "{{constructor.constructor('window.hit=1')()}}",
    ]
    page = open_page(browser, signed_in, locale="en-US")
    strangers = []
    page.on("request", lambda request: strangers.append(request.url)
            if not request.url.startswith(demo.url) else None)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    customers = [
        demo.post("/v1/customers", app_user_id=payload, email=payload,
                  metadata={payload: payload})["id"]
        for payload in payloads
    ]
    for customer in customers:
        demo.post(f"/v1/customers/{customer}/grants", lookup_key="pro")
    until(lambda: demo.told_of() >= set(customers), "the feed does not tell of them")
    base = demo.url + "/dashboard"
    for url in [f"{base}/customers", f"{base}/events", f"{base}/purchases"] + [
        f"{base}/customers/{customer}{more}" for customer in customers
        for more in ("", "/explain?lookup_key=pro", "/erase")
    ]:
        page.goto(url)
        assert page.evaluate("window.hit") is None, url
    assert strangers == [] and dialogs == [] and page.complaints == []
    page.context.close()


@pytest.fixture(scope="module")
def populated(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("populated"), "--populate", "--customers", "40",
                "--months", "5", "--seed", "7")
    yield demo
    demo.stop()


def test_a_populated_demo_has_months_behind_it(browser, populated):
    """Customers of three stores, charts, cohorts and a morning's sentences; nothing was parked."""
    page = open_page(browser, None, locale="en-US")
    page.goto(populated.link)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    base = populated.url + "/dashboard"

    def sold():
        page.goto(f"{base}?span=365")
        return page.locator(".plot-slot title").count() > 0

    until(sold, "the figures do not follow")
    page.goto(f"{base}/parked")
    expect(page.get_by_text("Nothing is parked")).to_be_visible()
    page.goto(f"{base}/purchases")
    assert page.locator("tbody tr").count() >= 25
    stores = {page.locator("tbody tr").nth(n).locator("td").nth(1).inner_text().strip()
              for n in range(25)}
    assert len(stores) >= 2, stores
    page.goto(f"{base}/reports/retention?by=month")
    assert page.locator("table.cohorts tbody tr").count() >= 4
    page.goto(f"{base}/reports/sales?by=month")
    expect(page.locator("tfoot tr.total")).to_have_count(1)
    expect(page.locator("tfoot")).to_contain_text("$")
    # The months of each store, and of all stores.
    titles = page.locator("thead th").all_inner_texts()
    units, store = titles.index("Units"), titles.index("Store")

    def column(rows, place):
        return [row.locator("td").nth(place).inner_text().strip() for row in page.locator(rows).all()]

    assert set(column("tr.subtotal", store)) == set(column("tbody tr", store))
    by_store = dict.fromkeys(column("tr.subtotal", store), 0)
    for name, count in zip(column("tbody tr", store), column("tbody tr", units), strict=True):
        by_store[name] += int(count)
    assert column("tr.subtotal", units) == [str(count) for count in by_store.values()]
    assert column("tr.total", units) == [str(sum(by_store.values()))]
    judge(page, "sales of a populated demo")
    # The stores' reports of the last days have come, and say what the record says.
    page.goto(f"{base}/reconciliation")
    coverage = page.locator("section[aria-labelledby=coverage]")
    for name in ("App Store", "Stripe"):
        expect(coverage).to_contain_text(name)
    expect(page.locator(".notice.refusal")).to_have_count(0)
    judge(page, "reconciliation of a populated demo")
    assert page.complaints == []
    page.context.close()


# The texts of a plot that lie on each other.
OVERLAPS = """() => [...document.querySelectorAll("svg.plot")].flatMap(plot => {
    const texts = [...plot.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()])
    return texts.flatMap(([one, left], place) => texts.slice(place + 1)
        .filter(([, right]) => left.left < right.right && right.left < left.right
            && left.top < right.bottom - 3 && right.top < left.bottom - 3)
        .map(([other]) => `${one} / ${other}`))
})"""


@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_the_days_below_a_plot_have_room_on_a_phone(browser, populated, locale):
    page = open_page(browser, None, locale=locale)
    page.goto(populated.link)
    page.set_viewport_size(PHONE)
    for days in (7, 30, 90, 365):
        page.goto(f"{populated.url}/dashboard?span={days}")
        assert page.locator("svg.plot text").count() > 0
        assert page.evaluate(OVERLAPS) == [], days
    page.context.close()


def test_reports_by_month_name_their_months(browser, populated):
    page = open_page(browser, None, locale="en-US")
    page.goto(populated.link)
    base = f"{populated.url}/dashboard/reports"
    page.goto(f"{base}/sales?by=month")
    expect(page.get_by_role("columnheader", name="Month")).to_be_visible()
    expect(page.locator("tbody tr").first.locator("td").first).to_have_text(re.compile(r"^[A-Z][a-z]{2} \d{4}$"))
    # A count has no unit. The events of this demo have different colours.
    page.goto(f"{base}/events?by=month")
    expect(page.locator("figcaption").first).to_have_text("Count")
    colours = [each.get_attribute("class") for each in page.locator(".legend .swatch rect").all()]
    assert len(colours) >= 3 and len(set(colours)) == len(colours)
    # All of its twelve columns are seen.
    page.goto(f"{base}/mrr-movement?by=month")
    scroll = page.locator(".scroll").first
    assert scroll.evaluate("scroll => scroll.scrollWidth <= scroll.clientWidth + 1")
    page.context.close()


def test_ids_stand_alike_in_every_row_of_a_wide_table(browser, populated):
    """Below what they name, so that no name breaks for them; beside it on a phone."""
    page = open_page(browser, None, locale="en-US")
    page.goto(populated.link)
    page.goto(f"{populated.url}/dashboard/payments")
    for device, viewport, expected in (("wide", WIDE, {True}), ("phone", PHONE, {False})):
        page.set_viewport_size(viewport)
        below = page.evaluate("""() => [...document.querySelectorAll("tbody time + details.ids")].map(ids =>
            ids.getBoundingClientRect().top >= ids.previousElementSibling.getBoundingClientRect().bottom - 4)""")
        assert set(below) == expected, device
    page.context.close()


def test_a_statement_of_payouts_fits_a_phone(browser, populated):
    """All of its columns are seen, and the page does not grow with them."""
    page = open_page(browser, None, locale="ja-JP")
    page.goto(populated.link)
    page.goto(f"{populated.url}/dashboard/payments")
    address = page.locator("a[href*='/dashboard/statement']").first.get_attribute("href")
    page.goto(populated.url + address)
    assert page.locator("#payouts").count() == 1
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^\d{4}年\d{1,2}月の明細書$"))
    picture(page, "statement-of-payouts")
    page.set_viewport_size(PHONE)
    scroll = page.locator(".scroll").first
    assert scroll.evaluate("scroll => scroll.scrollWidth <= scroll.clientWidth + 1")


def test_a_populated_demo_speaks_japanese(browser, populated):
    """What months of purchases left, and what is wrong with a catalog: no page shows English as Japanese."""
    page = open_page(browser, None, locale="ja-JP")
    page.goto(populated.link)
    base = populated.url + "/dashboard"
    populated.post("/v1/webhook_endpoints", url=f"http://127.0.0.1:{free_port()}/", enabled_events=["*"])
    page.goto(f"{base}/webhooks")
    endpoint = page.locator("tbody a").first.get_attribute("href")
    expect(page.locator("tbody tr").first).to_contain_text("すべて")
    # An event for an endpoint that does not answer.
    httpx.get(populated.url + "/demo", timeout=60)
    press(populated, "buy", "com.example.app.coins100")
    addresses = [
        "", "/reports", "/payments", "/webhooks", "/reconciliation", "/customers", "/purchases", "/deliveries",
        "/parked", "/events", "/catalog", "/health", "/audit", "/staff", "/keys", "/access", "/emails", "/sandbox",
    ]
    page.goto(f"{base}/reports")
    links = [link.get_attribute("href") for link in page.locator(".tiles a").all()]
    for section in ("customers", "purchases", "deliveries"):
        page.goto(f"{base}/{section}")
        found = page.locator(f"tbody a[href^='/dashboard/{section}/']")
        links += [found.nth(n).get_attribute("href") for n in range(min(8, found.count()))]
    for address in [f"{base}{address}" for address in addresses] + [f"{populated.url}{link}" for link in links]:
        assert page.goto(address).status == 200, address
        assert english(page) == [], address
        # No gap between a day and its particle.
        assert not re.search(r"日 (に|まで|から)", page.locator("main").inner_text()), address

    def is_tried():
        page.goto(populated.url + endpoint)
        return page.get_by_text("応答なし").count() > 0

    until(is_tried, "no event was sent")
    assert english(page) == []
    page.goto(f"{base}/catalog")
    page.locator("#catalog").fill("products:\n  - id: pro\n    kinds: ten\n    coins: many\n")
    page.locator("form[action='/dashboard/catalog/check'] button").click()
    expect(page.locator(".notice.refusal li")).not_to_have_count(0)
    assert english(page) == []
    assert page.complaints == []
    page.context.close()


def test_staff_by_command(tmp_path):
    """The first admin comes from the command line, and everything that is done there is written down."""
    database = f"sqlite:{tmp_path}/tollgate.sqlite"

    def run(*arguments, fails=False, stdin=None):
        done = subprocess.run(
            [TOLLGATE, *arguments, "--database", database], cwd=tmp_path, text=True,
            capture_output=True, input=stdin, timeout=60,
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    link = json.loads(run(
        "staff", "add", "Ann@Example.com", "--role", "admin", "--json",
        "--public-url", "https://billing.example.com",
    ))["link"]
    assert link.startswith("https://billing.example.com/dashboard/invitation?token=stin_")
    assert "exists already" in run("staff", "add", "ann@example.com", fails=True)
    assert "last admin" in run("staff", "remove", "ann@example.com", fails=True)
    assert "12 characters" in run("staff", "password", "ann@example.com", "--stdin",
                                  stdin="short\n", fails=True)
    assert json.loads(run(
        "staff", "password", "Ann@example.com", "--stdin", "--json", stdin="a sentence to remember\n"
    )) == {"name": "ann@example.com", "has_password": True}
    run("staff", "add", "bob", "--role", "support")
    assert json.loads(run("staff", "remove", "bob", "--json")) == {"name": "bob", "deleted": True}
    staff = json.loads(run("staff", "list", "--json"))
    assert [(each["name"], each["role"], each["has_password"]) for each in staff] == [
        ("ann@example.com", "admin", True)
    ]
    entries = json.loads(run("audit", "--json"))
    assert [(entry["action"], entry["outcome"]) for entry in reversed(entries)] == [
        ("staff.add", "done"), ("staff.add", "refused: staff_exists"),
        ("staff.remove", "refused: last_admin"), ("staff.password", "refused: password_weak"),
        ("staff.password", "done"), ("staff.add", "done"), ("staff.remove", "done"),
    ]
    assert all(entry["actor"].startswith("cli:") for entry in entries)
    assert "a sentence" not in json.dumps(entries)
