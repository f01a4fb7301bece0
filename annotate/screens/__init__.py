"""What the pages show, read from the rows: one module for what belongs together on a screen."""
