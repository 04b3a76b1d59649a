import argparse
from pathlib import Path

import torch
from policy.recurrent_policy import RecurrentPolicy

OBS = {"agentview_image": (3, 84, 84), "robot0_eef_pos": (3,), "robot0_eef_quat": (4,), "robot0_gripper_qpos": (2,)}
GOAL = {"agentview_image": (3, 84, 84)}


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", required=True, help="folder with a file of torch.save for each demonstration")
    parser.add_argument("--seq-len", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--rnn_hidden_dim", type=int, default=400)
    parser.add_argument("--rnn_num_layers", type=int, default=2)
    parser.add_argument("--visual_dim", type=int, default=64)
    parser.add_argument("--num_modes", type=int, default=5)
    parser.add_argument("--min_std", type=float, default=0.0001)
    parser.add_argument("--use_tanh", action="store_true")
    parser.add_argument("--goal", action="store_true")
    return parser.parse_args()


def windows(args):
    for name in sorted(Path(args.dataset).glob("*.pt")):
        demo = torch.load(name)
        for start in range(0, len(demo["actions"]) - args.seq_len, args.seq_len):
            window = slice(start, start + args.seq_len)
            yield (
                {k: demo["obs"][k][window] for k in OBS},
                {k: demo["obs"][k][-1] for k in GOAL},
                demo["actions"][window],
            )


if __name__ == "__main__":
    args = get_args()
    model = RecurrentPolicy(OBS, GOAL if args.goal else None, 7, args)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for obs, goal, actions in windows(args):
        dists, _ = model.forward_train({k: v[None] for k, v in obs.items()}, {k: v[None] for k, v in goal.items()})
        loss = -dists.log_prob(actions[None]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
