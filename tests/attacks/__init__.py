"""Attacks on every part of the application."""
