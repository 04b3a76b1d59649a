"""What the name of a forward's parameter says about the input (rule 4)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.resolve.names.candidates import Candidate
from modeldiagrams.resolve.names.tables import PROJECT, matches, project_value, table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["role_candidates", "role_of"]


class Role(msgspec.Struct, frozen=True):
    """A kind of input: a row of the table ``forward_parameters``."""

    name: str = msgspec.field(name="role")
    names: list[str]
    entries: list[Any]
    dimensions: tuple[int, ...] = ()
    is_whole: bool = False

    def suits(self, entry: Any) -> bool:
        """Whether a layer's candidate is of this kind."""
        is_whole = isinstance(entry, dict) and entry.get("dtype") == "int64"
        shape = entry["shape"] if isinstance(entry, dict) else entry
        return is_whole == self.is_whole and len(shape) in self.dimensions


@functools.cache
def _roles() -> list[Role]:
    return [msgspec.convert(row, decodable(Role)) for row in table("forward_parameters")]


def role_of(name: str) -> Role | None:
    """The role of a parameter by its name."""
    known = project_value("inputs", name)
    if known is not None:
        return Role(name=PROJECT, names=[], entries=[known])
    return next((role for role in _roles() if matches(role.names, name.lower())), None)


def role_candidates(role: Role | None) -> Iterator[Candidate]:
    """Candidates of a role that do not depend on the layers."""
    if role is None:
        return
    reason = PROJECT if role.name == PROJECT else f"its name tells that it is of the kind {role.name!r}"
    yield from (Candidate(entry, reason) for entry in role.entries)
