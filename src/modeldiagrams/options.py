"""What an author can say about a diagram: one declaration, shared by every host."""

from __future__ import annotations

import contextlib
import difflib
import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import yaml

from modeldiagrams.errors import ModelDiagramsError, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Options", "option_help", "parse_option", "parse_options", "read_yaml"]

_Length = Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)?(px|em|rem|ch|vw|vh|%)?$")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[^\s#]+$")]
_Depth = Annotated[int, msgspec.Meta(ge=0, le=1000)]
_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Direction = Literal["TB", "LR"]
_Device = Annotated[str, msgspec.Meta(pattern=r"^(cpu|(cuda|xpu|mps|hip)(:\d+)?)$")]


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything an author can say about one diagram.

    The documentation of each option, its type, its default and its check stand here and nowhere else.
    """

    model: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            description="The model: dotted path (`mypkg.Model`) or `pkg.mod:attr` of a class, a factory function or an"
            " instance; or a graph file ending in `.json`.",
        ),
    ]
    args: Annotated[
        list[Any] | None, msgspec.Meta(description="Positional arguments for the constructor, a list: `[64, 10]`.")
    ] = None
    kwargs: Annotated[
        dict[str, Any] | None, msgspec.Meta(description="Keyword arguments for the constructor: `{depth: 4}`.")
    ] = None
    config: Annotated[
        dict[str, Any] | None,
        msgspec.Meta(
            description="Values for the model's configuration object, for classes with a Hugging Face `config_class` or"
            " with one required parameter that is a configuration: `{num_hidden_layers: 2}`."
        ),
    ] = None
    inputs: Annotated[
        list[Any] | dict[str | int, Any] | None,
        msgspec.Meta(
            description="Example inputs. A flat list of integers is the shape of one float tensor, `[1, 3, 224, 224]`;"
            " a list of lists or maps is positional, `[[1, 16, 64], [1, 16]]`; a map is by name, `{x: [1, 4]}`, or by"
            " position and name, `{0: [1, 4], mask: [4]}`. An entry is a shape, `{shape: [1, 16], dtype: int64, high:"
            " 30522}`, or `{value: 3}` for a plain value."
        ),
    ] = None
    inputs_from: Annotated[
        str | None,
        msgspec.Meta(
            description="Dotted path of a callable that returns the inputs: a tensor, a tuple, or a dict by name."
        ),
    ] = None
    depth: Annotated[
        _Depth | None,
        msgspec.Meta(
            description="How many levels of modules are expanded at first; by default as many as stay readable. Where"
            " `depth` and `expand` are given, what either asks for is expanded."
        ),
    ] = None
    expand: Annotated[
        list[str] | None,
        msgspec.Meta(
            description="Patterns of module paths or class names that are expanded at first:"
            " `[encoder.layers.0, '*.attention']`."
        ),
    ] = None
    collapse: Annotated[
        list[str] | None,
        msgspec.Meta(
            description="Patterns of module paths or class names that stay closed at first, whatever `depth` and"
            " `expand` say, or would be chosen by default: `['*.attention', LayerNorm]`."
        ),
    ] = None
    direction: Annotated[
        _Direction | dict[str, _Direction] | None,
        msgspec.Meta(
            description="Top to bottom (`TB`, the default) or left to right (`LR`). By patterns of module paths or"
            " class names for the inside of those modules, `{'*': TB, '*.attention': LR}`: the last that matches"
            " counts, and `*` is also for the model itself."
        ),
    ] = None
    timeout: Annotated[
        _Positive | None,
        msgspec.Meta(
            description="Seconds that importing, building and running the model may take together, 60 by default."
        ),
    ] = None
    memory: Annotated[
        _Positive | None,
        msgspec.Meta(
            description="Gigabytes that the model may take, 4 by default; the memory of PyTorch itself does not count."
        ),
    ] = None
    device: Annotated[
        _Device | None,
        msgspec.Meta(description="Device to run on, `cuda`; by default the CPU, and the model sees no GPU."),
    ] = None
    python: Annotated[
        str | None,
        msgspec.Meta(
            description="Python interpreter that runs the model, of an environment with PyTorch and the same version of"
            " modeldiagrams: `../.venv/bin/python`; by default the one that builds the documentation."
        ),
    ] = None
    caption: Annotated[str | None, msgspec.Meta(description="Text below the diagram.")] = None
    name: Annotated[_Name | None, msgspec.Meta(description="Name to refer to the diagram by; also its anchor.")] = None
    alt: Annotated[
        str | None,
        msgspec.Meta(description="Text for readers who do not see the picture; by default made from the graph."),
    ] = None
    align: Annotated[
        Literal["left", "center", "right"] | None, msgspec.Meta(description="Where the figure stands on the page.")
    ] = None
    width: Annotated[
        _Length | None, msgspec.Meta(description="Width of the diagram's frame, a CSS length: `100%`, `640px`.")
    ] = None
    height: Annotated[
        _Length | None, msgspec.Meta(description="Largest height of the diagram's frame, a CSS length: `480px`.")
    ] = None
    class_: Annotated[str | None, msgspec.Meta(description="CSS classes for the figure, separated by spaces.")] = (
        msgspec.field(default=None, name="class")
    )
    static: Annotated[
        bool, msgspec.Meta(description="Only the picture and its outline: nothing on this diagram opens or zooms.")
    ] = False
    no_links: Annotated[
        bool, msgspec.Meta(description="The classes in the diagram are no links to their documentation.")
    ] = msgspec.field(default=False, name="no-links")
    no_index: Annotated[
        bool,
        msgspec.Meta(description="References to the model do not lead here: for a second diagram of the same model."),
    ] = msgspec.field(default=False, name="no-index")
    nowarn: Annotated[
        bool,
        msgspec.Meta(description="What is wrong with the model is told in the page only, and is no warning."),
    ] = False


_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Options)}
# patterns often begin with `*`, which YAML would read as an alias: their text form is a plain comma list
_PATTERNS = frozenset({"expand", "collapse"})

_FAST: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast, but it says less about mistakes, and nests as deep as text does, until the process dies of it."""
_NESTED = 500
"""So many characters that may begin something deeper are read fast."""


