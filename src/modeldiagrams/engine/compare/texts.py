"""Describes a difference as text for terminals, and as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from modeldiagrams.common.amounts import format_count, format_flops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.engine.compare.change_list import Checkpoints, Found

__all__ = ["as_markdown", "as_text", "escape_markdown", "format_checkpoint", "format_head"]

_VERDICTS = {
    "load": "load",
    "load-after-renaming": "load after renaming",
    "load-in-part": "load in part",
    "ambiguous": "ambiguous: some weights differ only in their names",
    "do-not-load": "do not load",
}
_MOST_RULES = 8
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")


def as_text(found: Found, *, details: bool, title: str) -> str:
    """Format a difference for a terminal."""
    lines = [title or _format_title(found), *(f"  {line}" for line in format_head(found))]
    lines += [f"  {level:<9} {text}" for level, text in _format_changes(found, details=details)]
    return "\n".join([*lines, *(f"  {line}" for line in format_checkpoint(found.checkpoints))])


def as_markdown(found: Found, *, details: bool, title: str) -> str:
    """Format a difference as a heading and lists."""
    parts = [
        f"### {escape_markdown(title or _format_title(found))}",
        "\n".join(f"{escape_markdown(line)}  " for line in format_head(found)).rstrip(),
    ]
    changes = [f"- **{level}** {escape_markdown(text)}" for level, text in _format_changes(found, details=details)]
    first, *rest = format_checkpoint(found.checkpoints)
    parts += [
        "\n".join(changes),
        "\n".join([escape_markdown(first), "", *(f"- {escape_markdown(line.strip())}" for line in rest)]).rstrip(),
    ]
    return "\n\n".join(part for part in parts if part)


def _format_title(found: Found) -> str:
    before, after = found.before.model, found.after.model
    return before if before == after else f"{before} → {after}"


def format_head(found: Found) -> Iterator[str]:
    """Yield the lines about the whole model."""
    yield f"parameters {_format_numbers(found.before.parameters, found.after.parameters, format_count)}"
    signs = (found.before.flops_sign, found.after.flops_sign)
    yield f"FLOPs {_format_numbers(found.before.flops, found.after.flops, format_flops, signs)}"
    for text in found.reservations:
        yield f"reservation: {text}"
    if found.same_computation and not found.same:
        yield "the outputs are computed as before; only names, modules or what is trained differ"
    if found.inventory is not None:
        yield "two different architectures, made of:"
        for label, (before, after) in found.inventory.items():
            yield f"{label}: {before} → {after}"


def _format_changes(found: Found, *, details: bool) -> Iterator[tuple[str, str]]:
    for change in found.changes:
        if details or change.is_main:
            yield change.level, change.text
    hidden = 0 if details else sum(change.level == "detail" for change in found.changes)
    if hidden:
        yield "detail", f"{hidden} change{'s'[: hidden != 1]} without effect on results"
    if not found.changes:
        yield "none", "no change"


def format_checkpoint(found: Checkpoints) -> Iterator[str]:
    """Describe whether saved weights load: the verdict, then indented details."""
    counts = {
        "as before": found.same,
        "renamed": len(found.renamed),
        "of another shape": len(found.reshaped),
        "gone": len(found.gone),
        "new": len(found.new),
    }
    keys = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    yield f"checkpoints {_VERDICTS[found.verdict]}" + (f" (keys: {keys})" if keys else "")
    if not found.buffers_known:
        yield "  a graph before format 1.2 doesn't know which buffers are saved, so all count"
    yield from _format_rules([(pair.before, pair.after) for pair in found.renamed])
    for group in found.ambiguous[:_MOST_RULES]:
        yield f"  ambiguous: {_format_some(group.before)} ↔ {_format_some(group.after)}"
    if found.other_role:
        yield f"  other role under the same name: {_format_some(found.other_role)}"


def _format_rules(renamed: Sequence[tuple[str, str]]) -> Iterator[str]:
    """List renamed keys, one line per kind."""
    rules = Counter((_join_pattern(before), _join_pattern(after)) for before, after in map(_cut_common_end, renamed))
    for (before, after), count in list(rules.items())[:_MOST_RULES]:
        yield f"  {before} → {after}" + (f" ×{count}" if count > 1 else "")
    if len(rules) > _MOST_RULES:
        yield f"  and {len(rules) - _MOST_RULES} more kinds of names"


def _cut_common_end(names: tuple[str, str]) -> tuple[str, str]:
    before, after = (name.split(".") for name in names)
    end = ""
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before.pop()
        after.pop()
        end = ".*"
    return ".".join(before) + end, ".".join(after) + end


def _join_pattern(name: str) -> str:
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", name)


def _format_some(names: Sequence[str]) -> str:
    more = len(names) - 4
    return ", ".join(names[:4]) + (f" and {more} more" if more > 0 else "")


def _format_numbers(
    before: int | None, after: int | None, written: Callable[[int], str], signs: tuple[str, str] = ("", "")
) -> str:
    if before is None or after is None:
        return "not counted"
    one, other = (f"{sign} {written(count)}".strip() for sign, count in zip(signs, (before, after), strict=True))
    if before == after and one == other:
        return f"{one}, as before"
    change = f" ({(after - before) / before:+.1%})" if before else ""
    return f"{one} → {other}{change}"


def escape_markdown(text: str) -> str:
    r"""Escape text for Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
