"""Intake of judgments, flags, adjudications and claims."""
