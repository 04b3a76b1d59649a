"""Options of the trace: the model, its arguments and inputs, and where it runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeGuard

import msgspec
from msgspec import Meta

from modeldiagrams.common.files import GRAPHS
from modeldiagrams.options.case_options import LONGEST, CaseOptions, Mode, read_cases
from modeldiagrams.options.declaring import PER_DIAGRAM, READ, OptionGroup
from modeldiagrams.options.dims import read_dims
from modeldiagrams.options.reading import read_model, read_vocabulary, yaml_line

__all__ = ["Call", "Limits", "RecordedCall", "get_package", "is_graph_file"]

_TIMEOUT = 300.0
_MEMORY = 4.0
_MAXIMUM = 10.0**6
"""The maximum timeout (s) and memory (GB) that all operating systems accept."""
_Positive = Annotated[float, Meta(gt=0)]
_Device = Annotated[str, Meta(pattern=r"^(cpu|(cuda|xpu|mps|hip)(:\d+)?)$", title="cpu, cuda, xpu, mps or hip")]


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a test or an example calls a model, in the notation of the options with the same names."""

    seen: str
    """Where: the id of a test, or the path of a script."""
    args: list[Any] | None = None
    kwargs: dict[str, Any] | None = None
    inputs: list[Any] | dict[str | int, Any] | None = None
    graph: str | None = None
    """File of the graph that was traced there, of a call that can't be written."""

    @property
    def file(self) -> str:
        """The file with the test, or the script."""
        return self.seen.partition("::")[0]

    @property
    def rank(self) -> int:
        """Examples come before tests."""
        return int("::" in self.seen and not self.file.startswith("examples/"))


class Call(OptionGroup, frozen=True, kw_only=True):
    """The model and its arguments and inputs."""

    model: Annotated[
        str,
        Meta(
            min_length=1,
            description="The model: dotted path (`mypkg.Model`) or `pkg.mod:attr` of a class, a factory function or an"
            " instance; or a graph file that ends in `.json`.",
            extra={**PER_DIAGRAM, READ: read_model},
        ),
    ]
    args: Annotated[
        list[Any] | None, Meta(description="Positional arguments of the constructor, a list: `[64, 10]`.")
    ] = None
    kwargs: Annotated[
        dict[str, Any] | None, Meta(description="Keyword arguments of the constructor: `{depth: 4}`.")
    ] = None
    config: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Values for the model's configuration object, for classes with a Hugging Face `config_class`,"
            " or whose first parameter is annotated with a dataclass: `{num_hidden_layers: 2}`."
        ),
    ] = None
    inputs: Annotated[
        list[Any] | dict[str | int, Any] | None,
        Meta(
            description="Example inputs. A flat list of integers is the shape of one tensor, `[1, 3, 224, 224]`;"
            " a list of lists or maps is positional, `[[1, 16, 64], [1, 16]]`; a map is by name, `{x: [1, 4]}`, or by"
            " position and name, `{0: [1, 4], mask: [4]}`. An entry is a shape, `{shape: [1, 16], dtype: int64, high:"
            " 30522}`, `{value: 3}` for a plain value, or a list of entries for a list of tensors,"
            " `{images: [[3, 64, 64], [3, 32, 32]]}`."
        ),
    ] = None
    inputs_from: Annotated[
        str | None,
        Meta(description="Dotted path of a function that returns the inputs: a tensor, a tuple, or a dict by name."),
    ] = None
    vocabulary: Annotated[
        dict[Literal["arguments", "inputs"], dict[str, Any]] | None,
        Meta(
            description="Values for arguments and inputs that a diagram leaves out, by their names in this project:"
            " `{arguments: {n_words: 5000, 'd_.*': 64}, inputs: {tokens: {shape: [1, 16], dtype: int64, high: 5000}}}`."
            " A name is a regular expression for a whole name in lower case. These names come before the built-in ones."
            " A site sets them for all its diagrams with `defaults`.",
            extra={READ: read_vocabulary},
        ),
    ] = None
    part: Annotated[
        str | None,
        Meta(
            description="Dotted path of a module to draw as the model, `encoder.layers.0`. It gets the arguments of its"
            " first call in a pass of the whole model, which computes real values up to there.",
        ),
    ] = None
    method: Annotated[
        str | None,
        Meta(
            description="Method of the model to call in place of `forward`, `training_step`. The inputs are those that"
            " it takes."
        ),
    ] = None
    cases: Annotated[
        dict[str, CaseOptions] | Literal["generate"] | None,
        Meta(
            description="Several passes in one diagram, at most ten, by name: `{infer: {}, train: {training: true,"
            " method: training_step}}`. Each takes `inputs`, `inputs_from`, `mode`, `training`, `method`, `args`,"
            " `kwargs` and `config`, which replace those of the diagram. `generate`: the passes of a model of"
            " transformers that generates, encode (if it has an encoder), prefill, and decode with a cache.",
            extra={**PER_DIAGRAM, READ: read_cases},
        ),
    ] = None
    mode: Annotated[
        Mode | None,
        Meta(
            description="How values are computed. `fake`: shapes only, without arithmetic. `meta`: the same, and"
            " weights take no memory. `real`: with values, which decide branches and sizes, such as the rows of each"
            " expert. `auto`, the default: fake, and real if that fails."
        ),
    ] = None
    training: Annotated[
        bool | None,
        Meta(
            description="Whether the model runs in training mode, for example for the losses of a detector. By default"
            " it runs in eval mode."
        ),
    ] = None
    dims: Annotated[
        dict[str, Any] | Literal["off"] | None,
        Meta(
            description="Names of the sizes of inputs, from which shapes get theirs, `B×T×768`. By input:"
            " `{x: [B, 3, H, W], mask: [B, T]}`; a number stays one. An argument that is a whole number may be a size,"
            " `{num_frames: T}`, and a letter may stand for an expression, `{N: H*W/256}`. By default, names come from"
            " annotations, docstrings and conventions. `off` leaves all shapes numbers.",
            extra={READ: read_dims},
        ),
    ] = None
    measure_time: Annotated[
        bool | None,
        Meta(
            description="Whether to measure how long each op takes: the model runs for real, with its weights in"
            " memory, and up to ten times more. Times differ from run to run."
        ),
    ] = None
    explore: Annotated[
        bool | None,
        Meta(
            description="Whether to run the model up to 24 more times, each with another answer where a tensor's value"
            " decided: the other side of an `if`, another number of steps of a loop. What these passes found is in the"
            " diagram, marked as forced and not seen."
        ),
    ] = None
    sample: bool | None = None
    """No option: whether to sample what flows, for `values: sample`."""
    recorded: dict[str, RecordedCall] | None = None
    """No option: class → its recorded call, where the author leaves something open."""

    def case_calls(self) -> dict[str, tuple[Call, str]]:
        """The call of each case, and what its author wrote in one line; none if they are not written one by one."""
        found: dict[str, tuple[Call, str]] = {}
        for name, case in self.cases.items() if isinstance(self.cases, dict) else ():
            own = msgspec.structs.asdict(case)
            own = {option: value for option, value in own.items() if value is not None}
            others = {"inputs": "inputs_from", "inputs_from": "inputs"}  # of which there is only one
            left_out = {others[option]: None for option in own if option in others}
            line = yaml_line(own)[1:-1]
            text = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
            found[name] = msgspec.structs.replace(self, cases=None, **{**left_out, **own}), text
        return found


