"""Graph ⇄ JSON: round trip, located errors, versions, the published schema."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

from graphs import small_graph
from modeldiagrams.common.files import write_atomically
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.serialize import deserialize, load, save, schema, serialize

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "graph.schema.json"


def test_round_trip_gives_the_same_graph_and_the_same_bytes() -> None:
    data = serialize(small_graph())
    assert deserialize(data) == small_graph()
    assert serialize(deserialize(data)) == data


def test_saved_file_has_one_value_per_line_and_loads(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "graph.json"
    save(small_graph(), path)
    assert load(path) == small_graph()
    assert path.read_text("utf-8").count("\n") > 50
    assert [file.name for file in path.parent.iterdir()] == ["graph.json"], "a temporary file was left behind"


def edited(old: str, new: str) -> bytes:
    text = serialize(small_graph()).decode()
    assert old in text
    return text.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("data", "path", "says"),
    [
        pytest.param(b"\x00nonsense", "$", "expected JSON", id="not-json"),
        pytest.param(b'{"format": "\xff"}', "$", "expected JSON", id="not-utf-8"),
        pytest.param(b"[" * 100_000, "$", "expected JSON", id="too-deep"),
        pytest.param(b"[]", "$.format", "expected 'modeldiagrams'", id="another-json"),
        pytest.param(edited('"1.8"', '"2.3"'), "$.version", "upgrade modeldiagrams", id="newer-major"),
        pytest.param(edited('"1.8"', "1"), "$.version", "expected a version", id="version-of-another-form"),
        pytest.param(edited('"kind":"op"', '"kind":"opp"'), "$.nodes[2].kind", "'opp'", id="unknown-kind"),
        pytest.param(edited('"id":"fc",', ""), "$.nodes[1]", "`id`", id="missing-key"),
        pytest.param(edited("[1,4]", '[1,{"a":1}]'), "$.tensors['input:x:0'].shape[1]", "int", id="inside-tensors"),
        pytest.param(edited('"to":"/relu"', '"to":3'), "$.adjacency['fc/linear'][0].to", "str", id="inside-adjacency"),
        pytest.param(edited('"owner":"fc"', '"owner":1'), "$.parameters['fc.weight'].owner", "str", id="in-parameters"),
        pytest.param(edited('"fc/linear":"fc"', '"fc/linear":7'), "$.hierarchy['fc/linear']", "int", id="in-hierarchy"),
        pytest.param(edited('"fc/linear":"fc"', '"fc/linear":"x"'), "$.hierarchy['fc/linear']", "'x'", id="check-runs"),
    ],
)
def test_errors_name_the_json_path(data: bytes, path: str, says: str) -> None:
    with pytest.raises(GraphError) as caught:
        deserialize(data)
    assert caught.value.path == path
    assert says in str(caught.value)


def test_newer_minor_version_with_unknown_keys_is_read() -> None:
    assert deserialize(edited('"version":"1.8"', '"version":"1.9","later":1')).nodes == small_graph().nodes


def test_older_minor_version_without_functions_is_read() -> None:
    old = deserialize(edited('"functions":{},', "").replace(b'"version":"1.8"', b'"version":"1.0"'))
    assert (old.nodes, old.functions) == (small_graph().nodes, {})


def test_load_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"gone\.json: expected a readable graph file"):
        load(tmp_path / "gone.json")
    (tmp_path / "bad.json").write_text('{"format": "x"}', "utf-8")
    with pytest.raises(GraphError, match=r"bad\.json: \$\.format: expected 'modeldiagrams'") as caught:
        load(tmp_path / "bad.json")
    assert str(caught.value).count("$.format") == 1


def test_published_schema_is_current_and_fits_our_files(update_golden: bool) -> None:
    if update_golden:
        SCHEMA_FILE.write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == schema(), "run `make golden`"
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(serialize(small_graph())), schema())


def test_schema_rejects_unknown_kinds() -> None:
    content = json.loads(edited('"kind":"op"', '"kind":"opp"'))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema())


def test_unchanged_file_keeps_its_modification_time(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"one")
    os.utime(path, (1, 1))
    write_atomically(path, b"one")
    assert path.stat().st_mtime == 1
    write_atomically(path, b"two")
    assert path.stat().st_mtime > 1
    assert path.read_bytes() == b"two"
