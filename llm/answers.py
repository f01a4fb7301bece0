"""Reading what a model server answers: the reply of the model, and the value in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from formats.json_text import parse_json
from formats.texts import excerpt
from llm.request import Schema

# No request has more; the database can hold the sums of several such numbers.
_MOST_TOKENS = 250_000_000


class FailureKind(StrEnum):
    """Why there is no answer."""

    REFUSED = "refused"  # the server refuses the request: wrong key, unknown model, wrong parameter
    BUSY = "busy"  # the server still asks to wait after all retries
    SERVER_ERROR = "server error"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REDIRECT = "redirect"
    TOO_LARGE = "too large"
    NOT_A_COMPLETION = "not a completion"  # the server's answer has not the form of the interface
    CUT = "cut"  # the answer ended at the limit of tokens
    DECLINED = "declined"  # the model refuses to answer, or a filter removed the answer
    UNREADABLE = "unreadable"  # the model's text is not what the schema asks for
    UNUSABLE = "unusable"  # it is, and says nothing that can be used


class Failure(Exception):
    """Why there is no answer: a kind for programs, a sentence for people."""

    def __init__(self, kind: FailureKind, reason: str, status: int | None = None) -> None:
        super().__init__(kind, reason, status)
        self.kind, self.reason, self.status = kind, reason, status


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said in answer to one request; tokens are None if the server counts none."""

    text: str
    # As the server names it, which may be another than was asked.
    model: str
    finish_reason: str
    refusal: str
    prompt_tokens: int | None
    completion_tokens: int | None


def read_reply(body: bytes) -> Reply:
    """Return the reply in the body of a chat completion. Raise Failure if there is none."""
    try:
        return reply_of(parse_json(body.decode("utf-8")))
    except ValueError as error:
        raise _not_a_completion(str(error)) from None


def reply_of(completion: object) -> Reply:
    """Return the reply in a parsed chat completion. Raise Failure if there is none."""
    if not isinstance(completion, dict):
        raise _not_a_completion("it is not a JSON object")
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _not_a_completion("it has no field choices[0].message")
    usage = completion.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(
        text=_text(message.get("content")),
        model=_text(completion.get("model")),
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
    )


def read_value(reply: Reply, schema: Schema) -> Any:
    """Return the value in a reply, checked by the schema. Raise Failure if there is none."""
    if reply.refusal:
        reason = f"The model refuses to answer: {excerpt(reply.refusal)}"
        raise Failure(FailureKind.DECLINED, reason)
    if reply.finish_reason == "content_filter":
        raise Failure(FailureKind.DECLINED, "A filter of the server removed the answer.")
    if reply.finish_reason == "length":
        tokens = reply.completion_tokens
        length = "" if tokens is None else f" after {tokens:,} tokens"
        raise Failure(FailureKind.CUT, f"The answer was cut at its limit{length}.")
    try:
        value = parse_json(_without_fence(reply.text))
    except ValueError as error:
        raise _unreadable(f"{error} (“{excerpt(reply.text)}”)") from None
    try:
        mismatch = best_match(Draft202012Validator(schema).iter_errors(value))
    except RecursionError:
        raise _unreadable("its JSON is nested too deeply") from None
    if mismatch is not None:
        raise _unreadable(f"{mismatch.json_path}: {excerpt(mismatch.message, 300)}")
    return value


def _without_fence(text: str) -> str:
    """Return the text between the lines of a Markdown code block, if it is nothing else."""
    stripped = text.strip()
    first, newline, rest = stripped.partition("\n")
    if newline and first.rstrip() in {"```", "```json"} and rest.endswith("```"):
        return rest.removesuffix("```")
    return stripped


def _unreadable(why: str) -> Failure:
    return Failure(FailureKind.UNREADABLE, f"The model's answer cannot be read: {why}")


def _not_a_completion(why: str) -> Failure:
    reason = f"The server's answer is not a chat completion: {why}"
    return Failure(FailureKind.NOT_A_COMPLETION, reason)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    """Return a number of tokens; None for what cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
        return value
    return None
