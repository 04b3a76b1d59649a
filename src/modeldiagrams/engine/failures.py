"""Traces that failed, so that a model is not run again in vain."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from modeldiagrams.common.environment import importable_names_digest
from modeldiagrams.engine.sources import are_unchanged, source_digests
from modeldiagrams.engine.store import Store
from modeldiagrams.worker import Refused, Traced

__all__ = ["RECURRING", "FailureMemory"]

RECURRING = frozenset({"model", "inputs", "forward"})
"""Kinds of problems that come again while nothing changes."""


class _Failure(msgspec.Struct, frozen=True):
    answer: Traced | Refused
    """Of the worker."""
    sources: dict[str, str | None]
    """Absolute file → digest of its content."""
    folders: tuple[str, ...]
    """Where a missing module may appear, besides ``sys.path``."""
    python: str | None
    importable: str
    """Digest of the names that could be imported."""


class FailureMemory:
    """Failures by key. Each is forgotten when one of its sources changes or something new can be imported."""

    def __init__(self, store: Store | None = None) -> None:
        """Remember nothing yet.

        Args:
            store: Keeps failures for other processes; by default they live as long as this object.
        """
        self._store = store
        self._failures: dict[str, _Failure] = {}

    def recall(self, key: str) -> Traced | Refused | None:
        """The worker's answer, if trying again would give the same."""
        return self._recalled(key, _importable)

    def failing(self, keys: Iterable[str]) -> frozenset[str]:
        """Those that `recall` has an answer for, by one look at the folders where something new may be."""
        look = functools.cache(_importable)
        return frozenset(key for key in keys if self._recalled(key, look))

    def _recalled(self, key: str, look: Callable[[tuple[str, ...], str | None], str]) -> Traced | Refused | None:
        failure = self._store.read(f"{key}.failure", _Failure) if self._store else self._failures.get(key)
        if failure is None or not are_unchanged(failure.sources):
            return None
        return failure.answer if look(failure.folders, failure.python) == failure.importable else None

    def note(self, key: str, answer: Traced | Refused, folders: Iterable[Path], python: str | None) -> None:
        """Remember a failure.

        Args:
            key: Digest of what was tried.
            answer: The worker's.
            folders: Where models are imported from, besides ``sys.path``.
            python: The interpreter that was used; None for this process's.
        """
        looked_in = list(dict.fromkeys([*folders, *(Path(file).parent for file in answer.sources)]))
        failure = _Failure(
            answer=answer,
            sources=source_digests(answer.sources),
            folders=tuple(map(str, looked_in)),
            python=python,
            importable=importable_names_digest(looked_in, python),
        )
        if self._store:
            self._store.write(f"{key}.failure", failure)
        else:
            self._failures[key] = failure


def _importable(folders: tuple[str, ...], python: str | None) -> str:
    return importable_names_digest(map(Path, folders), python)
