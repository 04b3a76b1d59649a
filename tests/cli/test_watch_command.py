"""`modeldiagrams watch` serves one page, whatever clients and the file do."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import pytest

from modeldiagrams import Recording
from modeldiagrams.watching.file.records import Key, Moment, Row, Run

PATIENCE = 120
COMMAND = (sys.executable, "-m", "modeldiagrams", "watch")
MODULES = {"conv": "torch.nn.Conv2d", "head": "torch.nn.Linear"}


def write(path, steps):
    rows = {Key(node, "activation"): Row(count=10, norm=2.0) for node in MODULES}
    moments = [Moment(step=step, rows=rows) for step in range(steps)]
    Recording([Run(step=0, model="pkg.Net", modules=MODULES)], moments).save(path)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.mdwatch"
    write(path, 2)
    (path.parent / "secret.txt").write_text("secret")
    return path


@pytest.fixture(scope="module")
def server(recording):
    """The page's address."""
    with subprocess.Popen(
        [*COMMAND, recording, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield urlsplit(process.stdout.readline().strip())
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors


@contextmanager
def asked(server, path, method="GET", **headers):
    """The answer to a request with exactly this path."""
    with closing(http.client.HTTPConnection(server.hostname, server.port, timeout=PATIENCE)) as connection:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": server.netloc, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        yield connection.getresponse()


def status(*request, **headers):
    with asked(*request, **headers) as answer:
        return answer.status


def event(answer):
    """The next event of a stream."""
    fields = {}
    while line := answer.readline().decode().strip():
        name, _, value = line.partition(": ")
        fields[name] = value
    return fields if "event" in fields else event(answer)


def steps_until(answer, expected):
    """Read events until one has so many steps; returns its position in the file."""
    while len(json.loads((found := event(answer))["data"])[0]["steps"]) != expected:
        pass
    return found["id"]


def test_the_page_and_its_files_are_served(server):
    with asked(server, server.path) as answer:
        assert answer.status == 200
        assert "default-src 'none'" in answer.getheader("Content-Security-Policy")
        assert answer.getheader("Access-Control-Allow-Origin") is None
        assert b"<h1>run.mdwatch</h1>" in answer.read()
    for name in ("model-graph.js", "recording.js", "model.js", "page.css"):
        assert status(server, server.path + name) == 200


@pytest.mark.parametrize(
    "path",
    ["", "secret.txt", "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "/etc/passwd", "//etc/passwd",
     "run.mdwatch", "events/../../secret.txt", "model.js%00", "model.js/", "..\\\\secret.txt"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(server, path):
    with asked(server, server.path + path) as answer:
        body = answer.read()
        assert answer.status == (200 if path == "" else 404)
    assert b"secret" not in body
    assert b"root:" not in body


def test_other_hosts_are_refused(server):
    assert status(server, "/") == 403
    assert status(server, "/events") == 403
    assert status(server, server.path, Host="evil.example") == 403
    assert status(server, server.path, "POST") == 405
    assert status(server, server.path, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert server.hostname == "127.0.0.1"
    assert server.path.count("/") == 2
    assert len(server.path) > 30


def test_readers_follow_the_file_and_resume_after_a_reload(server, recording):
    with asked(server, f"{server.path}events") as answer:
        assert answer.getheader("Content-Type").startswith("text/event-stream")
        write(recording, 3)
        steps_until(answer, 3)
        write(recording, 4)
        position = steps_until(answer, 4)
    with asked(server, f"{server.path}events", **{"Last-Event-ID": position}) as answer:
        write(recording, 5)
        assert len(json.loads(event(answer)["data"])[0]["steps"]) == 5


def test_slow_clients_do_not_block_others(server):
    with ExitStack() as clients:
        for sent in (b"", b"GET ", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\x16\x03\x01\x00garbage\r\n\r\n") * 10:
            client = clients.enter_context(socket.create_connection((server.hostname, server.port), PATIENCE))
            client.sendall(sent)
        for _ in range(20):  # readers who never read
            client = clients.enter_context(socket.create_connection((server.hostname, server.port), PATIENCE))
            client.sendall(f"GET {server.path}events HTTP/1.1\r\nHost: {server.netloc}\r\n\r\n".encode())
        assert status(server, server.path) == 200
        with asked(server, f"{server.path}events") as answer:
            assert event(answer)["event"] == "recording"


def test_too_long_a_request_is_refused(server):
    with socket.create_connection((server.hostname, server.port), PATIENCE) as client:
        client.sendall(b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 4")
    assert status(server, server.path) == 200


def test_a_file_that_is_not_a_recording_is_an_error(tmp_path):
    done = subprocess.run(
        [*COMMAND, tmp_path / "none.mdwatch", "--no-browser"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "none.mdwatch: expected a recording that can be read" in done.stderr
    assert "Traceback" not in done.stderr
