"""The blocks in which a model writes its reasoning before it replies: `<think>…</think>` and the like."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(think(?:ing)?)>", re.IGNORECASE)


def split_reasoning(text: str, *, same_name: bool) -> tuple[list[str], str]:
    """What stands inside of a text's reasoning blocks, and all that stands outside of them.

    A block that is never closed is none. The text is read once, however many blocks are left open.

    Args:
        text: A reply.
        same_name: Whether `</think>` closes `<think>` alone; otherwise either tag closes either.
    """
    tags = list(_TAG.finditer(text))
    names = [tag[2].lower() if same_name else "" for tag in tags]
    last = {name: tag.start() for name, tag in zip(names, tags, strict=True) if tag[1]}
    inside: list[str] = []
    outside: list[str] = []
    position, opened = 0, None
    for name, tag in zip(names, tags, strict=True):
        if opened is None and not tag[1] and last.get(name, -1) > tag.start():
            opened = (name, tag)
        elif opened is not None and tag[1] and opened[0] == name:
            inside.append(text[opened[1].end() : tag.start()])
            outside.append(text[position : opened[1].start()])
            position, opened = tag.end(), None
    return inside, "".join([*outside, text[position:]])
