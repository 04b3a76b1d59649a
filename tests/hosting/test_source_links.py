"""Links to lines of source in repositories."""

from __future__ import annotations

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.source_links import build_url_templates, list_imported_packages
from modeldiagrams.options.settings import parse_settings
from option_helpers import make_options

GITHUB = "https://github.com/org/project"
BLOB = f"{GITHUB}/blob/HEAD"
LINE = "#L{line}"


@pytest.fixture
def repository(tmp_path):
    """A repository of two packages and their documentation."""
    for name in ("src/mypkg/net.py", "packages/heads/heads/head.py", "docs/conf.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / ".git").mkdir()
    return tmp_path


def diagram(*files, installed=()):
    """A diagram of a model in these files; files of installed packages have no folder."""
    graph = small_graph()
    paths = [path for _, path in files] + list(installed)
    nodes = [msgspec.structs.replace(graph.nodes[1], source=f"{path}:7") for path in paths[1:]]
    model = msgspec.structs.replace(graph.model, source=f"{paths[0]}:3")
    graph = msgspec.structs.replace(graph, model=model, nodes=tuple(nodes))
    sources = tuple(str(folder / path) for folder, path in files)
    return Diagram(id="a", options=make_options(model="a.A"), graph=graph, sources=sources)


@pytest.mark.parametrize(
    ("values", "template"),
    [
        ({}, None),
        ({"repository_url": f"{GITHUB}.git"}, f"{BLOB}/src/{{path:mypkg}}{LINE}"),
        ({"repository_url": "https://gitlab.com/a/b/"}, f"https://gitlab.com/a/b/-/blob/HEAD/src/{{path:mypkg}}{LINE}"),
        ({"repository_url": GITHUB, "source_link": "https://x.org/{path}"}, "https://x.org/src/{path:mypkg}"),
        ({"repository_url": {"mypkg": GITHUB}}, f"{BLOB}/src/{{path:mypkg}}{LINE}"),
        ({"repository_url": {"other": GITHUB}}, None),
        ({"source_link": {"mypkg": "https://x.org/{path}"}}, "https://x.org/{path:mypkg}"),
        (
            {"repository_url": GITHUB, "source_link": {"other": "https://x.org/{path}"}},
            f"{BLOB}/src/{{path:mypkg}}{LINE}",
        ),
    ],
)
def test_templates_follow_the_settings(values, template, repository):
    made = diagram((repository / "src", "mypkg/net.py"), installed=["torch/nn/modules/linear.py"])
    assert build_url_templates(parse_settings(values), made, repository / "docs") == template
    assert list_imported_packages(made) == ["mypkg"]


def test_each_package_has_its_folder_in_the_repository(repository):
    made = diagram((repository / "src", "mypkg/net.py"), (repository / "packages" / "heads", "heads/head.py"))
    assert build_url_templates(parse_settings({"repository_url": GITHUB}), made, repository / "docs") == (
        f"{BLOB}/packages/heads/{{path:heads}}{LINE} {BLOB}/src/{{path:mypkg}}{LINE}"
    )


def test_installed_package_is_found_in_the_repository(repository):
    (repository / "build" / "lib" / "built").mkdir(parents=True)
    (repository / "build" / "lib" / "built" / "net.py").touch()
    made = diagram(installed=["mypkg/net.py", "torch/nn/modules/linear.py", "built/net.py"])
    settings = parse_settings({"repository_url": GITHUB})
    assert build_url_templates(settings, made, repository / "docs") == f"{BLOB}/src/{{path:mypkg}}{LINE}"
    assert list_imported_packages(made) == []


def test_package_of_another_repository_uses_its_own_url(repository):
    made = diagram((repository / "src", "mypkg/net.py"), installed=["timm/models/vit.py"])
    both = {"mypkg": GITHUB, "timm": "https://github.com/huggingface/pytorch-image-models"}
    assert build_url_templates(parse_settings({"repository_url": both}), made, repository) == (
        f"https://github.com/huggingface/pytorch-image-models/blob/HEAD/{{path:timm}}{LINE}"
        f" {BLOB}/src/{{path:mypkg}}{LINE}"
    )


def test_single_file_module_is_set_by_its_name(repository):
    made = diagram((repository, "net.py"))
    expected = "https://x.org/{path:net.py}"
    assert (
        build_url_templates(parse_settings({"source_link": {"net": "https://x.org/{path}"}}), made, repository)
        == expected
    )
    assert build_url_templates(parse_settings({"source_link": "https://x.org/{path}"}), made, repository) == expected


def test_without_a_repository_paths_are_import_paths(tmp_path):
    made = diagram((tmp_path, "mypkg/net.py"), installed=["timm/models/vit.py"])
    settings = parse_settings({"repository_url": GITHUB})
    assert build_url_templates(settings, made, tmp_path / "docs") == f"{BLOB}/{{path:mypkg}}{LINE}"
