"""Train and test: python run_longExp.py --model_id test --seq_len 96"""

import argparse
import random

import numpy as np
import torch
from models import patchtst

parser = argparse.ArgumentParser(description="Autoformer & Transformer family for Time Series Forecasting")

# basic config
parser.add_argument("--is_training", type=int, default=1, help="status")
parser.add_argument("--model_id", type=str, required=True, help="model id")
parser.add_argument("--model", type=str, default="PatchTST")

# forecasting task
parser.add_argument("--seq_len", type=int, default=96, help="input sequence length")
parser.add_argument("--pred_len", type=int, default=24, help="prediction sequence length")

# PatchTST
parser.add_argument("--individual", type=int, default=0, help="individual head; True 1 False 0")
parser.add_argument("--patch_len", type=int, default=16, help="patch length")
parser.add_argument("--stride", type=int, default=8, help="stride")
parser.add_argument("--padding_patch", default="end", help="None: None; end: padding on the end")
parser.add_argument("--revin", type=int, default=1, help="RevIN; True 1 False 0")
parser.add_argument("--enc_in", type=int, default=7, help="encoder input size")
parser.add_argument("--d_model", type=int, default=128, help="dimension of model")
parser.add_argument("--n_heads", type=int, default=8, help="num of heads")
parser.add_argument("--e_layers", type=int, default=2, help="num of encoder layers")
parser.add_argument("--d_ff", type=int, default=256, help="dimension of fcn")
parser.add_argument("--dropout", type=float, default=0.05, help="dropout")
args = parser.parse_args()

# random seed
random.seed(2021)
torch.manual_seed(2021)
np.random.seed(2021)

model_dict = {"PatchTST": patchtst}
model = model_dict[args.model].Model(args).float()
print("Args in experiment:")
print(args)
batch_x = torch.randn(8, args.seq_len, args.enc_in)
print(model(batch_x)[:, -args.pred_len :, :].shape)
