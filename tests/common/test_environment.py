from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from modeldiagrams.common import environment
from modeldiagrams.common.environment import digest_importable_names, has_torch, list_distributions, made_with


@pytest.fixture
def own_code(monkeypatch, tmp_path):
    """A folder in the place of our package, with a file to edit."""
    (tmp_path / "tracer" / "deep").mkdir(parents=True)
    file = tmp_path / "tracer" / "deep" / "rules.py"
    file.write_text("first = 1\n")
    monkeypatch.setattr(environment, "_PACKAGE", tmp_path)
    environment._digest_own_code.cache_clear()
    yield file
    environment._digest_own_code.cache_clear()


def test_distribution_is_found_by_the_package_it_installs():
    assert list_distributions({"yaml"}) == ("PyYAML",)
    assert list_distributions({"mypkg", "os"}) == ()
    assert has_torch()


def test_made_with_has_the_versions_of_torch_and_of_libraries():
    assert metadata.version("torch") in made_with()
    assert metadata.version("PyYAML") in made_with(["PyYAML"])
    assert metadata.version("PyYAML") not in made_with()


def test_changed_search_path_is_noticed(monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path)])
        assert not has_torch()
    assert has_torch()


def test_made_with_has_the_versions_of_another_interpreter(tmp_path):
    info = tmp_path / "lib" / "python3.12" / "site-packages" / "net-9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: net\nVersion: 9.9\n")
    other = str(tmp_path / "bin" / "python")
    assert "9.9" in made_with(["net"], other)
    assert metadata.version("torch") not in made_with(["net"], other)
    assert metadata.version("torch") in made_with(["net"], sys.executable)


def test_made_with_changes_with_our_own_code(own_code):
    before = made_with()
    own_code.write_text("second = 2\n")
    environment._digest_own_code.cache_clear()
    assert made_with() != before


def test_output_of_a_build_is_not_importable(tmp_path):
    before = digest_importable_names([tmp_path])
    (tmp_path / "site" / "assets").mkdir(parents=True)
    (tmp_path / "site" / "assets" / "index.html").touch()
    (tmp_path / "Makefile").touch()
    assert digest_importable_names([tmp_path]) == before
    (tmp_path / "space" / "package").mkdir(parents=True)
    (tmp_path / "space" / "package" / "m.py").touch()
    assert digest_importable_names([tmp_path]) != before


def test_installed_names_are_read_again_only_after_an_installation(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    (folder / "first").mkdir(parents=True)
    (folder / "first" / "__init__.py").touch()
    before = digest_importable_names([folder])
    looked_at = []
    is_module = environment._is_module
    monkeypatch.setattr(environment, "_is_module", lambda path: looked_at.append(path) or is_module(path))
    assert digest_importable_names([folder]) == before
    assert folder not in {path.parent for path in looked_at}
    (folder / "second.py").touch()
    os.utime(folder, ns=(0, 0))  # the clock of the file system may not have ticked
    assert digest_importable_names([folder]) != before


def test_digest_of_our_code_covers_everything_the_worker_loads():
    script = (
        "import modeldiagrams.worker.tracing, sys; print(*[getattr(m, '__file__', '') for m in sys.modules.values()])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    package = environment._PACKAGE
    loaded = {Path(file) for file in done.stdout.split() if file.startswith(str(package))} - {package / "__init__.py"}
    found = {name for part in environment._TRACER_CODE for name, _ in environment._list_files(package / part)}
    names = {path.relative_to(package).as_posix() for path in loaded}
    assert found >= {name for name in names if not name.startswith("render/")}  # which draws what was recorded
    assert found >= {"errors.py", "common/user_files.py", "options/options.py"}
    kept = [path for room in ("ir", "tracer", "resolve", "worker") for path in (package / room).rglob("*")]
    data = [path for path in kept if path.is_file() and "__pycache__" not in path.parts]
    assert found >= {path.relative_to(package).as_posix() for path in data}


def test_versions_are_read_without_parsing_descriptions(monkeypatch):
    expected = {item.name: item.version for item in metadata.distributions()}
    environment._get_version.cache_clear()
    monkeypatch.setattr(metadata.Distribution, "metadata", property(lambda _: pytest.fail("all metadata was parsed")))
    assert environment.list_versions(["pytest", "msgspec"]) == {name: expected[name] for name in ("pytest", "msgspec")}
    environment._get_version.cache_clear()
