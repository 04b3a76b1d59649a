"""Loads graphs from a worker's answer or from a file."""

from pathlib import Path

import msgspec

from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.documents import decompress
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.worker import Problem, Refused, Traced

__all__ = ["LoadedGraph", "load_graph", "read_graph_file"]


class LoadedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph with its sources, libraries and names; see `Traced`."""

    graph: Graph
    content: bytes
    """Its JSON text."""
    sources: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = {}
    name: str | None = None
    has_case_variant: bool = False
    problem: Problem | None = None
    may_differ: bool = False

    @property
    def own_names(self) -> tuple[str, ...]:
        """All names of the class that the author names, the shortest first; none for a factory."""
        if self.name is None:
            return ()
        class_ = self.graph.model.class_
        return tuple(dict.fromkeys([self.name, *reversed(self.names.get(class_, ())), class_]))


def load_graph(answer: Traced | Refused, model: str) -> LoadedGraph | Refused:
    """Load a graph from a worker's answer; one that can't be read becomes a refusal."""
    if isinstance(answer, Refused):
        return answer
    try:
        graph = deserialize(answer.graph)
    except GraphError as error:
        message = f"the process that traced {model} answered with an invalid graph: {error}"
        problem = Problem(kind="worker", message=message)
        return Refused(problem=problem, sources=answer.sources, output=answer.output, may_differ=True)
    return LoadedGraph(
        graph=graph,
        content=answer.graph,
        sources=answer.sources,
        libraries=answer.libraries,
        names=answer.names,
        name=answer.name,
        has_case_variant=answer.has_case_variant,
        problem=make_forward_problem(model, graph),
        may_differ=answer.may_differ,
    )


def read_graph_file(path: Path, name: str) -> LoadedGraph | Refused:
    """Read a graph file; messages use its name."""
    try:
        content = decompress(path.read_bytes())
        graph = deserialize(content)
        sources = (str(path),)
        return LoadedGraph(graph=graph, content=content, sources=sources, problem=make_forward_problem(name, graph))
    except OSError as error:
        problem = f"expected a readable graph file: {error.strerror or error}"
    except GraphError as error:
        problem = str(error)
    return Refused(problem=Problem(kind="graph-file", message=f"{name}: {problem}"), sources=(str(path),))
