"""Prompts: texts in which `{name}` is replaced, and nothing else happens."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class PromptError(ValueError):
    """A prompt that cannot be used: the sentence says why and where."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with variables, checked when it is made.

    `{name}` is a variable, and every other brace is text, so a prompt can show JSON. Each of
    `variables` occurs, and no other; otherwise PromptError.
    """

    text: str
    variables: frozenset[str]

    def __post_init__(self) -> None:
        for match in _VARIABLE.finditer(self.text):
            if match[1] not in self.variables:
                line = self.text.count("\n", 0, match.start()) + 1
                column = match.start() - self.text.rfind("\n", 0, match.start())
                raise PromptError(
                    f"Line {line}, column {column}: {match[0]} is no variable of this prompt. "
                    f"It has {_list(self.variables)}."
                )
        if missing := self.variables.difference(_VARIABLE.findall(self.text)):
            raise PromptError(
                f"The prompt ends (line {self.text.count(chr(10)) + 1}) without {_list(missing)}."
            )

    @classmethod
    def shipped(cls, text: str) -> Prompt:
        """Return a prompt with all variables of its text, which a changed text needs, too."""
        return cls(text, frozenset(_VARIABLE.findall(text)))

    def fill(self, **values: str) -> str:
        """Return the text with the values in the places of its variables.

        A brace in a value stays as it is. Raise ValueError for other values than `variables`.
        """
        if set(values) != self.variables:
            raise ValueError(f"This prompt is filled with {_list(self.variables)}.")
        return _VARIABLE.sub(lambda match: values[match[1]], self.text)


def _list(names: Collection[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "none"
