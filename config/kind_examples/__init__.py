"""Example projects, one for each kind, made from the files under `examples/`."""
