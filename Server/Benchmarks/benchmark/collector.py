"""Takes spans as a collector of OpenTelemetry does, and drops them."""

import http.server
import threading


class Collector:
    def __init__(self):
        self.bytes = 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.bytes += len(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def environment(self, ratio: float) -> dict:
        return {
            "TOLLGATE_TRACES_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "TOLLGATE_TRACES_SAMPLE_RATIO": str(ratio)}

    def close(self) -> None:
        self._server.shutdown()
