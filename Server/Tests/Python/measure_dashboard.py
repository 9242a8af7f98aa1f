"""Measures how long the dashboard's pages take on a database of many customers.

    measure_dashboard.py URL NAME PASSWORD

A server listens at the URL; the name is of somebody of its staff. Every page that the navigation
leads to is asked for, every report, and the first few customers, purchases and messages.
"""

import re
import statistics
import sys
import time

import httpx

ROUNDS = 7
LISTS = ["customers", "purchases", "deliveries"]


def sign_in(url, name, password):
    browser = httpx.Client(base_url=url, timeout=300, headers={"Accept-Language": "en"})
    form = browser.get("/dashboard/sign-in").text
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    where = re.search(r'<form[^>]*method="post"[^>]*action="([^"]+)"', form)
    answer = browser.post(
        where.group(1) if where else "/dashboard/sign-in",
        data=fields | {"name": name, "password": password}, headers={"Origin": url})
    assert answer.status_code in (302, 303), answer.text[:2000]
    return browser


def pages(browser):
    """The addresses, each under a name without ids."""
    found = {}
    for link in re.findall(r'href="(/dashboard[^"#]*)"', browser.get("/dashboard").text):
        if "?" not in link and "sign" not in link:
            found[link] = link
    for link in re.findall(r'href="(/dashboard/reports/[^"#]*)"',
                           browser.get("/dashboard/reports").text):
        found[link.split("?")[0]] = link.replace("&amp;", "&")
    for name in LISTS:
        text = browser.get(f"/dashboard/{name}").text
        links = re.findall(rf'href="(/dashboard/{name}/[^"?#]+)"', text)
        for number, link in enumerate(dict.fromkeys(links[:3])):
            found[f"/dashboard/{name}/… {number + 1}"] = link
    return found


def main():
    url, name, password = sys.argv[1:]
    browser = sign_in(url, name, password)
    slow = 0
    for title, address in sorted(pages(browser).items()):
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            answer = browser.get(address)
            times.append((time.perf_counter() - began) * 1000)
            assert answer.status_code == 200, (address, answer.status_code)
        slow += statistics.median(times) >= 100
        print(f"{statistics.median(times):8.1f} ms  {min(times):8.1f} ms  {title}", flush=True)
    print(f"{slow} pages took 100 ms or more (median; beside it the fastest of {ROUNDS})")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
