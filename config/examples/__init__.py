"""The example projects: `tides`, of no kind, and one for each kind, made by a script."""
