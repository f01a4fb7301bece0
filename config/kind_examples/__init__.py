"""One example project for each kind, made from the files under `examples/`."""
