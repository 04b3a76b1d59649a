"""Comments and annotations in the source of a forward, or of a class of fields, with the names that they are about."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.documented.sections import inputs_part, items
from modeldiagrams.target.inference.documented.shape_text import plain_text, shape_in
from modeldiagrams.target.source import source_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["field_words", "parameter_words"]

_WHOLE = re.compile(r"U?Int\w*|Integer")
_KINDS = {"Bool": "BoolTensor", "bool": "BoolTensor", "float": "FloatTensor", "int": "LongTensor", "long": "LongTensor"}


def parameter_words(function: Any) -> Iterator[tuple[bool, str, str]]:
    """Whether it is a comment, the parameter or part that it is about, and what is said.

    Args:
        function: Its source is read; nothing where there is none.
    """
    definition = next(iter(tree_of(function).body), None)
    if not isinstance(definition, ast.FunctionDef):
        return
    source = source_of(function)
    arguments = [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]
    for argument in arguments:
        if said := _annotation(argument.annotation):
            yield False, argument.arg, said
    names = {argument.arg for argument in arguments if argument.arg != "self"}
    stored = _first_stores(definition)
    begins = definition.body[0].lineno
    for line, is_own, words in _comments(source):
        if line < begins and not is_own:
            beside = [a.arg for a in arguments if a.lineno == line and a.arg != "self"]
            yield from ((True, name, ": " + words) for name in beside[-1:])
        else:
            found = [*_in_body(definition, line, words, names, is_own=is_own)]
            yield from ((True, name, said) for name, said in found if line <= stored.get(name, line))


def field_words(class_: type) -> Iterator[tuple[str, str]]:
    """Fields of a class and what is said of them: annotations, comments beside them, strings below them."""
    definition = next(iter(tree_of(class_).body), None)
    if not isinstance(definition, ast.ClassDef):
        return
    source = source_of(class_)
    comments = {line: words for line, is_own, words in _comments(source) if not is_own}
    own = {line: words for line, is_own, words in _comments(source) if is_own}
    for node, following in zip(definition.body, [*definition.body[1:], None], strict=False):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if said := _annotation(node.annotation):
            yield node.target.id, said
        beside = comments.get(node.end_lineno or node.lineno, "") or own.get(node.lineno - 1, "")
        yield node.target.id, ": " + beside
        match following:
            case ast.Expr(value=ast.Constant(value=str(below))):
                yield node.target.id, ": " + plain_text(below)


def _comments(source: str) -> Iterator[tuple[int, bool, str]]:
    """Line, whether nothing else is in it, and words."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], not token.line[: token.start[1]].strip(), plain_text(token.string.lstrip("#: "))


def _first_stores(definition: ast.FunctionDef) -> dict[str, int]:
    """Names → the first line that assigns to them."""
    found: dict[str, int] = {}
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = min(found.get(node.id, node.lineno), node.lineno)
    return found


def _in_body(
    definition: ast.FunctionDef, line: int, words: str, names: set[str], *, is_own: bool
) -> Iterator[tuple[str, str]]:
    """What a comment between or beside statements says of inputs."""
    said = [(name, text) for name, text in items(inputs_part(words)) if name in names]
    if is_own:
        yield from said
        docstring = 1 if ast.get_docstring(definition) else 0
        is_first = len(definition.body) > docstring and line < definition.body[docstring].lineno
        if not said and is_first and len(names) == 1:
            yield next(iter(names)), ": " + words
        return
    statement = next((n for n in ast.walk(definition) if isinstance(n, ast.stmt) and n.end_lineno == line), None)
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value) if key := _part_of(value, names):
            yield key, ": " + words
        case ast.stmt() if re.search("->|→|=>", words):
            loaded = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            if len(used := loaded & names) == 1:
                yield used.pop(), ": " + re.split("->|→|=>", words)[0]


def _part_of(value: ast.expr, names: set[str]) -> str:
    """The key or the attribute of an input that an expression takes out of it."""
    match value:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if name in names:
            return key
        case ast.Attribute(value=ast.Name(id=name), attr=key) if name in names:
            return key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key if name in names else ""
        case ast.Call(func=ast.Attribute(value=inner, attr="float" | "long" | "bool" | "to")):
            return _part_of(inner, names)
    return ""


def _annotation(node: ast.expr | None) -> str:
    """What an annotation says of a shape: ``Float[Tensor, "b t d"]``, ``TensorType["b", 3]``, ``"(B, T, D)"``."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text, mode="eval").body
            except SyntaxError:
                return ": " + text if shape_in(": " + text) else ""
            return _annotation(inner) or (": " + text if shape_in(": " + text) else "")
        case ast.BinOp(left=left, right=right):
            return _annotation(left) or _annotation(right)
        case ast.Subscript(value=head, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            name = ast.unparse(head).rpartition(".")[2]
            return _subscripted(name, parts)
    return ""


def _subscripted(name: str, parts: list[ast.expr]) -> str:
    if name in ("Optional", "Union"):
        return next(filter(None, map(_annotation, parts)), "")
    words = [part.value for part in parts if isinstance(part, ast.Constant) and part.value is not None]
    is_tensor = "Tensor" in name or "Array" in name or any("Tensor" in ast.unparse(part) for part in parts)
    if name in ("Literal", "Dict", "dict", "List", "list", "Tuple", "tuple") or not words or not is_tensor:
        return ""
    tokens = str(words[0]).split() if len(words) == 1 and isinstance(words[0], str) else [*map(str, words)]
    dims = ["..." if t.startswith(("*", "...")) or t == "Ellipsis" else t.strip("#,()?") for t in tokens]
    kinds = [_KINDS.get(ast.unparse(part), "") for part in parts] + [_KINDS.get(name, "")]
    kind = "LongTensor" if _WHOLE.fullmatch(name) else "FloatTensor" if name.startswith("Float") else "tensor"
    return f": {next(filter(None, kinds), kind)} of shape ({', '.join(dims)},)"
