"""Images of numbers in a model, for its diagram."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

_CELL = 10


def filters(model: nn.Module, _inputs: Mapping[str, Any], _outputs: object) -> str:
    """The filters of the first convolution, each as an image of its weights."""
    first = next(module for module in model.modules() if isinstance(module, nn.Conv2d))
    weights = first.weight[:16]
    colours = (weights - weights.min()) / (weights.max() - weights.min())
    cells = []
    for i, image in enumerate(colours):
        left, top = (i % 8) * (image.shape[2] + 1), (i // 8) * (image.shape[1] + 1)
        cells += [
            _cell(left + x, top + y, [round(255 * float(image[min(c, len(image) - 1), y, x])) for c in range(3)])
            for y in range(image.shape[1])
            for x in range(image.shape[2])
        ]
    return _image(cells, 8 * (weights.shape[3] + 1), 2 * (weights.shape[2] + 1))


def attention_map(model: nn.Module, inputs: Mapping[str, Any], _outputs: object) -> str:
    """Where each place looks, from left to right, as the mean of all heads and layers of a language model."""
    layers = model(**inputs, output_attentions=True).attentions
    weights: Tensor = sum(layer[0].mean(0) for layer in layers) / len(layers)
    shades = (255 * (1 - (weights / weights.max()).sqrt())).round()
    places = range(len(shades))
    cells = [_cell(x, y, [int(shades[y, x])] * 2 + [255]) for y in places for x in places]
    return _image(cells, len(shades), len(shades))


def _cell(x: int, y: int, colour: list[int]) -> str:
    place = f'x="{x * _CELL}" y="{y * _CELL}" width="{_CELL}" height="{_CELL}"'
    return f'<rect {place} fill="rgb({",".join(map(str, colour))})"/>'


def _image(cells: list[str], width: int, height: int) -> str:
    box = f'viewBox="0 0 {width * _CELL} {height * _CELL}" shape-rendering="crispEdges"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(cells)}</svg>'
