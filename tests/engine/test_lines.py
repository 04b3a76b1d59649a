"""Links to lines of source: which packages have them, and where in which repository."""

from __future__ import annotations

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.diagrams import Diagram
from modeldiagrams.lines import line_link, own_packages
from modeldiagrams.options import Options
from modeldiagrams.settings import parse_settings

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
    """A diagram of a model in these files; those of installed packages are below no folder."""
    graph = small_graph()
    paths = [path for _, path in files] + list(installed)
    nodes = [msgspec.structs.replace(graph.nodes[1], source=f"{path}:7") for path in paths[1:]]
    model = msgspec.structs.replace(graph.model, source=f"{paths[0]}:3")
    graph = msgspec.structs.replace(graph, model=model, nodes=tuple(nodes))
    sources = tuple(str(folder / path) for folder, path in files)
    return Diagram(id="a", options=Options(model="a.A"), graph=graph, sources=sources)


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
def test_links_begin_at_the_root_of_the_repository(values, template, repository):
    made = diagram((repository / "src", "mypkg/net.py"), installed=["torch/nn/modules/linear.py"])
    assert line_link(parse_settings(values), made, repository / "docs") == template
    assert own_packages(made) == ["mypkg"]


def test_each_package_is_where_it_is_in_the_repository(repository):
    made = diagram((repository / "src", "mypkg/net.py"), (repository / "packages" / "heads", "heads/head.py"))
    assert line_link(parse_settings({"repository_url": GITHUB}), made, repository / "docs") == (
        f"{BLOB}/packages/heads/{{path:heads}}{LINE} {BLOB}/src/{{path:mypkg}}{LINE}"
    )


def test_a_package_that_was_installed_from_the_repository_is_found_in_it(repository):
    (repository / "build" / "lib" / "built").mkdir(parents=True)
    (repository / "build" / "lib" / "built" / "net.py").touch()
    made = diagram(installed=["mypkg/net.py", "torch/nn/modules/linear.py", "built/net.py"])
    settings = parse_settings({"repository_url": GITHUB})
    assert line_link(settings, made, repository / "docs") == f"{BLOB}/src/{{path:mypkg}}{LINE}"
    assert own_packages(made) == []


def test_a_package_of_another_repository_has_the_links_that_its_author_gave_it(repository):
    made = diagram((repository / "src", "mypkg/net.py"), installed=["timm/models/vit.py"])
    both = {"mypkg": GITHUB, "timm": "https://github.com/huggingface/pytorch-image-models"}
    assert line_link(parse_settings({"repository_url": both}), made, repository) == (
        f"https://github.com/huggingface/pytorch-image-models/blob/HEAD/{{path:timm}}{LINE}"
        f" {BLOB}/src/{{path:mypkg}}{LINE}"
    )


def test_a_module_that_is_one_file_is_known_by_its_name(repository):
    made = diagram((repository, "net.py"))
    expected = "https://x.org/{path:net.py}"
    assert line_link(parse_settings({"source_link": {"net": "https://x.org/{path}"}}), made, repository) == expected
    assert line_link(parse_settings({"source_link": "https://x.org/{path}"}), made, repository) == expected


def test_where_there_is_no_repository_paths_are_those_that_python_imports(tmp_path):
    made = diagram((tmp_path, "mypkg/net.py"), installed=["timm/models/vit.py"])
    settings = parse_settings({"repository_url": GITHUB})
    assert line_link(settings, made, tmp_path / "docs") == f"{BLOB}/{{path:mypkg}}{LINE}"
