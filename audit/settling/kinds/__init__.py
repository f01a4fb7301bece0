"""The four kinds of disagreement as queries, one module for each kind."""
