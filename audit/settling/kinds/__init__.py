"""The four kinds of disagreement as queries: what people differ on, kind by kind."""
