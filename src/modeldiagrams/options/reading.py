"""Reads option values from text, which is often all that hosts have, and writes them as YAML."""

from __future__ import annotations

import contextlib
import copy
import re
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import yaml

from modeldiagrams.errors import ModelDiagramsError

__all__ = [
    "PAGES",
    "read_body",
    "read_directions",
    "read_embedded",
    "read_lists",
    "read_map",
    "read_model",
    "read_numbers_option",
    "read_page",
    "read_patterns",
    "read_shapes",
    "read_versions",
    "read_vocabulary",
    "read_yaml",
    "yaml_line",
]

PAGES = {"a4": (602.0, 930.0), "letter": (624.0, 864.0)}
"""Width and height of paper in CSS pixels, without margins of one inch."""

_Length = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


_READ_OTHERWISE = frozenset("\t\ufeff\x85\u2028\u2029|>?")
"""Characters that PyYAML's two loaders treat differently."""
_NESTING = "[{-:"
"""A text has at most as many levels as it has of these characters."""
_MOST_NESTED = 200
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_LONGEST_LINE = 80
_INDENTATION = (
    "expected <block end>, but found '<block mapping start>'",
    "expected the indentation of the lines above",
)
"""A message of PyYAML, and a clearer one."""

_BARE_PATTERN = re.compile(r"(?:^|[{\[,\n-])\s*([\w.*?]*[*?][\w.*?]*)\s*(?=[:,\]}]|$)", re.MULTILINE)
"""A pattern without quotes in a map or list, where ``*`` begins an alias, and ``?`` a key."""


def read_yaml(text: str) -> Any:
    """Parse YAML.

    Raises:
        ModelDiagramsError: if it is not YAML, with the reason and the line.
    """
    try:
        return copy.deepcopy(_load_cached(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "problem", None) or error).replace("but got '<stream end>'", "but it ends there")
        # messages that quote it end with ", got …"
        reason = reason.replace(*_INDENTATION).replace("but got", "but found")
        pattern = _BARE_PATTERN.search(text)
        hint = f"; a pattern needs quotes, '{pattern[1]}'" if pattern else ""
        raise ModelDiagramsError(f"is not valid YAML{_locate_error(error, text)}: {reason}{hint}") from error


def read_body(text: str) -> dict[str, Any]:
    """Parse the body of a directive or fence: options as YAML, or one line that names the model.

    Raises:
        ModelDiagramsError: if they are neither.
    """
    try:
        body = read_yaml(text)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"the body: {error}{_suggest_model_key(text)}") from error
    if body is None:
        return {}
    if isinstance(body, str) and len(body.split()) == 1:
        return {"model": body}
    if isinstance(body, dict):
        return {str(name): value for name, value in body.items()}
    raise ModelDiagramsError(
        f"the body: expected one line that names the model, or options as YAML (`model: …`), got {text!r}"
    )


def _suggest_model_key(text: str) -> str:
    """Explain how to write options below a line that only names the model."""
    first, _, options = text.strip().partition("\n")
    is_bare = options and re.fullmatch(r"[\w.:/-]+", first.strip())
    return f"; if options follow, the model needs a key too: `model: {first.strip()}`" if is_bare else ""


def _locate_error(error: Exception, text: str) -> str:
    """Describe the line of an error in several lines; for an unclosed bracket, the line where it opens."""
    lines = _LINE_BREAK.split(text)
    is_open = "flow" in str(getattr(error, "context", ""))
    mark = getattr(error, "context_mark" if is_open else "problem_mark", None)
    if mark is None or len(lines) == 1:
        return ""
    written = lines[mark.line].strip()
    return f" (line {mark.line + 1}, `{written[:_LONGEST_LINE]}{'…' * (len(written) > _LONGEST_LINE)}`)"


@lru_cache(maxsize=1024)  # a build parses most texts several times
def _load_cached(text: str) -> Any:
    if not _READ_OTHERWISE.intersection(text) and sum(map(text.count, _NESTING)) <= _MOST_NESTED:
        with contextlib.suppress(yaml.YAMLError):  # the other loader has better messages
            return yaml.load(text, _FastLoader)  # noqa: S506  (a safe loader)
    return yaml.load(text, _Loader)  # noqa: S506  (a safe loader)


class _UniqueKeys(yaml.constructor.SafeConstructor):
    """Refuses maps with duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        seen = set[str]()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Loader(_UniqueKeys, yaml.SafeLoader):
    """Written in Python."""


class _FastLoader(_UniqueKeys, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Written in C if available; deep nesting would overflow its stack and crash the process."""


