"""Migrations: the files make the schema that the tables describe, from any earlier version."""

from __future__ import annotations

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import text

from data.errors import StoreError
from data.records import Reply
from data.store.engine import INDEX, MIGRATIONS, Database
from data.store.store import Store
from data.tables.schema import metadata


def _config(database: Database) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


@pytest.mark.long
def test_migrations_make_the_tables(blank_url: str) -> None:
    """Nothing differs between the migrated schema and `data.tables` but the index of words."""
    store = Store.open(blank_url)

    def is_table(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or not str(name).startswith(INDEX)

    with store.database.begin() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_table})
        assert compare_metadata(context, metadata) == []
    store.close()


@pytest.mark.long
def test_first_schema_is_brought_up_with_its_costs(blank_url: str) -> None:
    """A ledger without a cap gets what its judgments cost; cached ones cost nothing."""
    database = Database(blank_url)
    config = _config(database)
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for statement in OLD_ROWS:
            connection.execute(text(statement))
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        row = connection.execute(text("SELECT spent_usd, input_tokens, output_tokens FROM ledger")).one()
        team = connection.execute(text("SELECT name, title FROM team")).one()
        kept = connection.execute(
            text("SELECT team, phase, anonymous, selected, withdrawn_reason, state FROM submission")
        ).one()
    assert (row[0], row[1], row[2]) == (pytest.approx(0.25), 100, 10)
    assert tuple(team) == ("Our team", "Our team")
    assert (kept[0], kept[1], bool(kept[2]), bool(kept[3]), kept[4], kept[5]) == (
        *("Our team", "open", False, False),
        *("", "accepted"),
    )
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    assert database.version() == "0001"
    database.close()


JUDGMENT = """
    INSERT INTO judgment (id, battle_id, judge, model, endpoint, presentation, outcome, rationale, detail,
        grade, settings, prompt_hash, parser, calls, input_tokens, output_tokens, cost_usd, latency, cached,
        created_at)
    VALUES ({id}, 1, 'j', 'm', '', 'ab', 'failed', '', '', '', '', '', '', 1, 100, 10, 0.25, 0.0, {cached},
        '2025-01-01')"""
OLD_ROWS = (
    """INSERT INTO question_set (id, name, title, version, licence, source, reference_name, domains,
        questions, content_hash, created_at)
    VALUES (1, 's', '', '', '', '', 'human', '{}', 1, 'x', '2025-01-01')""",
    """INSERT INTO question (id, set_id, position, key, domain, text, content)
    VALUES (1, 1, 0, 'q', 'd', 't', '{}')""",
    """INSERT INTO submission (id, set_id, kind, system, team, version, state, card, content_hash, answers,
        no_answers, created_at)
    VALUES (1, 1, 'system', 'a', 'Our team', 1, 'accepted', '{}', 'x', 0, 0, '2025-01-01')""",
    """INSERT INTO round (id, name, set_id, state, judge, plan, seed, created_at)
    VALUES (1, 'r', 1, 'paused', 'j', '{}', 0, '2025-01-01')""",
    """INSERT INTO battle (id, round_id, key, question_id, a_id, b_id, detail)
    VALUES (1, 1, 'k', 1, 1, 1, '')""",
    """INSERT INTO ledger (round_id, reserved_usd, spent_usd, input_tokens, output_tokens)
    VALUES (1, 0, 0, 0, 0)""",
    JUDGMENT.format(id=1, cached="false"),
    JUDGMENT.format(id=2, cached="true"),
)


HELD = """
    INSERT INTO submission (id, set_id, kind, system, team, version, state, card, content_hash, answers,
        no_answers, phase, anonymous, selected, withdrawn_reason, created_at)
    VALUES ({id}, 1, 'system', 's{id}', 'ours', 1, '{state}', '{{}}', 'x', 0, 0, 'open', false, false, '',
        '2025-01-01')"""
NOTE = """
    INSERT INTO audit (at, actor, action, subject, team, detail)
    VALUES ('2025-01-01', 'x', 'submission-{action}', 'submission {id}', 'ours', '{{}}')"""
SUBMITTED = {
    1: ("accepted", (), True),
    2: ("checked", ("checked",), False),
    3: ("withdrawn", ("checked", "withdrawn"), False),
    4: ("withdrawn", ("checked", "confirmed", "withdrawn"), True),
    5: ("withdrawn", ("added", "withdrawn"), True),
    6: ("withdrawn", (), True),
}


