import pickle
from pathlib import Path

import torch
from data_loader import get_loader
from losses import TripletLoss
from models import get_model

from options import get_parser


def train(args):
    loader, dataset = get_loader(
        args.root, args.batch_size, args.imsize, "train", text_only_data=False, max_len=args.maxseqlen
    )
    with open(Path(args.root) / "ingr_vocab.pkl", "rb") as f:
        vocab_size = len(pickle.load(f))  # noqa: S301

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = get_model(args, vocab_size).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_function = TripletLoss(margin=0.3)

    for batch in loader:
        img, title, ingrs, instrs = (t.to(device) for t in batch[:4])
        img_feat, recipe_feat, _ = model(img, title, ingrs, instrs, freeze_backbone=args.freeze_backbone)
        loss = loss_function(img_feat, recipe_feat)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), Path(args.save_dir) / args.model_name / "model-best.ckpt")


if __name__ == "__main__":
    train(get_parser().parse_args())
