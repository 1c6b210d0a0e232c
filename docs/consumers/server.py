"""A whole consumer. Put it behind a proxy that speaks https, or try the same with `npx herald listen`."""
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from verify import answer_crc, is_signed

SECRET = os.environ.get("CONSUMER_SECRET", "")
seen: set[str] = set()


class Consumer(BaseHTTPRequestHandler):
    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        token = parse_qs(urlsplit(self.path).query).get("crc_token", [""])[0]
        try:
            self.answer(200, json.dumps({"response_token": answer_crc(SECRET, token)}).encode())
        except ValueError:
            self.answer(400)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(SECRET, self.headers.get("x-svc-webhooks-signature"), raw):
            return self.answer(401)
        # Say 200 first and work afterwards: there are ten seconds for all of it.
        self.answer(200)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(json.loads(raw), flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Consumer)
    print("listening on", server.server_port, flush=True)
    server.serve_forever()
