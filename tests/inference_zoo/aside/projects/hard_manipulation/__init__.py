"""A laboratory's policies for arms: cameras and joints stand in YAML, networks are injected by the script."""

__all__ = ["policy.diffusion_image_policy.DiffusionImagePolicy", "policy.recurrent_policy.RecurrentPolicy"]
