"""Names the sizes of a traced model's inputs, and finds what depends on them in a few further passes."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

from modeldiagrams.errors import ModelDiagramsError, TargetError
from modeldiagrams.ir.check_sizes import check_sizes
from modeldiagrams.ir.expressions import parse_expression
from modeldiagrams.ir.graph import InputNode, OpNode
from modeldiagrams.ir.sizes import NamedSizes, Size
from modeldiagrams.options.dims import OFF
from modeldiagrams.resolve.code.user_code import silenced
from modeldiagrams.resolve.dimensions.counted_sizes import name_counted
from modeldiagrams.resolve.dimensions.fitting import SMALL
from modeldiagrams.resolve.dimensions.free_sizes import FreeSizes, choose_unseen
from modeldiagrams.resolve.dimensions.letters import choose_letters, has_part
from modeldiagrams.resolve.dimensions.moved_inputs import InputMover
from modeldiagrams.resolve.dimensions.naming import InputNames, name_inputs
from modeldiagrams.resolve.dimensions.size_fits import BY_VALUES, SizeFits, fit_sizes
from modeldiagrams.resolve.dimensions.size_limits import find_limit
from modeldiagrams.resolve.dimensions.sized_passes import BudgetSpentError, SizedPasses
from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modeldiagrams.resolve.dimensions.pass_numbers import Key, PassNumbers
    from modeldiagrams.resolve.dimensions.sized_passes import Sizes
    from modeldiagrams.tracer import Trace

    Dims: TypeAlias = Mapping[str, Any] | Literal["auto", "off"] | None

__all__ = ["AUTO", "find_sizes"]

AUTO: Literal["auto"] = "auto"
"""Names that nobody wrote, if they take few passes."""
_FEW_POINTS = 2
"""Passes to fit expressions to, which is one more with the traced pass; with another one if that is not enough."""
_MOST_POINTS = 4
"""The most passes for that, with one to validate."""


_FAR, _FAR_LOOP = 32, 6
"""How much larger the sizes of the last pass are than those of the traced one; less if loops run more often there."""
_VERY_FAR = 8400
"""And at least this large: more than most tables of positions have."""
_LARGE_BATCH = 131
_MOST_ELEMENTS = 1 << 25
"""Of the inputs of the last pass."""
_USUAL = 210
"""A product of the prime factors of usual steps."""


class CalledModel(Protocol):
    """As `Target`."""

    @property
    def model(self) -> Any:
        """What is called."""

    @property
    def args(self) -> tuple[Any, ...]:
        """With these arguments."""

    @property
    def kwargs(self) -> dict[str, Any]:
        """And these."""

    @property
    def entry(self) -> Callable[..., Any] | None:
        """What runs in place of its forward."""


def find_sizes(trace: Trace, target: CalledModel, dims: Dims, inputs_from: str | None = None) -> NamedSizes | None:
    """Find names and expressions for the sizes in a graph.

    Args:
        trace: A pass; it runs again at other sizes.
        target: The model, and the arguments of that pass.
        dims: What the author wrote; None and ``off`` seek nothing.
        inputs_from: Dotted path of the function that made the arguments.

    Returns:
        What was found; None if nothing was sought, as there are no names, or no pass.

    Raises:
        TargetError: for names of the author's that don't fit the inputs.
    """
    if dims is None or dims == OFF or trace.rerun is None or trace.graph.status.state != "complete":
        return None
    if trace.graph.status.mode == "real":
        why = "this model needs real values" if trace.graph.model.time_ns is None else "times were measured"
        return NamedSizes(sizes={}, notes=(f"Sizes have no names: {why}, and only passes without values are repeated",))
    try:
        function, args, kwargs = unwrap(target.model, target.args, target.kwargs)
        written = None if isinstance(dims, str) else {**dims}
        names = name_inputs(function, args, kwargs, written, inputs_from, target.entry)
        mover = InputMover(args, kwargs, names, inputs_from, target.entry or function)
        mover.without_large = True
        with silenced():  # the model has said all that it says
            found = _Search(trace, names, mover, is_limited=written is None).run()
        check_sizes(msgspec.structs.replace(trace.graph, sizes=found), trace.graph.by_id)
    except TargetError:
        raise
    except Exception as fault:  # noqa: BLE001  (the graph is right without names)
        text = str(fault) if isinstance(fault, ModelDiagramsError) else f"{type(fault).__name__}: {fault}"
        return NamedSizes(sizes={}, notes=(f"Sizes have no names: {text}",))
    return found and msgspec.structs.replace(found, mistake=_find_mistakes(found, names.letters))


def _find_mistakes(found: NamedSizes, letters: Mapping[str, str]) -> str:
    """Say which names of the author's are of sizes that can't change alone, and which letters stand for no size."""
    own = {name: size.size for name, size in found.sizes.items() if not size.fixed}
    constants = [
        f"option `dims`: {name} names {size.size}, which can't change alone: {size.fixed}; write the number, or, if"
        " sizes change together, name a function in `inputs_from` that takes them"
        for name, size in found.sizes.items()
        if size.named_by == "author" and size.fixed
    ]
    shown = [parse_expression(text) for texts in found.tensors.values() for text in texts if text]
    return "\n".join(
        constants
        + [
            f"option `dims`: {letter} stands for {text}, which no shape has"
            for letter, text in letters.items()
            if parse_expression(text).names <= own.keys() and not any(has_part(size, text) for size in shown)
        ]
    )


class _Search:
    def __init__(self, trace: Trace, names: InputNames, mover: InputMover, *, is_limited: bool) -> None:
        self._graph, self._names = trace.graph, names
        self._places: dict[str, list[tuple[str, int]]] = {name: [] for name in names.sizes}
        for node in trace.graph.nodes:
            if isinstance(node, InputNode):
                for i, name in enumerate(names.dims.get(node.name, ())):
                    if isinstance(name, str):
                        self._places[name].append((node.outputs[0], i))
        self._passes = SizedPasses(trace, mover, names.sizes, is_limited=is_limited)
        self._free = FreeSizes(self._passes, mover.explain_fixed())
        self._by_values: set[str] = set()
        self._notes: list[str] = []
        self._multiples: dict[str, int] = {}
        """What each free size differs from the traced one by a multiple of."""
        self._limits: dict[str, tuple[int, str] | None] = {}
        self._validated: list[Sizes] = []
        """The sizes of passes that no expression was fitted to."""
        self._counted: dict[str, Size] = {}
        self._tries_less = True
        """Whether the pass that validates has smaller sizes than the traced one."""

    def run(self) -> NamedSizes | None:
        if not self._passes.base:
            return None
        fits = SizeFits()
        try:
            fits = self._fit()
            if fits.expressions:
                self._find_limits(fits)
                self._name_counted(fits)
        except BudgetSpentError as spent:
            if not fits.expressions:
                self._notes.append(f"Sizes have no names: {spent}")
        return self._write(fits)

    def _fit(self) -> SizeFits:
        """Fit as few passes as do, and validate that with one more, as near as the expressions allow."""
        self._by_values = self._passes.list_decided_by_values()
        n_points, coarse, was_coarse = _FEW_POINTS, set[str](), False
        fits = self._fit_points(n_points)
        while self._free.names:
            sizes = self._choose_sizes(fits, coarse)
            found = self._passes.run(sizes)
            wrong = [] if isinstance(found, str) else self._find_wrong(fits)
            if self._tries_less and (isinstance(found, str) or wrong):
                self._tries_less = False
            elif not isinstance(found, str) and not wrong:
                if not self._fix_folded(fits):
                    break
                fits = self._fit_points(n_points)
            elif n_points == _FEW_POINTS and not isinstance(found, str):
                n_points += 1
                fits = self._fit_points(n_points)
            elif not was_coarse:  # it pads: then only larger steps tell the same
                names = set[str]().union(*(fits.expressions[key].names for key in wrong if key in fits.expressions))
                coarse, was_coarse = names & {*self._free.names} or {*self._free.names}, True
            elif isinstance(found, str):
                self._notes.append(f"Sizes have no names: none holds at {_say(sizes)}: {found}")
                return SizeFits()
            else:
                coarse = set()
                fits.drop(wrong)
        return fits

    def _find_limits(self, fits: SizeFits) -> None:
        """Find the largest sizes, and run at far larger ones: what is rounded, or changes, shows there."""
        passes = self._passes
        large = [name for name in self._free.names if passes.base[name] > SMALL and self._free.steps[name] > 0]
        for name in large:
            self._limits[name] = find_limit(passes, fits, name)
        far = self._choose_far_sizes(fits, large)
        refused: list[str] = []
        try:
            runs = not far or not isinstance(passes.run(far), str)
            if not runs:
                refused = [name for name in large if isinstance(passes.run({name: far[name]}), str)]
        except BudgetSpentError:
            runs = False
        for name in [] if runs else refused or large:
            largest = max(sizes[name] for sizes, _ in self._list_checked())
            self._limits[name] = self._limits[name] or (largest, "")
        with contextlib.suppress(BudgetSpentError):
            for name in refused:
                self._limits[name] = find_limit(passes, fits, name) or self._limits[name]
            for name in (name for name in self._free.names if self._free.steps[name] < 0):  # larger ones are refused
                self._limits[name] = find_limit(passes, fits, name) or (passes.base[name], "")
        fits.drop(self._find_wrong(fits))

    def _name_counted(self, fits: SizeFits) -> None:
        """Name what values decide, if passes that assume other sizes of it run as the traced one."""
        passes, checked = self._passes, self._list_checked()
        if BY_VALUES not in fits.unknown.values() or passes.other_way:
            return
        points = [(passes.base, passes.numbers), *checked]
        largest = max((sizes for sizes, _ in points), key=lambda sizes: math.prod(sizes.values()))
        unlike = [(sizes, passes.assume_fewer(sizes, assumes_unlike=True)) for sizes in (passes.base, largest)]
        fewer = (passes.base, passes.assume_fewer(passes.base, knows_inputs=False))
        others = [(sizes, each) for sizes, each in (*unlike, fewer) if each is not None]
        if fewer[1] is not None:
            self._counted = name_counted(self._graph, fits, points, others)

    def _choose_far_sizes(self, fits: SizeFits, large: list[str]) -> dict[str, int]:
        """Far larger sizes, as far as the inputs take little memory; also a large batch."""
        has_loops = any(key[0] == "times" for key in fits.expressions)
        factor = _FAR_LOOP if has_loops else _FAR
        batch = {} if has_loops else {name: _LARGE_BATCH for name in self._free.names if self._free.steps[name] == 1}
        while True:
            far = batch | {name: self._choose_far(name, factor) for name in large}
            if factor == 1 or self._count_elements(far) <= _MOST_ELEMENTS:
                return far
            factor, batch = (factor, {}) if batch else (factor // 2, {})

    def _count_elements(self, moved: Sizes) -> int:
        """How many elements the inputs have at other sizes."""
        shapes = {tensor: [*(self._graph.tensors[tensor].shape or ())] for tensor in self._graph.model.inputs.values()}
        for name, size in moved.items():
            for tensor, at in self._places[name]:
                shapes[tensor][at] = size
        return sum(math.prod(map(int, shape)) for shape in shapes.values())

    def _choose_far(self, name: str, factor: int) -> int:
        """A far larger size that the model takes, as many steps away as have no factor with usual steps in common."""
        base, multiple = self._passes.base[name], self._multiples[name]
        far = max(base * factor, _VERY_FAR) if factor == _FAR else base * factor
        limit, _ = self._limits[name] or (far, "")
        steps = max((min(far, limit) - base) // multiple, 1)
        odd = next(n for n in range(steps, 0, -1) if math.gcd(n, _USUAL) == 1)
        return base + (odd if odd > 1 else steps) * multiple

    def _fit_points(self, n_points: int) -> SizeFits:
        is_usual = not self._free.suits_layers()
        first = self._free.with_steps(usual=is_usual)
        fits = fit_sizes(self._graph, first.points(n_points), self._by_values)
        other = first.with_steps(usual=not is_usual)
        if fits.lacks_some() and other.steps != first.steps and self._passes.can_spare(_MOST_POINTS):
            others = fit_sizes(self._graph, other.points(n_points), self._by_values)
            if len(others.unknown) < len(fits.unknown) and other.steps.keys() == first.steps.keys():
                first, fits = other, others
        self._free = first
        if fits.has_unknown_loops and self._passes.may_loop:
            self._passes.forbid_loops()
            return self._fit_points(n_points)
        return self._fit_points(n_points + 1) if fits.lacks_some() and n_points == _FEW_POINTS else fits

    def _find_wrong(self, fits: SizeFits) -> list[Key]:
        """What expressions get wrong in any pass at sizes for which they should hold."""
        wrong = (key for sizes, each in self._list_checked() for key in fits.find_wrong(each.numbers, sizes))
        return [*dict.fromkeys(wrong)]

    def _list_checked(self) -> list[tuple[Sizes, PassNumbers]]:
        return [
            (sizes, each)
            for sizes, each in self._passes.ran
            if all(
                (sizes[name] - size) % self._multiples.get(name, 1) == 0
                and (self._tries_less or sizes[name] >= size or self._free.steps[name] < 0)
                if name in self._free.steps
                else sizes[name] == size
                for name, size in self._passes.base.items()
                if name not in self._passes.tied
            )
        ]

    def _fix_folded(self, fits: SizeFits) -> bool:
        """Fix sizes of which a part goes into the batch of an output: ``view(-1, 8*14*14)``."""
        batch = next(iter(self._passes.base))
        outputs = {edge.tensor for edges in self._graph.adjacency.values() for edge in edges if not edge.argument}
        for key, expression in fits.expressions.items():
            if key[0] != "tensors" or key[1] not in outputs:
                continue
            for monomial, c in expression.terms:
                others = {name for name, _ in monomial} - {batch}
                if c.denominator > 1 and others and len(others) < len(monomial):
                    for name in others & self._free.steps.keys():
                        del self._free.steps[name]
                        self._free.fixed[name] = f"a part of it goes into {batch} of an output: {expression}"
                    return True
        return False

    def _choose_sizes(self, fits: SizeFits, coarse: set[str]) -> dict[str, int]:
        """Sizes of the pass that validates: those of an earlier one if they are as near."""
        base, free = self._passes.base, self._free
        self._multiples = _find_multiples(fits, base, free.names)
        for name in coarse:
            self._multiples[name] = math.lcm(self._multiples[name], abs(free.steps[name]))
        sizes: dict[str, int] = {}
        for name in free.names:
            seen = {each[name] for each, _ in self._passes.ran if each not in self._validated}
            seen |= {size for other, size in sizes.items() if base[other] == base[name]}
            multiple = self._multiples[name]
            less = base[name] - multiple * max(base[name] * 3 // 4 // multiple, 1)
            start = less - multiple if self._tries_less and base[name] > SMALL and less > 1 else base[name]
            sizes[name] = choose_unseen(start, multiple if free.steps[name] > 0 else -multiple, [*seen, base[name]])
        self._validated.append(self._passes.complete(sizes))
        return sizes

    def _write(self, fits: SizeFits) -> NamedSizes:
        named = NamedSizes(
            sizes={name: self._write_size(name) for name in self._passes.base if name not in self._passes.tied}
            | self._counted,
            letters=dict(self._names.letters),
            unknown=fits.unknown if fits.expressions else {},
            checked=tuple({**sizes} for sizes, _ in self._list_checked()),
            notes=tuple(self._notes),
        )
        for (field, name, *rest), expression in fits.expressions.items():
            if field == "tensors":
                spec = self._graph.tensors[name].shape or ()
                texts = list(named.tensors.get(name, (None,) * len(spec)))
                texts[int(rest[0])] = str(expression)
                named.tensors[name] = tuple(texts)
            elif field == "arguments":
                named.arguments.setdefault(name, {})[rest[0]] = str(expression)
            else:
                getattr(named, field)[name] = str(expression)
        self._note_new_costs(named)
        named.letters.update(choose_letters(named))
        return named

    def _note_new_costs(self, named: NamedSizes) -> None:
        """Mark the calls that cost more at other sizes by ops that the graph lacks."""
        for node in self._passes.other_way.new if self._passes.other_way else ():
            if isinstance(node, OpNode) and (node.flops or node.activation_bytes):
                holder = node.id.rpartition("/")[0]
                known = holder if holder in self._graph.by_id else self._graph.nodes[-1].id
                named.unknown[known] = f"{node.name} runs, too, at other sizes"

    def _write_size(self, name: str) -> Size:
        base, names = self._passes.base[name], self._names
        multiple = self._multiples.get(name, 1)
        at_most, limit = self._limits.get(name) or (None, "")
        tied = [other for other, one in self._passes.tied.items() if one == name]
        return Size(
            size=base,
            places=tuple(place for each in (name, *tied) for place in self._places[each]),
            arguments=tuple(argument for argument, size in names.arguments.items() if size in {name, *tied}),
            named_by=names.named_by.get(name, "convention"),
            meaning=names.meanings.get(name, ""),
            multiple_of=multiple,
            remainder=base % multiple,
            at_least=min((base, *(sizes[name] for sizes, _ in self._list_checked()))),
            at_most=at_most,
            limit=limit,
            fixed=self._free.fixed.get(name, ""),
        )


def _find_multiples(fits: SizeFits, base: Sizes, names: list[str]) -> dict[str, int]:
    """What each size may change by multiples of: then all sizes of tensors stay whole while the others don't change."""
    found = dict.fromkeys(names, 1)
    for expression in {expression for key, expression in fits.expressions.items() if key[0] == "tensors"}:
        for name in expression.names & found.keys():
            if base[name] > SMALL:
                slopes = (
                    c * math.prod(base[n] ** p for n, p in m if n != name)
                    for m, c in expression.terms
                    if (name, 1) in m
                )
                found[name] = math.lcm(found[name], sum(slopes, Fraction(0)).denominator)
    return found


def _say(sizes: Sizes) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
