import hydra
from omegaconf import DictConfig
from registry import build as build_model


@hydra.main(config_path="conf", config_name="base")
def main(cfg: DictConfig):
    model = build_model(cfg.model.name, cfg.model, n_mels=cfg.data.n_mels)
    return model


if __name__ == "__main__":
    main()
