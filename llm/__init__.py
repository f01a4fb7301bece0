"""Calling language models, importable without Django.

`completion.complete` asks one question of a model server and returns an answer or a failure with a
reason; `judge.judge` asks for the grade of a document. Only these need the extra `llm`: questions,
prompts, estimates and batch files work without it.
"""
