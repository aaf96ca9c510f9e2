"""who won each question of a round; the index of words that came with it is made by 0024."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

FIGURES = """
WITH decided AS (
    SELECT question_id, a_id, b_id, CASE
        WHEN score IS NOT NULL THEN score
        WHEN preference = 'a' THEN 1.0 WHEN preference = 'b' THEN 0.0 ELSE 0.5 END AS won
    FROM battle
    WHERE round_id = :round AND preference IS NOT NULL AND (outcome IS NULL OR outcome <> 'estimated')
), side AS (
    SELECT question_id, a_id AS side_id, won FROM decided
    UNION ALL SELECT question_id, b_id, 1.0 - won FROM decided
), share AS (
    SELECT side.question_id, side.side_id, round(avg(side.won) * 1000000.0) / 1000000.0 AS share
    FROM side JOIN submission ON submission.id = side.side_id AND submission.kind <> 'reference'
    GROUP BY side.question_id, side.side_id
), placed AS (
    SELECT question_id, side_id, share,
        row_number() OVER (PARTITION BY question_id ORDER BY share DESC) AS place,
        rank() OVER (PARTITION BY question_id ORDER BY share DESC) AS shared
    FROM share
)
SELECT question_id AS question,
    sum(CASE WHEN shared = 1 THEN 1 ELSE 0 END) AS winners,
    CASE WHEN sum(CASE WHEN shared = 1 THEN 1 ELSE 0 END) = 1
        THEN max(CASE WHEN shared = 1 THEN side_id END) END AS winner,
    max(CASE WHEN place = 1 THEN share END) - max(CASE WHEN place = 2 THEN share END) AS margin,
    avg(share * share) - avg(share) * avg(share) AS variance
FROM placed GROUP BY question_id
"""
CONTESTED = """
SELECT battle.question_id AS question, count(*) AS contested
FROM battle LEFT JOIN (
    SELECT judgment.battle_id FROM judgment JOIN battle ON battle.id = judgment.battle_id
    WHERE battle.round_id = :round AND judgment.preference IS NOT NULL
    GROUP BY judgment.battle_id
    HAVING count(DISTINCT judgment.preference) > 1 AND count(DISTINCT judgment.judge) > 1
) AS disputed ON disputed.battle_id = battle.id
WHERE battle.round_id = :round AND (battle.outcome IS NULL OR battle.outcome <> 'estimated')
    AND (disputed.battle_id IS NOT NULL OR battle.flipped)
GROUP BY battle.question_id
"""

SET_FIGURES = """
UPDATE question_digest SET winners = :winners, winner_id = :winner, margin = :margin, variance = :variance
WHERE round_id = :round AND question_id = :question
"""
SET_CONTESTED = """
UPDATE question_digest SET contested = :contested WHERE round_id = :round AND question_id = :question
"""


def upgrade() -> None:
    """Bring the schema to this version."""
    connection = op.get_bind()
    whole, real = sa.Integer(), sa.Float()
    op.add_column("question_digest", sa.Column("contested", whole, nullable=False, server_default="0"))
    op.add_column("question_digest", sa.Column("winner_id", whole, nullable=True))
    op.add_column("question_digest", sa.Column("winners", whole, nullable=False, server_default="0"))
    op.add_column("question_digest", sa.Column("margin", real, nullable=True))
    op.add_column("question_digest", sa.Column("variance", real, nullable=True))
    numbers = sa.text("SELECT DISTINCT round_id FROM question_digest")
    for number in connection.execute(numbers).scalars().all():
        for query, change in ((FIGURES, SET_FIGURES), (CONTESTED, SET_CONTESTED)):
            rows = connection.execute(sa.text(query), {"round": number}).mappings().all()
            if rows:
                connection.execute(sa.text(change), [{**row, "round": number} for row in rows])


def downgrade() -> None:
    """Take this version back."""
    for column in ("variance", "margin", "winners", "winner_id", "contested"):
        op.drop_column("question_digest", column)
