"""History on a PostgreSQL server: for a team, or for one person's many machines. `opening.open_postgres` opens it."""
