import torch
from model import MoleculeModel
from opts import parse_args


def build_model(args):
    torch.manual_seed(0)
    model = MoleculeModel(args)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    return model


def main():
    args = parse_args()
    model = build_model(args)
    torch.save({"args": args, "state_dict": model.state_dict()}, "model.pt")


if __name__ == "__main__":
    main()
