"""The table of concerns, to which readers' reports of judgments move."""

import sqlalchemy as sa
from alembic import op

from data.tables.schema import ddl_metadata

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    connection, schema = op.get_bind(), ddl_metadata()
    schema.create_all(connection)
    if "judgment_report" not in sa.inspect(connection).get_table_names():
        return
    report = sa.Table("judgment_report", sa.MetaData(), autoload_with=connection)
    battle, concern = schema.tables["battle"], schema.tables["concern"]
    disputed = sa.select(battle.c.id, battle.c.round_id).where(battle.c.id.in_(sa.select(report.c.battle_id)))
    round_of = {row.id: row.round_id for row in connection.execute(disputed)}
    for row in connection.execute(sa.select(report).order_by(report.c.id)):
        connection.execute(
            sa.insert(concern).values(
                kind="dispute",
                key=f"dispute {row.reporter} {row.battle_id} {row.judge} {row.presentation} {row.id}",
                text=row.reason,
                evidence=[],
                round_id=round_of[row.battle_id],
                battle_id=row.battle_id,
                judge=row.judge,
                presentation=row.presentation,
                raised_by="",
                reporter=row.reporter,
                decision="open",
                reason="",
                decided_by="",
                created_at=row.created_at,
            )
        )
    op.drop_table("judgment_report")
