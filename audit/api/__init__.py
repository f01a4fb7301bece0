"""The second pass for programs: the same access and actions as the pages."""