def yaml_line(value: Any) -> str:
    """Format plain data as YAML on one line."""
    written = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return written.removesuffix("\n").removesuffix("\n...").strip()


def read_model(value: Any) -> Any:
    """Return the text unchanged.

    Raises:
        ModelDiagramsError: for several lines, because Sphinx adds an option without its first colon to the name.
    """
    if isinstance(value, str) and "\n" in value.strip():
        option = value.strip().split("\n")[1].strip(": ")
        raise ModelDiagramsError(f"expected one line; an option below it has two colons, `:{option}`")
    return value


def read_patterns(value: Any) -> Any:
    """Read ``a.b, *.c`` as ``["a.b", "*.c"]``; patterns need no quotes, although ``*`` begins an alias in YAML."""
    return _split_items(value, "[]") if isinstance(value, str) else value


def read_shapes(value: Any) -> Any:
    """Read ``columns`` as ``["columns"]``; ``none`` is kept."""
    return value if value == "none" else read_patterns(value)


def read_directions(value: Any) -> Any:
    """Read ``*: TB, *.attention: LR`` as a dict; like patterns, without quotes."""
    if not isinstance(value, str) or ":" not in value:
        return value
    pairs = (item.partition(":") for item in _split_items(value, "{}"))
    return {_unquote(pattern): _unquote(direction) for pattern, _, direction in pairs}


def read_map(value: Any) -> Any:
    """Read ``{a.b: Encoder}`` as a dict of text, even if YAML reads names or values as numbers."""
    value = read_yaml(value) if isinstance(value, str) else value
    if not isinstance(value, dict):
        return value
    return {str(name): str(one) if isinstance(one, int | float) else one for name, one in value.items()}


def read_lists(value: Any) -> Any:
    """Read a dict whose values are lists of patterns; it may be text."""
    value = read_map(value)
    return {name: read_patterns(one) for name, one in value.items()} if isinstance(value, dict) else value


def read_embedded(value: Any) -> Any:
    """Read a dict of images, each a text or a dict with the key `image`; it may be text."""
    value = read_map(value)
    if not isinstance(value, dict):
        return value
    found = {name: {"image": one} if isinstance(one, str) else one for name, one in value.items()}
    for name, one in found.items():
        if isinstance(one, dict) and (not one.get("image") or one.keys() - {"image", "alt"}):
            wanted = "an image, `filters.png`, or both `image` and `alt`, in quotes if it has commas"
            raise ModelDiagramsError(f"expected for {name} {wanted}")
    return found


def read_numbers_option(value: Any) -> Any:
    """Read files with numbers, ``a.json, b.csv``, or a map from patterns to numbers, as a list; it may be text."""
    value = read_yaml(value) if isinstance(value, str) else value
    several = read_patterns(value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return [{str(name): one for name, one in part.items()} if isinstance(part, dict) else part for part in several]


def read_page(value: Any) -> Any:
    """Read a page by name, or by width and height in CSS pixels; it may be text."""
    if isinstance(value, str):
        value = PAGES.get(value.lower()) or read_yaml(value)
    try:
        return msgspec.convert(value, tuple[_Length, _Length] | None)
    except msgspec.ValidationError as error:
        raise ModelDiagramsError(f"expected {', '.join(PAGES)} or [width, height] in px") from error


def read_vocabulary(value: Any) -> Any:
    """Read a map from kinds to names and their values; names are regular expressions.

    Raises:
        ModelDiagramsError: for an unknown kind or an invalid regular expression.
    """
    value = read_yaml(value) if isinstance(value, str) else value
    kinds = ("arguments", "inputs")
    for unknown in [kind for kind in value if kind not in kinds] if isinstance(value, dict) else []:
        raise ModelDiagramsError(f"expected the keys {' and '.join(kinds)}, but {unknown!r} is neither")
    tables = value.values() if isinstance(value, dict) else []
    for name in [name for table in tables if isinstance(table, dict) for name in table]:
        try:
            re.compile(str(name))
        except re.error as error:
            raise ModelDiagramsError(
                f"expected regular expressions for names, but {name!r} is invalid: {error}"
            ) from error
    return value


def read_versions(value: Any) -> Any:
    """Read the address of a list, or a map from versions to addresses such as ``{'1.1': ../1.1/}``."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = read_yaml(value)
    # YAML reads 1.1 as a number
    return {str(name): address for name, address in value.items()} if isinstance(value, dict) else value


def _split_items(text: str, brackets: str) -> list[str]:
    text = text.strip()
    if text.startswith(brackets[0]):
        text = text[1:].removesuffix(brackets[1])
    return [item for part in text.split(",") if (item := _unquote(part))]


def _unquote(text: str) -> str:
    return text.strip(" '\"\n")
