"""Who may see the page that follows a training, and what readers get while its file changes.

Long because all tests ask the same server, which is set up here.
"""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from browser.pages import encoder
from modeldiagrams import Recording, load_recording
from modeldiagrams.api.live.feed import Feed
from modeldiagrams.api.live.server import LiveServer, find_refusal
from modeldiagrams.api.live.site import build_site
from modeldiagrams.engine.recorded_modules import match_modules
from modeldiagrams.errors import OptionError, RecordingError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Key, Loss, Moment, Row, Run
from modeldiagrams.watching.file.writer import Writer
from modeldiagrams.watching.growing_file import GrowingRecording
from modeldiagrams.watching.reader import read_bytes

TOKEN = "a-token"  # noqa: S105
GRAPH = encoder(layers=1)
NODES = ("embed", "layers.0.mlp")


def request(path=f"/{TOKEN}/", method="GET", kind="http", **headers):
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "method": method, "path": path, "headers": named}


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "[::1]:8123", "LocalHost:9000", "127.0.0.1"])
def test_requests_with_the_token_are_answered(host):
    assert find_refusal(request(host=host), TOKEN) is None
    assert find_refusal(request(f"/{TOKEN}/events", host=host, sec_fetch_site="same-origin"), TOKEN) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8123", "127.0.0.1.evil.example", "localhost@evil.example", "localhost:1:2", "",
     "127.0.0.1:8123\r\nx: y", "192.168.0.7:8123", "0.0.0.0:8123"],
)  # fmt: skip
def test_foreign_host_names_are_refused(host):
    assert find_refusal(request(host=host), TOKEN) == 403


def test_a_request_needs_exactly_one_host():
    assert find_refusal(request(), TOKEN) == 403
    twice = request(host="localhost")
    twice["headers"].append((b"host", b"evil.example"))
    assert find_refusal(twice, TOKEN) == 403


@pytest.mark.parametrize("path", ["/", "//", "", f"/{TOKEN}", "/a-toke/", f"/{TOKEN}x/", "/ä/", "/../", "/\udcff/"])
def test_without_the_token_nothing_is_answered(path):
    assert find_refusal(request(path, host="localhost"), TOKEN) == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_only_get_is_answered(method):
    assert find_refusal(request(method=method, host="localhost"), TOKEN) == 405


def test_pages_of_other_sites_are_refused():
    assert find_refusal(request(host="localhost", sec_fetch_site="cross-site"), TOKEN) == 403
    assert find_refusal(request(host="localhost", sec_fetch_site="none"), TOKEN) is None
    assert find_refusal(request(kind="websocket", host="localhost"), TOKEN) == 400


def test_a_taken_port_is_an_error(tmp_path):
    path = tmp_path / "run.mdwatch"
    with LiveServer([path], GRAPH) as first, LiveServer([path], GRAPH) as second:
        assert first.url != second.url
        port = int(first.url.split(":")[2].partition("/")[0])
        with pytest.raises(OptionError, match=f"option `port`: expected a free port, got {port}"):
            LiveServer([path], GRAPH, port)


def test_the_page_escapes_its_file_name_and_has_all_files():
    files = build_site(GRAPH, "<script>.mdwatch")
    page = files[""].content.decode()
    assert "<title>&lt;script&gt;.mdwatch</title>" in page
    assert 'recording="events"' in page
    assert {
        "model.js",
        "page.css",
        "model-graph.js",
        "core.js",
        "explore.js",
        "menu.js",
        "viz.js",
        "recording.js",
        "model-graph.css",
    } <= set(files)
    assert "<script>" not in page  # its policy forbids scripts in the page


# the file


def write(path, steps, nodes=NODES, modules=None):
    rows = {Key(node, "activation"): Row(count=10, norm=2.0) for node in nodes}
    run = Run(step=0, model="mypkg.Net", modules=modules or {})
    Recording([run], [Moment(step=step, rows=rows) for step in range(steps)]).save(path)


