"""The public functions of `import modeldiagrams` for scripts and notebooks."""
