"""Calling language models, importable without Django.

`completion.complete` asks one question of a model server and returns an answer or a failure with a
reason. Only it needs the extra `llm`: prompts, estimates and batch files work without it.
"""
