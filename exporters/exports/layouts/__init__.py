"""Layouts: folders with a project's published pairs, in shapes that the field's tools load."""
