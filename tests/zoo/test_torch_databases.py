"""Every function and module torch tests itself with: traced for real, whole graphs, the values of the plain call."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from modeldiagrams.tracer import trace, trace_run
from tracer.flop_counter import counted
from zoo.verdict import faults

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's samples warn about torch

FACTORY = ("no input", "makes a tensor of numbers")
NO_TENSORS = ("no input", "neither takes nor returns tensors")
WINDOWS = (
    *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming"),
    *("hamming", "hann", "kaiser", "nuttall"),
)
EXCEPTIONS = {
    **dict.fromkeys(("arange", "empty", "empty_permuted", "empty_strided", "eye", "full", "linspace"), FACTORY),
    **dict.fromkeys(("logspace", "normal.number_mean", "ones", "randint", "randn", "scalar_tensor", "zeros"), FACTORY),
    **dict.fromkeys((f"signal.windows.{name}" for name in WINDOWS), FACTORY),
    "broadcast_shapes": NO_TENSORS,
}
"""Entry → the one fault its graph may have, and why."""

NOISE = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "linalg.lstsq", "linalg.lstsq.grad_oriented"}
    | {"new_empty", "new_empty_strided"}
)
"""Entries whose plain values differ from call to call."""

SAMPLES, COMPARED = 60, 8
"""How many samples of an entry are traced, and of how many the values and costs are compared."""
CUDA_ONLY = "jiterator_"
FLOAT64 = {"nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d"}
"""Modules whose samples hold double random numbers and so run in double only."""


class Run(NamedTuple):
    """A call to trace."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def op_runs() -> Iterator[tuple[str, Run]]:
    """Every CPU float32 sample of every function, and its in-place form where it has one."""
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415 - changes torch's settings

    for info in op_db:
        if torch.float32 not in info.supported_dtypes("cpu") or info.name.startswith(CUDA_ONLY):
            continue
        name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
        torch.manual_seed(0)
        for sample in itertools.islice(info.sample_inputs("cpu", torch.float32), SAMPLES):
            run = Run(info.op, (sample.input, *sample.args), sample.kwargs)
            yield name, run
            if info.inplace_variant and not sample.broadcasts_input:
                yield f"{name} in place", run._replace(function=info.inplace_variant)


def module_runs() -> Iterator[tuple[str, Run]]:
    """Every CPU float sample of every module, in eval and in train mode."""
    from torch.testing._internal.common_modules import module_db  # noqa: PLC0415 - changes torch's settings

    for info, training in itertools.product(module_db, (False, True)):
        dtype = torch.float64 if info.name in FLOAT64 else torch.float32
        torch.manual_seed(0)
        samples = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=training)
        for sample in samples[:SAMPLES]:
            made, given = sample.constructor_input, sample.forward_input
            if given is not None:
                module = info.module_cls(*made.args, **made.kwargs).train(training)
                yield info.name, Run(module, given.args, given.kwargs)


class Verdicts:
    """What was found wrong, by entry."""

    def __init__(self, runs: Iterator[tuple[str, Run]]):
        self.runs: Counter[str] = Counter()
        self.faults: dict[str, set[str]] = {}
        self.other_values: set[str] = set()
        self.other_costs: set[str] = set()
        for name, run in runs:
            self._judge(name, run)

    def _judge(self, name: str, run: Run) -> None:
        expected = plain(run)
        if expected is None:
            return
        self.runs[name] += 1
        results = []

        def call(*args, **kwargs):
            results.append(copied(run.function(*args, **kwargs)))  # inputs that are written are put back afterwards

        graph = trace(run.function, *copied((run.args, run.kwargs)), mode="real")
        self.faults.setdefault(name, set()).update(faults(graph))
        if self.runs[name] <= COMPARED:
            torch.manual_seed(1)
            args, kwargs = copied((run.args, run.kwargs))
            if (graph.model.flops or 0) != counted(run.function, *args, **kwargs):
                self.other_costs.add(name)
        if not isinstance(run.function, torch.nn.Module) and self.runs[name] <= COMPARED:
            torch.manual_seed(1)
            # counting costs makes torch take other ways inside some functions, which changes last bits
            trace_run(call, *copied((run.args, run.kwargs)), "real", costs=False)
            if not same(results, expected):
                self.other_values.add(name)


def plain(run: Run) -> Any:
    """Result of the plain call in a tuple; None where the sample does not run (in place, with another dtype)."""
    args, kwargs = copied((run.args, run.kwargs))
    torch.manual_seed(1)
    with contextlib.suppress(RuntimeError, ValueError, TypeError, NotImplementedError):
        return (run.function(*args, **kwargs),)
    return None


def copied(value: Any) -> Any:
    return tree_map_only(torch.Tensor, torch.clone, value)


def same(given: Any, expected: Any) -> bool:
    """Bit by bit, not-a-numbers equal."""
    return all(map(_same_tensor, tree_leaves(given), tree_leaves(expected)))


def _same_tensor(given: Any, expected: Any) -> bool:
    if not isinstance(given, torch.Tensor):
        return True
    try:
        torch.testing.assert_close(given, expected, rtol=0, atol=0, equal_nan=True)
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def ops() -> Verdicts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Verdicts(op_runs())


@pytest.fixture(scope="module")
def modules() -> Verdicts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Verdicts(module_runs())


def test_every_function_gives_a_whole_graph(ops, report):
    report(f"{len(ops.runs)} functions, {ops.runs.total()} samples; exceptions:")
    for name, (fault, reason) in sorted(EXCEPTIONS.items()):
        report(f"  {name:32}{fault:12}{reason}")
    assert len(ops.runs) > 650
    allowed = {name: {fault} for name, (fault, _) in EXCEPTIONS.items()}
    assert {name: found for name, found in ops.faults.items() if found != allowed.get(name, set())} == {}


def test_every_module_gives_a_whole_graph(modules, report):
    report(f"{len(modules.runs)} modules, {modules.runs.total()} samples; no exceptions")
    assert len(modules.runs) > 100
    assert {name: found for name, found in modules.faults.items() if found} == {}


def test_values_are_those_of_the_plain_call(ops):
    assert ops.other_values - NOISE - {f"{name} in place" for name in NOISE} == set()


def test_costs_are_those_that_torch_counts(ops, modules):
    assert ops.other_costs | modules.other_costs == set()


def test_no_exception_is_stale(ops):
    assert {name for name in EXCEPTIONS if not ops.faults.get(name)} == set()
    assert ops.runs.keys() >= NOISE
