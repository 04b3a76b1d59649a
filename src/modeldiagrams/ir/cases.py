"""Unites the graphs of several passes of a model: what they share is in the union once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.ir.graph import (
    Assumption,
    BufferNode,
    Case,
    ConstantNode,
    Edge,
    FunctionCall,
    Graph,
    InputNode,
    Node,
    OutputNode,
    ParameterNode,
    ParameterSpec,
    Status,
    TensorSpec,
)
from modeldiagrams.ir.projection import made_by, project_case, rename, rename_status, rename_tensor
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.ir.uniting.alignment import merge_rows
from modeldiagrams.ir.uniting.pass_steps import UnitedStep, merge_passes
from modeldiagrams.ir.uniting.united_ways import unite_uncalled, unite_ways
from modeldiagrams.ir.weights import is_weight, place_weights

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["project_case", "unite_cases"]


def unite_cases(
    graphs: Mapping[str, Graph], texts: Mapping[str, str] | None = None, forced: Collection[str] = ()
) -> Graph:
    """Unite the graphs of passes of one model.

    Nodes have the values of the first case they are in; `Case` has those of the others. `project_case` and
    `Graph.case` take a case out again.

    Args:
        graphs: Name of a case → its graph, of one pass. One that is not complete adds no nodes. If none is complete,
            the result shows what the first one has.
        texts: Name of a case → what its author wrote, in short.
        forced: Names of cases that got another answer than the model's at a branch.

    Returns:
        The union. What it contains doesn't depend on the order of the cases; the order of inputs and outputs that
        only some have does, as do the numbers at the end of ids that would occur twice.
    """
    union = _Union(graphs, texts or {}, forced)
    return union.make() if union.ran else union.show_failure()


class _Union:
    def __init__(self, graphs: Mapping[str, Graph], texts: Mapping[str, str], forced: Collection[str]) -> None:
        self.graphs = [*graphs.values()]
        self.ran = [i for i, graph in enumerate(self.graphs) if graph.status.state == "complete"]
        self._names = [*graphs]
        self._texts = texts
        self._forced = forced
        self._ids: list[dict[str, str]] = [{} for _ in self.graphs]
        """Of each case: its id of a node or function call → the id in the union."""
        self._tensors: list[dict[str, str]] = [{} for _ in self.graphs]
        """The same for tensors whose ids differ."""
        self._fields: list[dict[str, dict[str, Any]]] = [{} for _ in self.graphs]
        self._first: dict[str, int] = {}
        """Id of a node, function call or tensor in the union → the first case that has it."""

    def show_failure(self) -> Graph:
        """The first graph, if no case is complete."""
        first = self.graphs[0]
        return msgspec.structs.replace(first, cases=tuple(map(self._case, range(len(self.graphs)))))

    def make(self) -> Graph:
        """Unite the cases that are complete."""
        shared = sorted(self.ran, key=lambda i: (-len(self.graphs[i].nodes), structural_digest(self.graphs[i])))
        steps = merge_passes(self.graphs, shared)
        inputs, outputs, weights = (
            self._collect(kind) for kind in (InputNode, OutputNode, ParameterNode | BufferNode | ConstantNode)
        )
        self._name([*inputs, *weights, *steps.walk(), *outputs])
        nodes: list[Node] = []
        functions: dict[str, FunctionCall] = {}
        parents: dict[str, str | None] = {}
        for step in (*inputs, *weights, *steps.walk(), *outputs):
            united = self._unite(step)
            if isinstance(united, FunctionCall):
                functions[step.id] = united
            else:
                nodes.append(united)
                parents[step.id] = self._parent(step)
        adjacency = self._unite_edges({node.id: i for i, node in enumerate(nodes)})
        placed, hierarchy = place_weights(nodes, parents, functions, adjacency)
        own, tensors = self._unite_tensors(placed)
        parameters = self._unite_parameters()
        cases = [self._case(i) for i in range(len(self.graphs))]
        for i in self.ran:
            specs = self.graphs[i].parameters
            changed = {name: specs.get(name) for name, spec in parameters.items() if specs.get(name) != spec}
            cases[i] = msgspec.structs.replace(cases[i], tensors=own[i], parameters=changed)
        first = self.graphs[self.ran[0]]
        signatures = [self.graphs[i].model.signature for i in self.ran]
        return Graph(
            model=msgspec.structs.replace(cases[self.ran[0]].model, signature=_unite_signatures(signatures)),
            nodes=placed,
            adjacency={node.id: adjacency[node.id] for node in placed if node.id in adjacency},
            hierarchy=hierarchy,
            tensors=tensors,
            parameters=parameters,
            functions=functions,
            status=self._unite_status({i: cases[i].status for i in self.ran}),
            assumptions=self._shared_assumptions(),
            ways=unite_ways({i: self.graphs[i].ways for i in self.ran}),
            uncalled=unite_uncalled([self.graphs[i].uncalled for i in self.ran]),
            cases=tuple(cases),
            provenance=first.provenance,
        )

    def _collect(self, kind: Any) -> list[UnitedStep]:
        """Inputs, outputs or weights of all cases; those with the same id are the same."""
        found: dict[str, UnitedStep] = defaultdict(UnitedStep)
        names: list[str] = []
        for i in self.ran:
            nodes = [node for node in self.graphs[i].nodes if isinstance(node, kind)]
            own = {node.id: node for node in nodes if is_weight(node) or isinstance(node, InputNode | OutputNode)}
            merge_rows(names, [*own])
            for name, node in own.items():
                found[name].found[i] = node
                found[name].passes.add(i)
        return [found[name] for name in names]

    def _name(self, steps: list[UnitedStep]) -> None:
        """Give every step the id that it has in its first case, with a number if another step has it already."""
        taken: set[str] = set()
        for step in sorted(steps, key=lambda step: min(step.found)):
            name = step.id = step.found[min(step.found)].id
            number = 1
            while step.id in taken:
                number += 1
                step.id = f"{name}~{number}"
            taken.add(step.id)
            self._first[step.id] = min(step.found)
            for i, item in step.found.items():
                self._ids[i][item.id] = step.id
                if item.id != step.id and not isinstance(item, FunctionCall):
                    own = {item.id: step.id}
                    self._tensors[i] |= {tensor: rename_tensor(tensor, item.id, own) for tensor in made_by(item)}

    def _unite(self, step: UnitedStep) -> Node | FunctionCall:
        """A node or function call with the values of its first case; note those of the others."""
        items = {i: rename(item, self._ids[i], self._tensors[i]) for i, item in sorted(step.found.items())}
        first = next(iter(items.values()))
        changes: dict[str, Any] = {"cases": self._numbers(sorted(step.passes))}
        around = step.around if step.around and step.around.key else None
        if isinstance(first, FunctionCall):
            changes["parent"] = around and around.id
        elif around and around.key[0] == "function":
            changes["scope"] = around.id
        if isinstance(getattr(first, "outputs", None), tuple):
            changes["outputs"] = tuple(dict.fromkeys(name for item in items.values() for name in item.outputs))  # type: ignore[union-attr]
        if hasattr(first, "signature"):
            changes["signature"] = _unite_signatures([getattr(item, "signature", None) for item in items.values()])
        united = msgspec.structs.replace(first, **changes)
        left_out = {"id", "cases", "scope"} if not isinstance(united, FunctionCall) and is_weight(united) else {"cases"}
        for i, item in items.items():
            fields = _differences(united, item, left_out)
            if fields:
                self._fields[i][step.id] = fields
        return united

    def _parent(self, step: UnitedStep) -> str | None:
        """Id of the module call around a step that is no weight."""
        i, item = next(iter(step.found.items()))
        parent = self.graphs[i].hierarchy[item.id]
        return None if parent is None else self._ids[i][parent]

    def _unite_edges(self, order: Mapping[str, int]) -> dict[str, tuple[Edge, ...]]:
        found: dict[str, dict[str, list[Any]]] = defaultdict(dict)  # source → target → edges, in the order of all cases
        cases: dict[Any, list[int]] = defaultdict(list)
        for i in self.ran:
            ids, tensors = self._ids[i], self._tensors[i]
            for source, edges in self.graphs[i].adjacency.items():
                rows: dict[str, list[Any]] = defaultdict(list)
                for edge in edges:
                    key = (ids[edge.to], tensors.get(edge.tensor, edge.tensor), edge.argument, edge.flow)
                    rows[key[0]].append((*key, sum(known[:4] == key for known in rows[key[0]])))
                for to, row in rows.items():
                    merge_rows(found[ids[source]].setdefault(to, []), row)
                    for key in row:
                        cases[key].append(i)
        return {
            source: tuple(
                Edge(
                    to=to,
                    tensor=tensor,
                    argument=argument,
                    flow=flow,
                    cases=self._numbers(cases[to, tensor, argument, flow, n]),
                )
                for key in sorted(rows, key=lambda target: order[target])
                for to, tensor, argument, flow, n in rows[key]
            )
            for source, rows in found.items()
        }

    def _numbers(self, numbers: list[int]) -> tuple[int, ...]:
        """The value of `cases` for what is in these cases."""
        return () if len(numbers) == len(self.ran) else tuple(numbers)

    def _unite_tensors(self, nodes: Sequence[Node]) -> tuple[list[dict[str, TensorSpec]], dict[str, TensorSpec]]:
        """Tensors as the first case has them, in the order of nodes; before them, those that differ in each case."""
        found: dict[str, TensorSpec] = {}
        own: list[dict[str, TensorSpec]] = [{} for _ in self.graphs]
        for i in self.ran:
            for name, spec in self.graphs[i].tensors.items():
                shared = self._tensors[i].get(name, name)
                self._first.setdefault(shared, i)
                if found.setdefault(shared, spec) != spec:
                    own[i][shared] = spec
        return own, {tensor: found[tensor] for node in nodes for tensor in made_by(node)}

    def _unite_parameters(self) -> dict[str, ParameterSpec]:
        found: dict[str, ParameterSpec] = {}
        names: list[str] = []
        for i in self.ran:
            merge_rows(names, [*self.graphs[i].parameters])
            found = {**self.graphs[i].parameters, **found}
        return {name: found[name] for name in names}

    def _shared_assumptions(self) -> tuple[Assumption, ...]:
        first, *others = (self.graphs[i].assumptions for i in self.ran)
        return tuple(said for said in first if all(said in other for other in others))

    def _unite_status(self, statuses: dict[int, Status]) -> Status:
        """What is known of all passes together. Values of nodes and tensors are those of the first case with them."""
        every = [*statuses.values()]
        modes = {status.mode: self._names[i] for i, status in reversed(statuses.items())}

        def of_first(field: str) -> tuple[str, ...]:
            return tuple(
                name for i, status in statuses.items() for name in getattr(status, field) if self._first[name] == i
            )

        guesses: list[Any] = []
        for guess in (guess for status in every for guess in status.guesses):
            guesses += [guess] if guess not in guesses else []  # their values may be lists
        return Status(
            state="complete",
            mode=every[0].mode,
            unseen=of_first("unseen"),
            guesses=tuple(guesses),
            assumed_tensors=of_first("assumed_tensors"),
            assumed_flops=of_first("assumed_flops"),
            costs_of_input=every[0].costs_of_input,
            notes=(*dict.fromkeys(note for status in every for note in status.notes), *_note_on_modes(modes)),
        )

    def _case(self, i: int) -> Case:
        graph, ids, tensors = self.graphs[i], self._ids[i], self._tensors[i]
        model, status, shared = graph.model, graph.status, self._shared_assumptions() if self.ran else ()
        if i in self.ran:
            model, status = rename(model, ids, tensors), rename_status(status, ids, tensors)
        else:  # nothing that these name is in the union
            error = status.error and msgspec.structs.replace(status.error, node=None)
            model = msgspec.structs.replace(model, inputs={}, outputs={})
            status = Status(state=status.state, mode=status.mode, error=error, notes=status.notes)
        return Case(
            name=self._names[i],
            text=self._texts.get(self._names[i], ""),
            forced=self._names[i] in self._forced,
            model=model,
            status=status,
            assumptions=tuple(said for said in graph.assumptions if said not in shared),
            ids={name: own for own, name in ids.items() if name != own},
            fields=self._fields[i],
        )


def _differences(united: Any, item: Any, left_out: Collection[str]) -> dict[str, Any]:
    """The fields in which a case's node or function call differs, as in JSON."""
    kind = type(item)
    return {
        key: msgspec.to_builtins(value)
        for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
        if name not in left_out and (value := getattr(item, name)) != getattr(united, name)
    }


def _unite_signatures(signatures: Sequence[str | None]) -> str | None:
    """Equal for blocks that are equal in every case that runs them."""
    if len({*signatures}) == 1:
        return signatures[0]
    return digest(*(str(signature).encode() for signature in signatures))


def _note_on_modes(modes: Mapping[Any, str]) -> tuple[str, ...]:
    """Say it if passes ran in several modes: a model may look at values only if there are some."""
    if modes.keys() & {"fake", "meta"} and "real" in modes:
        other = modes.get("fake") or modes["meta"]
        return (f"{modes['real']} ran with real values and {other} without, so branches may differ for that reason",)
    return ()
