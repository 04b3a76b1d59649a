"""What the page of a catalogue says without scripts, and its files."""

from catalogue_samples import catalogue, catalogue_of
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue


def page_of(shown):
    return f"models/{shown.name}.html"


def render(shown, **values):
    return render_catalogue(shown, assets="modeldiagrams/", page_of=page_of, **values)


def test_catalogue_without_models_says_why():
    html = render(catalogue_of(problem="The package pkg has no models."))
    assert "The package pkg has no models." in html
    assert "<script" not in html
    assert "<table" not in html


def test_same_catalogue_same_bytes():
    assert render(catalogue(30)) == render(catalogue(30))
    assert build_catalogue_files(catalogue(30), page_of, back="../models.html") == build_catalogue_files(
        catalogue(30), page_of, back="../models.html"
    )
