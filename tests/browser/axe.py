"""What the checker axe finds wrong with a diagram, for readers with impairments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.readers import Reader

_AXE = Path(__file__).parents[2] / "viewer/node_modules/axe-core/axe.min.js"
_RUN = """async ([include, rules, exclude]) => {
  const { violations } = await axe.run({ include, exclude }, rules ? { runOnly: rules } : {});
  return violations.flatMap(({ id, nodes }) => nodes.map(n => `${id}: ${n.html.slice(0, 160)} ${n.any[0]?.message}`));
}"""
_DARK = """() => {
  document.body.style = 'background: #131416; color: #cfd0d0';
  for (const link of document.links) link.style.color = '#8ab4f8';
}"""
_AT_REST = """() => document.querySelector('model-graph').shadowRoot.getAnimations()
  .every(a => a.playState === 'finished')"""


def violations(reader: Reader, *others: str) -> list[str]:
    """What is wrong with the diagram as it is, and with its colours on a dark page, which the page then is.

    Args:
        reader: Who looks at the page.
        others: Selectors of other elements of the page to look at.
    """
    light = findings(reader, *others)
    reader.page.evaluate(_DARK)
    reader.page.wait_for_function(_AT_REST)
    return light + reader.page.evaluate(_RUN, [_included(others), ["color-contrast"], []])


def findings(reader: Reader, *others: str) -> list[str]:
    """What is wrong as it is; arguments as of `violations`.

    Args:
        reader: Who looks at the page.
        others: As of `violations`.
    """
    reader.page.evaluate(_AXE.read_text(encoding="utf-8"))
    reader.page.wait_for_function(_AT_REST)
    found: list[str] = reader.page.evaluate(_RUN, [_included(others), None, []])
    return found


def _included(others: Iterable[str]) -> list[list[str]]:
    return [["model-graph"], *([other] for other in others)]
