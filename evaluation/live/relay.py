"""The only way out of a sandbox: requests of the client to the model's API, with the user's key, within the budget.

It listens on the sandbox's loopback and runs outside of it. The client has a dummy key; the user's never enters the
sandbox or a file. Invariant: a request goes out only after the budget has reserved the most that it can cost.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evaluation.live.budget import Budget, Json, OverBudgetError, UnknownPriceError

PASSED_ON = ("anthropic-version", "anthropic-beta", "content-type", "accept", "user-agent")
COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking")  # what the count of tokens takes
_SECONDS = 900
_STREAM = "text/event-stream"


class Upstream:
    """The model's API: its address and the user's key."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = urlsplit(url), key

    def post(self, path: str, raw: bytes, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Send a request. Raise OSError if the API cannot be reached."""
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.netloc, timeout=_SECONDS)
        connection.request("POST", self._url.path.rstrip("/") + path, raw, {**headers, "x-api-key": self._key})
        return connection.getresponse()

    def count(self, body: Json) -> tuple[int, Json]:
        """Ask how many tokens a request has, which costs nothing; the status and the answer."""
        raw = json.dumps({name: body[name] for name in COUNTED if name in body}).encode()
        headers = {"anthropic-version": "2023-06-01", "content-type": "application/json"}
        response = self.post("/v1/messages/count_tokens", raw, headers)
        return response.status, _parsed(response.read())


class Relay:
    """Serves one run's client on `listener`. `requests` is the file that keeps what was asked, answered and paid."""

    def __init__(self, listener: socket.socket, upstream: Upstream, budget: Budget, requests: Path) -> None:
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.upstream, self.budget = upstream, budget
        self.refusal: str | None = None
        """Why a request was not answered as asked: the budget, or the API's own words."""
        self.usages: list[Json] = []
        self.dollars = 0.0
        self._requests, self._lock = requests, threading.Lock()
        self._server = _Server(listener, self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()

    def keep(self, body: Json, status: int, usage: Json | None, dollars: float) -> None:
        """Write down a request, without headers, and what it cost."""
        entry = {"model": body.get("model"), "status": status, "usage": usage, "dollars": dollars, "body": body}
        with self._lock:
            self.dollars += dollars
            self.usages += [usage] if usage else []
            with self._requests.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def counted(self, body: Json) -> int | None:
        """The tokens of a request by the API's count; None if it does not tell."""
        try:
            status, answer = self.upstream.count(body)
        except (OSError, http.client.HTTPException):
            return None
        return int(answer["input_tokens"]) if status == http.client.OK and "input_tokens" in answer else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, relay: Relay) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.relay = relay

    def handle_error(self, *_: object) -> None:
        """A client that was killed hangs up; what the API did is in the files."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Nothing goes to stderr."""

    def do_HEAD(self) -> None:
        self._answer(http.client.OK, {})

    def do_GET(self) -> None:
        self._answer(http.client.NOT_FOUND, _error("not_found_error", "only requests to the model go out"))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            status, answer = self.server.relay.upstream.count(json.loads(raw))
            self._answer(status, answer)
        elif path == "/v1/messages":
            self._relay(raw, json.loads(raw))
        else:
            self._answer(http.client.NOT_FOUND, _error("not_found_error", "only requests to the model go out"))

    def _relay(self, raw: bytes, body: Json) -> None:
        relay = self.server.relay
        try:
            number = relay.budget.start(raw, body, lambda: relay.counted(body))
        except (OverBudgetError, UnknownPriceError) as error:
            relay.refusal = str(error)
            self._answer(http.client.BAD_REQUEST, _error("invalid_request_error", str(error)))
            return
        usage, status = None, 0
        try:
            headers = {name: self.headers[name] for name in PASSED_ON if self.headers.get(name)}
            response = relay.upstream.post(self.path, raw, headers)
            status = response.status
            usage = self._pass_on(response)
        except (OSError, http.client.HTTPException) as error:
            relay.refusal = f"the API could not be reached: {error}"
            raise
        finally:
            relay.keep(body, status, usage, relay.budget.end(number, str(body.get("model")), usage))

    def _pass_on(self, response: http.client.HTTPResponse) -> Json | None:
        """Hand the answer to the client as it arrives; the usage in it. A refused request costs nothing."""
        self.send_response(response.status)
        kind = response.headers.get("content-type", "application/json")
        for name in ("content-type", "request-id", "retry-after"):
            if value := response.headers.get(name):
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        whole = bytearray()
        while part := response.read1(65_536):
            whole += part
            self.wfile.write(part)
            self.wfile.flush()
        if response.status != http.client.OK:
            error = _parsed(bytes(whole)).get("error") or {}
            told = f"{error.get('type', 'error')}: {error.get('message', '')}"
            self.server.relay.refusal = f"the API refused a request with {response.status} {told}"
            return {}
        return _streamed_usage(bytes(whole)) if kind.startswith(_STREAM) else _parsed(bytes(whole)).get("usage")

    def _answer(self, status: int, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(data)


def _streamed_usage(stream: bytes) -> Json | None:
    """The usage of a streamed message; None if the stream broke before its end."""
    usage: Json = {}
    for event in _events(stream):
        if event.get("type") == "message_start":
            usage.update(event["message"].get("usage") or {})
        elif event.get("type") == "message_delta":
            usage.update({name: value for name, value in (event.get("usage") or {}).items() if value is not None})
        elif event.get("type") == "message_stop":
            return usage
    return None


def _events(stream: bytes) -> Iterator[Json]:
    for line in stream.decode("utf-8", "replace").splitlines():
        if line.startswith("data:"):
            yield _parsed(line[5:].encode())


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
