"""teams, accounts, tokens, sessions, phases, the audit log, and the life of submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
APPEND_ONLY = "The audit log is only ever added to."
SQLITE_GUARDS = tuple(
    f"""CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit
        BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"""
    for verb in ("UPDATE", "DELETE")
)
POSTGRES_GUARDS = (
    f"""CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END $$""",
    """CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()""",
)
OLD_TEAMS = """
    INSERT INTO team (name, title, contact, created_at)
    SELECT team, team, '', MIN(created_at) FROM submission WHERE team <> '' GROUP BY team
"""


def upgrade() -> None:
    """Bring the schema to this version."""
    _change_sets_and_submissions()
    _create_teams()
    _create_tokens()
    _create_phases()
    _create_audit()
    # Until now a team was any text; the same text in two lengths must stay one team.
    op.execute("UPDATE submission SET team = TRIM(SUBSTR(team, 1, 100))")
    op.execute(OLD_TEAMS)


def _change_sets_and_submissions() -> None:
    op.add_column(
        "question_set",
        sa.Column("hidden_references", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column(
        "submission", sa.Column("phase", sa.String(length=100), nullable=False, server_default="open")
    )
    for name in ("anonymous", "selected"):
        op.add_column("submission", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("submission", sa.Column("withdrawn_at", MOMENT, nullable=True))
    op.add_column("submission", sa.Column("withdrawn_reason", sa.Text(), nullable=False, server_default=""))
    op.create_index(op.f("ix_submission_team_set_id"), "submission", ["team", "set_id"])


def _create_teams() -> None:
    op.create_table(
        "team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("name", name=op.f("uq_team_name")),
    )
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=True),
        sa.Column("email", sa.String(length=255), nullable=True),
        sa.Column("is_organiser", sa.Boolean(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name", name=op.f("uq_account_name")),
        sa.UniqueConstraint("subject", name=op.f("uq_account_subject")),
        sa.UniqueConstraint("email", name=op.f("uq_account_email")),
    )
    op.create_table(
        "membership",
        sa.Column("team_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        _key("membership", "team_id", "team"),
        _key("membership", "account_id", "account"),
        sa.PrimaryKeyConstraint("team_id", "account_id", name=op.f("pk_membership")),
    )
    op.create_index(op.f("ix_membership_account_id"), "membership", ["account_id"])


def _create_tokens() -> None:
    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.Column("used_at", MOMENT, nullable=True),
        _key("token", "team_id", "team"),
        _key("token", "account_id", "account"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("prefix", name=op.f("uq_token_prefix")),
    )
    op.create_index(op.f("ix_token_team_id"), "token", ["team_id"])
    op.create_index(op.f("ix_token_account_id"), "token", ["account_id"])
    op.create_table(
        "web_session",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        _key("web_session", "token_id", "token"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_web_session")),
    )
    op.create_index(op.f("ix_web_session_token_id"), "web_session", ["token_id"])
    op.create_table(
        "refused_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refused_token")),
    )
    op.create_index(op.f("ix_refused_token_key_at"), "refused_token", ["key", "at"])


def _create_phases() -> None:
    op.create_table(
        "phase",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("opens_at", MOMENT, nullable=True),
        sa.Column("closes_at", MOMENT, nullable=True),
        *(
            sa.Column(name, sa.Integer(), nullable=True)
            for name in ("daily_quota", "total_quota", "file_mb", "answer_chars")
        ),
        _key("phase", "set_id", "question_set"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phase")),
        sa.UniqueConstraint("set_id", "name", name=op.f("uq_phase_set_id_name")),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=250), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_team"), "audit", ["team"])
    op.create_index(op.f("ix_audit_subject"), "audit", ["subject"])
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in SQLITE_GUARDS if sqlite else POSTGRES_GUARDS:
        op.execute(statement)


def _key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{target}")
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("audit")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION audit_append_only()")
    for table in ("phase", "refused_token", "web_session", "token", "membership", "account", "team"):
        op.drop_table(table)
    op.drop_index(op.f("ix_submission_team_set_id"), "submission")
    for name in ("withdrawn_reason", "withdrawn_at", "selected", "anonymous", "phase"):
        op.drop_column("submission", name)
    op.drop_column("question_set", "hidden_references")
