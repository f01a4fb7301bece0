"""Checks of claimed labels: what is claimed, what is drawn, who checks next, what it comes to."""
