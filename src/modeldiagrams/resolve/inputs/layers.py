"""Candidates from the first layers of a model (rule 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.names.candidates import Candidate, make_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["list_layer_candidates", "list_state_entries"]

_LAYERS = 12
"""Number of different layers that count, in the order of registration."""
_FLAT = {784: [1, 1, 28, 28], 1024: [1, 1, 32, 32], 3072: [1, 3, 32, 32], 12288: [1, 3, 64, 64]}
"""Widths of layers that well-known images have, flattened inside the model."""


def list_layer_candidates(model: nn.Module) -> list[tuple[str, Candidate]]:
    """Inputs that suit the first layers of a model.

    Returns:
        Path of the layer and candidate, in the order of registration; for every layer the most usual form first.
    """
    found: list[tuple[str, Candidate]] = []
    seen: set[str] = set()
    for path, module in model.named_modules():
        shapes = [*_shapes(module)]
        if not shapes or repr(shapes) in seen:
            continue
        seen.add(repr(shapes))
        found += [(path, Candidate(shape, f"for {path or 'the model'}, {_with_article(module)}")) for shape in shapes]
        if len(seen) == _LAYERS:
            break
    return found


def list_state_entries(model: nn.Module, batch: int) -> Iterator[Any]:
    """Entries for the state of the first recurrent layer."""
    for module in model.modules():
        if isinstance(module, nn.RNNBase):
            layers = module.num_layers * (2 if module.bidirectional else 1)
            state: Any = [layers, batch, module.hidden_size]
            yield [state, state] if isinstance(module, nn.LSTM) else state
            return
        if isinstance(module, nn.RNNCellBase):
            state = [batch, module.hidden_size]
            yield [state, state] if isinstance(module, nn.LSTMCell) else state
            return


def _with_article(module: nn.Module) -> str:
    """A layer's class with its article: an Embedding, a Linear."""
    name = type(module).__name__
    return f"{'an' if name[:1] in 'AEIO' else 'a'} {name}"


def _shapes(module: nn.Module) -> Iterator[Any]:  # noqa: C901  (one case for each kind of layer)
    """Entries for the input of one layer; nothing for a module that only holds others."""
    match module:
        case nn.Embedding() | nn.EmbeddingBag():
            yield make_ids([1, "<length>"], module.num_embeddings)
            yield make_ids([1], module.num_embeddings)
            yield make_ids(["<length>"], module.num_embeddings)
            yield make_ids(["<length>", 1], module.num_embeddings)
        case nn.modules.conv._ConvNd():  # noqa: SLF001  (no public class is the base of all)
            yield from _grid(module.in_channels, len(module.kernel_size), transposed=module.transposed)
        case nn.modules.batchnorm._NormBase():  # noqa: SLF001
            yield from _normalised(module)
        case nn.GroupNorm():
            yield from _grid(module.num_channels, 2)
        case nn.Linear():
            yield from _features(module.in_features or 8)
        case nn.Bilinear():
            yield [1, module.in1_features]
            yield [1, module.in2_features]
        case nn.LayerNorm() | nn.RMSNorm():
            yield from _features(module.normalized_shape[-1])
            yield [1, *module.normalized_shape]
        case nn.RNNBase():
            yield from _steps(module.input_size, batch_first=module.batch_first)
        case nn.RNNCellBase():
            yield [1, module.input_size]
            yield [1, "<length>", module.input_size]
            yield [1, module.hidden_size]
        case nn.MultiheadAttention():
            yield from _steps(module.embed_dim, batch_first=module.batch_first)
        case nn.Transformer():
            yield from _steps(module.d_model, batch_first=module.batch_first)
        case _:
            yield from _bare(module)


def _features(width: int) -> Iterator[Any]:
    yield [1, width]
    yield [1, "<length>", width]
    yield ["<length>", width]
    yield [1, width, "<length>"]
    if width in _FLAT:
        yield _FLAT[width]
    yield [1, "<length>", "<length>", width]
    yield [1, 2 * width]  # split into two halves


def _steps(width: int, *, batch_first: bool) -> Iterator[Any]:
    yield [1, "<length>", width] if batch_first else ["<length>", 1, width]
    yield ["<length>", width]


def _grid(channels: int, dimensions: int, *, transposed: bool = False) -> Iterator[Any]:
    """Images, sounds and volumes; an uninitialized lazy layer gets three channels."""
    channels = channels or 3
    side = "<length>" if dimensions == 1 else "<size>"
    if transposed:
        yield [1, channels, *[1] * dimensions]
        yield [1, channels, *[4] * dimensions]
        yield [1, channels]
    if dimensions == 3:  # noqa: PLR2004  (volumes and films; the usual sizes would fill gigabytes)
        yield [1, channels, 16, 32, 32]
        yield [1, channels, 32, 64, 64]
        yield [1, channels, 16, 112, 112]
        yield [1, 8, channels, 32, 32]
    yield [1, channels, *[side] * dimensions]
    if channels == 1:
        yield [1, *[side] * dimensions]
    if dimensions == 1:
        yield [1, side, channels]
    elif dimensions == 2:  # noqa: PLR2004  (images, a film of them, channels last)
        yield [1, 4, channels, side, side]
        yield [1, side, side, channels]


def _normalised(module: Any) -> Iterator[Any]:
    dimensions = {"1": 1, "2": 2, "3": 3}.get(type(module).__name__.removesuffix("d")[-1], 2)
    if dimensions == 1:
        yield [1, module.num_features]
    yield from _grid(module.num_features, dimensions)


def _bare(module: nn.Module) -> Iterator[Any]:
    """A custom layer: the sizes of its own parameters are likely those of its input."""
    parameters = [p for p in module.parameters(recurse=False) if not nn.parameter.is_lazy(p)]
    shapes = [tuple(parameter.shape) for parameter in parameters]
    for shape in shapes[:3]:
        if len(shape) in (4, 5):
            yield from _grid(shape[1], len(shape) - 2)
        elif len(shape) == 2:  # noqa: PLR2004
            yield [1, shape[0]]
            yield [1, shape[1]]
            yield [1, "<length>", shape[0]]
            yield [1, "<length>", shape[1]]
        elif shape and shape[-1] > 1:
            yield [1, shape[-1]]
            yield [1, "<length>", shape[-1]]
            yield [1, shape[-1], "<size>", "<size>"]
