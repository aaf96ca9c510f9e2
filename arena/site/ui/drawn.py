"""A page as HTML without Streamlit: its texts and tables where Streamlit draws them.

Of what can be used there is the label, what is chosen, and a box in the same place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.GapSize_pb2 import GapConfig, GapSize
from streamlit.proto.LabelVisibility_pb2 import LabelVisibility
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.WidthConfig_pb2 import WidthConfig
from streamlit.runtime.state.common import user_key_from_element_id

MAIN = 0
"""The part of Streamlit's document below the navigation."""


def covering(html: str) -> str:
    """HTML that covers the page until `site.js` takes it away."""
    return f'<div id="first-view">{html}</div>\n    '


@dataclass(slots=True)
class _Node:
    """A block or an element where Streamlit drew it; the block at the top is neither."""

    drawn: Block | Element | None = None
    children: dict[int, _Node] = field(default_factory=dict)


class Drawn:
    """What a run of a page has drawn."""

    def __init__(self) -> None:
        self._top = _Node()
        self.is_sound = True
        """Whether it can be shown to others: whole, and without an error that may be gone."""

    def take(self, message: ForwardMsg) -> None:
        """Draw what a message says."""
        path = message.metadata.delta_path
        if message.WhichOneof("type") != "delta" or not path or path[0] != MAIN:
            return
        node = self._top
        for at in path[1:]:
            node = node.children.setdefault(at, _Node())
        kind = message.delta.WhichOneof("type")
        if kind == "add_block":
            node.drawn = Block()
            node.drawn.CopyFrom(message.delta.add_block)
        elif kind == "new_element":
            node.drawn, node.children = Element(), {}
            node.drawn.CopyFrom(message.delta.new_element)
            self.is_sound = self.is_sound and not _is_error(message.delta.new_element)

    def html(self) -> str:
        """All of it."""
        return _stacked(self._top)


def _is_error(element: Element) -> bool:
    kind = element.WhichOneof("type")
    return kind == "exception" or (kind == "alert" and element.alert.format == Alert.ERROR)


def _stacked(node: _Node) -> str:
    return f'<div class="aa-view">{_inside(node)}</div>'


def _inside(node: _Node) -> str:
    return "".join(_shown(child) for _, child in sorted(node.children.items()))


def _shown(node: _Node) -> str:
    """A block or an element with all that is in it; nothing for what takes no place."""
    if isinstance(node.drawn, Element):
        return _element(node.drawn)
    block = Block() if node.drawn is None else node.drawn
    draw = BLOCKS.get(block.WhichOneof("type") or "", _plain_block)
    return draw(block, node)


def _plain_block(block: Block, node: _Node) -> str:
    """A container; one that stands beside others, in a row or in a frame, says so."""
    inside = _inside(node)
    if not inside and not block.allow_empty:
        return ""
    flex = block.flex_container
    across = flex.direction == Block.FlexContainer.HORIZONTAL
    names = [
        "aa-view",
        _class_of(block.id),
        "aa-across" if across else "",
        "aa-framed" if flex.border else "",
    ]
    stretched = "flex:1 1 auto" * block.height_config.use_stretch
    styles = [_gap(flex.gap_config), _aligned(flex) * across, _width(block.width_config), stretched]
    return _tag(names, styles, inside)


def _columns(block: Block, node: _Node) -> str:
    """Columns are in a row of their own, which says how far they stand from each other."""
    inside = _inside(node)
    gap = block.column.gap_config
    share = 100 * block.column.weight
    styles = [f"flex:1 1 calc({share:.4g}% - {_space(gap)})"]
    names = ["aa-view", "aa-column", "aa-framed" * block.column.show_border]
    return _tag(names, styles, inside or "&nbsp;")


def _expandable(block: Block, node: _Node) -> str:
    label = f"<p>{_words(block.expandable.label)}</p>"
    inside = _stacked(node) if block.expandable.expanded else ""
    return f'<div class="aa-folded">{label}{inside}</div>'


def _tabs(block: Block, node: _Node) -> str:
    """The names of all tabs, and what is in the one that is open."""
    tabs = [child for _, child in sorted(node.children.items()) if isinstance(child.drawn, Block)]
    blocks = [child.drawn for child in tabs if isinstance(child.drawn, Block)]
    names = "".join(f"<span>{_words(tab.tab.label)}</span>" for tab in blocks)
    chosen = min(block.tab_container.default_tab_index, len(tabs) - 1)
    inside = _stacked(tabs[chosen]) if tabs else ""
    return f'<div class="aa-tabbed"><p>{names}</p>{inside}</div>'


def _form(block: Block, node: _Node) -> str:
    return _tag(["aa-view", "aa-framed" * block.form.border], [], _inside(node))


def _popover(block: Block, _node: _Node) -> str:
    return _button(block.popover.label, block.width_config)


BLOCKS: Mapping[str, Callable[[Block, _Node], str]] = MappingProxyType(
    {
        "column": _columns,
        "expandable": _expandable,
        "tab_container": _tabs,
        "form": _form,
        "popover": _popover,
        "dialog": lambda _block, _node: "",
    }
)


def _element(element: Element) -> str:
    kind = element.WhichOneof("type") or "empty"
    if kind in WRITTEN:
        return WRITTEN[kind](element)
    if kind in BUTTONS:
        return _button(getattr(element, kind).label, element.width_config)
    return "" if kind in UNSEEN else _room(kind, element)


