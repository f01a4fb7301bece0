"""Backups of an installation or of one project, bringing them back, and taking a project away."""
