"""Intake of judgments, flags, adjudications and claims, step by step.

`statements` stages records and compares the lines of one file. `find_rows` finds the rows that each
statement refers to, and refuses statements that do not fit. `writing` writes the others. Then
`versions` describes what the written rows break and make stale.
"""
