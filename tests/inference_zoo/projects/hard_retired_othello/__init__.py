"""A network that learns a game by playing against itself."""

__all__ = ["othello_net.OthelloNNet"]
