"""A plain server in the place of a distributed one, for where Citus is not installed: see `tests.citus_server`.

Some functions stand in for those by which Citus lays a table out. They move nothing, and refuse what Citus refuses: so
the schema takes the form that it has there, and everything runs on that form.
"""

from __future__ import annotations

from tests.postgres_server import PostgresServer

_STAND_IN = """
CREATE TABLE public.laid_out (relation regclass PRIMARY KEY, distribution_column text);
GRANT ALL ON public.laid_out TO PUBLIC;

CREATE FUNCTION pg_catalog.create_reference_table(laid regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.refuse_what_citus_refuses(laid, NULL);
    INSERT INTO public.laid_out VALUES (laid, NULL);
END $$;

CREATE FUNCTION pg_catalog.create_distributed_table(
    laid regclass, distribution_column text, colocate_with text DEFAULT 'default'
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.refuse_what_citus_refuses(laid, distribution_column);
    IF colocate_with <> 'default' AND NOT EXISTS (
        SELECT FROM public.laid_out AS beside
        JOIN pg_attribute AS its ON its.attrelid = relation AND its.attname = beside.distribution_column
        JOIN pg_attribute AS own ON own.attrelid = laid AND own.attname = create_distributed_table.distribution_column
        WHERE relation = colocate_with::regclass AND its.atttypid = own.atttypid)
    THEN
        RAISE 'cannot colocate % with %', laid, colocate_with;
    END IF;
    INSERT INTO public.laid_out VALUES (laid, distribution_column);
END $$;

CREATE FUNCTION pg_catalog.get_shard_id_for_distribution_column(laid regclass) RETURNS bigint LANGUAGE sql
    AS 'SELECT NULL::bigint';
CREATE FUNCTION pg_catalog.create_distributed_function(
    function regprocedure, argument text, colocate_with text, force_delegation boolean
) RETURNS void LANGUAGE sql AS '';

CREATE FUNCTION public.refuse_what_citus_refuses(laid regclass, distribution_column text) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT relkind <> 'r' FROM pg_class WHERE oid = laid) THEN
        RAISE '% is no ordinary table', laid;
    ELSIF EXISTS (SELECT FROM pg_policy
        WHERE polrelid = laid AND concat(polqual::text, polwithcheck::text) LIKE '%{SUBLINK%')
    THEN
        RAISE 'cannot create policy' USING DETAIL = 'Subqueries are not supported in policies on distributed tables';
    ELSIF EXISTS (SELECT FROM pg_constraint WHERE conrelid = laid AND contype = 'f' AND NOT EXISTS (
        SELECT FROM public.laid_out AS known WHERE relation = confrelid AND known.distribution_column IS NULL))
    THEN
        RAISE '% has a foreign key to what is no reference table', laid;
    ELSIF EXISTS (SELECT FROM pg_attribute WHERE attrelid = laid AND attacl IS NOT NULL) THEN
        RAISE 'grant/revoke on column list is currently unsupported';
    ELSIF distribution_column IS NOT NULL AND EXISTS (SELECT FROM pg_index
        JOIN pg_attribute ON attrelid = laid AND attname = distribution_column
        WHERE indrelid = laid AND indisunique AND NOT attnum = ANY (indkey))
    THEN
        RAISE 'a unique index of % does not hold %', laid, distribution_column;
    END IF;
END $$;
"""


def make_distributed(server: PostgresServer, database: str) -> str:
    """Let new schemas in a database take the form for a distributed server; its name."""
    with server.admin(database) as connection:
        connection.execute(_STAND_IN)
    return database