WRITTEN: Mapping[str, Callable[[Element], str]] = MappingProxyType(
    {
        "html": lambda shown: _tag(["stHtml"], [_width(shown.width_config)], shown.html.body),
        "text": lambda shown: _tag(["stText"], [], f"<div>{escape(shown.text.body)}</div>"),
        "code": lambda shown: f'<pre class="aa-verbatim">{escape(shown.code.code_text)}</pre>',
        "markdown": lambda shown: _tag(["aa-written"], [], _words(shown.markdown.body)),
        "alert": lambda shown: _tag(["aa-said"], [], _words(shown.alert.body)),
    }
)
UNSEEN = frozenset({"empty", "favicon", "spinner", "skeleton", "toast", "balloons", "snow"})
BUTTONS = frozenset({"button", "download_button", "link_button", "page_link"})
TICKED = "checkbox"
HEIGHTS: Mapping[str, float] = MappingProxyType({"text_area": 6.1, "file_uploader": 4.25})
"""Of what can be used, without its label, in rem."""
CHART_HEIGHT, PIXELS = 350, 16
USUAL_HEIGHT = 2.5


def _room(kind: str, element: Element) -> str:
    """The place of something that only Streamlit can draw, with its label and what is chosen in it."""
    shown, width = getattr(element, kind), _width(element.width_config)
    label = _words(getattr(shown, "label", ""))
    if kind == TICKED:
        return _tag(["aa-ticked"], [width], f"<i></i>{label}")
    hidden = getattr(getattr(shown, "label_visibility", None), "value", 0) == LabelVisibility.COLLAPSED
    above = f"<p>{label}</p>" if label and not hidden else ""
    box = DRAWN[kind](shown) if kind in DRAWN else _box("", HEIGHTS.get(kind, USUAL_HEIGHT))
    return _tag(["aa-asked"], [width], f"{above}{box}")


def _box(text: str, height: float = USUAL_HEIGHT) -> str:
    return f'<span class="aa-box" style="height:{height}rem">{escape(text)}</span>'


def _selected(shown: Selectbox) -> str:
    chosen = shown.options[shown.default] if shown.HasField("default") else shown.placeholder
    return _box(_bare(chosen))


def _chart_height(spec: str) -> float:
    height = json.loads(spec).get("height")
    return (height if isinstance(height, int | float) else CHART_HEIGHT) / PIXELS


def _options(contents: Iterable[str]) -> str:
    return f'<span class="aa-options">{"".join(f"<span>{_words(each)}</span>" for each in contents)}</span>'


DRAWN: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "selectbox": _selected,
        "multiselect": lambda shown: _box(", ".join(_bare(shown.options[at]) for at in shown.default)),
        "text_input": lambda shown: _box(shown.default or shown.placeholder),
        "button_group": lambda shown: _options(option.content for option in shown.options),
        "radio": lambda shown: _options(shown.options),
        "vega_lite_chart": lambda shown: _box("", _chart_height(shown.spec)),
    }
)
"""How some look without Streamlit."""


def _button(label: str, width: WidthConfig) -> str:
    return _tag(["aa-pressed"], [_width(width)], _words(label))


ICON = re.compile(r":material/\w+:\s*")
MARKS = re.compile(r"\\([^\w\s])|[*`]")
LINK = re.compile(r"\[([^\[\]]*)\]\([^()\[\]]*\)")


def _words(markdown: str) -> str:
    """The words of a label or a short text as HTML."""
    return escape(_bare(markdown))


def _bare(markdown: str) -> str:
    """Markdown without its marks."""
    return MARKS.sub(lambda found: found[1] or "", LINK.sub(r"\1", ICON.sub("", markdown)))


SPACES: Mapping[int, str] = MappingProxyType(
    {
        GapSize.NONE: "0rem",
        GapSize.XXSMALL: "0.25rem",
        GapSize.XSMALL: "0.5rem",
        GapSize.MEDIUM: "2rem",
        GapSize.LARGE: "4rem",
        GapSize.XLARGE: "6rem",
        GapSize.XXLARGE: "8rem",
    }
)
SMALL = "1rem"


def _space(gap: GapConfig) -> str:
    if gap.WhichOneof("gap_spec") == "pixel_gap":
        return f"{gap.pixel_gap}px"
    return SPACES.get(gap.gap_size, SMALL)


def _gap(gap: GapConfig) -> str:
    space = _space(gap)
    return "" if space == SMALL else f"gap:{space}"


def _aligned(flex: Block.FlexContainer) -> str:
    along, across = JUSTIFIED.get(flex.justify, START), ALIGNED.get(flex.align, START)
    return f"align-items:{across};justify-content:{along}"


START = "flex-start"
ALIGNED: Mapping[int, str] = MappingProxyType(
    {
        Block.FlexContainer.ALIGN_END: "flex-end",
        Block.FlexContainer.ALIGN_CENTER: "center",
        Block.FlexContainer.STRETCH: "stretch",
    }
)
JUSTIFIED: Mapping[int, str] = MappingProxyType(
    {
        Block.FlexContainer.JUSTIFY_END: "flex-end",
        Block.FlexContainer.JUSTIFY_CENTER: "center",
        Block.FlexContainer.SPACE_BETWEEN: "space-between",
    }
)


def _width(width: WidthConfig) -> str:
    kind = width.WhichOneof("width_spec")
    if kind == "pixel_width":
        return f"width:{width.pixel_width}px"
    if kind == "rem_width":
        return f"width:{width.rem_width:g}rem"
    return "width:fit-content" if kind == "use_content" else ""


def _class_of(block_id: str) -> str:
    """The class that Streamlit gives to a container with a key."""
    key = user_key_from_element_id(block_id)
    return "" if not key else "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip())


def _tag(names: Iterable[str], styles: Iterable[str], inside: str) -> str:
    style = ";".join(filter(None, styles))
    styled = f' style="{escape(style)}"' if style else ""
    return f'<div class="{escape(" ".join(filter(None, names)))}"{styled}>{inside}</div>'
