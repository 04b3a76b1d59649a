import argparse
import logging
import random
from pathlib import Path

import numpy as np
import torch
from torch.optim import AdamW
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

from .dataset import CodeDataset, WordTokenizer
from .encoder import Encoder, EncoderConfig
from .model import CodeSearcher

logger = logging.getLogger(__name__)


def set_seed(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def train(args, model, tokenizer):
    dataset = CodeDataset(tokenizer, args, args.train_data_file)
    loader = DataLoader(dataset, sampler=RandomSampler(dataset), batch_size=args.train_batch_size, num_workers=4)
    optimizer = AdamW(model.parameters(), lr=args.learning_rate, eps=1e-8)
    model.train()
    for idx in range(args.num_train_epochs):
        for step, batch in enumerate(loader):
            code_inputs, attn_mask, position_idx, nl_inputs = (t.to(args.device) for t in batch)
            loss, _ = model(code_inputs, attn_mask, position_idx, nl_inputs)
            if step % 100 == 0:
                logger.info("epoch %s step %s loss %.5f", idx, step, loss.item())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
    torch.save(model.state_dict(), Path(args.output_dir) / "model.bin")


def evaluate(args, model, tokenizer):
    dataset = CodeDataset(tokenizer, args, args.eval_data_file)
    loader = DataLoader(dataset, sampler=SequentialSampler(dataset), batch_size=args.eval_batch_size)
    model.eval()
    code_vecs, nl_vecs = [], []
    with torch.no_grad():
        for batch in loader:
            code_inputs, attn_mask, position_idx, nl_inputs = (t.to(args.device) for t in batch)
            code_vecs.append(model(code_inputs=code_inputs, attn_mask=attn_mask, position_idx=position_idx))
            nl_vecs.append(model(nl_inputs=nl_inputs))
    scores = torch.cat(nl_vecs) @ torch.cat(code_vecs).T
    ranks = (scores >= scores.diagonal()[:, None]).sum(1)
    return {"eval_mrr": (1 / ranks.float()).mean().item()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_data_file", default=None, type=str, help="Lines of JSON.")
    parser.add_argument("--eval_data_file", default=None, type=str)
    parser.add_argument("--output_dir", default="saved_models", type=str)
    parser.add_argument("--config_name", default="config.json", type=str)
    parser.add_argument("--nl_length", default=64, type=int, help="Most tokens of a query.")
    parser.add_argument("--code_length", default=128, type=int, help="Most tokens of a function.")
    parser.add_argument("--data_flow_length", default=32, type=int)
    parser.add_argument("--train_batch_size", default=4, type=int)
    parser.add_argument("--eval_batch_size", default=4, type=int)
    parser.add_argument("--learning_rate", default=2e-5, type=float)
    parser.add_argument("--max_grad_norm", default=1.0, type=float)
    parser.add_argument("--num_train_epochs", default=1, type=int)
    parser.add_argument("--do_train", action="store_true")
    parser.add_argument("--do_eval", action="store_true")
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()
    args.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    logging.basicConfig(level=logging.INFO)
    set_seed(args.seed)

    config = EncoderConfig.from_pretrained(args.config_name)
    tokenizer = WordTokenizer(config.vocab_size)
    model = CodeSearcher(Encoder(config), config, tokenizer, args)
    model.to(args.device)
    if args.do_train:
        train(args, model, tokenizer)
    if args.do_eval:
        logger.info("%s", evaluate(args, model, tokenizer))


if __name__ == "__main__":
    main()
