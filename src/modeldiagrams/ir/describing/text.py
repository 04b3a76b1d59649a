"""Writes a graph as Markdown: modules, ops, what each reads, shapes, parameters, repeats and source lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.common.files import digest
from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.case_texts import say_only
from modeldiagrams.ir.describing.levels import NOTHING, Levels, maker_of
from modeldiagrams.ir.describing.runs import find_runs, is_chain, name_run
from modeldiagrams.ir.graph import FunctionCall, InputNode, ModuleNode, OpNode, OutputNode
from modeldiagrams.ir.named_shapes import named_shape, say_sizes
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.remarks import explain_state, list_remarks
from modeldiagrams.ir.way_words import count_uncalled, list_left_sides, name_uncalled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modeldiagrams.ir.describing.levels import Call, Level, Read
    from modeldiagrams.ir.graph import Graph, Node

__all__ = ["describe", "digest_describing"]

Item: TypeAlias = "Node | FunctionCall"

_TORCH = "torch."
_SIZES = re.compile(
    r"(?<=\()(\d+|\[[\d, ]+\])(, \d+)*|(in|out)_features=\d+|, [\d.]+[KMBT]?(?= ×|,| ←|$)| → [^;\n]*", re.MULTILINE
)
"""What lines of equal modules of other sizes differ in."""
_UNNAMED = ("other", "exponent", "value")
"""Arguments of ops that are numbers to compute with, and need no name."""
_NAMED = ("k", "shifts", "scale")
"""The same, with a name."""
_DIGITS = re.compile(r"\d+")
_MOST_OUTPUTS = 12
_MOST_SIDES = 12
_LEAST_LIKE = 6
"""A reference to a call of other sizes leaves these out, which is only worth it for contents of so many lines."""

_USUAL = {"stride": 1, "dilation": 1, "groups": 1, "num_layers": 1, "padding": 0, "output_padding": 0}
"""Settings of layers that a line leaves out."""
_QUIET = {"padding_mode", "eps", "momentum", "p", "dropout"}

_LEGEND = (
    "A line is a module, function or op: `name: class or op(sizes), parameters, source line ← what it reads → output"
    " shape`. `×n` folds equal modules in a row; `same as` and `like` refer to one above. `^name` is an argument of the"
    " call around it, `name=` one that the line gets, `x[1]`, `x.key` or `f()/op` one of several results, and"
    " `:12` a line in the file of its class. Ops that only reshape or copy, and usual settings, are left out."
)


def describe(graph: Graph, link: str = "", remarks: Mapping[str, str] = MappingProxyType({})) -> str:
    """Describe a graph as Markdown; the same text for the same graph.

    Args:
        graph: The graph.
        link: Address of the graph as JSON, to name in the text.
        remarks: Id of a node → what to add to its line.

    Returns:
        A heading, facts about the model, and nested lists, each line as `_LEGEND` says. It ends with a line break.
    """
    return "\n".join([*_Description(graph, remarks).lines(link), ""])


@cache
def digest_describing() -> str:
    """Return a hash of the code that describes graphs."""
    return digest(*(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))))


class _Description:
    def __init__(self, graph: Graph, remarks: Mapping[str, str]) -> None:
        self._graph = graph
        self._said = remarks
        self._levels = Levels(graph)
        self._bounds = bounds_of(graph)
        self._files = _shorten_files(graph)
        self._named: dict[str, None] = {}
        """The files whose lines are in the text, in the order of their first use."""
        self._results: dict[str | None, dict[str, set[str]]] = {}
        self._described: dict[str, str] = {}
        """Signature, or text without sizes → id of the first call that has it."""

    def lines(self, link: str) -> Iterator[str]:
        model = self._graph.model
        yield f"# {model.name}"
        yield ""
        facts = [f"`{model.class_}`", f"{model.parameters.total:,} parameters"]
        if model.parameters.trainable != model.parameters.total:
            facts.append(f"{model.parameters.total - model.parameters.trainable:,} of them frozen")
        if model.flops is not None:
            facts.append(f"{self._sign(None, self._bounds.flops, format_flops(model.flops))}FLOPs")
        if model.activation_bytes is not None:
            memory = self._sign(None, self._bounds.memory, format_bytes(model.activation_bytes)).rstrip()
            facts.append(f"{memory} of activations")
        yield f"{', '.join(facts)}."
        is_known = bool(self._levels.by_call[None].parts)
        content = [*self._content(None, "")] if is_known else [*self._hierarchy()]
        yield from self._remarks()
        if link:
            yield f"The whole graph: {link}"
        yield from ["", *([_LEGEND, ""] if is_known else []), *content]

    def _sign(self, item: str | None, items: frozenset[str | None], text: str) -> str:
        return add_sign(self._bounds.cost_sign if item in items else None, text) + " "

    def _remarks(self) -> Iterator[str]:
        left = [side for side in list_left_sides(self._graph) if side.is_own]
        places = defaultdict[str, list[str]](list)
        for side in left:
            places[side.text].append(self._line(side.source, None))
        sides = [f"`{text}` {', '.join(lines)}" for text, lines in [*places.items()][:_MOST_SIDES]]
        sides += [f"{len(places) - _MOST_SIDES} more"] if len(places) > _MOST_SIDES else []
        own = (self._graph.model.source or "").rpartition(":")[0]
        if files := dict.fromkeys(file for file in (own, *self._named) if file):
            yield f"Source: {', '.join(files)}."
        tied = {"/".join(sorted([name, *spec.tied])) for name, spec in self._graph.parameters.items() if spec.tied}
        if tied:
            yield f"Shared weights: {', '.join(sorted(tied))}."
        if sizes := say_sizes(self._graph, has_costs=True):
            yield f"Sizes: {sizes}."
        yield from (text for text in [explain_state(self._graph), *list_remarks(self._graph)] if text)
        if not all(NOTHING.fullmatch(short_name(module.class_)) for module in self._graph.uncalled):
            yield f"{count_uncalled(self._graph)} never ran: {name_uncalled(self._graph)}."
        if sides:
            yield f"Not taken in this pass: {', '.join(sides)}."

    def _hierarchy(self) -> Iterator[str]:
        """List the modules of a graph without ops."""
        for node in self._graph.nodes:
            if isinstance(node, ModuleNode):
                indent = "  " * len(self._graph.ancestors(node))
                yield f"{indent}- {self._head(node, self._outer_path(node.id))}"

    def _content(self, call: str | None, indent: str) -> Iterator[str]:
        """List the parts of a call, and what it returns."""
        level = self._levels.by_call[call]
        outputs = [part for part in level.parts if isinstance(self._graph.by_id.get(part), OutputNode)]
        parts = [part for part in level.parts if part not in set(outputs)]
        for run in find_runs(self._graph, level, parts):
            yield from self._lines_of(call, level, run, indent)
        if call is None:
            yield from self._returned(outputs, level)
        elif made := self._result(call):
            yield f"{indent}- return ← {made}"

    def _lines_of(self, call: str | None, level: Level, run: Sequence[str], indent: str) -> Iterator[str]:
        first, item = run[0], self._item(run[0])
        reads = self._reads(call, first)
        if isinstance(item, OpNode):
            path = self._path_of(call)
            weights = [name.removeprefix(f"{path}.") for name in item.weights.values()]
            reads = ", ".join(filter(None, [reads, *weights, *_list_numbers(item)]))
        text = self._head(item, name_run([self._short(call, part) for part in run]))
        if len(run) > 1:
            text += f" ×{len(run)}"
            reads += ", then each the one before" if is_chain(level, run) else ""
        said = filter(None, [say_only(self._graph, item), self._said.get(first)])
        text = " ".join([text, *(f"({remark})" for remark in said)])
        line = f"{indent}- {text}{f' ← {reads}' if reads else ''}{self._shape(item)}"
        if isinstance(item, ModuleNode | FunctionCall):
            content = [] if self._is_leaf(item) else [*self._content(item.id, "")]
            reference = self._refer(item, content)
            yield line + reference
            if not reference:
                yield from (f"{indent}  {inner}" for inner in content)
        else:
            yield line

    def _head(self, item: Item, name: str) -> str:
        """Write name, class, sizes, parameters and line."""
        if isinstance(item, InputNode):
            return f"{name}: input {self._graph.tensors[item.outputs[0]].dtype}" if item.outputs else f"{name}: input"
        if isinstance(item, ModuleNode):
            sizes = _write_sizes(item.attributes) if item.class_.startswith(_TORCH) else ""
            words = [f"{name}: {short_name(item.class_)}{sizes}"]
            if item.parameters.total:
                words.append(format_count(item.parameters.total))
            if not item.class_.startswith(_TORCH) and item.source:
                words.append(self._line(item.source, item))
            return ", ".join(words)
        if isinstance(item, FunctionCall):
            line = f", {self._line(item.source, item)}" if item.source else ""
            return f"{name}: function{line}"
        if isinstance(item, OpNode):
            line = f", {self._line(item.source, item)}" if item.source else ""
            op = short_name(item.name.replace("::", "."))
            return f"{name}{f': {op}' if _DIGITS.sub('', name).rstrip('#') != op else ''}{line}"
        return f"{name}: {getattr(item, 'kind', '')}"

    def _line(self, source: str, item: ModuleNode | FunctionCall | OpNode | None) -> str:
        """Shorten ``pkg/models/file.py:12`` to ``file.py:12``, or to ``:12`` in the file of the class around it."""
        outer = self._path_of(self._levels.outer(item.id)) if item else ""
        around = self._graph.by_id.get(outer, self._graph.model)
        own = (getattr(around, "source", None) or "").rpartition(":")[0]
        file, _, line = source.rpartition(":")
        return f":{line}" if file == own else self._shorten(source)

    def _shorten(self, source: str) -> str:
        file, _, line = source.rpartition(":")
        self._named[file] = None
        return f"{self._files[file]}:{line}"

    def _shape(self, item: Item) -> str:
        if isinstance(item, FunctionCall | OutputNode):
            return ""
        found = [*item.outputs.values()] if isinstance(item, ModuleNode) else [*item.outputs]
        sign = f"{self._bounds.sign} "
        shapes = Counter(
            f"{sign if tensor in self._bounds.tensors else ''}{named_shape(self._graph, tensor)}"
            for tensor in found
            if tensor in self._graph.tensors
        )
        texts = [f"{count} of {shape}" if count > 1 else shape for shape, count in shapes.items()]
        return f" → {', '.join(texts[:4])}{' …' if texts[4:] else ''}" if texts else ""

    def _refer(self, item: Call, content: Sequence[str]) -> str:
        """Refer to an equal call that is described above; else note this one."""
        if len(content) <= 1:
            return ""
        known = self._described.setdefault(item.signature or item.id, item.id)
        if known != item.id:
            return f"; same as {known}"
        if len(content) < _LEAST_LIKE:
            return ""
        form = _SIZES.sub("", "\n".join([item.class_ if isinstance(item, ModuleNode) else item.name, *content]))
        like = self._described.setdefault(form, item.id)
        return f"; like {like}, at other sizes" if like != item.id else ""

    def _is_leaf(self, item: Call) -> bool:
        """Whether the content says no more than the class does."""
        parts = self._levels.by_call[item.id].parts
        if isinstance(item, ModuleNode) and item.class_.startswith("torch.nn.modules."):
            return not any(isinstance(self._item(part), ModuleNode) for part in parts)
        return len(parts) <= 1 and all(isinstance(self._item(part), OpNode) for part in parts)

    def _reads(self, call: str | None, part: str) -> str:
        """List what a part reads; a call with several arguments has them in their order, and says which is which."""
        item, reads = self._item(part), [*self._levels.by_call[call].reads[part]]
        taken = defaultdict[str, list[str]](list)
        if isinstance(item, ModuleNode | FunctionCall) and len(reads) > 1:
            for name, tensor in item.inputs.items():
                taken[self._levels.origin(tensor)].append(name)
            order = [*taken]
            reads.sort(key=lambda read: order.index(read.tensor) if read.tensor in taken else len(order))
        texts = (self._assign(taken.get(read.tensor, ()), self._name_read(call, read)) for read in reads)
        return ", ".join(dict.fromkeys(texts))

    def _assign(self, arguments: Sequence[str], value: str) -> str:
        """Write ``key=value=encoder``; the arguments are left out if one has the name of the value."""
        return value if value.removeprefix("^") in arguments else "=".join([*arguments, value])

    def _name_read(self, call: str | None, read: Read) -> str:
        name = self._name(call, read.part, read.tensor) if read.part else self._outside(call, read.tensor)
        return f"{name} (inferred)" if read.is_inferred else name

    def _name(self, call: str | None, part: str, tensor: str) -> str:
        """Name a part, and which of its results a tensor is, if there are several."""
        item, name = self._item(part), self._short(call, part)
        if isinstance(item, OpNode):
            return f"{name}[{item.outputs.index(tensor)}]" if len(item.outputs) > 1 else name
        if isinstance(item, ModuleNode) and len(item.outputs) > 1:
            keys = [key for key, made in item.outputs.items() if self._levels.origin(made) == tensor]
            return name + "".join(key if key.startswith("[") else f".{key}" for key in keys[:1])
        if isinstance(item, FunctionCall) and len(self._results_read(call)[part]) > 1:
            return f"{name}/{self._name(part, self._levels.part_of(part, maker_of(tensor)), tensor)}"
        return name

    def _results_read(self, call: str | None) -> Mapping[str, set[str]]:
        """Map the parts of a call to those of their results that other parts read."""
        if call not in self._results:
            found = self._results[call] = defaultdict[str, set[str]](set)
            for reads in self._levels.by_call[call].reads.values():
                for read in reads:
                    found[read.part].add(read.tensor)
        return self._results[call]

    def _outside(self, call: str | None, tensor: str) -> str:
        """Name a value from outside by the argument that passes it, or by the id of its maker."""
        item = self._item(call) if call else None
        for name, passed in (item.inputs if isinstance(item, ModuleNode | FunctionCall) else {}).items():
            if self._levels.origin(passed) == tensor:
                return f"^{name}"
        return self._name(None, maker_of(tensor), tensor)

    def _returned(self, outputs: Sequence[str], level: Level) -> Iterator[str]:
        """List what the model returns; values whose names and makers count up together are one line."""
        runs: list[list[tuple[str, str]]] = []
        last: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for part in outputs:
            made_by = ", ".join(dict.fromkeys(self._name_returned(read) for read in level.reads[part]))
            returned = self._short(None, part), made_by
            form = _DIGITS.sub("#", returned[0]), _DIGITS.sub("#", made_by)
            if form in last and _counts_up([*last[form], returned]):
                last[form].append(returned)
            else:
                last[form] = [returned]
                runs.append(last[form])
        for run in runs[:_MOST_OUTPUTS]:
            names, makers = zip(*run, strict=True)
            more = f" … {names[-1]} ({len(names)})" if names[1:] else ""
            yield f"- return {names[0]}{more} ← {name_run([*dict.fromkeys(makers)])}"
        if left := sum(map(len, runs[_MOST_OUTPUTS:])):
            yield f"- … {left} more outputs"

    def _name_returned(self, read: Read) -> str:
        """Name what makes a value that the model returns, inside of a module that doesn't return it, as for caches."""
        item = self._item(read.part) if read.part else None
        if isinstance(item, ModuleNode) and read.tensor not in map(self._levels.origin, item.outputs.values()):
            return self._name(None, self._maker_in_text(read.tensor), read.tensor)
        return self._name_read(None, read)

    def _maker_in_text(self, tensor: str) -> str:
        """Return the outermost item that has no lines inside and makes a tensor."""
        made = maker_of(tensor)
        for call in reversed([*self._calls_around(made)]):
            if self._is_leaf(call):
                return call.id
        return made

    def _calls_around(self, item: str) -> Iterator[Call]:
        while (outer := self._levels.outer(item)) is not None:
            found = self._item(outer)
            if isinstance(found, ModuleNode | FunctionCall):
                yield found
            item = outer

    def _result(self, call: str) -> str:
        item = self._item(call)
        if not isinstance(item, ModuleNode):
            return ""
        tensors = [self._levels.origin(tensor) for tensor in item.outputs.values()]
        made = [(self._levels.part_of(call, maker_of(tensor)), tensor) for tensor in tensors]
        return ", ".join(dict.fromkeys(self._name(call, part, tensor) for part, tensor in made if part))

    def _item(self, name: str) -> Item:
        return self._graph.functions.get(name) or self._graph.by_id[name]

    def _path_of(self, call: str | None) -> str:
        """Return the path of the module around the parts of a call."""
        while call in self._graph.functions:
            call = self._graph.functions[call].parent
        return call or ""

    def _outer_path(self, node: str) -> str:
        return self._short(self._graph.hierarchy[node], node)

    def _short(self, call: str | None, part: str) -> str:
        """Shorten an id to what differs from the call around it."""
        around = self._path_of(call)
        if part.startswith(("input:", "output:")):
            return part.partition(":")[2]
        path, _, count = around.partition("#")
        short = part.removeprefix(f"{path}.").removeprefix(f"{around}/")
        return short.removesuffix(f"#{count}") if count and short != part else short


