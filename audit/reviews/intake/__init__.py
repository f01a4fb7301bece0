"""Intake of rubrics, reviews and decisions."""
