"""annotation: items of several kinds with their chances, held for people on demand; people of a task."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

CONSENT = "Your labels are kept with your name until you ask for them to be deleted."
# Old tasks gave every pair to named people at the start, so that these are the task's people.
PEOPLE = """
    INSERT INTO annotation_person (task_id, account_id, name, consented_at)
    SELECT DISTINCT pair.task_id, account.id, account.name, task.created_at
    FROM annotation JOIN annotation_pair AS pair ON pair.id = annotation.pair_id
    JOIN annotation_task AS task ON task.id = pair.task_id
    JOIN account ON account.id = annotation.account_id"""
ITEMS = """
    INSERT INTO annotation_item (id, task_id, position, question_id, a_id, b_id, passage, sub_question,
        is_full, settled_by)
    SELECT pair.id, pair.task_id, pair.position, pair.question_id, pair.a_id, pair.b_id, '', '',
        (SELECT count(*) FROM annotation WHERE pair_id = pair.id AND grade IS NOT NULL) >= task.overlap, ''
    FROM annotation_pair AS pair JOIN annotation_task AS task ON task.id = pair.task_id"""
LABELS = """
    INSERT INTO annotation_label (item_id, person_id, b_first, value, comment, held_until, shown_at, seconds,
        edits, is_aside, labelled_at)
    SELECT annotation.pair_id, person.id, annotation.b_first, annotation.grade, annotation.comment, 0, 0, 0,
        0, {no}, annotation.labelled_at
    FROM annotation JOIN annotation_pair AS pair ON pair.id = annotation.pair_id
    JOIN annotation_person AS person
        ON person.task_id = pair.task_id AND person.account_id = annotation.account_id
    ORDER BY annotation.id"""
PAIRS_BACK = """
    INSERT INTO annotation_pair (id, task_id, position, question_id, a_id, b_id)
    SELECT id, task_id, position, question_id, a_id, b_id FROM annotation_item
    WHERE a_id IS NOT NULL AND b_id IS NOT NULL"""
LABELS_BACK = """
    INSERT INTO annotation (pair_id, account_id, b_first, grade, comment, labelled_at)
    SELECT label.item_id, person.account_id, label.b_first, label.value, label.comment, label.labelled_at
    FROM annotation_label AS label JOIN annotation_person AS person ON person.id = label.person_id
    JOIN annotation_pair AS pair ON pair.id = label.item_id
    WHERE person.account_id IS NOT NULL
    ORDER BY label.id"""


def _added() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("kind", sa.String(length=16), nullable=False, server_default="pairs"),
        sa.Column("scale", sa.String(length=16), nullable=False, server_default="grades"),
        sa.Column("draw", sa.String(length=16), nullable=False, server_default="domain"),
        sa.Column("shows_reference", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("open_to_all", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("consent", sa.Text(), nullable=False, server_default=CONSENT),
        sa.Column("instructions", sa.Text(), nullable=False, server_default=""),
        sa.Column("hold_minutes", sa.Integer(), nullable=False, server_default="60"),
    )


def _parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{parent}.id"], name=op.f(f"fk_{table}_{column}_{parent}"), ondelete="CASCADE"
    )


def upgrade() -> None:
    """Bring the schema to this version."""
    with op.batch_alter_table("annotation_task") as batch:
        for column in _added():
            batch.add_column(column)
        batch.add_column(sa.Column("round_id", sa.Integer(), nullable=True))
        batch.create_foreign_key(
            op.f("fk_annotation_task_round_id_round"), "round", ["round_id"], ["id"], ondelete="CASCADE"
        )
    with op.batch_alter_table("annotation_task") as batch:
        for column in _added():
            batch.alter_column(
                column.name, server_default=None, existing_type=column.type, existing_nullable=False
            )
    op.create_table(
        "annotation_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=True),
        sa.Column("b_id", sa.Integer(), nullable=True),
        sa.Column("passage", sa.Text(), nullable=False),
        sa.Column("sub_question", sa.Text(), nullable=False),
        sa.Column("chance", sa.Float(), nullable=True),
        sa.Column("gold", sa.Integer(), nullable=True),
        sa.Column("is_full", sa.Boolean(), nullable=False),
        sa.Column("settled", sa.Integer(), nullable=True),
        sa.Column("settled_by", sa.Text(), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        _parent("annotation_item", "task_id", "annotation_task"),
        _parent("annotation_item", "question_id", "question"),
        _parent("annotation_item", "a_id", "submission"),
        _parent("annotation_item", "b_id", "submission"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_item")),
        sa.UniqueConstraint("task_id", "position", name=op.f("uq_annotation_item_task_id_position")),
    )
    op.create_index(
        op.f("ix_annotation_item_task_id_is_full_position"),
        "annotation_item",
        ["task_id", "is_full", "position"],
    )
    op.create_table(
        "annotation_person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("consented_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("aside_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("aside_reason", sa.Text(), nullable=True),
        _parent("annotation_person", "task_id", "annotation_task"),
        _parent("annotation_person", "account_id", "account"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_person")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_annotation_person_task_id_name")),
    )
    op.create_index(op.f("ix_annotation_person_account_id"), "annotation_person", ["account_id"])
    op.create_table(
        "annotation_label",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("b_first", sa.Boolean(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=True),
        sa.Column("spans", sa.JSON(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("skip_reason", sa.Text(), nullable=True),
        sa.Column("held_until", sa.Float(), nullable=False),
        sa.Column("shown_at", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("edits", sa.Integer(), nullable=False),
        sa.Column("is_aside", sa.Boolean(), nullable=False),
        sa.Column("labelled_at", sa.DateTime(timezone=True), nullable=True),
        _parent("annotation_label", "item_id", "annotation_item"),
        _parent("annotation_label", "person_id", "annotation_person"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_label")),
        sa.UniqueConstraint("item_id", "person_id", name=op.f("uq_annotation_label_item_id_person_id")),
    )
    op.create_index(op.f("ix_annotation_label_person_id"), "annotation_label", ["person_id"])
    op.execute(PEOPLE)
    op.execute(ITEMS)
    postgresql = op.get_bind().dialect.name == "postgresql"
    op.execute(LABELS.format(no="false" if postgresql else "0"))
    if postgresql:
        # The numbers were copied, so that the sequence would give them again.
        op.execute(
            "SELECT setval(pg_get_serial_sequence('annotation_item', 'id'), coalesce(max(id), 0) + 1, false)"
            " FROM annotation_item"
        )
    op.drop_table("annotation")
    op.drop_table("annotation_pair")


def downgrade() -> None:
    """Take this version back; labels of items other than pairs, and of people without account, are lost."""
    op.create_table(
        "annotation_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        _parent("annotation_pair", "task_id", "annotation_task"),
        _parent("annotation_pair", "question_id", "question"),
        _parent("annotation_pair", "a_id", "submission"),
        _parent("annotation_pair", "b_id", "submission"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_pair")),
        sa.UniqueConstraint("task_id", "position", name=op.f("uq_annotation_pair_task_id_position")),
    )
    op.create_table(
        "annotation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("b_first", sa.Boolean(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("labelled_at", sa.DateTime(timezone=True), nullable=True),
        _parent("annotation", "pair_id", "annotation_pair"),
        _parent("annotation", "account_id", "account"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation")),
        sa.UniqueConstraint("pair_id", "account_id", name=op.f("uq_annotation_pair_id_account_id")),
    )
    op.create_index(op.f("ix_annotation_account_id"), "annotation", ["account_id"], unique=False)
    op.execute(PAIRS_BACK)
    op.execute(LABELS_BACK)
    for table in ("annotation_label", "annotation_person", "annotation_item"):
        op.drop_table(table)
    with op.batch_alter_table("annotation_task") as batch:
        batch.drop_constraint(op.f("fk_annotation_task_round_id_round"), type_="foreignkey")
        batch.drop_column("round_id")
        for column in reversed(_added()):
            batch.drop_column(column.name)
