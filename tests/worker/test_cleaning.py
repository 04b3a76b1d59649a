"""What pages publish of a process's answer holds no detail of the machine."""

from __future__ import annotations

import sys

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.worker import cleaning
from modeldiagrams.worker.cleaning import clean_answer
from modeldiagrams.worker.protocol import Problem, Refused, Traced


@pytest.fixture
def message(monkeypatch):
    """A message as pages show it."""
    monkeypatch.setenv("HOME", "/srv/me")
    monkeypatch.setenv("API_TOKEN", "s3cret")
    monkeypatch.setenv("CI_JOB_URL", "https://ci.example/7")
    monkeypatch.setenv("CI_PROJECT", "mypkg.models")
    monkeypatch.setenv("OLD_KEY", "abc")
    monkeypatch.setenv("LONG_KEY", "hunter2-42")
    monkeypatch.setenv("DB_PASSWORD", "back\\slash-1")

    def shown(text: str, path: tuple[str, ...] = ("/srv/project", "/srv/project/src")) -> str:
        return clean_answer(Refused(problem=Problem(kind="model", message=text)), path).problem.message

    return shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no file '/srv/project/data/x.bin'", "no file 'data/x.bin'"),
        ("/srv/project/src/mypkg/m.py:3", "mypkg/m.py:3"),
        ("in /srv/project, and /srv/projects/x", "in ., and …/x"),
        (f"{sys.prefix}/lib/x.py", "lib/x.py"),
        ("open('/srv/me/.cache/w.bin')", "open('~/.cache/w.bin')"),
        ("HOME=/srv/me, /srv/me/", "HOME=~, ~/"),
        ("/etc/ssl/certs/ca.pem is missing", "…/ca.pem is missing"),
        (r"C:\Users\me\models\w.bin", "…/w.bin"),
        ("see https://example.org/a/b and a/b/c, 1/2/3", "see https://example.org/a/b and a/b/c, 1/2/3"),
        ("token s3cret, not s3crets", "token $API_TOKEN, not s3crets"),
        ("xhunter2-42hunter2-42", "x$LONG_KEY$LONG_KEY"),
        (r"back\slash-1 and 'back\\slash-1'", "$DB_PASSWORD and '$DB_PASSWORD'"),
        ("at https://ci.example/7", "at $CI_JOB_URL"),
        ("mypkg.models.Net has abc", "mypkg.models.Net has abc"),
        ("\x1b[31mred\x1b[0m \x07bell \x9b \udcff \u202e", r"red \x07bell \x9b \udcff \u202e"),
        ("several\n\tlines", "several\n\tlines"),
        ("x" * 5000, "x" * 999 + "…"),
    ],
)
def test_messages_hold_no_detail_of_the_machine(message, text, expected):
    assert message(text) == expected


def test_frames_and_output_are_cleaned():
    problem = Problem(kind="worker", message="ended", frames=("\x07m.py:1 in f",), printed=("x" * 999, "/srv/p/a/b"))
    answer = clean_answer(Refused(problem=problem, output="/srv/p/a\x07\n"), ["/srv/p"])
    assert answer.problem.frames == (r"\x07m.py:1 in f",)
    assert answer.problem.printed == ("x" * 159 + "…", "a/b")
    assert answer.output == "a\\x07\n"


def test_graphs_hold_no_folder_of_the_machine_and_no_secret(monkeypatch):
    monkeypatch.setenv("API_TOKEN", "s3cret")
    monkeypatch.setenv("CI_JOB", "1234567890")
    error = Failure(type="ValueError", message="/srv/p/data/x s3cret 1234567890", frames=())
    graph = msgspec.structs.replace(small_graph(), status=Status(state="partial", mode="real", error=error))
    shown = deserialize(clean_answer(Traced(graph=serialize(graph)), ["/srv/p"]).graph).status.error.message
    assert shown == "data/x $API_TOKEN 1234567890"


def test_words_and_numbers_of_the_environment_stay_in_graphs(monkeypatch):
    settings = {"TOKENIZERS_PARALLELISM": "false", "MAX_TOKENS": "4096", "USE_AUTH": "null", "KEY_SCALE": "1e-3"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    graph = b'{"training":false,"in_features":4096,"other":null,"eps":1e-3}'
    assert clean_answer(Traced(graph=graph), []).graph == graph


def test_folders_of_windows_are_found_in_json():
    machine = cleaning._describe_machine((), ())
    machine._roots = {r"C:\work\p": ""}
    assert machine._relative(r'["C:\\work\\p\\data", "C:\\work\\project"]') == r'["data", "C:\\work\\project"]'
    assert machine._relative(r"in C:\work\p\data") == r"in data"


def test_a_graph_without_such_details_keeps_its_bytes():
    graph = serialize(small_graph())
    assert clean_answer(Traced(graph=graph), ["/srv/p"]).graph is graph
