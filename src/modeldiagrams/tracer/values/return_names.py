"""Names results of a forward after its `return` statements: `out, (h, c)` instead of `[0]`, `[1][0]`, `[1][1]`."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import textwrap
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias

from torch import nn
from torch.nn.modules.module import _global_forward_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

_Shape: TypeAlias = "str | tuple[_Shape, ...] | None"
"""The names of a returned value: a tuple if the value is a tuple, None if there is no name."""

_VIEWS = frozenset({"H", "T", "data", "mH", "mT"})
"""Attributes of a tensor that are views of it."""
_DOCUMENTED: dict[type, tuple[_Shape, ...]] = {
    nn.LSTM: (("output", ("h_n", "c_n")),),
    nn.GRU: (("output", "h_n"),),
    nn.RNN: (("output", "h_n"),),
    nn.LSTMCell: (("h_1", "c_1"),),
}
"""Names that the documentation of these layers gives and their code doesn't."""


def apply_return_names(function: Any, result: Any, found: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """Rename the tensors found in a result after the source of the module or function.

    They keep their paths if the source can't be read, if several `return` statements fit the result and differ, or if
    decorators or hooks may have returned something else.
    """
    if not isinstance(result, tuple | list) or not found:
        return found
    names = _common_paths(tuple([shape for shape in _find_returns(function) if _fits(shape, result)]))
    named = [(_rename_path(path, names), tensor) for path, tensor in found]
    return named if len({path for path, _ in named}) == len(named) else found


def _find_returns(function: Any) -> Sequence[_Shape]:
    if isinstance(function, nn.Module) and (function._forward_hooks or _global_forward_hooks):  # noqa: SLF001
        return ()  # they may return something else
    if type(function) in _DOCUMENTED:
        return _DOCUMENTED[type(function)]
    try:
        return _read_returns(function.forward if isinstance(function, nn.Module) else function)
    except Exception:  # noqa: BLE001 (a user's object)
        return ()


def _read_returns(called: Any) -> Sequence[_Shape]:
    called = _unwrap(called)
    is_bound, code = inspect.ismethod(called), called.__code__
    if not isinstance(code, CodeType):
        return ()
    return _returns_of(code, code.co_varnames[0] if is_bound and code.co_argcount else "")


def _unwrap(called: Any) -> Any:
    """The function inside decorators that return what it returns, such as `torch.no_grad`; else the outermost one."""
    bound_to = getattr(called, "__self__", None)
    called = getattr(called, "__func__", called)
    while isinstance(called, FunctionType) and (inner := getattr(called, "__wrapped__", None)) is not None:
        if not (called.__globals__["__name__"].startswith("modeldiagrams.tracer.") or _passes_on(called, inner)):
            break
        called = inner
    return called if bound_to is None else MethodType(called, bound_to)


def _passes_on(wrapper: Any, inner: Any) -> bool:
    """Whether a decorator's function returns only calls of the function inside."""
    code = wrapper.__code__
    cells = zip(code.co_freevars, wrapper.__closure__ or (), strict=True)
    return _returns_calls_of(code, frozenset(name for name, cell in cells if cell.cell_contents is inner))


@functools.lru_cache(maxsize=4096)
def _returns_calls_of(code: CodeType, names: frozenset[str]) -> bool:
    """Whether a function returns only calls of variables with these names."""
    tree = None if code.co_flags & inspect.CO_GENERATOR else _source_of(code)
    return tree is not None and all(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in names
        for value in _returned_values(tree.body)
    )


@functools.lru_cache(maxsize=4096)
def _returns_of(code: CodeType, own: str) -> tuple[_Shape, ...]:
    """The names of each `return` statement of a function; `own` is the first parameter of a method."""
    tree = _source_of(code)
    if tree is None:
        return ()
    variables = {*code.co_varnames, *code.co_cellvars}
    return tuple(_read_shape(value, variables, own) for value in _returned_values(tree.body))


@functools.lru_cache(maxsize=4096)
def _source_of(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition of a function; None if it can't be read."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        # `inspect.getsource` would search the whole file
        (tree,) = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except Exception:  # noqa: BLE001 (not a function in a file, or not the file that was imported)
        return None
    if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef) or tree.name != code.co_name:
        return None
    return tree if _is_source_of(tree, code) else None


def _is_source_of(tree: ast.FunctionDef | ast.AsyncFunctionDef, code: CodeType) -> bool:
    """Whether the tree compiles to the same code: a file may have changed since it was imported."""
    tree.decorator_list = []
    class_ = code.co_qualname.rpartition(".")[0].rpartition(".")[2].strip("<>") or "_"
    around = ast.parse(f"def _({', '.join(code.co_freevars)}):\n class {class_}: pass")
    around.body[0].body[0].body = [tree]  # type: ignore[attr-defined]  # names with two underscores, and `super()`
    try:
        compiled = compile(around, code.co_filename, "exec", dont_inherit=True)
    except Exception:  # noqa: BLE001
        return False
    for name in ("_", class_, code.co_name):
        compiled = next(c for c in compiled.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return _names_in(compiled) == _names_in(code)


def _names_in(code: CodeType) -> list[Any]:
    """The names in its instructions, in order; the instructions themselves depend on what else the file imports."""
    return [step.argval for step in dis.get_instructions(code) if isinstance(step.argval, str)]


def _returned_values(body: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """The values of the function's own `return` statements."""
    for node in body:
        if isinstance(node, ast.Return) and node.value is not None:
            yield from [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _returned_values(list(ast.iter_child_nodes(node)))


def _read_shape(value: ast.expr, variables: set[str], own: str) -> _Shape:
    if isinstance(value, ast.Tuple | ast.List):
        if any(isinstance(item, ast.Starred) for item in value.elts):
            return None
        return tuple(_read_shape(item, variables, own) for item in value.elts)
    return _read_name(value, variables, own)


def _read_name(value: ast.expr, variables: set[str], own: str) -> str | None:
    """`h` for `h`, `h[-1]`, `h.T` and `h.squeeze(0)`; `mean` for `self.mean`, `self.mean(x)` and `out.mean`.

    `own` is the name of `self`.
    """
    if isinstance(value, ast.Name):
        return None if value.id.startswith("_") or value.id == own else value.id
    if isinstance(value, ast.Subscript):
        return _read_name(value.value, variables, own)
    if not _is_of_variable(value, variables):  # `torch.stack(…)`, `torch.fft.fft(…)`
        return None
    if isinstance(value, ast.Attribute):
        same = _read_name(value.value, variables, own) if value.attr in _VIEWS else None
        return same or (None if value.attr.startswith("_") else value.attr)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return _read_name(value.func.value, variables, own) or _read_name(value.func, variables, own)
    return None


def _is_of_variable(value: ast.expr, variables: set[str]) -> bool:
    """Whether an expression begins with a variable of the function, not with a module or another global name."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Call):
        value = value.func if isinstance(value, ast.Call) else value.value
    return isinstance(value, ast.Name) and value.id in variables


def _fits(shape: _Shape, value: Any) -> bool:
    if not isinstance(shape, tuple):
        return True
    if not isinstance(value, tuple | list) or len(value) != len(shape):
        return False
    return all(_fits(inner, item) for inner, item in zip(shape, value, strict=True))


@functools.lru_cache(maxsize=4096)
def _common_paths(shapes: tuple[_Shape, ...]) -> dict[str, str]:
    """The `_name_paths` that several statements agree on. The result is cached: do not modify it."""
    return _name_paths(_merge_shapes(shapes), "")


def _merge_shapes(shapes: Sequence[_Shape]) -> _Shape:
    """What several statements agree on."""
    if not shapes or any(type(shape) is not type(shapes[0]) for shape in shapes):
        return None
    tuples = [shape for shape in shapes if isinstance(shape, tuple)]
    if tuples and len({len(shape) for shape in tuples}) == 1:
        return tuple(_merge_shapes(items) for items in zip(*tuples, strict=True))
    return shapes[0] if len(set(shapes)) == 1 else None


def _name_paths(shape: _Shape, path: str) -> dict[str, str]:
    """Path in the value → its name, without a name for the whole value and without names that occur twice."""
    if isinstance(shape, tuple):
        found = [item for i, inner in enumerate(shape) for item in _name_paths(inner, f"{path}[{i}]").items()]
        names = [name for _, name in found]
        return {at: name for at, name in found if names.count(name) == 1}
    return {path: shape} if shape and path else {}


def _rename_path(path: str, names: dict[str, str]) -> str:
    for at, name in names.items():
        rest = path[len(at) :]
        if path.startswith(at) and (not rest or rest[0] in "[."):
            return name + rest
    return path
