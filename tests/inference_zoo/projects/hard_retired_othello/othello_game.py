"""The rules, as far as the network has to know them."""

import numpy as np


class OthelloGame:
    square_content = {-1: "X", +0: "-", +1: "O"}

    def __init__(self, n):
        self.n = n

    def getInitBoard(self):
        pieces = np.zeros((self.n, self.n), dtype=int)
        m = self.n // 2
        pieces[m - 1, m] = pieces[m, m - 1] = 1
        pieces[m - 1, m - 1] = pieces[m, m] = -1
        return pieces

    def getBoardSize(self):
        return (self.n, self.n)

    def getActionSize(self):
        # every field, and to pass
        return self.n * self.n + 1