def test_log_tells_which_withdrawn_submissions_were_never_submitted(blank_url: str) -> None:
    """C1: An older arena's submissions that were held and withdrawn become unknown; others stay known."""
    database = Database(blank_url)
    config = _config(database)
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0006")
        connection.execute(text(OLD_ROWS[0]))
        for number, (state, actions, _) in SUBMITTED.items():
            connection.execute(text(HELD.format(id=number, state=state)))
            for action in actions:
                connection.execute(text(NOTE.format(id=number, action=action)))
        command.upgrade(config, "head")
        found = connection.execute(text("SELECT id, submitted_at FROM submission")).all()
    assert {number: at is not None for number, at in found} == {
        number: submitted for number, (_, _, submitted) in SUBMITTED.items()
    }
    database.close()


REASONS = "Both answers are true; answer 1 explains more, and the passages support what it adds."
REPLY = """
    INSERT INTO reply (key, endpoint, model, text, finish_reason, input_tokens, output_tokens, cost_usd,
        latency, created_at)
    VALUES ('old', '', 'm', :reasons, '', 1, 1, 0, 0, '2025-01-01')"""


def test_replies_stored_before_they_were_packed_stay_legible(blank_url: str) -> None:
    """Replies of an older schema are read after the upgrade; packed ones are texts again after going back."""
    database = Database(blank_url)
    config = _config(database)
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0022")
        connection.execute(text(REPLY), {"reasons": REASONS})
    database.upgrade()
    replies = Store(database).replies
    replies.put([Reply(key="new", endpoint="", model="m", text=REASONS, thinking=REASONS)])
    assert {key: reply.text for key, reply in replies.get_many(["old", "new"]).items()} == {
        "old": REASONS,
        "new": REASONS,
    }
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0022")
        rows = connection.execute(text("SELECT text, thinking FROM reply ORDER BY key")).all()
    assert [tuple(row) for row in rows] == [(REASONS, REASONS), (REASONS, None)]
    database.close()


def test_schema_of_a_newer_program_is_refused_in_words(blank_url: str) -> None:
    """A database that a newer program made is left alone, with one sentence that says what to do."""
    Store.open(blank_url).close()
    database = Database(blank_url)
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"does not know.*made it, or a newer one"):
        database.upgrade()
    assert database.version() == "9999"
    database.close()


LABELLED = (
    "INSERT INTO account (id, name, is_organiser, created_at) VALUES (1, 'ann', false, '2025-01-01')",
    "INSERT INTO account (id, name, is_organiser, created_at) VALUES (2, 'bob', false, '2025-01-01')",
    """INSERT INTO annotation_task (id, name, set_id, overlap, seed, created_at)
    VALUES (1, 'people', 1, 2, 3, '2025-01-01')""",
    """INSERT INTO annotation_pair (id, task_id, position, question_id, a_id, b_id)
    VALUES (7, 1, 0, 1, 1, 2)""",
    """INSERT INTO annotation_pair (id, task_id, position, question_id, a_id, b_id)
    VALUES (8, 1, 1, 1, 2, 1)""",
    """INSERT INTO annotation (pair_id, account_id, b_first, grade, comment, labelled_at)
    VALUES (7, 1, true, 2, 'Yes.', '2025-01-02')""",
    """INSERT INTO annotation (pair_id, account_id, b_first, grade, comment, labelled_at)
    VALUES (7, 2, false, -1, '', '2025-01-02')""",
    """INSERT INTO annotation (pair_id, account_id, b_first, grade, comment, labelled_at)
    VALUES (8, 1, false, NULL, '', NULL)""",
)


def test_labels_of_older_tasks_become_labels_of_items(blank_url: str) -> None:
    """What people said before items of several kinds is kept, and full where it was."""
    database = Database(blank_url)
    config = _config(database)
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0006")
        connection.execute(text(OLD_ROWS[0]))
        connection.execute(text(OLD_ROWS[1]))
        for number in (1, 2):
            connection.execute(text(HELD.format(id=number, state="accepted")))
        for statement in LABELLED:
            connection.execute(text(statement))
    database.upgrade()
    store = Store(database)
    (task,) = store.annotations.tasks()
    assert (task.items, task.wanted, task.done, task.terms.kind) == (2, 4, 2, "pairs")
    assert [(person.name, person.consented_at is not None) for person in store.annotations.people(1)] == [
        ("ann", True),
        ("bob", True),
    ]
    assert [(one.item, one.person, one.value, one.comment) for one in store.labels.given(1)] == [
        (7, "ann", 2, "Yes."),
        (7, "bob", -1, ""),
    ]
    # The pair that was given to ann and not labelled is still hers; the other one is full.
    label = store.label_queue.take(task, "ann")
    assert label is not None
    assert [item.id for item in store.annotations.items(1)] == [7, 8]
    database.close()
