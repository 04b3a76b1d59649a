import argparse

from model import StarPredictor as Net

parser = argparse.ArgumentParser()
parser.add_argument("--dim", type=int, default=24)
parser.add_argument("--vocab", type=int, default=500)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--dropout", type=float, default=0.3)
parser.add_argument("--pool", default="mean", choices=["mean", "sum"])


def main():
    products = set(open("products.txt").read().split())
    return Net(parser.parse_args(), len(products))


if __name__ == "__main__":
    main()
