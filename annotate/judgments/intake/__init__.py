"""Intake of judgments, flags, adjudications and claims, step by step.

`statements` takes records in, `contradictions` compares the lines of one file. Then `find_rows` and
`known_by_uuid` find what each belongs to and what is here already, `refusals` refuse what does not
fit, and `judgments`, `flags` and `adjudications` write; `supersede` says which statement stands.
"""
