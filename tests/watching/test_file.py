"""The file of a recording survives cuts, damage, full disks and resumed runs.

Long because all tests read the same few recordings, which are made here.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import struct
import zlib
from pathlib import Path

import pytest

import modeldiagrams
from modeldiagrams import Recording, RecordingError, load_recording
from modeldiagrams.watching import growing_file as growing_module
from modeldiagrams.watching import reader
from modeldiagrams.watching.file.encoding import Decoder
from modeldiagrams.watching.file.frames import MAGIC, iter_payloads, read_payload
from modeldiagrams.watching.file.histogram import FINEST, INFINITE, NAN, Histogram, list_edges, merge_histograms
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Key, Loss, Moment, Row, Run
from modeldiagrams.watching.file.writer import Writer
from modeldiagrams.watching.growing_file import GrowingRecording
from watching.recordings import BLOCK, CONV, moment, row, small_recording


def content(recording):
    return recording.runs, recording.moments, recording.losses, recording.noticed


def assert_same_content(one, other):
    assert (one.runs, one.moments, one.noticed) == (other.runs, other.moments, other.noticed)
    assert [loss.step for loss in one.losses] == [loss.step for loss in other.losses]
    assert [loss.value for loss in one.losses] == pytest.approx([loss.value for loss in other.losses], rel=1e-6)


def test_a_recording_reads_back_as_it_was(tmp_path):
    recording = small_recording()
    recording.save(tmp_path / "run.mdwatch")
    again = load_recording(tmp_path / "run.mdwatch")
    assert_same_content(again, recording)
    assert again.moments[0].rows[CONV] is again.moments[0].rows[BLOCK]  # one tensor in two places is written once
    assert again.to_bytes() == recording.to_bytes()


def test_a_truncated_file_keeps_its_complete_frames(tmp_path):
    data = small_recording(1).to_bytes()
    ends = [len(MAGIC), *(end for _, end in iter_payloads(data))]
    path = tmp_path / "run.mdwatch"
    whole = content(Recording())
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        found = content(load_recording(path))
        if cut in ends:
            whole = found
        assert found == whole, cut


def test_a_truncated_file_can_be_continued(tmp_path):
    data = small_recording().to_bytes()
    path = tmp_path / "run.mdwatch"
    for cut in range(0, len(data) + 1, 7):
        path.write_bytes(data[:cut])
        writer = Writer(path)
        writer.add(FileFrame(record=moment(1000)))
        writer.close()
        assert load_recording(path).steps[-1] == 1000
        assert load_recording(path).moments[-1].rows == moment(1000).rows


def test_reading_stops_before_a_damaged_frame():
    data = small_recording(1).to_bytes()
    frames = [payload for payload, _ in iter_payloads(data)]
    for at in range(len(MAGIC), len(data)):
        damaged = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        found = [payload for payload, _ in iter_payloads(damaged)]
        assert found == frames[: len(found)]
        assert len(found) < len(frames)


def test_a_resumed_run_replaces_later_steps_of_earlier_runs(tmp_path):
    small_recording(4).save(tmp_path / "run.mdwatch")  # steps 0, 10, 20, 30
    writer = Writer(tmp_path / "run.mdwatch")
    writer.add(FileFrame(record=Run(step=15)))
    writer.add(FileFrame(record=moment(20), losses=[Loss(15, 7.0)]))
    writer.close()
    found = load_recording(tmp_path / "run.mdwatch")
    assert found.steps == (0, 10, 20)
    assert found.losses[-2:] == (Loss(14, pytest.approx(1 / 15)), Loss(15, 7.0))
    assert len(found.noticed) == 1
    assert len(found.runs) == 2


def test_a_repeated_step_replaces_later_steps_of_its_phase(tmp_path):
    writer = Writer(tmp_path / "run.mdwatch")
    for record in (moment(0), moment(10), moment(10, "validation"), moment(20), moment(10)):
        writer.add(FileFrame(record=record))
    writer.close()
    found = load_recording(tmp_path / "run.mdwatch")
    assert [(m.step, m.phase) for m in found.moments] == [(0, "train"), (10, "validation"), (10, "train")]


def test_names_are_written_once(tmp_path):
    path = tmp_path / "run.mdwatch"
    small_recording(1).save(path)
    writer = Writer(path)
    before = writer.size
    writer.add(FileFrame(record=moment(10)))
    writer.close()
    payload = list(iter_payloads(path.read_bytes()))[-1][0]
    assert b"block" not in payload
    assert writer.size - before < 200


def test_records_of_newer_minor_versions_are_ignored():
    text = json.dumps({"record": {"record": "later", "x": 1}, "more": 2}).encode()
    assert Decoder().decode(bytes([len(text)]) + text + b"\0") == FileFrame()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"PK\x03\x04 not ours", r"expected a recording, which begins with 'mdwatch1'; got b'PK"),
        (b"mdwatch9", r"a recording of format '9', which this version can't read"),
    ],
)
def test_other_files_are_refused_with_a_reason(tmp_path, data, problem):
    path = tmp_path / "run.mdwatch"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=problem):
        load_recording(path)
    with pytest.raises(RecordingError, match=problem):
        Writer(path)
    assert path.read_bytes() == data


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RecordingError, match=r"nothing\.mdwatch: expected a recording that can be read: No such file"):
        load_recording(tmp_path / "nothing.mdwatch")


def test_a_failed_write_leaves_the_file_intact(tmp_path):
    """A full disk takes a part of a frame and then raises."""
    writer = Writer(tmp_path / "run.mdwatch")
    writer.add(FileFrame(record=moment(0)))

    class Full:
        def __init__(self, file):
            self.file, self.left = file, 50

        def write(self, data):
            if not self.left:
                raise OSError(28, "No space left on device")
            done, self.left = min(self.left, len(data)), 0
            return self.file.write(data[:done])

        def __getattr__(self, name):
            return getattr(self.file, name)

    real, writer._file = writer._file, Full(writer._file)
    with pytest.raises(OSError, match="No space"):
        writer.add(FileFrame(record=moment(10)))
    writer._file = real
    assert load_recording(tmp_path / "run.mdwatch").steps == (0,)
    writer.add(FileFrame(record=moment(20)))
    writer.close()
    assert load_recording(tmp_path / "run.mdwatch").steps == (0, 20)


def test_a_file_has_one_writer(tmp_path):
    path = tmp_path / "run.mdwatch"
    first = Writer(path)
    first.add(FileFrame(record=moment(0)))
    with pytest.raises(RecordingError, match=r"run\.mdwatch: is being written.*another path"):
        Writer(path)
    first.add(FileFrame(record=moment(10)))
    assert load_recording(path).steps == (0, 10)  # readers ask for no lock
    first.close()
    Writer(path).close()
    path.write_bytes(b"something else")
    with pytest.raises(RecordingError, match="expected a recording"):
        Writer(path)
    path.unlink()
    Writer(path).close()


def test_a_closed_file_is_unlocked_although_a_forked_worker_has_it_open(tmp_path):
    writer = Writer(tmp_path / "run.mdwatch")
    held = os.dup(writer._file.fileno())  # as forking does
    writer.close()
    Writer(tmp_path / "run.mdwatch").close()
    os.close(held)


def test_frames_of_two_writers_are_not_a_recording(tmp_path):
    """Each of them gave its own numbers to names."""
    path = tmp_path / "run.mdwatch"
    payload = list(iter_payloads(small_recording(2).to_bytes()))[3][0]  # a later moment: its names are in the first
    path.write_bytes(MAGIC + read_payload(payload))
    growing = GrowingRecording(path, 8, 2)
    for read in (lambda: load_recording(path), lambda: Writer(path), growing.read):
        with pytest.raises(RecordingError, match=r"run\.mdwatch: a frame does not continue those before"):
            read()


def test_reading_stops_before_a_frame_that_can_not_be_unpacked(tmp_path):
    packed = b"not packed"
    whole = small_recording(2).to_bytes()
    path = tmp_path / "run.mdwatch"
    path.write_bytes(whole + struct.pack("<II", len(packed), zlib.crc32(packed)) + packed)
    assert load_recording(path).to_bytes() == whole


def test_a_growing_file_may_have_an_incomplete_beginning(tmp_path):
    path, data = tmp_path / "run.mdwatch", small_recording().to_bytes()
    growing = GrowingRecording(path, 8, 2)
    for end in range(len(MAGIC) + 1):
        path.write_bytes(data[:end])
        assert growing.read().steps == ()
    path.write_bytes(data)
    assert growing.read().steps == load_recording(path).steps


def test_validation_in_a_recorded_step_does_not_replace_it(tmp_path, monkeypatch):
    starts = []
    monkeypatch.setattr(growing_module, "read_bytes", lambda *at: (starts.append(at[1:]), reader.read_bytes(*at))[1])
    writer = Writer(tmp_path / "run.mdwatch")
    growing = GrowingRecording(tmp_path / "run.mdwatch", 8, 2)
    for step in range(4):
        writer.add(FileFrame(record=moment(step)))
        writer.add(FileFrame(record=moment(step, "validation")))
        assert growing.read().steps == tuple(range(step + 1))
    writer.close()
    assert starts.count(()) == 1  # the whole file was read at the beginning


def test_bins_have_no_gaps():
    edges = [list_edges(index) for index in range(-INFINITE + 1, INFINITE)]
    assert all(low < high for low, high in edges if low or high)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(edges) if one[1] and other[0])
    assert list_edges(1)[0] == 2.0**-64
    assert list_edges(INFINITE - 1)[1] == 2.0**32
    assert list_edges(64 * FINEST + 1) == (1.0, 1.25)


def test_coarser_bins_count_the_same_values():
    fine = small_recording(1).moments[0].rows[CONV].histogram
    for per_octave in (2, 1):
        coarse = merge_histograms([fine], per_octave)
        assert coarse.total == fine.total
        for index, n in coarse.counts.items():
            low, high = list_edges(index, per_octave)
            assert n == sum(count for a, b, count in fine.bars() if low <= a and b <= high) or abs(index) >= INFINITE


def test_quantiles_are_accurate_to_the_width_of_a_bin():
    histogram = Histogram({-257: 25, 0: 25, 257: 50, NAN: 9})
    assert [histogram.quantile(q) for q in (0.1, 0.4, 0.9)] == [-1.125, 0.0, 1.125]
    assert math.isnan(Histogram({NAN: 3}).quantile(0.5))


def test_reduced_moments_have_the_same_values(tmp_path):
    whole = small_recording(1000)
    small = whole.reduced()
    assert len([m for m in small.moments if m.phase == "train"]) == 200
    assert small.moments[0].step == 0
    assert small.moments[-1].last == whole.steps[-1]
    assert small.losses == whole.losses
    fine = merge_histograms(m.rows[CONV].histogram for m in whole.moments)
    assert merge_histograms(m.rows[CONV].histogram for m in small.moments) == fine
    for measure, total in (("count", sum), ("zeros", sum), ("bad", sum), ("min", min), ("max", max), ("dead", sum)):
        assert total(getattr(m.rows[CONV], measure) for m in small.moments) == total(
            getattr(m.rows[CONV], measure) for m in whole.moments
        ), measure
    first = small.moments[0].rows[CONV]
    assert first.norm == pytest.approx(math.sqrt(sum((3 + 10 * i) ** 2 for i in range(5)) / 5))
    assert first is small.moments[0].rows[BLOCK]
    small.save(tmp_path / "small.mdwatch")
    again = load_recording(tmp_path / "small.mdwatch")
    assert again.anomalies == whole.anomalies
    assert again.moments[3].rows[CONV].histogram == small.moments[3].rows[CONV].histogram


def test_a_reduced_file_keeps_notes_losses_and_anomalies(tmp_path):
    """Also what the runs before the last one noted, and losses that are not finite."""
    runs = [Run(step=0, model="mypkg.Net", notes=("first",)), Run(step=20, model="mypkg.Net", notes=("second",))]
    losses = [Loss(step, math.inf if step == 7 else 0.5 * step) for step in range(900)]
    moments = [moment(10 * i) for i in range(90)]
    moments[4].unseen, moments[5].traced, moments[6].skipped = ("block",), True, True
    edges = ((CONV, BLOCK),)
    moments[7].edges = edges
    whole = Recording(runs, moments, losses)
    whole.reduced(9).save(tmp_path / "small.mdwatch")
    again = load_recording(tmp_path / "small.mdwatch")
    assert again.runs == whole.runs
    assert again.notes == whole.notes
    assert again.losses == whole.losses
    assert again.anomalies == whole.anomalies
    assert again.moments[0].unseen == ("block",)
    assert again.moments[0].edges == edges
    assert [m.last for m in again.moments] == [90 + 100 * i for i in range(9)]


def test_only_new_frames_are_read_unless_a_run_goes_back(tmp_path, monkeypatch):
    """Else a file of ten times the size would take a hundred times as long."""
    calls, before, path = [], reader._cut_before, tmp_path / "run.mdwatch"
    monkeypatch.setattr(reader, "_cut_before", lambda step, written: (calls.append(step), before(step, written))[1])
    writer = Writer(path)
    for start in (0, 20):
        writer.add(FileFrame(record=Run(step=start)))
        for step in range(start, 30):
            writer.add(FileFrame(record=moment(step), losses=[Loss(step, float(start))]))
    writer.close()
    found = load_recording(path)
    assert found.steps == tuple(range(30))
    assert [loss.value for loss in found.losses] == [0.0] * 20 + [20.0] * 10
    assert calls == [0, 0, 0, 20, 20, 20]


def test_reduced_histograms_keep_their_bins_in_the_file(tmp_path):
    small = small_recording(1).reduced(200, per_octave=1)
    small.save(tmp_path / "small.mdwatch")
    again = load_recording(tmp_path / "small.mdwatch")
    assert again.moments[0].rows[CONV].histogram == small.moments[0].rows[CONV].histogram


def test_recordings_can_be_queried():
    recording = small_recording()
    assert recording.steps == (0, 10, 20)
    assert recording.phases == ("train", "validation")
    assert recording.nodes == ("block.conv", "block")
    assert recording.model == "mypkg.Net"
    assert recording.notes == ("eager",)
    assert [step for step, _, _ in recording.rows("block", "activation")] == [0, 10, 20]
    assert recording.series(CONV, "dead_share") == [(0, 0.0), (10, 10 / 64), (20, 20 / 64)]
    assert recording.series(Key("block.conv", "update", "weight"), "ratio")[0] == (0, 0.5)
    assert repr(recording) == "<recording of mypkg.Net: 3 moments, 3 tensors>"
    table = recording.to_pandas()
    assert len(table) == 12
    assert table.loc[(table.kind == "update") & (table.step == 20), "ratio"].tolist() == [0.5]


def test_reading_needs_no_torch(tmp_path):
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    path = tmp_path / "run.mdwatch"
    small_recording().save(path)
    script = (
        f"import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
        f"import modeldiagrams; print(modeldiagrams.load_recording({str(path)!r}).reduced(2).steps)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "(0, 20)\n"


def test_files_have_the_documented_layout():
    """Read by what the page says, with nothing of ours."""
    data = small_recording(1).to_bytes()
    at, found = 8, []
    while at < len(data):
        size, crc = struct.unpack_from("<II", data, at)
        packed = data[at + 8 : at + 8 + size]
        assert zlib.crc32(packed) == crc
        found.append(zlib.decompress(packed))
        at += 8 + size
    heads = [json.loads(raw[i + 1 : i + 1 + raw[0]]) for raw in found if raw[0] < 128 for i in [0]]
    page = (Path(__file__).parents[2] / "docs/pages/reference/recording.md").read_text("utf-8")
    for head in heads:
        record = head["record"]
        (keys,) = re.findall(rf"^\| `{record.pop('record')}` \| ([^|]*) \|", page, re.MULTILINE)
        assert set(record) <= set(re.findall(r"`(\w+)`", keys))
    assert "This page describes version 1.0." in page
    assert Run(step=0).version == "1.0"


def test_public_names_can_be_imported():
    assert modeldiagrams.load_recording is load_recording
    assert row(1).rms > 0
    assert Row(count=0).rms == 0
    assert Moment(step=1).rows == {}
    assert Anomaly(step=1, kind="jump").node == ""
