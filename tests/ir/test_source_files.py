"""A name in a graph → the file that it means."""

from __future__ import annotations

import pytest

from modeldiagrams.ir.source_files import source_file


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["/site/pkg/model.py", "/src/model.py"], "/src/model.py"),
        (["/a/model.py", "/a/model.py"], "/a/model.py"),
        (["/a/model.py", "/b/model.py"], None),
        (["/a/other_model.py", "/a/model.py/x.py"], None),
        ([], None),
    ],
)
def test_the_file_with_the_fewest_folders_more_is_meant(files: list[str], found: str | None) -> None:
    assert source_file("model.py", files) == found
