"""Drop the tables and columns of features that are gone.

On PostgreSQL, where no backup is made first, tables with rows stay, without their foreign keys.
"""

import json

import sqlalchemy as sa
from alembic import op

from data.migrations.schema import ddl_metadata
from data.migrations.unpacking import unpack_texts

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None
TEXT_INDEX = "text_index"
# Referring tables first.
TABLES = (
    "sent_file_part sent_file canary_hold canary concern cheap_verdict metric_estimate wave "
    "waves_end reference_check reference_batch reference_draft annotation_label "
    "annotation_person annotation_item annotation_task poll_pair poll asking retest_ledger "
    "retest application audit refused_token subscription event text_index ranking qrel qrels"
)
COLUMNS: tuple[tuple[str, str], ...] = (
    # Pairs of a table and its column.
    ("battle", "wave"),
    ("question_set", "gate"),
)
ADDED = (
    # A column belongs to one table for good, so each upgrade makes its own.
    ("submission", "warnings", sa.JSON(none_as_null=True)),
    ("board", "noted_at", sa.DateTime()),
    ("round", "labelling", sa.JSON(none_as_null=True)),
    ("account", "signed_out_at", sa.DateTime()),
)
JOB_KINDS: tuple[str, ...] = ("gate", "notify", "retest", "trial")


def upgrade() -> None:
    """Drop what exists of them; a new database has none."""
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    existing = set(inspector.get_table_names())
    for table, column, kind in ADDED:
        if column not in {each["name"] for each in inspector.get_columns(table)}:
            op.add_column(table, sa.Column(column, kind))
    ddl_metadata().create_all(connection)
    _change_rows(existing)
    if "ranking" in existing:
        _move_rankings(connection)
    _drop_tables(connection, inspector, existing)
    _delete_jobs()
    unpack_texts(connection)
    if connection.dialect.name == "postgresql" and "audit" in existing:
        op.execute("DROP FUNCTION IF EXISTS audit_append_only() CASCADE")
    for name, dropped in COLUMNS:
        if name in existing and dropped in {each["name"] for each in inspector.get_columns(name)}:
            op.drop_column(name, dropped)


def _change_rows(existing: set[str]) -> None:
    """Convert the rows of removed features to the remaining tables."""
    if "concern" in existing:
        op.execute(
            "UPDATE submission SET withdrawn_reason = 'disqualified: ' || withdrawn_reason "
            "WHERE id IN (SELECT submission_id FROM concern WHERE decision = 'disqualified')"
        )
    if "audit" in existing:
        op.execute(
            "UPDATE board SET noted_at = (SELECT max(at) FROM audit WHERE subject = 'board ' || board.name "
            "AND action IN ('board-noted', 'board-retracted'))"
        )
    op.execute("UPDATE job SET kind = 'judge' WHERE kind = 'retry'")
    op.execute(
        "UPDATE battle SET outcome = 'skipped', detail = 'The judge was not asked.' WHERE outcome = "
        "'estimated'"
    )


def _delete_jobs() -> None:
    job, seat = sa.table("job", sa.column("id"), sa.column("kind")), sa.table("seat", sa.column("job_id"))
    removed = sa.select(job.c.id).where(job.c.kind.in_(JOB_KINDS))
    op.execute(seat.delete().where(seat.c.job_id.in_(removed)))
    op.execute(job.delete().where(job.c.kind.in_(JOB_KINDS)))


def _drop_tables(connection: sa.Connection, inspector: sa.Inspector, existing: set[str]) -> None:
    for name in TABLES.split():
        if name not in existing:
            continue
        table = sa.table(name)
        sqlite = connection.dialect.name == "sqlite"
        derived = name in {TEXT_INDEX, "ranking"}
        if (
            sqlite
            or derived
            or not connection.scalar(sa.select(sa.exists(sa.select(sa.literal(1)).select_from(table))))
        ):
            op.execute(f"DROP TABLE {name}" + ("" if sqlite else " CASCADE"))
        else:
            for key in inspector.get_foreign_keys(name):
                op.drop_constraint(str(key["name"]), name, type_="foreignkey")


def _move_rankings(connection: sa.Connection) -> None:
    """Store submitted contexts as answers without text."""
    names = ("submission_id", "question_id", "passages", "texts")
    ranking = sa.table("ranking", *(sa.column(name) for name in names))
    answer = sa.table(
        "answer",
        *(sa.column(name) for name in ("submission_id", "question_id", "text", "no_answer")),
        sa.column("contexts", sa.JSON),
    )
    for row in connection.execute(sa.select(ranking)).all():
        passages, texts = (json.loads(cell) if isinstance(cell, str) else cell for cell in row[2:])
        contexts = [
            {"id": name, "text": text, "title": title}
            for name, (text, title) in zip(passages, texts or [("", "")] * len(passages), strict=True)
        ]
        values = {"submission_id": row[0], "question_id": row[1], "text": "", "no_answer": False}
        connection.execute(answer.insert().values(**values, contexts=contexts))
