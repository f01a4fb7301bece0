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
    `required` occurs, and no others occur but those and `optional`.

    Raises:
        PromptError: A required variable does not occur, or an unknown one does.
    """

    text: str
    required: frozenset[str]
    optional: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        known = self.required | self.optional
        for match in _VARIABLE.finditer(self.text):
            if match[1] not in known:
                raise PromptError(
                    f"{self._place(match.start())}: {match[0]} is no variable of this prompt. "
                    f"It may have {_list(known)}."
                )
        if missing := self.required - self.variables:
            raise PromptError(
                f"The prompt ends (line {self.text.count(chr(10)) + 1}) without {_list(missing)}."
            )

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables that occur in the text."""
        return frozenset(_VARIABLE.findall(self.text))

    def fill(self, **values: str) -> str:
        """Return the text with the values in the places of its variables.

        A brace in a value stays as it is. Raise PromptError for a missing value, or for one whose
        name is no variable of the prompt.
        """
        if unknown := set(values) - self.required - self.optional:
            raise PromptError(f"This prompt has no variable {_list(unknown)}.")
        for match in _VARIABLE.finditer(self.text):
            if match[1] not in values:
                raise PromptError(f"{self._place(match.start())}: {match[0]} has no value.")
        return _VARIABLE.sub(lambda match: values[match[1]], self.text)

    def _place(self, position: int) -> str:
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        return f"Line {line}, column {column}"


def _list(names: Collection[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "none"
