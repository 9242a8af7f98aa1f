"""An OCSP responder on loopback that calls every certificate of one chain good."""

import datetime
import http.server
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import ocsp

from .certificates import Authority, Chain


class OCSPResponder:
    """Answers for the chain given to `serve`; each issuer signs for what it issued."""

    def __init__(self):
        self.answered = 0
        self._issued: dict[int, tuple[x509.Certificate, Authority]] = {}
        responder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                answer = responder._answer(body)
                self.send_response(200)
                self.send_header("Content-Type", "application/ocsp-response")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/ocsp"

    def serve(self, chain: Chain) -> None:
        for subject, issuer in ((chain.intermediate, chain.root), (chain.leaf, chain.intermediate)):
            self._issued[subject.certificate.serial_number] = (subject.certificate, issuer)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, body: bytes) -> bytes:
        request = ocsp.load_der_ocsp_request(body)
        known = self._issued.get(request.serial_number)
        if known is None:
            refusal = ocsp.OCSPResponseBuilder.build_unsuccessful(
                ocsp.OCSPResponseStatus.UNAUTHORIZED)
            return refusal.public_bytes(serialization.Encoding.DER)
        certificate, issuer = known
        now = datetime.datetime.now(datetime.timezone.utc)
        response = (
            ocsp.OCSPResponseBuilder()
            .add_response(
                certificate, issuer.certificate, request.hash_algorithm, ocsp.OCSPCertStatus.GOOD,
                this_update=now - datetime.timedelta(minutes=5),
                next_update=now + datetime.timedelta(hours=12),
                revocation_time=None, revocation_reason=None)
            .responder_id(ocsp.OCSPResponderEncoding.HASH, issuer.certificate)
            .sign(issuer.key, hashes.SHA384())
        )
        self.answered += 1
        return response.public_bytes(serialization.Encoding.DER)
