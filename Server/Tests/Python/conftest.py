"""What several files of tests start."""

import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

import plain_words

plain_words.watch()

# As long as an action may take: a page that a key opens is awaited by what is expected of it.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    assert executable, "no Chromium is installed"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def messages_are_in_plain_words():
    yield
    found, plain_words.seen[:] = list(plain_words.seen), []
    assert found == []
