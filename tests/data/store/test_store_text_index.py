"""The index of words, on SQLite and on PostgreSQL: what is found, where, and what is no longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from data.errors import InputError
from data.progress import Work
from data.records import Answer, QuestionSet, SystemCard
from data.search.query import SearchQuery
from data.search.words import Terms
from data.store import Store
from data.store.submissions.writing import NewSubmission
from data.store.text_index import LAST, POSTGRES_SCHEMA, QUESTIONS, SQLITE_SCHEMA, build_index

TEXTS = (
    "How do self-employed people pay taxes?",
    "The taxpayer's return was late; paying tax on savings isn't hard.",
    "Caf\u00e9 owners in M\u00fcnchen paid 1,000 euros (see https://example.com/a_b).",
    "Cafe\u0301 owners don\u2019t pay. SAVINGS accounts; savings.",
    "\u4e2d\u6587\u7b54\u6848 and \u0440\u0443\u0441\u0441\u043a\u0438\u0435 \u0441\u043b\u043e\u0432\u0430",
    "'quoted' rock'n'roll a''b C++ x_y 3.5% e.g. U.S.",
)


def _fill(store: Store, system: str, texts: Sequence[str]) -> int:
    new = NewSubmission(
        set_name="tiny",
        system=system,
        team="",
        card=SystemCard(),
        content_hash=f"{system}{hash(tuple(texts))}",
    )
    rows = [(Answer(question_id=f"q{at}", answer=one), False) for at, one in enumerate(texts)]
    return store.submissions.add(new, rows)[0].id


def _found(store: Store, words: str, *among: int) -> list[str]:
    """Ids of the questions in whose texts words are found, with whose texts these are."""
    query = SearchQuery.parse(words)
    texts = store.texts.find(query, among)
    numbers = texts.questions
    (set_id,) = (one.id for one in store.sets.summaries())
    keys = {number: question.id for number, question in store.sets.numbered(set_id)}
    places = texts.places(numbers)
    assert set(places) == numbers
    return sorted(f"{keys[number]}@{place}" for number, held in places.items() for place in held)


@pytest.fixture
def filled(store: Store, make_set: Callable[..., QuestionSet]) -> Store:
    """A set of six questions."""
    store.sets.add(make_set(), "hash")
    return store


def test_words_are_found_where_they_are(filled: Store) -> None:
    """Endings, case, accents and apostrophes make no difference; every word must be in the same text."""
    mine = _fill(filled, "mine", TEXTS)
    for words, ids in {
        "tax": [0, 1],
        "taxes paying": [0, 1],
        "PAYS": [0, 1, 3],
        "cafe": [2, 3],
        "CAF\u00c9 munchen": [2],
        "taxpayer": [1],
        "example.com": [2],
        "self-employed": [0],
        "employed self": [0],
        '"employed self"': [],
        '"pay taxes"': [0, 1],
        '"people pay taxes"': [0],
        "\u201cpay taxes\u201d people": [0],
        "1,000": [2],
        "\u7b54\u6848": [4],
        "\u6848\u7b54": [],
        "\u0421\u043b\u043e\u0432\u0430": [4],
        "c++": [5],
        "nowhere tax": [],
    }.items():
        assert _found(filled, words, mine) == [f"q{at}@{mine}" for at in ids], words


def test_questions_and_references_are_found_beside_answers(filled: Store) -> None:
    """A question's own text is found, and so is the reference's, each only where it is asked for."""
    reference = filled.submissions.reference("tiny").id
    mine = _fill(filled, "mine", ["number two is 2"] * 6)
    assert _found(filled, "2", QUESTIONS) == ["q2@0"]
    assert _found(filled, "2", reference) == [f"q2@{reference}"]
    assert _found(filled, "2", QUESTIONS, reference, mine)[:2] == [f"q0@{mine}", f"q1@{mine}"]
    assert len(_found(filled, "2", QUESTIONS, reference, mine)) == 8
    assert _found(filled, "2", reference + 1000) == []


def test_only_the_submissions_that_are_asked_for_are_searched(filled: Store) -> None:
    """Answers between those that are searched stay out, whoever gave them."""
    first, second, third = (_fill(filled, name, ["alpha"] * 6) for name in ("one", "two", "three"))
    assert {one.partition("@")[2] for one in _found(filled, "alpha", first, third)} == {
        str(first),
        str(third),
    }
    assert len(_found(filled, "alpha", second)) == 6


def test_withdrawn_answers_leave_the_index(filled: Store) -> None:
    """What was withdrawn is found by nobody, its words are gone from the index, and others' stay."""
    gone, stays = _fill(filled, "gone", ["secret alpha"] * 6), _fill(filled, "stays", ["alpha"] * 6)
    filled.submissions.withdraw(gone, "a mistake")
    assert _found(filled, "secret", gone, stays) == []
    assert len(_found(filled, "alpha", gone, stays)) == 6
    with filled.database.begin() as connection:
        count = "SELECT count(*) FROM text_index WHERE submission_id = :gone OR term = 'secret'"
        assert connection.execute(text(count), {"gone": gone}).scalar_one() == 0
    filled.submissions.withdraw(gone, "twice")
    assert len(_found(filled, "alpha", gone, stays)) == 6


