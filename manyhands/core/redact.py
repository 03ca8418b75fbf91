"""Secrets kept out of names, records and errors."""

from __future__ import annotations

import re

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s,]*", re.I)
_OPTION = re.compile(
    r"(?<![\w.-])([\w.-]{0,40}(?:key(?![a-z])|keys\b|token(?!s|_(?:budget|limit|count))|passw|passphrase|secret|credential|authorization)"
    r"[\w.-]*\s*=)[^,]*",
    re.I,
)


def redact(text: str) -> str:
    """A seat's name or a message without its secrets, each replaced by `***`: the values of options
    whose names look secret (`api_key=`, `token=`, `password=`, …), and of a URL the user, the
    password, the values of the query and the fragment."""
    return _OPTION.sub(r"\1***", _URL.sub(_redact_url, text))


def _redact_url(match: re.Match[str]) -> str:
    scheme, _, rest = match.group().partition("://")
    _, at, rest = rest.rpartition("@")
    rest, hash_, _ = rest.partition("#")
    rest, question, query = rest.partition("?")
    if query:
        pairs = [pair.partition("=") for pair in query.split("&")]
        query = "&".join(f"{name}=***" if equals else "***" for name, equals, _ in pairs)
    return f"{scheme}://{'***@' if at else ''}{rest}{question}{query}{'#***' if hash_ else ''}"
