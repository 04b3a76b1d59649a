"""Browser pages for tests. Opening one takes longer than most tests, so each serves many of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PATIENCE = 120_000
"""Milliseconds until a step that does not succeed is given up: a machine may be busy with ten other things."""
_VIEWPORT = {"width": 900, "height": 700}
_OUTSIDE = (-1, -1)
"""Where a pointer is that hovers nothing: even a corner of a window is near a diagram that begins there."""
_FORGET = """() => {
  try {
    localStorage.clear();
    sessionStorage.clear();
  } catch {} // documents without an origin have none
  return matchMedia("print").matches;
}"""
"""Whether the page is shown as on paper."""


class Reader:
    """A browser page with its errors."""

    def __init__(self, page: Page, *, listens: bool = False) -> None:
        self.page = page
        self.errors: list[str] = []
        self._urls: list[str] = []
        self._listeners = {"pageerror": lambda error: self.errors.append(str(error))}
        if listens:
            self._listeners["request"] = lambda request: self._urls.append(request.url)
        for event, listener in self._listeners.items():
            page.on(event, listener)

    @property
    def urls(self) -> list[str]:
        """Of all that the browser asked for."""
        assert "request" in self._listeners, "mark the test with `requests`, or open the page with `listens=True`"
        return self._urls

    @property
    def requests(self) -> list[str]:
        """Names of the files that the browser asked for."""
        return [url.rpartition("/")[2] for url in self.urls]

    def node(self, node: str, diagram: int = 0):
        """The drawn node with this id."""
        return self.page.locator("model-graph").nth(diagram).locator(f'.mg-stage [data-id="{node}"]')

    def header(self, node: str, diagram: int = 0):
        """The part of an expanded node that can be clicked."""
        return self.node(node, diagram).locator("> .mg-header")

    def evaluate(self, script: str, diagram: int = 0):
        """The value of a JavaScript function of a diagram's element."""
        return self.page.locator("model-graph").nth(diagram).evaluate(script)

    def leave(self) -> None:
        """Undo what a test may have done to the page and its browser."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.unroute_all()
        is_printed = self.page.evaluate(_FORGET)
        self.page.goto("about:blank")
        self.page.mouse.move(*_OUTSIDE)
        if is_printed:
            self.page.emulate_media(media="null")
        self.page.context.clear_cookies()
        self.page.context.clear_permissions()


class Readers:
    """Hands out pages, and takes them back."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._free: dict[str, list[Page]] = {}
        """Options of a browser context → its pages that no test uses now."""

    @contextmanager
    def open(self, *, once: bool = False, listens: bool = False, **context: object) -> Iterator[Reader]:
        """A page in a browser with these options. No page may raise an error.

        Args:
            once: For tests that change a page for good.
            listens: For tests that ask what was requested: each request that is heard takes a millisecond.
            context: Options of a browser context.
        """
        options = {"viewport": _VIEWPORT, **context}
        free = [] if once else self._free.setdefault(repr(options), [])
        page = free.pop() if free else self._new_page(options)
        page.set_default_timeout(_PATIENCE)
        reader = Reader(page, listens=listens)
        yield reader
        assert reader.errors == []
        if once:
            page.context.close()
            return
        reader.leave()
        if page.viewport_size != options["viewport"]:
            page.set_viewport_size(options["viewport"])
        free.append(page)

    def _new_page(self, options: dict[str, object]) -> Page:
        page = self._chromium.new_context(**options).new_page()
        page.mouse.move(*_OUTSIDE)  # without windows, Chromium begins with a pointer in the corner
        return page
