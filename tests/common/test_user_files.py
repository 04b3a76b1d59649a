"""Whose a file is, on any operating system, and what it is called in messages."""

from __future__ import annotations

import json
import sysconfig
from pathlib import PureWindowsPath
from types import ModuleType

import pytest

from modeldiagrams.common import user_files
from modeldiagrams.common.user_files import (
    is_library,
    is_model_code,
    is_ours,
    is_user_file,
    list_library_folders,
    shorten_path,
)

WINDOWS_FOLDERS = {"stdlib": r"C:\Python313\Lib", "platstdlib": r"C:\Python313\Lib"}


@pytest.fixture(autouse=True)
def _forget():
    yield
    is_model_code.cache_clear()
    user_files._list_python_folders.cache_clear()


@pytest.fixture
def torch_at(monkeypatch):
    """Pretends that PyTorch was loaded from a file."""

    def load(file: str) -> None:
        module = ModuleType("torch")
        module.__file__ = file
        monkeypatch.setitem(user_files.sys.modules, "torch", module)

    return load


@pytest.fixture
def windows(monkeypatch, torch_at):
    """Pretends to run on Windows, with torch built in a checkout of its sources."""
    is_model_code.cache_clear()
    user_files._list_python_folders.cache_clear()
    monkeypatch.setattr(user_files, "PurePath", PureWindowsPath)
    monkeypatch.setattr(user_files, "_PACKAGE", r"C:\checkouts\modeldiagrams\src\modeldiagrams")
    monkeypatch.setattr(sysconfig, "get_path", WINDOWS_FOLDERS.get)
    torch_at(r"D:\pytorch\torch\__init__.py")


@pytest.mark.parametrize(
    "file",
    [
        json.__file__,
        user_files.__file__,
        "/usr/lib/python3/dist-packages/transformers/modeling.py",
        "/srv/user/.local/lib/python3.11/site-packages/einops/layers.py",
        "<frozen importlib._bootstrap>",
    ],
)
def test_python_installed_packages_and_this_package_are_libraries(file):
    assert is_library(file)
    assert not is_user_file(file)


def test_project_in_a_virtual_environments_folder_is_the_users():
    assert is_user_file("/srv/venv/src/mypkg/models.py")


@pytest.mark.parametrize("file", ["_ops.py", "<string>", "<frozen runpy>"])
def test_made_up_file_names_are_not_the_users(file):
    assert not is_user_file(file)


def test_model_code_includes_installed_models_but_no_generated_code():
    assert is_model_code("/srv/mypkg/models.py")
    assert is_model_code("/usr/lib/python3/dist-packages/transformers/modeling.py")
    assert is_model_code(f"{sysconfig.get_path('stdlib')}/site-packages/transformers/modeling.py")
    assert not any(map(is_model_code, [json.__file__, user_files.__file__, "<eval_with_key>.1", "<frozen runpy>"]))


def test_torch_is_a_library_also_in_a_checkout(torch_at):
    assert is_user_file("/srv/pytorch/torch/nn/modules/linear.py")
    torch_at("/srv/pytorch/torch/__init__.py")
    assert is_library("/srv/pytorch/torch/nn/modules/linear.py")
    assert not is_model_code("/srv/pytorch/torch/nn/modules/linear.py")
    assert is_user_file("/srv/pytorch/torchtools.py")


def test_folders_of_another_process_replace_those_of_this_one():
    assert is_library("/opt/python/lib/ast.py", ["/opt/python/lib"])
    assert not is_library(json.__file__, ["/opt/python/lib"])
    assert is_library(json.__file__, list_library_folders())


def test_import_machinery_is_ours_and_other_libraries_are_not():
    assert is_ours("<frozen importlib._bootstrap>")
    assert is_ours(user_files.__file__)
    assert not is_ours(json.__file__)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("file", "is_users", "is_models"),
    [
        (r"C:\Users\me\project\models.py", True, True),
        (r"C:\Python313\Lib\ast.py", False, False),
        (r"c:\python313\lib\AST.py", False, False),
        (r"C:\Python313\Lib\site-packages\transformers\modeling.py", False, True),
        (r"C:\Python313\lib\Site-Packages\transformers\modeling.py", False, True),
        (r"D:\pytorch\torch\nn\modules\linear.py", False, False),
        (r"d:\PyTorch\torch\nn\modules\linear.py", False, False),
        (r"C:\checkouts\modeldiagrams\src\modeldiagrams\tracer\forward_pass.py", False, False),
        (r"C:\checkouts\modeldiagrams\tests\models.py", True, True),
    ],
)
def test_windows_paths(file, is_users, is_models):
    assert is_user_file(file) is is_users
    assert is_model_code(file) is is_models


def test_file_is_relative_to_the_import_root_of_its_module():
    assert shorten_path("/site/pkg/sub/mod.py", "pkg.sub.mod") == "pkg/sub/mod.py"
    assert shorten_path("/site/pkg/__init__.py", "pkg") == "pkg/__init__.py"
    assert shorten_path("/somewhere/train.py", "__main__") == "train.py"


def test_file_without_a_module_is_relative_to_the_innermost_root():
    roots = ["", "/project", "/project/src", "/elsewhere"]
    assert shorten_path("/project/src/pkg/mod.py", roots=roots) == "pkg/mod.py"
    assert shorten_path("/project/train.py", "__main__", roots) == "train.py"
    assert shorten_path("/unknown/folder/mod.py", roots=roots) == "mod.py"


@pytest.mark.usefixtures("windows")
def test_relative_windows_file_has_forward_slashes():
    assert shorten_path(r"C:\project\pkg\mod.py", "pkg.mod") == "pkg/mod.py"
    assert shorten_path(r"C:\project\pkg\mod.py", roots=[r"c:\Project"]) == "pkg/mod.py"


def test_modules_of_one_folder_are_checked_by_folder(monkeypatch):
    asked = []
    within = user_files._is_within
    monkeypatch.setattr(user_files, "_is_within", lambda file, folders: asked.append(file) or within(file, folders))
    assert all(is_library(f"/srv/many/site-packages/pkg/module{number}.py") for number in range(100))
    assert {*asked} == {"/srv/many/site-packages/pkg"}
    assert not any(is_library(f"/srv/many/pkg/module{number}.py") for number in range(100))
    assert is_library("/srv/many/site-packages")
