"""Encodes records as payloads of frames, a JSON head with all text followed by numbers, and decodes them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import RecordingError
from modeldiagrams.watching.file.histogram import FINEST, Histogram
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Key, Loss, Moment, Row, Run
from modeldiagrams.watching.file.varints import LOW, MORE, put_varint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Decoder", "Encoder"]

_HAS_UNITS, _HAS_RATIO, _IS_MERGED = 1, 2, 4


class _Head(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The JSON at the beginning of a payload."""

    record: dict[str, Any] | None = None
    names: list[tuple[str, str, str]] = []
    """Keys of rows that are new in this frame, numbered on from those of earlier frames."""
    edges: list[tuple[int, int]] = []
    """The edges of a moment, by the numbers of keys."""


class Encoder:
    """Makes payloads; remembers which keys the file has."""

    def __init__(self, names: list[Key]) -> None:
        self._numbers = {key: i for i, key in enumerate(names)}

    def encode(self, frame: FileFrame) -> bytes:
        """Encode a frame as a payload."""
        rows = _sort_aliases(frame.record.rows) if isinstance(frame.record, Moment) else {}
        head = _Head(record=_to_json(frame.record), names=[(*key,) for key in rows if key not in self._numbers])
        for key in rows:
            self._numbers.setdefault(key, len(self._numbers))
        if isinstance(frame.record, Moment):
            ends = ((self._numbers.get(one), self._numbers.get(other)) for one, other in frame.record.edges)
            head.edges = [(one, other) for one, other in ends if one is not None and other is not None]
        out = bytearray()
        text = msgspec.json.encode(head)
        put_varint(out, len(text))
        out += text
        _put_losses(out, frame.losses)
        _put_rows(out, {self._numbers[key]: row for key, row in rows.items()})
        return bytes(out)


