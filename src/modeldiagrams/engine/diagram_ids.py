"""Makes stable ids of diagrams."""

import re

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.options.options import Options, is_graph_file

__all__ = ["CLASS_PATH", "drop_digest", "make_diagram_id", "make_distinct", "name_snapshot"]

CLASS_PATH = re.compile(r"([^.A-Z]+\.)*_*[A-Z][^.]*")
"""A path written like that of a class: `pkg.Net`."""


def make_diagram_id(options: Options, *, has_case_variant: bool = False) -> str:
    """Make a stable name for a diagram's files.

    It is the model's path. A digest follows if other options affect the content, or if the path is not written like a
    class (`pkg.Net`), because some file systems don't distinguish it from a factory `pkg.net`.

    Args:
        options: The author's options.
        has_case_variant: Whether the module has another class whose name differs only in case (`pkg.NET`).
    """
    limits, asdict = options.limits, msgspec.structs.asdict
    content = {**asdict(options.call), "device": limits.device, "python": limits.python, **asdict(options.view)}
    content["recording"] = options.figure.recording
    said = {name: value for name, value in asdict(options.author).items() if value}
    if options.author.notes:
        said["notes"] = [*options.author.notes]  # their texts are on the page
    if options.tour.steps:
        said["steps"] = msgspec.to_builtins(options.tour.steps)
    compared = {name: value for name, value in asdict(options.compare).items() if value}
    written = {name: value for name, value in content.items() if value is not None} | said | compared
    path = options.call.model.replace(":", ".")
    name = re.sub(r"[^\w.-]+", "-", path).strip(".-")
    is_usual = path == path.lower() if is_graph_file(options.call.model) else CLASS_PATH.fullmatch(path)
    if len(written) == 1 and name == path and is_usual and not has_case_variant:
        return name
    return make_distinct(name, repr(written))


def name_snapshot(options: Options) -> str:
    """Return the name of a snapshot, which different diagrams of the same graph share."""
    return make_diagram_id(Options(call=options.written.call))


def make_distinct(name: str, content: str) -> str:
    """Add a digest of the content to a name."""
    return f"{name}-{digest(content.encode(), size=4)}"


def drop_digest(name: str) -> str:
    """Drop the digest that `make_distinct` may have added."""
    return re.sub(r"-[0-9a-f]{8}$", "", name)
