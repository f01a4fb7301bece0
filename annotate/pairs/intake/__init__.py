"""Intake of topics and instruction pairs: query titles, and versions of narratives."""
