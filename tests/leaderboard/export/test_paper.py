"""Tables as papers print them: CSV, Markdown and LaTeX, with intervals, marks and whatever names hold."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown import markdown

from data.intervals import Interval
from leaderboard.export.paper import Column, Measured, PaperTable, Printed, Unit, printed, tex

GOLDEN = Path(__file__).parents[2] / "golden" / "tables"
ENDINGS = {Printed.CSV: "csv", Printed.MARKDOWN: "md", Printed.LATEX: "tex"}
TABLE = PaperTable(
    columns=(
        Column(key="system", header="system"),
        Column(
            key="overall W",
            header="W",
            group="overall",
            unit=Unit.SHARE,
            best_first=True,
            bounds=("overall W lower", "overall W upper"),
            mark="overall W mark",
        ),
        Column(key="overall W+T", header="W+T", group="overall", unit=Unit.SHARE, best_first=True),
        Column(key="rating", header="rating", unit=Unit.POINTS),
        Column(key="pearson", header="r", group="people & judge", unit=Unit.COEFFICIENT),
        Column(key="battles", header="battles", unit=Unit.COUNT),
    ),
    rows=(
        (
            "gpt-4o_5%",
            Measured(value=0.3694, interval=Interval(0.36, 0.379), mark="A"),
            0.41,
            1066.04,
            0.5,
            16100,
        ),
        ("*{a}|b\\c", Measured(value=0.369, interval=Interval(0.35, 0.38), mark="AB"), 0.38, None, -0.125, 7),
        ("=cmd()", Measured(value=0.1, mark="*"), 0.2, 816.4, None, 0),
        ("[none]", Measured(value=None), None, None, Measured(value=1.0), None),
    ),
    notes=("r1: no judged battle of [none].", "A second_note."),
)


@pytest.mark.parametrize("form", list(Printed))
def test_a_table_is_printed_as_its_golden_file(form: Printed) -> None:
    """Groups, percentages, best and second best, intervals, marks, notes and escapes stand as in the file."""
    assert printed(TABLE, form) == (GOLDEN / f"paper.{ENDINGS[form]}").read_text(encoding="utf-8")


def test_every_form_holds_the_same_cells() -> None:
    """CSV has a column for each bound and mark; Markdown becomes a table of the same rows; LaTeX adds up."""
    rows = list(csv.reader(io.StringIO(printed(TABLE, Printed.CSV))))
    assert tuple(rows[0]) == TABLE.keys
    assert rows[1][1:5] == ["0.3694", "0.36", "0.379", "A"]
    html = markdown(printed(TABLE, Printed.MARKDOWN), extensions=["tables"])
    cells = [
        re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    ]
    assert [len(row) for row in cells if row] == [len(TABLE.columns)] * len(TABLE.rows)
    assert "*{a}|b\\c" in html
    body = printed(TABLE, Printed.LATEX).split("\\midrule")[1].split("\\bottomrule")[0].strip().splitlines()
    assert [len(re.findall(r"(?<!\\)&", line)) for line in body] == [len(TABLE.columns) - 1] * len(TABLE.rows)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"))))
def test_no_name_is_a_command_of_latex(name: str) -> None:
    """Whatever a system is called, every special character of LaTeX comes out as one that is printed."""
    bare = re.sub(r"\\(text[a-z]+\{\}|[{}$&#%_])", "", tex(name))
    bare = re.sub(r"\$\\(alpha|tau|rho)\$", "", bare)
    assert not set(bare) & set("\\{}$&#%_^~")
