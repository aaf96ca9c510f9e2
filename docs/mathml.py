"""Hook of the documentation site that converts formulas to MathML, which browsers draw without scripts.

`pymdownx.arithmatex` marks the formulas, so that Markdown does not change them.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'(<div class="arithmatex">)\s*\\\[(.*?)\\\]\s*(</div>)', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Return a page's HTML with its formulas as MathML.

    Raises:
        ValueError: A formula could not be converted.
    """
    blocks = BLOCK.sub(lambda found: found[1] + _mathml(found[2], "block") + found[3], content)
    page = INLINE.sub(lambda found: _mathml(found[1], "inline"), blocks)
    if r">\(" in page or r">\[" in page:
        raise ValueError("A formula could not be converted to MathML.")
    return page


def _mathml(formula: str, display: str) -> str:
    return convert(html.unescape(formula).strip(), display=display)
