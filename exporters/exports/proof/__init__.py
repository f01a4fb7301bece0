"""Proof that a written layout loads: each tool reads it, and the results are compared."""
