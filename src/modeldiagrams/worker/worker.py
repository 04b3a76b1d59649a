"""Traces models outside the documentation's process, so that none can break the build."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from modeldiagrams.common.user_files import is_library, list_src
from modeldiagrams.worker.cleaning import clean_answer
from modeldiagrams.worker.protocol import ListedModels, ListModels, Refused, Traced, TraceRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.options.options import Limits, Options
    from modeldiagrams.worker.protocol import ModelAnswer, ModelRequest

__all__ = ["BaseWorker"]


class BaseWorker(ABC):
    """Runs models in other processes, started when needed. Use it in a ``with`` statement, or `close` it."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Prepare; nothing is started yet.

        Args:
            python: The interpreter of another environment, if any.
            gpu: Whether models may see a GPU.
        """
        self._python = python
        self._gpu = gpu

    def trace(self, options: Options, paths: Sequence[Path] = ()) -> Traced | Refused:
        """Make a model and record one forward pass.

        Args:
            options: The model, its inputs, and its limits.
            paths: Folders to import from, before those of this process.

        Returns:
            The graph, or a refusal; an error of the process is a problem of kind ``worker``.
        """
        request = self.request(options, paths)
        return cast("Traced | Refused", clean_answer(self.run(request), request.path))

    def request(self, options: Options, paths: Sequence[Path] = ()) -> TraceRequest:
        """Build the request of `trace`."""
        return TraceRequest(call=options.call, limits=options.limits, path=self._import_path(paths))

    def list_models(
        self, of: tuple[str, ...], exclude: tuple[str, ...], limits: Limits, paths: Sequence[Path] = ()
    ) -> ListedModels | Refused:
        """List the names of models.

        Args:
            of: Packages, modules, objects, and patterns of names.
            exclude: Patterns of names to leave out.
            limits: Those of importing what they are in.
            paths: As in `trace`.
        """
        request = ListModels(of=of, exclude=exclude, limits=limits, path=self._import_path(paths))
        return cast("ListedModels | Refused", clean_answer(self.run(request), request.path))

    @abstractmethod
    def run(self, request: ModelRequest) -> ModelAnswer:
        """Run a model, or list some."""

    @abstractmethod
    def close(self) -> None:
        """End all processes, including those that models started."""

    @abstractmethod
    def renew(self) -> None:
        """Prepare for models whose sources may have been edited."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _import_path(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Return the folders to import from; another environment has its own libraries.

        ``src`` comes last, because an installed package may have compiled parts that ``src`` lacks.
        """
        own = [entry for entry in sys.path if not self._python or not is_library(entry)]
        return tuple(str(Path(entry).absolute()) for entry in [*map(str, paths), *own, *map(str, list_src(paths))])