def parse_options(values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Options:
    """Read options as a host found them.

    Args:
        values: Option name → value. A string for an option that is not text is read as YAML, so ``"[1, 4]"`` and
            ``[1, 4]`` are the same.
        defaults: Values for options that `values` does not mention, e.g. a site's configuration.

    Returns:
        The options, checked.

    Raises:
        OptionError: naming the first option that is unknown or not of the expected form, and what is expected.
    """
    plain = {name: parse_option(name, value) for name, value in {**(defaults or {}), **values}.items()}
    if "model" not in plain:
        raise OptionError("model", f"missing. {option_help()['model']}")
    return msgspec.convert(plain, Options)


def parse_option(name: str, value: Any) -> Any:
    """Read one option as a host found it.

    Returns:
        Its value as plain data.

    Raises:
        OptionError: if there is no such option, or the value is not of the form it expects.
    """
    if name not in _FIELDS:
        near = difflib.get_close_matches(str(name), _FIELDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known options: {', '.join(_FIELDS)}"
        raise OptionError(str(name), f"unknown; {hint}")
    try:
        plain = _plain(name, value)
        msgspec.convert(plain, _FIELDS[name].type)
        msgspec.msgpack.encode(plain)  # numbers of more than 64 bits fit nowhere
    except (ModelDiagramsError, msgspec.ValidationError, TypeError, OverflowError) as error:
        raise OptionError(name, f"{error}, got {value!r}. {option_help()[name]}") from error
    return plain


def read_yaml(text: str) -> Any:
    """Read YAML as authors write it.

    Raises:
        ModelDiagramsError: if it is not YAML, saying why and in which line.
    """
    if sum(map(text.count, "[{-?:")) < _NESTED:
        with contextlib.suppress(yaml.YAMLError, ValueError):
            return yaml.load(text, _FAST)  # noqa: S506  (a safe loader, either way)
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in its line {mark.line + 1}" if mark else ""
        raise ModelDiagramsError(f"expected YAML{place}: {getattr(error, 'problem', None) or error}") from error


def option_help() -> dict[str, str]:
    """Option name → its one documentation sentence, in the order of declaration."""
    schema = msgspec.json.schema(Options)["$defs"]["Options"]["properties"]
    return {name: schema[name]["description"] for name in _FIELDS}


def _plain(name: str, value: Any) -> Any:
    """The value as data: YAML for structured options given as text, plain numbers allowed where text is expected."""
    if _FIELDS[name].default is False and (value is None or value == ""):
        return True  # a flag that is mentioned is meant
    if name == "direction" and isinstance(value, str) and ":" in value:
        entries = (entry.partition(":") for entry in value.strip(" {}").split(",") if entry.strip())
        return {pattern.strip(" '\""): direction.strip(" '\"") for pattern, _, direction in entries}
    if _is_text(name):
        # YAML reads `width: 640` and `name: 3` as numbers; what the author means is the text
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(value, str):
        return value
    if name in _PATTERNS:
        inner = value.strip().removeprefix("[").removesuffix("]") if value.strip().startswith("[") else value
        return [pattern for part in inner.split(",") if (pattern := part.strip(" '\""))]
    return read_yaml(value)


@functools.cache
def _is_text(name: str) -> bool:
    """Whether an option is text, to be taken as written; all others are YAML, also where a host only has strings."""
    info = msgspec.inspect.type_info(_FIELDS[name].type)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    kinds = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    plain = (kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind for kind in kinds)
    return any(isinstance(kind, msgspec.inspect.StrType | msgspec.inspect.LiteralType) for kind in plain)
