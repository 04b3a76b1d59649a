import hydra
import lightning as L
from omegaconf import DictConfig


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    L.seed_everything(cfg.seed)
    module = hydra.utils.instantiate(cfg.module)
    trainer = L.Trainer(**cfg.trainer)
    trainer.fit(module)


if __name__ == "__main__":
    main()