class _Reader:
    """Reads numbers and bytes of a payload, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def varint(self) -> int:
        data, at = self._data, self._at
        number = shift = 0
        while (byte := data[at]) >= MORE:
            number |= (byte & LOW) << shift
            shift += 7
            at += 1
        self._at = at + 1
        return number | byte << shift

    def floats(self, count: int) -> tuple[float, ...]:
        values = struct.unpack_from(f"<{count}f", self._data, self._at)
        self._at += 4 * count
        return values

    def take(self, size: int) -> bytes:
        start = self._at
        self._at += size
        return self._data[start : self._at]


class Decoder:
    """Reads payloads in the order of the file.

    Attributes:
        names: All keys of rows so far; a row refers to its key by number.
    """

    def __init__(self, path: Path | str = "recording") -> None:
        """Begin with no names.

        Args:
            path: The file, for messages.
        """
        self._path = path
        self.names: list[Key] = []

    def decode(self, payload: bytes, *, with_rows: bool = True) -> FileFrame:
        """Decode the frame of a payload.

        Args:
            payload: The payload after the last one.
            with_rows: Whether to decode the rows of a moment.

        Raises:
            RecordingError: if the frame is complete but does not continue those before it.
        """
        try:
            return self._decode(payload, with_rows=with_rows)
        except (LookupError, ValueError, struct.error, msgspec.MsgspecError) as error:
            raise self._frame_error(error) from error

    def with_rows(self, moment: Moment, payload: bytes) -> Moment:
        """Add the rows to a moment that was decoded without them; later frames may have been decoded since.

        Raises:
            RecordingError: as in `decode`.
        """
        try:
            reader = _Reader(payload)
            reader.take(reader.varint())
            _get_losses(reader)
            return msgspec.structs.replace(moment, rows=self._rows(reader))
        except (LookupError, ValueError, struct.error) as error:
            raise self._frame_error(error) from error

    def _rows(self, reader: _Reader) -> dict[Key, Row]:
        return {self.names[number]: row for number, row in _get_rows(reader).items()}

    def _frame_error(self, error: Exception) -> RecordingError:
        return RecordingError(
            f"{self._path}: a frame does not continue those before it, as if several processes had written the file "
            f"({type(error).__name__}: {error}); record to another path"
        )

    def _decode(self, payload: bytes, *, with_rows: bool) -> FileFrame:
        reader = _Reader(payload)
        head = msgspec.json.decode(reader.take(reader.varint()), type=decodable(_Head))
        self.names += [Key(*name) for name in head.names]  # type: ignore[arg-type]  # a newer file may have more kinds
        losses = _get_losses(reader)
        record = _parse_json(head.record)
        if isinstance(record, Moment):
            record.rows = self._rows(reader) if with_rows else {}
            record.edges = tuple((self.names[one], self.names[other]) for one, other in head.edges)
        return FileFrame(record=record, losses=losses)


def _to_json(record: Run | Moment | Anomaly | None) -> dict[str, Any] | None:
    if isinstance(record, Moment):  # rows and edges are written apart
        record = msgspec.structs.replace(record, rows={}, edges=())
    found: dict[str, Any] | None = msgspec.to_builtins(record)
    return found


def _parse_json(found: dict[str, Any] | None) -> Run | Moment | Anomaly | None:
    kinds: dict[Any, type[Run | Moment | Anomaly]] = {"run": Run, "moment": Moment, "anomaly": Anomaly}
    # a newer minor version may have other kinds
    kind = kinds.get(found.get("record")) if found is not None else None
    return None if kind is None else msgspec.convert(found, decodable(kind))


def _sort_aliases(rows: Mapping[Key, Row]) -> dict[Key, Row]:
    """Order rows as a reader gets them: in the order of measuring, then further keys of the same tensors."""
    first: dict[int, Key] = {}
    for key, row in rows.items():
        first.setdefault(id(row), key)
    return {key: rows[key] for key in first.values()} | dict(rows)


def _put_losses(out: bytearray, losses: list[Loss]) -> None:
    """Write runs of losses of consecutive steps: number, first step, values; ends with 0."""
    at = 0
    while at < len(losses):
        end = at + 1
        while end < len(losses) and losses[end].step == losses[end - 1].step + 1:
            end += 1
        put_varint(out, end - at)
        put_varint(out, losses[at].step)
        out += struct.pack(f"<{end - at}f", *(loss.value for loss in losses[at:end]))
        at = end
    put_varint(out, 0)


def _get_losses(reader: _Reader) -> list[Loss]:
    losses: list[Loss] = []
    while number := reader.varint():
        step = reader.varint()
        losses += [Loss(step + i, value) for i, value in enumerate(reader.floats(number))]
    return losses


def _put_rows(out: bytearray, rows: Mapping[int, Row]) -> None:
    """Write rows, then pairs of keys that share a row; all by the numbers of keys."""
    first: dict[int, int] = {}  # id() of a written row → number of its key
    same = [(number, first[id(row)]) for number, row in rows.items() if first.setdefault(id(row), number) != number]
    put_varint(out, len(first))
    for number in first.values():
        put_varint(out, number)
        _put_row(out, rows[number])
    put_varint(out, len(same))
    for pair in same:
        put_varint(out, pair[0])
        put_varint(out, pair[1])


def _get_rows(reader: _Reader) -> dict[int, Row]:
    rows: dict[int, Row] = {}
    for _ in range(reader.varint()):
        number = reader.varint()
        rows[number] = _get_row(reader)
    for _ in range(reader.varint()):
        number = reader.varint()
        rows[number] = rows[reader.varint()]
    return rows


def _put_row(out: bytearray, row: Row) -> None:
    is_merged = row.moments != 1 or row.histogram.per_octave != FINEST
    flags = _HAS_UNITS * (row.units > 0) | _HAS_RATIO * (row.ratio is not None) | _IS_MERGED * is_merged
    for number in (flags, row.count, row.fires, row.zeros, row.bad):
        put_varint(out, number)
    out += struct.pack("<4f", row.min, row.max, row.mean, row.norm)
    if row.units:
        put_varint(out, row.dead)
        put_varint(out, row.units)
    if row.ratio is not None:
        out += struct.pack("<f", row.ratio)
    if is_merged:
        put_varint(out, row.moments)
        out.append(row.histogram.per_octave)
    histogram = row.histogram.to_bytes()
    put_varint(out, len(histogram))
    out += histogram


def _get_row(reader: _Reader) -> Row:
    flags, count, fires, zeros, bad = [reader.varint() for _ in range(5)]
    low, high, mean, norm = reader.floats(4)
    row = Row(count=count, fires=fires, zeros=zeros, bad=bad, min=low, max=high, mean=mean, norm=norm)
    if flags & _HAS_UNITS:
        row.dead, row.units = reader.varint(), reader.varint()
    if flags & _HAS_RATIO:
        (row.ratio,) = reader.floats(1)
    per_octave = FINEST
    if flags & _IS_MERGED:
        row.moments, per_octave = reader.varint(), reader.varint()
    row.histogram = Histogram(raw=reader.take(reader.varint()), per_octave=per_octave)
    return row
