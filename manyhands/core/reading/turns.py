"""What a model says in its turn: without its thoughts, and without the tokens of its template."""

from __future__ import annotations

import re

_THOUGHT = re.compile(
    r"<(/?)(think|thinking|reasoning|thoughts?|scratchpad|reflection|plan|analysis|rationale)>",
    re.I,
)
_WRAPPED = re.compile(r"\s*<(output|response|result|reply)>(?P<inner>.*)</\1>\s*", re.I | re.S)
# Tokens of chat templates, which models leave in their words: what stands behind the end of a turn
# is another's, and of several channels the last one is told.
_FINAL = re.compile(r"<\|channel\|>\s*final\s*<\|message\|>")
_TURN = re.compile(
    r"\s*(?:<\|(?:im_start|start|start_header_id)\|>\s*(?:assistant)?\s*(?:<\|end_header_id\|>)?"
    r"|<\|assistant\|>|<start_of_turn>\s*model|<s>|<bos>|\[/INST\])\s*"
)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|return|endoftext|end_of_text|end_of_turn|user"
    r"|start_header_id|start)\|>|</s>|<eos>|<pad>|<end_of_turn>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>"
    r"|\[INST\]"
)


# Comments of code: of HTML, and lines that are nothing else.
_COMMENT = re.compile(r"<!--[^>]{0,1000}?-->|^[ \t]*//.*$", re.M)


def spoken(text: str) -> str:
    """An answer without its reasoning: the text between tags, after an opening tag that is never
    closed, and before a closing tag that was never opened; and without comments and tokens of chat
    templates."""
    text = _turn(text)
    if "//" in text or "<!--" in text:
        text = _COMMENT.sub("", text)
    parts: list[str] = []
    start, inside = 0, ""
    for tag in _THOUGHT.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if not inside and not closing:
            parts.append(text[start : tag.start()])
            inside = name
        elif not inside:
            parts, start = [], tag.end()
        elif closing and name == inside:
            start, inside = tag.end(), ""
    return "".join(parts if inside else [*parts, text[start:]])


def _turn(text: str) -> str:
    """What a model says in its turn, without the tokens that begin and end it."""
    if "<" not in text and "[" not in text:
        return text
    channels = list(_FINAL.finditer(text))
    if channels:
        text = text[channels[-1].end() :]
    begun = _TURN.match(text)
    while begun and begun.end():
        text = text[begun.end() :]
        begun = _TURN.match(text)
    ended = _TURN_ENDS.search(text)
    text = text[: ended.start()] if ended else text
    wrapped = _WRAPPED.fullmatch(text)
    return wrapped["inner"] if wrapped else text
