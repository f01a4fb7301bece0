"""Libraries that only some installations have: the extras of the distribution `rejudge`."""

from __future__ import annotations

from importlib.util import find_spec

# The modules that each extra installs, as far as our code needs them.
MODULES = {
    "evaluation": ("ir_measures", "cwl", "pandas"),
    "llm": ("openai", "httpx2"),
    "postgresql": ("psycopg",),
    "redis": ("redis",),
    "s3": ("storages", "boto3"),
}


def missing_extra(extra: str, purpose: str) -> str:
    """Return a sentence that says how to install an extra, or "" if it is installed.

    `purpose` is what needs it, as the subject of the sentence: "Measuring systems".
    """
    missing = [module for module in MODULES[extra] if find_spec(module) is None]
    if not missing:
        return ""
    return (
        f"{purpose} needs {', '.join(missing)}, which this installation lacks: "
        f"run pip install 'rejudge[{extra}]' in its environment, then try again."
    )
