"""A team's history on a PostgreSQL server: outbox, sync, team search."""
