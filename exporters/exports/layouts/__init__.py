"""Layouts: folders that the field's tools load, of the pairs that a project publishes."""