def _shorten_files(graph: Graph) -> dict[str, str]:
    """Shorten all paths of source files to their names, or to as many folders as tell them apart."""
    found = [*graph.nodes, *graph.functions.values(), *graph.ways, graph.model]
    files = {(getattr(one, "source", None) or "").rpartition(":")[0] for one in found}
    ends = Counter(end for file in files for end in _ends_of(file))
    return {file: next((end for end in _ends_of(file) if ends[end] == 1), file) for file in files}


def _ends_of(file: str) -> Iterator[str]:
    """Yield the end of a path from its name on, each with one more folder: ``c.py``, ``b/c.py``, ``a/b/c.py``."""
    folders = file.split("/")
    return ("/".join(folders[-count:]) for count in range(1, len(folders) + 1))


def _counts_up(run: Sequence[tuple[str, str]]) -> bool:
    """Whether the same numbers in names of values, and of what makes them, grow by one in each step."""
    numbers = [[int(number) for text in pair for number in _DIGITS.findall(text)] for pair in run[-3:]]
    steps = [[after - before for before, after in zip(*pair, strict=True)] for pair in pairwise(numbers)]
    return {*steps[-1]} <= {0, 1} and steps[0] == steps[-1]


def _list_numbers(op: OpNode) -> Iterator[str]:
    """List the numbers with which an op computes. Other whole numbers often follow from sizes, which shapes tell."""
    for name, value in op.arguments.items():
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if name in _UNNAMED and (isinstance(value, float) or (name == "exponent" and isinstance(value, int))):
            yield text
        elif name in _NAMED and isinstance(value, float | int | list):
            yield f"{name}={text}"


def _write_sizes(attributes: dict[str, object]) -> str:
    """Write the arguments of a layer that say most, ``(3, 64, kernel_size=[7, 7], stride=[2, 2])``."""
    own = [str(value) for name, value in attributes.items() if name.isdigit()]
    named = [f"{name}={value}" for name, value in attributes.items() if not name.isdigit() and _is_telling(name, value)]
    return f"({', '.join([*own, *named])})" if own or named else ""


def _is_telling(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value and name == "bidirectional"
    only = value[0] if isinstance(value, list) and len({*map(str, value)}) == 1 else value
    return value is not None and name not in _QUIET and only != _USUAL.get(name)
