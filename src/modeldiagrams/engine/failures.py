"""Remembers failed traces and lists of models, so that nothing runs again in vain."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from modeldiagrams.common.environment import digest_importable_names
from modeldiagrams.engine.sources import are_unchanged, digest_sources
from modeldiagrams.engine.store import Store
from modeldiagrams.worker import ModelAnswer

__all__ = ["RECURRING", "FailureMemory"]

RECURRING = frozenset({"model", "inputs", "forward"})
"""Kinds of problems that recur until something changes."""


class _Failure(msgspec.Struct, frozen=True):
    answer: ModelAnswer
    """The worker's answer."""
    sources: dict[str, str | None]
    """Digests of absolute files."""
    folders: tuple[str, ...]
    """Folders where a missing module may appear, in addition to ``sys.path``."""
    python: str | None
    importable: str
    """The digest of all importable names."""


class FailureMemory:
    """Stores failures by key, until one of their sources or the importable names change."""

    def __init__(self, store: Store | None = None) -> None:
        """Start empty.

        Args:
            store: Keeps failures for other processes; by default, they live as long as this object.
        """
        self._store = store
        self._failures: dict[str, _Failure] = {}

    def recall(self, key: str) -> ModelAnswer | None:
        """Return the worker's answer if another try would give the same."""
        return self._recalled(key, _digest_importable)

    def failing(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the keys of failures that would recur, checking folders only once."""
        look = functools.cache(_digest_importable)
        return frozenset(key for key in keys if self._recalled(key, look))

    def _recalled(self, key: str, look: Callable[[tuple[str, ...], str | None], str]) -> ModelAnswer | None:
        failure = self._store.read(f"{key}.failure", _Failure) if self._store else self._failures.get(key)
        if failure is None or not are_unchanged(failure.sources):
            return None
        return failure.answer if look(failure.folders, failure.python) == failure.importable else None

    def note(self, key: str, answer: ModelAnswer, folders: Iterable[Path], python: str | None) -> None:
        """Remember a failure.

        Args:
            key: The digest of the trace's inputs.
            answer: The worker's answer.
            folders: Folders to import models from, in addition to ``sys.path``.
            python: The interpreter; None for the current one.
        """
        looked_in = list(dict.fromkeys([*folders, *(Path(file).parent for file in answer.sources)]))
        failure = _Failure(
            answer=answer,
            sources=digest_sources(answer.sources),
            folders=tuple(map(str, looked_in)),
            python=python,
            importable=digest_importable_names(looked_in, python),
        )
        if self._store:
            self._store.write(f"{key}.failure", failure)
        else:
            self._failures[key] = failure


def _digest_importable(folders: tuple[str, ...], python: str | None) -> str:
    return digest_importable_names(map(Path, folders), python)