class Limits(OptionGroup, frozen=True, kw_only=True):
    """Where the model runs, and its limits. A site can set them for all diagrams."""

    timeout: Annotated[
        _Positive | None,
        Meta(
            description=f"Time limit in seconds for importing, building and running the model together, {_TIMEOUT:g}"
            f" by default."
        ),
    ] = None
    memory: Annotated[
        _Positive | None,
        Meta(description=f"Memory limit in gigabytes, {_MEMORY:g} by default, without the memory of PyTorch itself."),
    ] = None
    device: Annotated[
        _Device | None,
        Meta(description="Device to run on, such as `cuda`; by default the CPU, and the model sees no GPU."),
    ] = None
    python: Annotated[
        str | None,
        Meta(
            description="Python interpreter that runs the model, `../.venv/bin/python`. Its environment needs PyTorch"
            " and the same version of modeldiagrams. By default it is the interpreter that builds the documentation."
        ),
    ] = None
    committed: Annotated[
        bool | None,
        Meta(
            description="Take the graph that `modeldiagrams snapshot` wrote, even where PyTorch is installed. Only this"
            " command and `check` run the model."
        ),
    ] = None

    @property
    def seconds(self) -> float:
        """The timeout, or its default."""
        return min(self.timeout or _TIMEOUT, _MAXIMUM)

    @property
    def gigabytes(self) -> float:
        """The memory, or its default."""
        return min(self.memory or _MEMORY, _MAXIMUM)

    @property
    def uses_gpu(self) -> bool:
        """Whether the model may see a GPU."""
        return self.device not in {None, "cpu"}


def get_package(path: str) -> str:
    """Return the outermost package in ``pkg.mod.Class`` or ``pkg.mod:attr``."""
    return path.partition(":")[0].partition(".")[0]


def is_graph_file(model: object) -> TypeGuard[str]:
    """Whether the option `model` names a graph file."""
    return isinstance(model, str) and model.endswith(GRAPHS)
