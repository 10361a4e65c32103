"""The guard in front of every page: who may read it, and what a browser may do with it.

A page of another origin, a name that points to this machine (DNS rebinding), and a reader without the token get
nothing. The token comes once, in the address that the command opens. It becomes a cookie, so it is in no later address
and in no referrer.
"""

from __future__ import annotations

import hmac
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

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

    `token` opens the pages, and `form_token` is in each form. `used_at` is the time of the last request.
    """

    def __init__(self, app: ASGIApp, port: int, token: str, form_token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"unified_state_{port}"
        self._token, self._form_token, self._single = token, form_token, ""
        self.used_at = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = self._answer(request)
        if answer is None and request.method == "POST":
            answer, receive = await self._checked_form(request)
        await (answer or self._app)(scope, receive, _with_headers(send))

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that is not passed on, or None."""
        if request.headers.get("host") not in self._hosts:
            return PlainTextResponse("this server is called 127.0.0.1", _MISDIRECTED)
        if request.headers.get("sec-fetch-site") in _FOREIGN_SITES and request.method != "GET":
            return PlainTextResponse("a page of another site may not ask for this", _NOT_ALLOWED)
        if request.method not in {"GET", "HEAD", "POST"}:
            return PlainTextResponse("only GET and POST", 405)
        given = request.query_params.get("token")
        if given is not None and (self._is_token(given) or self._is_single(given)):
            return self._welcome(request)
        if not self._is_token(request.cookies.get(self._cookie, "")):
            return PlainTextResponse(_OPEN, _NOT_ALLOWED)
        if "/live/" not in request.url.path:  # a page asks for these by itself
            self.used_at = time.monotonic()
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def single_use_token(self) -> str:
        """Return a token that opens the pages once."""
        self._single = new_token()
        return self._single

    def _is_single(self, given: str) -> bool:
        is_single = bool(self._single) and hmac.compare_digest(given.encode("utf-8", "replace"), self._single.encode())
        if is_single:
            self._single = ""
        return is_single

    def _welcome(self, request: Request) -> Response:
        """Return the redirect to the same page without the token, which the browser keeps as a cookie."""
        others = [pair for pair in parse_qsl(request.url.query) if pair[0] != "token"]
        path = "/" + request.url.path.lstrip("/")  # `//host` would lead to another server
        answer = RedirectResponse(f"{path}?{urlencode(others)}" if others else path, 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return answer

    async def _checked_form(self, request: Request) -> tuple[Response | None, Receive]:
        """Return the refusal of a form without its token, or None, and what gives the form's content again."""
        body = await request.body()
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        origin = request.headers.get("origin")
        is_ours = origin is None or origin.removeprefix("http://") in self._hosts
        if is_ours and hmac.compare_digest(fields.get("form", "").encode(), self._form_token.encode()):
            return None, again
        return PlainTextResponse("the form is not from this page: reload the page", _NOT_ALLOWED), again


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(32)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending
