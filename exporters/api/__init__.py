"""What goes out, for programs: the same access and actions as the pages."""
