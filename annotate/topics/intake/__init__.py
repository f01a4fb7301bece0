"""Intake of decisions of machines' filters."""
