"""The views of BillingSDK in a real browser (headless Chromium), as AppleStubs' ViewPictures draws them on
stand-ins: light and dark, the usual type and the largest, German, and from right to left.

Apple's system lays views out, so this shows words, colours and sizes, and no more. With
`TOLLGATE_PICTURES=1` pictures go to `output/screenshots/`. `make test` builds ViewPictures before.
"""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTPUT = pathlib.Path(os.environ.get("TOLLGATE_TEST_OUTPUT", ROOT / "output")) / "screenshots"
PROGRAM = ROOT / "AppleStubs/.build/debug/ViewPictures"
# The smallest iPhone that runs iOS 15, in points.
PHONE = {"width": 320, "height": 568}
VIEWS = [
    "banner", "buy-button", "buy-button-failed", "diagnostics", "gate-locked", "gate-unknown",
    "offering", "portal-signed-out", "purchases",
]
LOOKS = ["light", "dark", "light-largest", "dark-largest", "german-largest", "right-to-left"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    assert PROGRAM.exists(), "build the views: bash scripts/swift.sh build --package-path AppleStubs"
    folder = tmp_path_factory.mktemp("views")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("BILLING_")}
    subprocess.run([PROGRAM, folder], check=True, timeout=120, env=environment)
    return folder


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context(viewport=PHONE, device_scale_factor=2)
    yield context.new_page()
    context.close()


# What sticks out of the screen, or is cut off.
STRANGE = """() => [...document.querySelectorAll('.Text, button')].filter(element => {
    const box = element.getBoundingClientRect();
    return box.left < 0 || box.right > innerWidth || element.scrollWidth > element.clientWidth + 1
        || element.scrollHeight > element.clientHeight + 1;
}).map(element => element.textContent)"""
SMALL = """() => [...document.querySelectorAll('button')].filter(button => {
    const box = button.getBoundingClientRect();
    return box.width < 44 || box.height < 44;
}).map(button => button.textContent)"""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("look", LOOKS)
def test_a_view_fits_a_small_phone(folder, page, view, look):
    page.goto((folder / f"{view}-{look}.html").as_uri())
    assert page.locator(".Text").count() > 0
    if os.environ.get("TOLLGATE_PICTURES"):
        OUTPUT.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=OUTPUT / f"sdk-{view}-{look}.png", full_page=True)
    if view != "diagnostics":  # developers read it, with addresses in it
        assert page.evaluate(STRANGE) == []
        assert page.evaluate(SMALL) == []


def test_every_view_is_drawn(folder):
    drawn = {path.stem for path in folder.glob("*.html")}
    assert drawn == {f"{view}-{look}" for view in VIEWS for look in LOOKS}


def size(folder, view, look):
    """The sizes of type on a page, in points."""
    text = (folder / f"{view}-{look}.html").read_text()
    return dict(re.findall(r"--(\w+): \d+ (\d+)px", text))


def test_the_largest_type_is_apples_largest(folder):
    usual, largest = (size(folder, "offering", look) for look in ("light", "light-largest"))
    assert usual == {"title": "28", "headline": "17", "body": "17", "caption": "12"}
    assert largest == {"title": "58", "headline": "53", "body": "53", "caption": "43"}


def test_an_offering_says_what_app_review_asks_for(folder, page):
    page.goto((folder / "offering-light.html").as_uri())
    for words in ("1 week free, then ¥1500 a month", "Restore purchases", "Terms of use", "Privacy policy"):
        assert page.get_by_text(words, exact=True).is_visible()
