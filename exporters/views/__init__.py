"""The pages of what goes out."""
