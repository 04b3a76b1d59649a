from argparse import ArgumentParser


def add_model_args(parser):
    group = parser.add_argument_group("model")
    group.add_argument("--hidden_size", type=int, default=64)
    group.add_argument("--depth", type=int, default=3, help="number of message passing steps")
    group.add_argument("--dropout", type=float, default=0.0)
    group.add_argument("--activation", choices=["ReLU", "LeakyReLU", "SELU", "ELU"], default="ReLU")
    group.add_argument("--aggregation", choices=["mean", "sum", "norm"], default="mean")
    group.add_argument("--aggregation_norm", type=int, default=100)
    group.add_argument("--ffn_num_layers", type=int, default=2)
    group.add_argument("--ffn_hidden_size", type=int, default=None)
    group.add_argument("--atom_messages", action="store_true")


def parse_args():
    parser = ArgumentParser()
    parser.add_argument("--data_path", required=True)
    parser.add_argument("--dataset_type", choices=["classification", "regression", "multiclass"], required=True)
    parser.add_argument("--num_tasks", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=50)
    add_model_args(parser)
    args = parser.parse_args()
    if args.ffn_hidden_size is None:
        args.ffn_hidden_size = args.hidden_size
    args.output_size = args.num_tasks
    return args
