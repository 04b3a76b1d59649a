import argparse

import numpy as np
from model import ReviewNet as Net
from model import StarPredictor

parser = argparse.ArgumentParser()
parser.add_argument("--dim", type=int, default=24)
parser.add_argument("--vocab", type=int, default=500)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--dropout", type=float, default=0.3)
parser.add_argument("--pool", default="mean", choices=["mean", "sum"])
parser.add_argument("--vectors", default="glove.npy")


def main():
    args = parser.parse_args()
    vectors = np.load(args.vectors)
    net = Net(vectors, args.hidden, n_stars=5)
    products = set(open("products.txt").read().split())
    baseline = StarPredictor(args, len(products))
    return net, baseline


if __name__ == "__main__":
    main()
