// List mode.
