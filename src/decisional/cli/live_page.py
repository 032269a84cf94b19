"""The live page of a stream: a small server in a thread of its own, that reads a LiveFeed and is waited for by nobody.

Each viewer asks for what is new since its last look, a few times a second at most: who is slow gets larger steps, and
nothing is queued. The answer to the same question is made once for all viewers.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import os
import secrets
import socket
import sys
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..decisions.predictions import Interval
from ..plot.figures import HATCHES, PALETTE
from ..plot.wording import number, prediction_text, symbol_text, typeset, worth
from ..report.content import render
from ..streams.live_feed import LiveFeed, Update
from ..streams.pyramid import CHANGED, KINDS, NONE, WORTH, LineBins
from ..support.arguments import package
from ..support.plurals import plural

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

# Seconds between two answers to a viewer where something is new, and where nothing is.
PACE, BEAT = 0.2, 1.0
# Seconds after which a viewer that takes nothing is left, bytes that are sent to it before, and viewers at most.
PATIENCE, BUFFER, VIEWERS = 30.0, 1 << 17, 64
# Causal states whose belief is shown, and labels of a bin.
BELIEFS, SHARES = 12, 6
# A token that was chosen has so many characters at least; what is sent instead of it, so many at most.
TOKEN, LETTER = 16, 4096
NAMES = {"decision": "ω", "prediction": "ψ", "utility": "υ"}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LivePage:
    """Serve the page of a feed while a stream is followed.

    Parameters
    ----------
    feed : LiveFeed
    host, port : where; port 0 is one that is free
    title : heading of the page
    by : what events are changes of, and the level that they cross, as `Monitor` has them
    """

    def __init__(self, feed: LiveFeed, host: str, port: int, title: str, by: tuple[str, float | None]) -> None:
        sentence = "A live page needs starlette and uvicorn, which are not installed"
        package("starlette", sentence, "live")
        uvicorn = package("uvicorn", sentence, "live")
        self._feed, self._title, self._by = feed, title, by
        self._local = is_local(host)
        self._token = None if self._local else _token()
        self._stop, self._viewers = threading.Event(), 0
        # Of this moment: the mark that all who are up to date have seen, and the answers; then the mark for the next.
        self._moment, self._floor, self._next = -1, "", ""
        self._answers: dict[str | None, tuple[str, bytes]] = {}
        self._socket = _listening(host, port)
        self._hosts = _names(host)
        how = {"http": "h11", "ws": "none", "loop": "asyncio", "lifespan": "off", "log_level": "critical"}
        limits = {"access_log": False, "server_header": False, "timeout_graceful_shutdown": 2}
        self._server = uvicorn.Server(uvicorn.Config(_guarded(self._application(), self), **how, **limits))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    @property
    def address(self) -> str:
        """What to open in a browser, with the token where one is needed."""
        host, port = self._socket.getsockname()[:2]
        host = socket.gethostname() if ipaddress.ip_address(host).is_unspecified else host
        secret = "" if self._token is None else f"?token={urllib.parse.quote(self._token)}"
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/{secret}"

    def __enter__(self) -> LivePage:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stop.set()
        self._server.should_exit = True
        self._thread.join(5.0)
        self._socket.close()

    def _application(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route

        # The same for all, and made once.
        files = {
            "/": ("text/html", render("live.html", title=self._title, palette=PALETTE, hatches=len(HATCHES))),
            "/live.css": ("text/css", render("live.css")),
            "/live.js": ("text/javascript", render("live.js")),
        }

        def sent(kind: str, text: str) -> Callable[[Request], Response]:
            return lambda request: Response(text, media_type=kind, headers=HEADERS)

        routes = [Route(path, sent(*content), methods=["GET"]) for path, content in files.items()]
        return Starlette(routes=[*routes, Route("/feed", self._follow, methods=["GET"])])

    async def _follow(self, request: Request) -> Response:
        from starlette.responses import PlainTextResponse

        if self._viewers >= VIEWERS:
            return PlainTextResponse(f"There are {VIEWERS} viewers already.", 503, HEADERS)
        return _stream(self, request.headers.get("last-event-id") or request.query_params.get("since"))

    async def tell(self, mark: str | None, send: Callable[[bytes], Any]) -> None:
        """Send what is new since a mark, again and again; each answer waits until the one before was taken."""
        loop, before, ended = asyncio.get_running_loop(), float("-inf"), False
        self._viewers += 1
        try:
            await send(b"retry: 1000\n\n")
            while not self._stop.is_set():
                new = mark is None or not mark.endswith(f"-{self._feed.position}") or self._feed.ended != ended
                if new or loop.time() >= before + BEAT:
                    before, ended = loop.time(), self._feed.ended
                    mark, answer = self._answer(mark, int(before / PACE))
                    async with asyncio.timeout(PATIENCE):
                        await send(answer)
                await asyncio.sleep(PACE)
        finally:
            self._viewers -= 1

    def _answer(self, mark: str | None, moment: int) -> tuple[str, bytes]:
        """What is new since a mark, and the mark of that, as an event of a stream of events.

        All who have seen as much as there was at the moment before get the same, which may repeat a little.
        """
        if moment != self._moment:
            self._moment, self._floor, self._answers = moment, self._next, {}
        asked = self._floor if mark is not None and _is_after(mark, self._floor) else mark
        if asked not in self._answers:
            update = self._feed.since(asked)
            content = json.dumps(worded(update, self._by), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            text = f"id: {update.mark}\ndata: {content}\n\n".encode(errors="replace")
            if not self._answers:
                self._next = update.mark
            self._answers[asked] = update.mark, text
        return self._answers[asked]

    def is_known(self, host: str) -> bool:
        """Whether a Host header names this server: another name that leads here may be a page that spies."""
        try:
            name = urllib.parse.urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._hosts or name == "localhost":
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # Names can be made to lead anywhere, addresses can not.
        return address.is_loopback or not self._local

    def may_see(self, request: Request) -> bool:
        """Whether a request comes with the token, in a header or as what is kept in the browser."""
        if self._token is None:
            return True
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        return _same(given, self._token) or _same(request.cookies.get(self.cookie, ""), self.secret)

    @property
    def cookie(self) -> str:
        """Its name: browsers keep one for all ports of a host."""
        return f"decisional-{self._socket.getsockname()[1]}"

    @property
    def secret(self) -> str:
        """What is kept in the browser: the token cannot be read from it."""
        return hashlib.sha256(f"decisional {self._token}".encode()).hexdigest()

    def is_token(self, text: str) -> bool:
        """Whether a text is the token."""
        return self._token is not None and _same(text, self._token)


def _guarded(application: ASGIApp, page: LivePage) -> ASGIApp:
    """Let only requests pass that name this server and know the token, and ask others for it."""
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        if not page.is_known(request.headers.get("host", "")):
            await PlainTextResponse("This host is not served here.", 421, HEADERS)(scope, receive, send)
            return
        if page.may_see(request):
            await application(scope, receive, send)
            return
        given = await _given_token(request)
        if page.is_token(given):
            answer = RedirectResponse("/", 303, HEADERS)
            answer.set_cookie(page.cookie, page.secret, httponly=True, samesite="strict")
            await answer(scope, receive, send)
            return
        await HTMLResponse(render("token.html", wrong=bool(given)), 403, HEADERS)(scope, receive, send)

    return guard


async def _given_token(request: Request) -> str:
    """The token in the address, or of the form that asks for it."""
    text = request.url.query.encode()
    if request.method == "POST":
        text = b""
        async for part in request.stream():
            text += part
            if len(text) > LETTER:
                return "?"
    return urllib.parse.parse_qs(text.decode(errors="replace")).get("token", [""])[0]


def _stream(page: LivePage, mark: str | None) -> Response:
    """A response that goes on until the viewer leaves."""
    from starlette.responses import Response

    class EventStream(Response):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            headers = {**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"}
            raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})

            async def part(body: bytes) -> None:
                await send({"type": "http.response.body", "body": body, "more_body": True})

            telling, gone = asyncio.ensure_future(page.tell(mark, part)), asyncio.ensure_future(_gone(receive))
            await asyncio.wait((telling, gone), return_when=asyncio.FIRST_COMPLETED)
            for task in (telling, gone):
                task.cancel()
            # A viewer that takes nothing is left; errors of one that has gone are nobody's.
            await asyncio.gather(telling, gone, return_exceptions=True)
            if not telling.cancelled() and telling.exception() is None:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    return EventStream()


def _is_after(mark: str, other: str) -> bool:
    """Whether a mark is one of the same stream, and not before another."""
    (run, _, place), (same, _, least) = mark.partition("-"), other.partition("-")
    return run == same and place.isdecimal() and least.isdecimal() and int(place) >= int(least)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def worded(update: Update, by: tuple[str, float | None]) -> dict[str, Any]:
    """An update as JSON, in words that the page only has to put in their places."""
    now, plan = update.now, update.plan
    # A few stay where they are, of many those that are believed in are shown.
    few = len(now.belief) <= BELIEFS
    shown = [*range(len(now.belief))] if few else (-now.belief).argsort(kind="stable")[:BELIEFS].tolist()
    rest = max(1.0 - float(now.belief[shown].sum()), 0.0)
    known = now.decision >= 0
    return {
        "whole": update.whole,
        "position": update.position,
        "time": update.time,
        "ended": update.ended,
        "learning": now.learning,
        "decision": [now.decision, _said(now.predictions), worth(now.utility)] if known else None,
        "belief": [[symbol_text(str(update.names[k])), float(now.belief[k]), int(plan.labels[k])] for k in shown],
        "rest": [len(now.belief) - len(shown), rest],
        "legend": _legend(update, by),
        "misfit": now.misfit,
        "bound": update.bound,
        "lines": [{"width": line.width, "bins": _bins(line)} for line in update.lines],
        "events": [_event(content) for content in update.events],
        "drifts": [_event(content) for content in update.drifts],
        "counts": [update.n_events, update.n_drifts],
        "rate": update.rate,
        "rates": update.rates,
    }


def _said(predictions: Any) -> str:
    return typeset(prediction_text(predictions))


def _of_json(predictions: Any) -> Any:
    """Predictions of a line of events, as they were."""
    if isinstance(predictions, dict):
        return Interval(predictions["low"], predictions["high"])
    return tuple(tuple(y) if isinstance(y, list) else y for y in predictions)


def _legend(update: Update, by: tuple[str, float | None]) -> list[list[Any]]:
    """Label, its name and what it means, for each label that is told apart."""
    plan, (what, level) = update.plan, by
    found = []
    for label in sorted(set(plan.labels.tolist()))[:KINDS]:
        members = (plan.labels == label).nonzero()[0]
        first = members[plan.home[members].argmax()]
        text = f"{_said(plan.predictions[first])}, worth {worth(plan.utility[first])}"
        if level is not None:
            text = f"worth {number(level)} or more" if label else f"worth less than {number(level)}"
        found.append([label, f"{NAMES[what]}{label}" if level is None else "", typeset(text)])
    return found


def _bins(line: LineBins) -> list[list[Any]]:
    """Number, changes, mean worth or None, and labels with their shares of each bin, those of the largest ones."""
    found = []
    for place, row in zip(line.number.tolist(), line.table, strict=True):
        n = float(row[: NONE + 1].sum())
        known = n - float(row[NONE])
        labels = [k for k in (-row[:NONE]).argsort(kind="stable")[:SHARES].tolist() if row[k] > 0]
        shares = [part for k in sorted(labels) for part in (k, round(float(row[k]) / n, 4))]
        mean = round(float(row[WORTH]) / known, 6) if known else None
        found.append([place, int(row[CHANGED]), mean, n, *shares])
    return found


def _event(content: dict[str, Any]) -> list[Any]:
    """Position, time, kind, label, what to do from now on, and a note."""
    place, when = content["position"], content.get("time")
    if "change" in content:
        since, bits = content["change"]["since"], content["change"]["bits"]
        return [place, when, "change", -1, f"no longer fits since about {since:,} ({bits:.1f} bits): learning anew", ""]
    if "refit" in content:
        told = content["refit"]
        states = plural(told["states"], "state")
        text = f"new probabilities in the same {states}" if told["moved"] else f"learnt anew: {states}"
        return [place, when, "refit", -1, text, "" if told["moved"] else f"from those since {told['since']:,}"]
    was = ""
    if content["before"] >= 0:
        was = f"was {_said(_of_json(content['predictions_before']))}, worth {worth(content['utility_before'])}"
    text = f"{_said(_of_json(content['predictions']))}, worth {worth(content['utility'])}"
    return [place, when, "event", content["after"], typeset(text), typeset(was)]


def is_local(host: str) -> bool:
    """Whether only this machine can come to a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _token() -> str:
    """That of the environment, or a new one."""
    given = os.environ.get("DECISIONAL_TOKEN")
    if given is not None and len(given) < TOKEN:
        raise ValueError(
            f"The DECISIONAL_TOKEN has {len(given)} characters; whoever guesses it sees the stream: give {TOKEN} or "
            "more, or none, and one is made."
        )
    return given or secrets.token_urlsafe(24)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise ValueError(
            f"The address {host}:{port} of --serve cannot be used ({error.strerror}): give another port, or an address "
            "of this machine."
        ) from None
    # What a viewer has not taken is kept nowhere but in a small buffer, and not for ever.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    if sys.platform == "linux":
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * PATIENCE))
    return made


def _names(host: str) -> Sequence[str]:
    """Names that this machine is called by."""
    name = socket.gethostname().lower()
    return (host.lower(), name, f"{name}.local", socket.getfqdn().lower()) if not is_local(host) else ()


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(), wanted.encode())