def in_loop(task):
    """The result of a coroutine; in a thread of its own, because browser tests leave a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, task).result()


def messages(feed, *changes, position=None):
    """The first message, and one after each change of the file."""

    async def read():
        found = []
        stream = feed.messages(position)
        for change in (lambda: None, *changes):
            change()
            found.append(parsed(await asyncio.wait_for(anext(stream), 60)))
        await stream.aclose()
        return found

    return in_loop(read())


def parsed(message):
    fields = dict(line.split(": ", 1) for line in message.decode().strip().split("\n"))
    return fields["id"], fields["event"], json.loads(fields["data"])


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr("modeldiagrams.api.live.feed._LOOK", 0.01)
    path = tmp_path / "run.mdwatch"
    write(path, 2)
    return path


def steps(message):
    assert message[1] == "recording"
    (page,) = message[2]
    return page["steps"]


def test_readers_get_new_data_when_the_file_has_grown(file):
    first, second = messages(Feed([file], GRAPH), lambda: write(file, 5))
    assert (steps(first), steps(second)) == ([0, 1], [0, 1, 2, 3, 4])
    assert first[0] != second[0]


def test_reconnecting_readers_get_nothing_twice(file):
    feed = Feed([file], GRAPH)
    ((position, *_),) = messages(feed)

    async def come_back():
        stream = feed.messages(position)
        waiting = asyncio.ensure_future(anext(stream))
        done, _ = await asyncio.wait([waiting], timeout=0.1)
        assert not done
        await asyncio.to_thread(write, file, 3)
        return parsed(await asyncio.wait_for(waiting, 60))

    assert steps(in_loop(come_back())) == [0, 1, 2]


def test_truncated_replaced_or_removed_files_are_reported_and_followed(file, tmp_path):
    whole = file.read_bytes()

    def cut():
        file.write_bytes(whole[: len(whole) * 2 // 3])

    def spoil():
        file.write_bytes(b"no recording")

    def replace():
        write(tmp_path / "other", 7)
        (tmp_path / "other").replace(file)

    found = messages(Feed([file], GRAPH), cut, spoil, file.unlink, replace)
    assert [event for _, event, _ in found] == ["recording", "recording", "problem", "problem", "recording"]
    assert "run.mdwatch: expected a recording" in found[2][2]
    assert str(tmp_path) not in found[2][2] + found[3][2]
    assert steps(found[4]) == list(range(7))


def test_only_new_data_is_read(tmp_path, monkeypatch):
    """And the position of a message is how far that was."""
    monkeypatch.setattr("modeldiagrams.api.live.feed._LOOK", 0.01)
    path, read = tmp_path / "run.mdwatch", []
    monkeypatch.setattr(
        "modeldiagrams.watching.growing_file.read_bytes", lambda *at: (read.append(at[1:]), read_bytes(*at))[1]
    )
    writer = Writer(path)
    rows = {Key(node, "activation"): Row(count=10, norm=2.0) for node in NODES}
    writer.add(FileFrame(record=Run(step=0, model="mypkg.Net")))
    writer.add(FileFrame(record=Moment(step=0, rows=rows)))
    sizes = [writer.size]

    def grow():
        writer.add(FileFrame(record=Moment(step=len(sizes), rows=rows), losses=[Loss(len(sizes), 0.5)]))
        sizes.append(writer.size)
        with path.open("ab") as file:
            file.write(b"half a frame")

    found = messages(Feed([path], GRAPH), grow, grow, grow)
    writer.close()
    assert [steps(message) for message in found] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert [int(position.partition("-")[2]) for position, *_ in found] == sizes
    starts = [start for (start,) in (at or (0,) for at in read)]
    assert starts == [0, 0, *(size - 64 for size in sizes[:-1])]
    assert found[-1][2][0]["loss"] == [None, 0.5, 0.5, 0.5]


def test_a_growing_recording_equals_the_complete_one(tmp_path):
    path = tmp_path / "run.mdwatch"
    growing = GrowingRecording(path, 8, 2)
    writer = Writer(path)
    writer.add(FileFrame(record=Run(step=0, model="mypkg.Net")))
    for step in range(100):
        rows = {Key("embed", "activation"): Row(count=10, norm=1e3 if step == 77 else 2.0, max=float(step))}
        writer.add(FileFrame(record=Moment(step=step, rows=rows), losses=[Loss(step, float(step))]))
        if step == 60:
            writer.add(FileFrame(record=Anomaly(step=60, kind="failure", text="a process")))
        found, whole = growing.read(), load_recording(path)
        assert found.anomalies == whole.anomalies
        assert found.losses == whole.losses
        assert len(found.moments) <= 8
        assert [m.max for moment in found.moments for m in moment.rows.values()][-1] == step
        assert sum(moment.rows[Key("embed", "activation")].moments for moment in found.moments) == step + 1
    assert [anomaly.kind for anomaly in found.anomalies] == ["failure", "jump"]
    writer.add(FileFrame(record=Run(step=50, model="mypkg.Net")))  # the training was resumed
    writer.close()
    found, whole = growing.read(), load_recording(path)
    assert found.moments[-1].last == whole.steps[-1] == 49
    assert (found.anomalies, found.losses, found.runs) == (whole.anomalies, whole.losses, whole.runs)


def test_several_files_are_followed_together(file, tmp_path):
    other = tmp_path / "other.mdwatch"
    write(other, 3)
    feed = Feed([file, other], GRAPH)
    first, second = messages(feed, lambda: write(other, 4))
    assert [page["name"] for page in first[2]] == ["run.mdwatch", "other.mdwatch"]
    assert [page["steps"] for page in second[2]] == [[0, 1], [0, 1, 2, 3]]
    assert first[0].split(",")[0] == second[0].split(",")[0]


def test_a_recording_of_another_model_is_a_problem(file):
    write(file, 2, nodes=("conv1",))
    ((_, event, text),) = messages(Feed([file], GRAPH))
    assert event == "problem"
    assert "another model" in text


def test_the_file_is_read_once_for_many_readers(file, monkeypatch):
    reads = []
    lock = threading.Lock()
    feed = Feed([file], GRAPH)
    read = feed._read

    def counted():
        with lock:
            reads.append(1)
        return read()

    monkeypatch.setattr(feed, "_read", counted)

    async def first_of(stream):
        return await anext(stream)

    async def all_of():
        return await asyncio.gather(*(first_of(feed.messages(None)) for _ in range(50)))

    assert len(set(in_loop(all_of()))) == 1
    assert len(reads) == 1


# the model


def test_a_recording_knows_its_modules(tmp_path):
    path = tmp_path / "run.mdwatch"
    modules = {"unused": "pkg.Unused", "body": "pkg.Body", "body.conv": "torch.nn.Conv2d", "head": "torch.nn.Linear"}
    write(path, 1, nodes=("", "body.conv", "body.conv#2", "body", "head"), modules=modules)
    graph = match_modules(path)
    check_graph(graph)
    assert [node.id for node in graph.nodes] == ["body", "body.conv", "body.conv#2", "head", "unused"]
    assert graph.hierarchy["body.conv#2"] == "body"
    assert {node.id: node.class_ for node in graph.nodes}["body.conv#2"] == "torch.nn.Conv2d"
    assert graph.model.name == "Net"
    assert graph.status.state == "hierarchy"


def test_a_recording_without_modules_asks_for_the_model(tmp_path):
    path = tmp_path / "run.mdwatch"
    Recording([Run(step=0)]).save(path)
    with pytest.raises(RecordingError, match="--model"):
        match_modules(path)
