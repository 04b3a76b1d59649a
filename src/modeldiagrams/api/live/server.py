"""Serves the page only to readers on this machine.

Pages of other sites in the reader's browser can reach the port too. They are refused, because they don't know the token
and can't use their own host name for this machine.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
from typing import TYPE_CHECKING, Any, Self

from modeldiagrams.api.live.feed import Feed
from modeldiagrams.api.live.site import EVENTS, build_site
from modeldiagrams.errors import OptionError
from modeldiagrams.render.flat import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from modeldiagrams.api.live.site import File
    from modeldiagrams.ir.graph import Graph

__all__ = ["LiveServer"]

ADDRESS = "127.0.0.1"
_HOST = re.compile(rb"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")
"""The allowed hosts of requests, also through a forwarded port; other sites' names for this machine are refused."""
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self';"
    " img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_MOST_CONNECTIONS = 200
_END = 10
"""The maximum number of seconds for connections to end with the server; streams end much sooner."""


class LiveServer:
    """Follows one or several recordings.

    Attributes:
        url: The URL of the page, with its token.
    """

    def __init__(self, paths: Sequence[Path], graph: Graph, port: int = 0) -> None:
        """Bind a port.

        Args:
            paths: The recordings.
            graph: The graph of the trained model.
            port: The port; 0 for any free port.

        Raises:
            RenderError: if the libraries are not installed.
            OptionError: if the port is taken.
        """
        for library in ("starlette", "uvicorn"):
            require(library, "watch", "pages that follow a training")
        self._token = secrets.token_urlsafe(24)
        self._files = build_site(graph, ", ".join(path.name for path in paths))
        self._feed = Feed(paths, graph)
        self._socket = _bind(port)
        self.url = f"http://{ADDRESS}:{self._socket.getsockname()[1]}/{self._token}/"

    def run(self) -> None:
        """Serve until the process is interrupted."""
        import uvicorn  # noqa: PLC0415  (optional)

        config = uvicorn.Config(
            guard_app(build_app(self._files, self._feed), self._token),
            access_log=False,  # it would show the token
            log_level="error",
            lifespan="off",
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_END,
        )
        server = uvicorn.Server(config)
        self._feed.is_over = lambda: server.should_exit
        with contextlib.suppress(KeyboardInterrupt):  # the usual end
            server.run(sockets=[self._socket])

    def close(self) -> None:
        """Release the port."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _bind(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except (OSError, OverflowError) as error:
        raise OptionError("port", f"expected a free port, got {port}: {error}") from error


def build_app(files: Mapping[str, File], feed: Feed) -> Any:
    """Build the app that serves the page, its files and its stream; requests never reach the file system."""
    from starlette.applications import Starlette  # noqa: PLC0415  (optional)
    from starlette.responses import Response, StreamingResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def send_file(request: Any) -> Any:
        file = files.get(request.path_params["name"])
        return Response(status_code=404) if file is None else Response(file.content, media_type=file.type)

    async def send_events(request: Any) -> Any:
        messages = feed.messages(request.headers.get("last-event-id"))
        return StreamingResponse(messages, media_type="text/event-stream")

    return Starlette(routes=[Route(f"/{EVENTS}", send_events), Route("/{name:path}", send_file)])


def guard_app(app: Any, token: str) -> Any:
    """Let only requests with the token and from allowed origins through to the app."""
    from starlette.datastructures import MutableHeaders  # noqa: PLC0415  (optional)
    from starlette.responses import Response  # noqa: PLC0415

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        status = find_refusal(scope, token)
        answer = Response(status_code=status) if status else app
        inner = scope if status else {**scope, "path": scope["path"][len(token) + 1 :]}
        await answer(inner, receive, send_with_headers)

    return guard


def find_refusal(scope: Mapping[str, Any], token: str) -> int | None:
    """Return the status for refusing a request; None if it is allowed."""
    if scope["type"] != "http":
        return 400
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    hosts = [value for name, value in headers if name == b"host"]
    sites = [value for name, value in headers if name == b"sec-fetch-site"]
    is_here = len(hosts) == 1 and _HOST.fullmatch(hosts[0].lower())
    if not is_here or any(value not in {b"same-origin", b"none"} for value in sites):
        return 403
    if scope["method"] != "GET":
        return 405
    given, slash, _ = scope["path"].removeprefix("/").partition("/")
    is_known = secrets.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())
    return None if is_known and slash else 403
