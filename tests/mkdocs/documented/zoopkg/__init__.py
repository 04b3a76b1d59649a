"""A package whose classes document themselves."""

from torch import nn

from zoopkg.blocks import Block

__all__ = ["Block", "Classifier", "Interface", "Meter", "Opaque", "Plain", "Quiet", "Wide", "small"]


class Classifier(nn.Module):
    """Tells ten things from each other.

    Args:
        width: Of the hidden layer.
    """

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.block = Block(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.block(x))


class Wide(Classifier):
    """A classifier by inheritance alone, and its own options.

    :model-graph: {kwargs: {width: 16}, caption: Twice as wide.}
    """


class Quiet(Classifier):
    """A classifier without a picture.

    :model-graph: false
    """


class Bare(Classifier):
    def forward(self, x):
        return super().forward(x).relu()


class Opaque(nn.Module):
    """Nobody knows what to call it with."""

    def __init__(self, secret, recipe) -> None:
        super().__init__()
        self.recipe = recipe[secret]

    def forward(self, thing):
        return self.recipe.unknown(thing)


class Interface(nn.Module):
    """A base class that holds nothing yet."""


class Plain:
    """No module at all."""


class Meter(nn.Parameter):
    """Of torch.nn, and yet no module."""


def small():
    """A function that makes a model.

    :model-graph: {caption: Small.}
    """
    return Classifier(4)