def test_submission_that_fails_leaves_nothing_in_the_index(filled: Store) -> None:
    """A text is in the index if its answer is in the arena."""
    with pytest.raises(KeyError):
        _fill(filled, "mine", ["alpha"] * 7)
    mine = _fill(filled, "mine", ["beta"] * 6)
    assert _found(filled, "alpha", *range(1, mine + 1)) == []
    assert len(_found(filled, "beta", *range(1, mine + 1))) == 6


ANY_TEXT = st.text(max_size=60) | st.text(alphabet="ab '\"-*:()&|!<>\\,.;%_\u2019\x00", max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_TEXT)
@example('" OR 1=1 --')
@example("a* NEAR(b c) words:a ^a {b} + NOT c")
@example("':* & !a | (b <-> c)")
@example("\ud800 \x00 '")
@example("w" * 5_000)
def test_any_text_can_be_searched_for(filled: Store, words: str) -> None:
    """Whatever somebody writes is searched for or refused in words, never read as a database's query."""
    try:
        query = SearchQuery.parse(words)
    except InputError:
        return
    assert filled.texts.find(query, [QUESTIONS, 1]).questions <= set(range(1, 7))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ANY_TEXT | st.sampled_from(TEXTS), min_size=6, max_size=6), st.data())
def test_search_finds_what_the_texts_say(filled: Store, texts: list[str], data: st.DataObject) -> None:
    """On every database a search finds exactly the texts that have each of its phrases as runs of terms."""
    texts = [one.replace("\x00", " ").encode(errors="replace").decode() for one in texts]
    mine = _fill(filled, "mine", texts)
    source = data.draw(st.sampled_from(texts))
    words = source.split()
    asked = " ".join(words[: data.draw(st.integers(0, max(len(words), 1)))])
    if data.draw(st.booleans()):
        asked = f'"{asked}"'
    try:
        query = SearchQuery.parse(asked)
    except InputError:
        return
    terms = Terms()
    wanted = set()
    for at, one in enumerate(texts):
        held = terms.of(one)
        runs = {tuple(held[i : i + len(phrase)]) for phrase in query.phrases for i in range(len(held))}
        if set(query.phrases) <= runs:
            wanted.add(f"q{at}@{mine}")
    assert set(_found(filled, asked, mine)) == wanted
    filled.submissions.withdraw(mine, "")
    assert _found(filled, asked, mine) == []


def test_index_can_be_built_anew(filled: Store) -> None:
    """What is built of a whole arena is what was written bit by bit; texts are counted on the way."""
    mine = _fill(filled, "mine", TEXTS)
    before = _found(filled, "tax", mine)
    with filled.database.begin() as connection:
        connection.execute(text("DROP TABLE text_index"))
        connection.execute(text(SQLITE_SCHEMA if filled.database.is_sqlite else POSTGRES_SCHEMA))
        work = Work("indexing texts")
        build_index(connection, work)
    assert work.done == 6 + 5 + 6
    assert _found(filled, "tax", mine) == before != []


def test_long_texts_and_many_are_indexed_to_their_end(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words far behind are found, phrases before them, and what is written bit by bit is one entry."""
    monkeypatch.setattr("data.store.text_index.MOST_GATHERED", 3)
    mine = _fill(filled, "mine", ["alpha beta", "beta alpha", "alpha beta", "gamma alpha", "beta", "alpha"])
    assert _found(filled, '"alpha beta"', mine) == [f"q0@{mine}", f"q2@{mine}"]
    assert _found(filled, "alpha", mine) == [f"q{at}@{mine}" for at in (0, 1, 2, 3, 5)]
    long = _fill(filled, "long", ["alpha beta " * LAST + "gamma delta", "gamma delta"])
    assert _found(filled, "delta gamma beta", long) == [f"q0@{long}"]
    assert _found(filled, '"gamma delta"', long) == [f"q1@{long}"]
    assert _found(filled, '"beta alpha"', long) == [f"q0@{long}"]
