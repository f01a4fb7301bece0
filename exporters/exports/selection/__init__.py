"""Which rows are exported, and read as what records."""
