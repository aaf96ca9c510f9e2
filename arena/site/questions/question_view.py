"""What the page of a question says: values of its templates, on the site and in exports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from xml.etree.ElementTree import Element

from arena.html_pages import Parts
from arena.services.evidence.covered_facts import reasons_diff
from arena.services.evidence.highlights import Places, Stretch, mark_answer, mark_passage
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.reading import beside, best_of
from arena.services.evidence.reasons import read_reasons
from arena.site.boards.view_model import BoardView
from arena.site.questions.answers import LEGEND, answer_text, scores_of
from arena.site.questions.battles import (
    battle_table,
    choices,
    chosen_battle,
    how_close,
    in_short,
    order_of,
    places_of_battle,
    provenance_of,
    remarks_of,
    said_of,
    sentence_of,
    standing,
)
from arena.site.questions.sources import lit_style, passage_text, reference_text
from arena.site.ui.tables import link
from arena.site.ui.url_state import chosen_words
from data.models import BattleEvidence, Passage

PART = "part"
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "battles": "Battles",
        "answers": "All answers",
        "facts": "Facts of the reference",
        "aspects": "Aspects",
        "sub-questions": "Sub-questions",
        "contexts": "Retrieved passages",
    }
)
"""The tabs by what the address calls them."""


def evidence_values(
    view: BoardView,
    shown: QuestionView,
    system_link: Callable[[str], str],
    places: Places | None = None,
    used: Collection[int] = (),
) -> dict[str, object]:
    """What every page of a question says of its answers and battles.

    `system_link` gives the address of a system's page, or nothing; of `places` those `used` can be chosen.
    """
    decided = sum(evidence.battle.preference is not None for evidence in shown.battles)
    return {
        "view": view,
        "question": shown,
        "facts_of_question": (
            ("domain", shown.domain_label),
            ("question", shown.question.id),
            ("answers", f"{len(shown.answers)}"),
            ("battles decided", f"{decided} of {len(shown.battles)}"),
        ),
        "system_link": system_link,
        "reference_word": "human-written reference" if view.by_people else "reference",
        "legend": LEGEND,
        "answer_text": lambda answer, places=None: answer_text(_marked(answer, places)),
        "places": places,
        "passage_text": partial(_passage, shown, places, used),
        "scores_of": scores_of,
        "sentence_of": sentence_of,
        "remarks_of": remarks_of,
        "order_of": order_of,
        "said_of": said_of,
        "how_close": how_close,
        "in_short": in_short,
        "reasons_of": read_reasons,
        "reasons_diff": reasons_diff,
        "provenance_of": provenance_of,
    }


def as_parts(view: BoardView, shown: QuestionView, battles: Sequence[BattleEvidence]) -> Parts:
    """What the page says: all but what only Streamlit can offer."""
    places = Places(shown.question)
    chosen = chosen_battle(battles)
    pair = beside(shown, None if chosen is None else chosen.battle, chosen_words("answer"))
    used = _used(pair, chosen, places)
    best = best_of(shown.battles)
    return Parts(
        "pages/question.html",
        {
            **evidence_values(
                view, shown, lambda system: link("system", board=view.name, id=system), places, used
            ),
            "board_link": link("", board=view.name),
            "lead": standing(view, shown),
            "chosen": chosen,
            "is_closest": len(battles) > 1 and chosen is battles[0],
            "choices": choices(battles),
            "choice_label": f"Battle, the closest of {len(battles):,} first",
            "pair": pair,
            "others": {answer.system: answer.system for answer in (*pair[1:], *shown.answers[1:])},
            "beside_label": f"Beside the answer of {pair[0].system}" if pair else "",
            "best": best,
            "best_word": "best here" if len(best) == 1 else "among the best here",
            "reference_title": "Human-written reference" if view.by_people else "Reference",
            "reference": reference_text(shown.question.reference, shown, places, used)
            if shown.question.reference
            else None,
            "lit": lit_style(used),
            "battles": battle_table(view, shown, battles),
        },
    )


def chosen_part() -> str:
    """The tab that the address names; by default the first."""
    part = chosen_words(PART)
    return part if part in LABELS else next(iter(LABELS))


def _used(pair: Sequence[AnswerView], chosen: BattleEvidence | None, places: Places) -> set[int]:
    """The sentences that the battle and the two answers depend on."""
    marked = (stretch for answer in pair for stretch in _marked(answer, places))
    used = {place for stretch in marked for place in stretch.places}
    return used | (set() if chosen is None else places_of_battle(chosen, places))


def _marked(answer: AnswerView, places: Places | None) -> tuple[Stretch, ...]:
    return mark_answer(answer.answer.answer, answer.scores, places)


def _passage(
    shown: QuestionView,
    places: Places | None,
    used: Collection[int],
    passage: Passage,
    is_first: bool = False,
) -> Element:
    """A passage with what the answers cover of it marked."""
    scores = [score for answer in shown.answers for score in answer.scores]
    text = passage_text(mark_passage(passage.text, passage.id, scores, places), used)
    if is_first and places is not None and not used:
        # The column scrolls: without a claim to choose the keyboard needs something to stand on.
        text.set("tabindex", "0")
    return text
