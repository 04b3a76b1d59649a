"""Play, learn, play again."""

import logging

import torch
from othello_game import OthelloGame
from othello_net import OthelloNNet

log = logging.getLogger(__name__)


class dotdict(dict):
    def __getattr__(self, name):
        return self[name]


args = dotdict(
    {
        "numIters": 1000,
        "numEps": 100,
        "tempThreshold": 15,
        "lr": 0.001,
        "dropout": 0.3,
        "epochs": 10,
        "batch_size": 64,
        "cuda": torch.cuda.is_available(),
        "num_channels": 128,
    }
)


def main():
    log.info("Loading %s...", OthelloGame.__name__)
    g = OthelloGame(6)
    nnet = OthelloNNet(g, args)
    log.info("Parameters: %d", sum(p.numel() for p in nnet.parameters()))
    board = torch.FloatTensor(g.getInitBoard().astype(float))
    pi, v = nnet(board.view(1, 6, 6))
    print(pi.exp(), v)


if __name__ == "__main__":
    main()
