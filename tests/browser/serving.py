"""Serves a folder over http."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

POLICIES = {
    "csp": "script-src 'self'",
    "wasm": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
    "no-worker": "script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'",
    "types": "script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'",
    "named-types": "require-trusted-types-for 'script'; trusted-types modeldiagrams modeldiagrams-catalogue",
    "no-types": "require-trusted-types-for 'script'; trusted-types 'none'",
}


class _Handler(SimpleHTTPRequestHandler):
    """Serves a site; ``?csp`` and other queries select a content security policy."""

    def end_headers(self) -> None:
        policy = POLICIES.get(self.path.rpartition("?")[2])
        if policy is not None:
            self.send_header("Content-Security-Policy", policy)
        if ".html" in self.path:  # a test may write the page of another one anew, within a second: the unit of its date
            self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    """Browsers open many connections at once; one that is refused is tried again only seconds later."""

    request_queue_size = 128


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder's address."""
    with _Server(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as http:
        # whoever ends it waits that long
        thread = threading.Thread(target=http.serve_forever, args=[0.05])
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()
