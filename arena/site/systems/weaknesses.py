"""Weaknesses behind a system's rank: missed facts, doubtful claims, and losses in retrieval."""

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from arena.models.boards import OVERALL, BoardView
from arena.services.evidence.weaknesses import DoubtfulClaim, MissedFact, Weaknesses
from arena.site.boards.downloads import Rows, offer_files
from arena.site.questions.answers import CLASSES, SIGNS, Claim
from arena.site.ui.html import anchor, figures_table, heading, note, put, put_html, strip
from data.text import percent
from judges.metrics.relations.model import Verdict

MAX_CLAIMS = 8


def show_not_computed(weaknesses: Weaknesses) -> None:
    """Show the metrics that the board lacks, with the reasons."""
    for metric in weaknesses.metrics:
        if metric.missing:
            note(f"{metric.info.called} is not computed: {metric.missing}.")


def show_retrieval(view: BoardView, system: str, weaknesses: Weaknesses) -> None:
    """Show the losses in retrieval and in answers, by domain."""
    heading("Losses in retrieval and in the answer", anchor="retrieval")
    if not weaknesses.losses:
        note(f"Not available. {weaknesses.no_losses}")
        return
    note(
        "Share of the answerable sub-questions that the system's contexts and its answers cover, and where "
        "the rest is lost."
    )
    header = ("Domain", "Lost in retrieval", "Lost in the answer", "In context", "In answer", "Sub-questions")
    rows = [
        (
            view.label(domain),
            *map(percent, (loss.lost_in_retrieval, loss.lost_in_writing)),
            *map(percent, (loss.context_coverage, loss.answer_coverage)),
            f"{loss.answerable:,}",
        )
        for domain in (OVERALL, *view.domains)
        if (loss := weaknesses.losses.get(domain)) is not None
    ]
    put_html(figures_table(header, rows, spare=3))
    offer_files(
        view,
        f"losses-{system}",
        lambda: [
            {"system": system, "domain": domain, **asdict(loss)} for domain, loss in weaknesses.losses.items()
        ],
    )


def show_missed(view: BoardView, system: str, weaknesses: Weaknesses) -> None:
    """Show the facts of the references or passages that its answers miss."""
    heading("Most often missed facts", anchor="missed")
    missed = weaknesses.missed
    if not missed.in_all:
        note("Nothing is missed, or no answer was scored.")
        return
    what = "facts of the references" if missed.of_reference else "statements of the passages"
    note(f"Share of the {what} that its answers miss, next to the other systems' share.")
    header = ("Domain", "Missed", "Others miss", "Count", "Total")
    rows = [
        (
            view.label(domain),
            percent(counts.share),
            percent(counts.others),
            f"{counts.missed:,}",
            f"{counts.statements:,}",
        )
        for domain in (OVERALL, *view.domains)
        if (counts := missed.by_domain.get(domain)) is not None
    ]
    shares_of_domains, facts = st.columns((2, 3), gap="medium")
    with shares_of_domains:
        put_html(figures_table(header, rows, spare=2))
        note(
            f"{len(missed.facts)} of {missed.in_all:,} missed facts; those that most answers "
            "cover come first. "
            "A fact that follows from a listed one is left out."
        )
        if missed.contradictions:
            note(f"✗: the answer seems to contradict it. {missed.contradictions}")
        offer_files(view, f"missed-{system}", lambda: _rows(system, missed.facts))
    with facts:
        put("claims", [_missed(view, fact) for fact in missed.facts])


def _rows(system: str, entries: Sequence[MissedFact | DoubtfulClaim]) -> Rows:
    rows = ({"system": system, **asdict(entry)} for entry in entries)
    return [
        {name: " ".join(value) if isinstance(value, tuple) else value for name, value in row.items()}
        for row in rows
    ]


def _missed(view: BoardView, fact: MissedFact) -> Claim:
    answers = fact.covered_by + fact.missed_by
    source = f"{', '.join(fact.passages)}; " if any(fact.passages) else ""
    sign, instead = ("✗", "; the answer seems to contradict it") if fact.contradicted else ("–", "")
    return Claim(
        class_="aa-against",
        sign=sign,
        text=fact.text,
        details=[("", f"{source}covered by {fact.covered_by} of {answers} other answers{instead}")],
        domain=view.label(fact.domain),
        evidence=anchor("Evidence", "question", board=view.name, id=fact.question),
    )


def show_doubtful(view: BoardView, system: str, weaknesses: Weaknesses) -> None:
    """Show its least credible claims."""
    heading("Claims to check", anchor="doubtful")
    if not weaknesses.answers:
        note("Its claims were not scored.")
        return
    if weaknesses.factuality is not None:
        whole = weaknesses.factuality
        strip(
            (
                ("factual precision (lexical)", percent(whole.precision)),
                (f"recall@{whole.k:g}", percent(whole.recall_at_k)),
                (f"F1@{whole.k:g}", percent(whole.f1_at_k)),
                ("claims supported, on average", f"{whole.supported:.1f}"),
            )
        )
        note("K is the median number of claims in an answer.")
    counts = ", ".join(f"{weaknesses.verdicts[verdict]:,} {verdict}" for verdict in Verdict)
    note(
        f"Claims in {weaknesses.answers:,} answers: {counts}. Unconfirmed: no passage clearly supports or "
        "contradicts it. Precision counts claims that are more likely true than false."
    )
    if weaknesses.source is not None:
        note(weaknesses.source.sentence)
    listed = weaknesses.doubtful[:MAX_CLAIMS]
    half = (len(listed) + 1) // 2
    for place, claims in zip(st.columns(2, gap="large"), (listed[:half], listed[half:]), strict=True):
        with place:
            put("claims", [_doubtful(view, claim) for claim in claims])
    if weaknesses.doubtful:
        offer_files(view, f"claims-{system}", lambda: _rows(system, weaknesses.doubtful))


def _doubtful(view: BoardView, claim: DoubtfulClaim) -> Claim:
    return Claim(
        class_=CLASSES[claim.verdict],
        sign=f"{SIGNS[claim.verdict]} {claim.posterior:.2f}",
        text=claim.text,
        strength="90%",
        details=[("", f"{claim.verdict.capitalize()}. {claim.reason}")],
        domain=view.label(claim.domain),
        evidence=anchor("Evidence", "question", board=view.name, id=claim.question),
    )
