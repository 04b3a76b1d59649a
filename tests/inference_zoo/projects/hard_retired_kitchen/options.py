import argparse


def get_parser():
    parser = argparse.ArgumentParser()

    # saving
    parser.add_argument("--model_name", type=str, default="model")
    parser.add_argument("--save_dir", type=str, default="checkpoints")
    parser.add_argument("--root", type=str, default="data/Recipe1M")

    # model
    parser.add_argument("--backbone", type=str, default="resnet18", choices=["resnet18", "resnet34"])
    parser.add_argument("--hidden_recipe", type=int, default=512)
    parser.add_argument("--output_size", type=int, default=1024)
    parser.add_argument("--tf_n_heads", type=int, default=4)
    parser.add_argument("--tf_n_layers", type=int, default=2)

    # images and text
    parser.add_argument("--imsize", type=int, default=224)
    parser.add_argument("--maxseqlen", type=int, default=15, help="max number of words in a sentence")
    parser.add_argument("--maxnumlabels", type=int, default=20, help="max number of ingredients")
    parser.add_argument("--maxnuminstrs", type=int, default=20, help="max number of sentences")

    # training
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.0001)
    parser.add_argument("--freeze_backbone", dest="freeze_backbone", action="store_true")
    parser.set_defaults(freeze_backbone=False)
    return parser
