"""What layers of PyTorch take and return as a whole, where their own code would ask for what is unknown."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.utils.rnn import PackedSequence

from modeldiagrams.target.inference.symbolic.layers import packed_dims
from modeldiagrams.target.inference.symbolic.operands import as_float, ids_below
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.tensors import Kind, SymbolicTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.target.inference.symbolic.tensors import Reading

__all__ = ["layers_replaced"]


@contextlib.contextmanager
def layers_replaced(model: nn.Module, reading: Reading) -> Iterator[None]:
    """Let layers of a model say what they take and give."""
    replaced = []
    for module in model.modules():
        made = next((make for kind, make in _LAYERS if isinstance(module, kind)), None)
        if made and "forward" not in vars(module) and type(module).__module__.startswith("torch."):
            vars(module)["forward"] = _Layer(module, made, reading)
            replaced.append((module, module._forward_pre_hooks))  # noqa: SLF001
            if isinstance(module, LazyModuleMixin):  # its first call would make weights
                vars(module)["_forward_pre_hooks"] = OrderedDict()
    try:
        yield
    finally:
        for module, hooks in replaced:
            del vars(module)["forward"]
            vars(module)["_forward_pre_hooks"] = hooks


class _Layer:
    def __init__(self, module: Any, made: Callable[..., Any], reading: Reading) -> None:
        self.module, self.made, self.reading = module, made, reading

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        takes_pair = isinstance(self.module, nn.LSTM | nn.LSTMCell)  # its state is no tensor
        for value in args[:1] if takes_pair else (*args, *kwargs.values()):
            if isinstance(value, SymbolicTensor) and value.given:
                value.given.is_used = value.given.is_computed = True
        try:
            return self.made(self.reading, self.module, *args, **kwargs)
        except ClashError as error:
            self.reading.guesses.clash(error.guesses)
            return self.made(self.reading, self.module, *map(self._anew, args), **kwargs)

    def _anew(self, value: Any) -> Any:
        """Something of any shape in place of what does not fit."""
        return self.reading.tensor() if isinstance(value, SymbolicTensor) else value


def _sequences(r: Reading, x: Any, width: int, *, batch_first: bool) -> tuple[Any, Dim, Dim]:
    """A batch of sequences: its shape, its rows and its steps."""
    as_float(x)
    shape = r.shape_of(x).of_rank(3)
    same(shape.at(2), Dim(width))
    rows, steps = shape.at(0 if batch_first else 1), shape.at(1 if batch_first else 0)
    rows.end().is_rows = True
    return shape, rows, steps


def _recurrent(r: Reading, module: Any, x: Any, hx: Any = None) -> Any:
    ways = 2 if module.bidirectional else 1
    width = (getattr(module, "proj_size", 0) or module.hidden_size) * ways
    if isinstance(x, PackedSequence):
        same(r.shape_of(x.data).at(-1), Dim(module.input_size))
        rows, _ = packed_dims(x.batch_sizes)
        out: Any = PackedSequence(r.tensor(closed(Dim(), Dim(width)), Kind("float32")), x.batch_sizes)
    else:
        shape, rows, _ = _sequences(r, x, module.input_size, batch_first=module.batch_first)
        out = r.tensor(closed(*shape.front[:2], Dim(width)), Kind("float32"))
    state = closed(Dim(module.num_layers * ways), rows, Dim(width // ways))
    cell = closed(state.at(0), rows, Dim(module.hidden_size))
    return out, _stateful(r, hx, (state, cell), is_lstm=isinstance(module, nn.LSTM))


def _stateful(r: Reading, given: Any, shapes: tuple[Shape, Shape], *, is_lstm: bool) -> Any:
    """The state that a layer takes, and the one that it gives."""
    states = _states(given, 2 if is_lstm else 1)
    for state, shape in zip(states, shapes, strict=False):
        as_float(state)
        with contextlib.suppress(ClashError):
            unified(r.shape_of(state), shape)
    made = [r.tensor(shape, Kind("float32")) for shape in shapes[: 2 if is_lstm else 1]]
    return tuple(made) if is_lstm else made[0]


def _states(given: Any, count: int) -> list[Any]:
    if given is None:
        return []
    if count == 1:
        return [given]
    if isinstance(given, SymbolicTensor) and given.given:
        given.given.is_used = False  # it is a pair of tensors
    first, second = given
    return [first, second]


def _cell(r: Reading, module: Any, x: Any, hx: Any = None) -> Any:
    as_float(x)
    shape = r.shape_of(x).of_rank(2)
    same(shape.at(1), Dim(module.input_size))
    state = closed(shape.at(0), Dim(module.hidden_size))
    return _stateful(r, hx, (state, state), is_lstm=isinstance(module, nn.LSTMCell))


def _attention(r: Reading, module: Any, query: Any, key: Any, value: Any, *rest: Any, **kwargs: Any) -> Any:
    first = module.batch_first
    _, rows, steps = _sequences(r, query, module.embed_dim, batch_first=first)
    _, other_rows, keys = _sequences(r, key, module.kdim, batch_first=first)
    _, _, values = _sequences(r, value, module.vdim, batch_first=first)
    with r.noting():
        same(rows, other_rows)
        same(keys, values)
    padding = kwargs.get("key_padding_mask", rest[0] if rest else None)
    _padding(padding, rows, keys)
    _square(kwargs.get("attn_mask"), steps, keys)
    out = r.tensor(r.shape_of(query), Kind("float32"))
    return out, r.tensor(closed(rows, steps, keys), Kind("float32"))


def _padding(mask: Any, rows: Dim, steps: Dim) -> None:
    if isinstance(mask, SymbolicTensor):
        mask.kind.become("bool")
        with mask.reading.noting():
            unified(mask.known, closed(rows, steps))


def _square(mask: Any, queries: Dim, keys: Dim) -> None:
    if isinstance(mask, SymbolicTensor):
        with mask.reading.noting():
            unified(mask.known, closed(queries, keys))


def _of_encoder(module: Any) -> Any:
    layer = module.layers[0] if hasattr(module, "layers") else module
    return layer.self_attn


def _encoder(r: Reading, module: Any, src: Any, *masks: Any, **named: Any) -> Any:
    attention = _of_encoder(module)
    given = {**dict(zip(("mask", "src_key_padding_mask"), masks, strict=False)), **named}
    _, rows, steps = _sequences(r, src, attention.embed_dim, batch_first=attention.batch_first)
    _square(given.get("mask", given.get("src_mask")), steps, steps)
    _padding(given.get("src_key_padding_mask"), rows, steps)
    return r.tensor(r.shape_of(src), Kind("float32"))


_MASKS = ("tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask")


def _decoder(r: Reading, module: Any, tgt: Any, memory: Any, *masks: Any, **named: Any) -> Any:
    attention = _of_encoder(module)
    given = {**dict(zip(_MASKS, masks, strict=False)), **named}
    _, rows, steps = _sequences(r, tgt, attention.embed_dim, batch_first=attention.batch_first)
    _, others, keys = _sequences(r, memory, attention.embed_dim, batch_first=attention.batch_first)
    with r.noting():
        same(rows, others)
    _square(given.get("tgt_mask"), steps, steps)
    _square(given.get("memory_mask"), steps, keys)
    _padding(given.get("tgt_key_padding_mask"), rows, steps)
    _padding(given.get("memory_key_padding_mask"), rows, keys)
    return r.tensor(r.shape_of(tgt), Kind("float32"))


def _transformer(r: Reading, module: Any, src: Any, tgt: Any, *masks: Any, **named: Any) -> Any:
    given = {**dict(zip(("src_mask", *_MASKS[:2], "src_key_padding_mask", *_MASKS[2:]), masks, strict=False)), **named}
    _encoder(r, module.encoder, src, given.get("src_mask"), given.get("src_key_padding_mask"))
    return _decoder(r, module.decoder, tgt, src, **{name: given[name] for name in _MASKS if name in given})


def _bag(r: Reading, module: Any, ids: Any, offsets: Any = None, weights: Any = None) -> Any:
    as_float(weights)
    ids_below(ids, module.num_embeddings)
    width = Dim(module.embedding_dim)
    if offsets is None:
        return r.tensor(closed(r.shape_of(ids).of_rank(2).at(0), width), Kind("float32"))
    r.shape_of(ids).of_rank(1)
    if isinstance(offsets, SymbolicTensor):
        offsets.kind.become("int64", 1)
    return r.tensor(closed(r.shape_of(offsets).of_rank(1).at(0), width), Kind("float32"))


def _lazy_linear(r: Reading, module: Any, x: Any) -> Any:
    as_float(x)
    return r.tensor(r.shape_of(x).reaching(-1).replaced(-1, Dim(module.out_features)), Kind("float32"))


def _lazy_convolution(r: Reading, module: Any, x: Any, output_size: Any = None) -> Any:
    del output_size
    as_float(x)
    shape = r.shape_of(x).of_rank(2 + len(module.kernel_size))
    sides = (Dim() for _ in module.kernel_size)
    return r.tensor(closed(shape.at(0), Dim(module.out_channels), *sides), Kind("float32"))


def _lazy_norm(r: Reading, module: Any, x: Any) -> Any:
    del module
    as_float(x)
    return r.tensor(r.shape_of(x), Kind("float32"))


_LAYERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (nn.LazyLinear, _lazy_linear),
    ((nn.LazyConv1d, nn.LazyConv2d, nn.LazyConv3d), _lazy_convolution),
    ((nn.LazyConvTranspose1d, nn.LazyConvTranspose2d, nn.LazyConvTranspose3d), _lazy_convolution),
    (LazyModuleMixin, _lazy_norm),
    (nn.RNNBase, _recurrent),
    (nn.RNNCellBase, _cell),
    (nn.MultiheadAttention, _attention),
    ((nn.TransformerEncoder, nn.TransformerEncoderLayer), _encoder),
    ((nn.TransformerDecoder, nn.TransformerDecoderLayer), _decoder),
    (nn.Transformer, _transformer),
    (nn.EmbeddingBag, _bag),
)
