"""What authors write for catalogues."""

from __future__ import annotations

import pytest

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.catalogue import CatalogueOptions, read_catalogue_text

NAMES = ("torchvision.models", "mypkg.*Net")


@pytest.mark.parametrize(
    ("values", "body"),
    [
        ({"of": "torchvision.models mypkg.*Net"}, ""),
        ({"of": "torchvision.models, mypkg.*Net"}, ""),
        ({}, "torchvision.models mypkg.*Net"),
        ({}, "torchvision.models,\nmypkg.*Net"),
        ({}, "- torchvision.models\n- mypkg.*Net"),
        ({}, "of: [torchvision.models, 'mypkg.*Net']"),
        ({}, "of: torchvision.models, mypkg.*Net"),
    ],
)
def test_names_are_written_in_many_ways(values, body):
    assert read_catalogue_text(values, body) == CatalogueOptions(of=NAMES)


def test_a_directive_and_its_body_have_options():
    read = read_catalogue_text({"of": "a", "exclude": "b *.c", "group-by": "none"}, "depth: 1")
    assert read == CatalogueOptions(of=("a",), exclude=("b", "*.c"), group_by="none", values={"depth": 1})


@pytest.mark.parametrize(
    ("values", "body", "message"),
    [
        ({}, "", "model-catalogue: option `of`: missing: expected a package, a module, or names of models"),
        ({}, "of: [a", "model-catalogue: the body: is not valid YAML"),
        ({"of": "a", "dept": "1"}, "", "model-catalogue: option `dept`: unknown; did you mean 'depth'?"),
        ({"of": "a", "group-by": "size"}, "", "model-catalogue: option `group-by`: expected `family`"),
        ({}, "of: 3", "model-catalogue: option `of`: expected names"),
        ({}, "3", "model-catalogue: option `of`: expected names"),
        ({"of": "a"}, "exclude: {b: c}", "model-catalogue: option `exclude`: expected names"),
    ],
)
def test_mistakes_are_one_sentence(values, body, message):
    with pytest.raises(ModelDiagramsError) as error:
        read_catalogue_text(values, body)
    assert str(error.value).startswith(message)
