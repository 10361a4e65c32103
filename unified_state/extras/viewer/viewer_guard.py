"""The guard in front of every page: who may read it, and what a browser may do with it.

The first part of each address is a secret that nobody guesses. A cookie would go to every port of this machine; an
address goes nowhere, and no referrer leaves our own pages. A page of another origin, a name that points to this machine
(DNS rebinding), and a reader without the secret get nothing.
"""

from __future__ import annotations

import hmac
import secrets
import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with none at all, our own forms would have no origin
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_OPEN = "open the address that `unified-state view` printed in its terminal"
_FOREIGN_SITES = {"cross-site", "same-site"}  # other ports of this machine are the same site
_NOT_ALLOWED, _MISDIRECTED = 403, 421


class Guard:
    """An application that passes on only requests of the user's own browser. `port` is the server's.

    `secret` begins each address. `used_at` is the time of the last request.
    """

    def __init__(self, app: ASGIApp, port: int, secret: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._secret, self._single = secret, ""
        self.used_at = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._answer(Request(scope))
        await (answer or self._app)({**scope, "root_path": f"/{self._secret}"}, receive, _with_headers(send))

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that is not passed on, or None."""
        if request.headers.get("host") not in self._hosts:
            return PlainTextResponse("this server is called 127.0.0.1", _MISDIRECTED)
        if request.method not in {"GET", "HEAD", "POST"}:
            return PlainTextResponse("only GET and POST", 405)
        _, given, path = f"{request.url.path}/".split("/", 2)
        if self._single and _is_same(given, self._single):
            self._single = ""
            return RedirectResponse(f"/{self._secret}/{path[:-1]}", 303)
        if not _is_same(given, self._secret):
            return PlainTextResponse(_OPEN, _NOT_ALLOWED)
        origin = request.headers.get("origin", "")
        is_ours = not origin or origin.removeprefix("http://") in self._hosts
        if request.method == "POST" and (not is_ours or request.headers.get("sec-fetch-site") in _FOREIGN_SITES):
            return PlainTextResponse("a page of another site may not ask for this", _NOT_ALLOWED)
        if not path.startswith("live/"):  # a page asks for these by itself
            self.used_at = time.monotonic()
        return None

    def single_use_secret(self) -> str:
        """Return a secret that opens the pages once."""
        self._single = secrets.token_urlsafe(32)
        return self._single


def _is_same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending
