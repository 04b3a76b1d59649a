"""What the parameters of functions are, by how the project calls them: defaults, callers, decorators, annotations."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.parsed_file import Function, called_name
from modeldiagrams.target.inference.scope import Known, Meaning, Scope
from modeldiagrams.target.inference.trees import Tree, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.target.inference.parsed_file import Around, ParsedFile
    from modeldiagrams.target.inference.parsed_project import ParsedProject

__all__ = ["bound", "frames"]

_MOST = 4
"""Ways to call one function."""
_DEEPEST = 3
"""Callers of callers."""
_DEFAULTS_OF = {"Option", "Argument"}
"""``typer.Option(64, help="…")`` is a default."""


def frames(sources: ParsedProject, source: ParsedFile, around: Around, depth: int = 0) -> list[Scope]:
    """What names mean at a place inside of functions, for each way in which these are called."""
    scopes = [Scope(source, source.tree)]
    for node in around:
        scopes = [inner for outer in scopes for inner in islice(_inside(sources, node, outer, depth), _MOST)][:_MOST]
    return scopes


def _inside(sources: ParsedProject, node: ast.AST, outer: Scope, depth: int) -> Iterator[Scope]:
    if isinstance(node, ast.Lambda):
        yield Scope(outer.source, node, outer, {argument.arg: None for argument in _arguments(node.args)})
    elif isinstance(node, Function):
        for parameters in _calls(sources, node, outer, depth):
            yield Scope(outer.source, node, outer, parameters)
    else:
        yield Scope(outer.source, node, outer)


def _calls(sources: ParsedProject, function: Function, outer: Scope, depth: int) -> Iterator[dict[str, Meaning]]:
    """Parameters with their defaults, if all have one, and as callers in the same file give them."""
    own = isinstance(outer.node, ast.ClassDef)
    base = {**_defaults(function, outer), **_decorated(sources, function, outer)}
    required = [name for name, meaning in base.items() if meaning is None][own:]
    name = outer.node.name if isinstance(outer.node, ast.ClassDef) and function.name == "__init__" else function.name
    if not required:
        yield base
    if (required or function.args.kwarg) and depth < _DEEPEST:
        for call in outer.source.calls.get(name, [])[:_MOST]:
            around = outer.source.around[call]
            if function not in around:
                for scope in frames(sources, outer.source, around, depth + 1):
                    yield {**base, **bound(function, call, scope, is_method=own)}
    for argument in _arguments(function.args):
        if argument.arg in required:
            base[argument.arg] = _announced(sources, argument, outer)
    if required:
        yield base


def _announced(sources: ParsedProject, argument: ast.arg, outer: Scope) -> Meaning:
    """A default configuration where the annotation names its class; what a fixture of this name returns."""
    makers: list[ast.expr] = [argument.annotation] if argument.annotation else []
    fixture = outer.source.functions.get(argument.arg)
    if fixture and any("fixture" in ast.dump(decorator) for decorator in fixture.decorator_list):
        return ast.Call(func=ast.Name(argument.arg, ast.Load()), args=[], keywords=[]), outer
    for maker in makers:
        if sources.class_named(maker, outer):
            named = ast.Name(str(maker.value), ast.Load()) if isinstance(maker, ast.Constant) else maker
            return ast.Call(func=named, args=[], keywords=[]), outer
    return None


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _defaults(function: Function, outer: Scope) -> dict[str, Meaning]:
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    values: dict[str, Meaning] = {argument.arg: None for argument in ordered}
    for argument, default in zip(reversed(ordered), reversed(arguments.defaults), strict=False):
        values[argument.arg] = _default(default, outer)
    for argument, other in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        values[argument.arg] = _default(other, outer) if other else None
    if arguments.vararg:
        values[arguments.vararg.arg] = Known([])
    if arguments.kwarg:
        values[arguments.kwarg.arg] = Known(Tree({}))
    return values


def _default(node: ast.expr, outer: Scope) -> Meaning:
    if isinstance(node, ast.Call) and called_name(node) in _DEFAULTS_OF:
        given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "default")]
        return (given[0], outer) if given else None
    return node, outer


def _decorated(sources: ParsedProject, function: Function, outer: Scope) -> dict[str, Meaning]:
    """Values that decorators give: of click's options, of pytest's parameters, of Hydra's configuration."""
    found: dict[str, Meaning] = {}
    known = [argument.arg for argument in _arguments(function.args)]
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(args=[names, values, *_]) if called_name(decorator) == "parametrize":
                found |= _parametrized(names, values, outer)
            case ast.Call(args=flags, keywords=keywords) if called_name(decorator) == "option":
                found |= _option(flags, {keyword.arg: keyword.value for keyword in keywords}, outer)
            case ast.Call(keywords=keywords) if called_name(decorator) == "main" and known:
                found |= {known[0]: _configured(sources, keywords, outer.source)}
    return {name: meaning for name, meaning in found.items() if name in known}


def _parametrized(names: ast.expr, values: ast.expr, outer: Scope) -> dict[str, Meaning]:
    first = ast.Subscript(value=values, slice=ast.Constant(0), ctx=ast.Load())
    match names:
        case ast.Constant(value=str(text)) if "," not in text:
            return {text.strip(): (first, outer)}
        case ast.Constant(value=str(text)):
            parts = [part.strip() for part in text.split(",")]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            parts = [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case _:
            return {}
    return {
        part: (ast.Subscript(value=first, slice=ast.Constant(index), ctx=ast.Load()), outer)
        for index, part in enumerate(parts)
    }


def _option(flags: list[ast.expr], keywords: dict[str | None, ast.expr], outer: Scope) -> dict[str, Meaning]:
    """``@click.option("--hidden-size", default=64)`` gives `hidden_size`."""
    names = [flag.value for flag in flags if isinstance(flag, ast.Constant) and isinstance(flag.value, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    default = keywords.get("default", ast.Constant(value=False) if "is_flag" in keywords else None)
    chosen = (plain or long or names)[:1]
    return {
        name.lstrip("-").partition("/")[0].replace("-", "_"): (default, outer) if default else None for name in chosen
    }


def _configured(sources: ParsedProject, keywords: list[ast.keyword], source: ParsedFile) -> Meaning:
    """The configuration that ``@hydra.main(config_path="conf", config_name="config")`` gives."""
    said = {keyword.arg: str(node.value) for keyword in keywords if isinstance(node := keyword.value, ast.Constant)}
    name = said.get("config_name", "").removesuffix(".yaml")
    folder = said.get("config_path", ".").replace("None", ".")
    file = sources.project.data_file(f"{folder}/{name}.yaml", source.file) if name else None
    try:
        return Known(sources.data.composed(file)[-1].as_settings()) if file else None
    except Unreadable:
        return None


def bound(function: Function, call: ast.Call, scope: Scope, *, is_method: bool) -> dict[str, Meaning]:
    """The parameters that one call gives a value."""
    arguments = function.args
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]][is_method:]
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    found: dict[str, Meaning] = {name: (value, scope) for name, value in zip(names, given, strict=False)}
    more = ast.Dict(keys=[], values=[])
    for keyword in call.keywords:
        if keyword.arg in {argument.arg for argument in _arguments(arguments)}:
            found[str(keyword.arg)] = keyword.value, scope
        else:
            more.keys.append(ast.Constant(keyword.arg) if keyword.arg else None)
            more.values.append(keyword.value)
    is_open = len(given) < len(call.args) or (None in more.keys and not arguments.kwarg)
    if is_open:  # these may be any
        found = {**dict.fromkeys(names), **found}
    if arguments.vararg:
        found[arguments.vararg.arg] = ast.List(elts=given[len(names) :], ctx=ast.Load()), scope
    if arguments.kwarg:
        found[arguments.kwarg.arg] = more, scope
    return found
