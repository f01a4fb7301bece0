"""Proof that a written layout loads: each tool reads it, and what it read is compared."""
