"""Intake of what machines' filters decided."""
