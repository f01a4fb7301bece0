"""The manifest of an export: its facts, rules and notes."""
