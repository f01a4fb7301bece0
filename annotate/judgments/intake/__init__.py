"""Intake of judgments, flags, adjudications and claims, step by step.

`statements` stages records, `contradictions` compares the lines of one file. Then `find_rows` finds
the rows that each statement refers to, `known_statements` finds statements the project already has,
`refusals` refuses statements that do not fit, and `judgments`, `flags` and `adjudications` write
them; `supersede` decides which statement is current.
"""
