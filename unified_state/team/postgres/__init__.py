"""The store of history on a PostgreSQL server; only this folder imports psycopg."""
