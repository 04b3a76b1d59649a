import argparse

from inference_zoo.projects import hard_lesions as lesions

MODALITIES = ["t1", "t1ce", "t2", "flair"]


def get_parser():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("network")
    group.add_argument("--filters", nargs="+", type=int, default=[16, 32, 64, 128])
    group.add_argument("--norm", choices=["bn", "in", "gn"], default="in")
    group.add_argument("--ksize", type=int, default=3)
    group.add_argument("--slope", type=float, default=1e-2)
    group.add_argument("--n-labels", type=int, default=4)
    group.add_argument("--deep-supervision", action="store_true")
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser


def main():
    opt = get_parser().parse_args()
    net = lesions.LesionUNet(opt, n_modalities=len(MODALITIES))
    print(sum(p.numel() for p in net.parameters()))


if __name__ == "__main__":
    main()
