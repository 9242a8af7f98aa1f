"""The sample app's own backend: who is signed in, and customer sessions for them.

    TOLLGATE_URL=http://127.0.0.1:8080 TOLLGATE_SECRET_KEY=sk_test_demo python3 backend.py

Python's standard library only. Users and tokens live in memory; everybody is believed. A real backend
has its own accounts, and asks for a password or a passkey at `/login`.
"""

import json
import os
import secrets
import sys
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLLGATE = os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8080")
SECRET_KEY = os.environ.get("TOLLGATE_SECRET_KEY", "sk_test_demo")
HOST, _, PORT = os.environ.get("LISTEN", "127.0.0.1:4242").rpartition(":")


class NotSignedIn(Exception):
    """Nobody is signed in with this token."""


class Users:
    """Who is signed in, and which customer of Tollgate they are."""

    def __init__(self):
        self.lock = threading.Lock()
        self.names = {}
        self.customers = {}

    def login(self, name):
        token = secrets.token_urlsafe(32)
        with self.lock:
            self.names[token] = name
        return token

    def name(self, token):
        with self.lock:
            if token not in self.names:
                raise NotSignedIn
            return self.names[token]

    def customer(self, token):
        """The customer's id, made and stored before anything is sold to them."""
        name = self.name(token)
        with self.lock:
            known = self.customers.get(name)
        if known is None:
            # The same app_user_id gives the same customer, however often it is asked for.
            known = tollgate("/v1/customers", {"app_user_id": name})["id"]
            with self.lock:
                self.customers[name] = known
        return known


USERS = Users()


def tollgate(path, body):
    """Asks Tollgate with the secret key, which never leaves the backend."""
    request = urllib.request.Request(
        TOLLGATE + path,
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {SECRET_KEY}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def login(request):
    name = request.body().get("name") or f"visitor-{secrets.token_hex(4)}"
    return {"token": USERS.login(str(name)[:200])}


def customer_session(request):
    components = ("buy_button", "active_entitlements", "customer_portal")
    session = tollgate("/v1/customer_sessions", {
        "customer": USERS.customer(request.bearer()),
        "components": {name: {"enabled": True} for name in components},
    })
    return {
        "clientSecret": session["client_secret"],
        "expiresAt": session["expires_at"],
        "customer": session["customer"],
    }


def create_checkout_session(request):
    token = request.query().get("token", [""])[0]
    checkout = tollgate("/v1/checkout_sessions", {
        "customer": USERS.customer(token),
        "product": os.environ.get("PRODUCT", "coins_100"),
    })
    return {"url": checkout["url"]}


ROUTES = {
    ("POST", "/login"): login,
    ("POST", "/authenticate"): customer_session,
    ("POST", "/customer-session"): customer_session,
    ("POST", "/create-checkout-session"): create_checkout_session,
    ("GET", "/create-checkout-session"): create_checkout_session,
}


class Request(BaseHTTPRequestHandler):
    """One request, and what it is answered with."""

    protocol_version = "HTTP/1.1"

    def body(self):
        length = min(int(self.headers.get("Content-Length") or 0), 65536)
        data = self.rfile.read(length)
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        return body if isinstance(body, dict) else {}

    def query(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)

    def bearer(self):
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        return token if kind.lower() == "bearer" else ""

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_request(self):
        route = ROUTES.get((self.command, urllib.parse.urlsplit(self.path).path))
        if route is None:
            return self.answer(404, {"error": {"message": "Not found"}})
        try:
            return self.answer(200, route(self))
        except NotSignedIn:
            return self.answer(401, {"error": {"type": "no_session_present"}})
        except Exception as error:  # Whatever it is, the app learns no more than that.
            print(f"{self.path.split('?')[0]}: {error!r}", file=sys.stderr)
            return self.answer(500, {"error": {"message": "Internal server error"}})

    do_GET = do_POST = handle_request

    def log_message(self, *_):
        """Nothing: a query may hold a token."""


if __name__ == "__main__":
    server = ThreadingHTTPServer((HOST or "127.0.0.1", int(PORT)), Request)
    print(f"backend listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
