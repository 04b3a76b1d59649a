import argparse

import gymnasium as gym
import yaml
from agents.policies import VisuomotorPolicy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.yaml")
    args = parser.parse_args()
    with open(args.config) as f:
        config = yaml.safe_load(f)
    env = gym.make(config["env"])
    policy = VisuomotorPolicy(env.observation_space, env.action_space, **config["policy"])
    print(policy)


if __name__ == "__main__":
    main()
