"""The functions that search on the server, by words and by vectors, with a bounded number of candidates.

PostgreSQL uses no index for a condition that could reveal rows hidden by a policy, and a text match is such a
condition. It does use an index for the policy's own condition. So the policy of `step_words` contains the match: a row
is visible only to a transaction that sets the searched words in `unified_state.wanted`. Vectors need the extension
`vector`, which may be installed years after the schema, so their table is not a migration. Only vectors of one model
are compared.
"""

from __future__ import annotations

# Filters of a query on steps, in addition to its session. Each table is asked for the project, by a value.
PASSES = """(of_kind IS NULL OR s.kind = of_kind)
    AND (since IS NULL OR s.at >= since) AND (until IS NULL OR s.at < until)
    AND (of_tool IS NULL OR lower(s.tool) = lower(of_tool) OR EXISTS (
        SELECT 1 FROM unified_state.step AS call
        WHERE call.project = {here} AND call.author = s.author AND call.session = s.session
            AND call.number < s.number AND call.number > s.number - 100 AND call.tool_use_id = s.tool_use_id
            AND lower(call.tool) = lower(of_tool)))"""

# The candidates by words and by a vector, each with a score from 0 to 1, and the best of their sums. The values
# that are asked for stand in braces.
_MATCHED = """
    SELECT step AS number, author, score FROM unified_state.matching({words}::text[], {sessions}::bigint[],
        {kind}, {tool}, {since}::bigint, {until}::bigint, {candidates}::integer)
"""
_NEAR = """
    SELECT step AS number, author, score FROM unified_state.nearest({vector}, {dimensions}, {model},
        {sessions}::bigint[], {kind}, {tool}, {since}::bigint, {until}::bigint, {candidates}::integer)
"""
_SCALED = """
    SELECT number, author,
        coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1) AS score
    FROM (PART) AS found
"""
_BEST = """
SELECT number, author, sum(score) AS score FROM (PARTS) AS scaled
GROUP BY number, author ORDER BY score DESC, number DESC LIMIT {limit}
"""


def best(*, words: bool, vector: bool, values: dict[str, str]) -> str:
    """Return the query for the best candidates by words, by a vector, or by both."""
    parts = ([_MATCHED] if words else []) + ([_NEAR] if vector else [])
    return _BEST.replace("PARTS", " UNION ALL ".join(_SCALED.replace("PART", part) for part in parts)).format(**values)


# Words are stemmed, and none is dropped. They arrive in lower case and without punctuation: see `words.py`.
SEARCH = """
CREATE TEXT SEARCH DICTIONARY unified_state.stem (TEMPLATE = pg_catalog.snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION unified_state.words (PARSER = pg_catalog.default);
ALTER TEXT SEARCH CONFIGURATION unified_state.words ADD MAPPING FOR asciiword, word, numword, asciihword, hword,
    numhword, hword_asciipart, hword_part, hword_numpart WITH unified_state.stem;
ALTER TEXT SEARCH CONFIGURATION unified_state.words ADD MAPPING FOR email, url, host, file, url_path, sfloat, float,
    int, uint, version WITH pg_catalog.simple;

CREATE FUNCTION unified_state.wanted() RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('unified_state.wanted', true), '')::tsquery
$$;

-- The word that all steps of a project have, and no other's: so the index itself keeps projects apart.
CREATE FUNCTION unified_state.tenant(project bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '@' || project
$$;

-- The word that the steps of a time have: 4,096 numbers of a project. So a search can look at the newest first.
CREATE FUNCTION unified_state.era(project bigint, number bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '@' || project || '#' || number / 4096
$$;

"""

# Functions that no table or policy needs. The newest migration creates them again.
SEARCHING = """
-- Words without the places of those that stand once: a fifth of all that their table takes. Such a word ranks the same
-- without its place, and how long a text is remains known.
CREATE OR REPLACE FUNCTION unified_state.lean(words tsvector) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT ts_delete(words, once) || array_to_tsvector(once) FROM (
        SELECT coalesce(array_agg(lexeme), '{}') AS once FROM unnest(words) WHERE cardinality(positions) = 1) AS found
$$;

-- The words of one searched word. The parser takes a few (5e10x) for two in a row, whose places are not known.
CREATE OR REPLACE FUNCTION unified_state.asked(word text) RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT regexp_replace(to_tsquery('unified_state.words', word)::text, ' <[-0-9]+> ', ' & ', 'g')::tsquery
$$;

-- Set something for this transaction, on every node of a distributed server: Citus hands on what a statement sets, not
-- what `set_config` does, and only where it is asked to.
CREATE OR REPLACE FUNCTION unified_state.tell(setting text, value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('citus.propagate_set_commands', 'local', true);
    EXECUTE format('SET LOCAL %s TO %L', setting, value);
END $$;

-- Count what an author added, and now and then which words are common: a search begins with the rarest.
CREATE OR REPLACE FUNCTION unified_state.note_volume(of_project bigint, of_author integer, added bigint) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    now_there bigint;
    counted bigint;
    chosen bigint[];
    in_sample integer;
    words text[];
    shares real[];
BEGIN
    INSERT INTO unified_state.volume AS v (project, author, steps) VALUES (of_project, of_author, greatest(added, 0))
        ON CONFLICT (project, author) DO UPDATE SET steps = greatest(0, v.steps + added)
        RETURNING steps, sampled INTO now_there, counted;
    IF now_there < counted * 1.3 + 300 THEN
        RETURN;
    END IF;
    PERFORM unified_state.tell('unified_state.wanted', '!unified_state'),
        unified_state.tell('enable_bitmapscan', 'off');
    DELETE FROM unified_state.common_word WHERE project = of_project AND author = of_author;
    SELECT array_agg(last * place / 4000) INTO chosen  -- from all times: a session has words of its own
        FROM (SELECT max(number) AS last FROM unified_state.step_words WHERE project = of_project) AS newest,
            generate_series(1, 4000) AS place;
    SELECT greatest(1, count(*)) INTO in_sample FROM unified_state.step_words
        WHERE project = of_project AND author = of_author AND number = ANY (chosen);
    SELECT array_agg(word), array_agg(least(1, ndoc::real / in_sample)) INTO words, shares
        FROM ts_stat(format('SELECT words FROM unified_state.step_words WHERE project = %s AND author = %s '
            'AND number = ANY (%L)', of_project, of_author, chosen))
        WHERE ndoc > in_sample * 0.002 AND word NOT LIKE '@%' AND length(word) < 500;
    INSERT INTO unified_state.common_word
        SELECT v.project, v.author, counting.word, counting.share
        FROM unnest(words, shares) AS counting (word, share) JOIN unified_state.volume AS v
            ON v.project = of_project AND v.author = of_author
        ON CONFLICT DO NOTHING;
    PERFORM unified_state.tell('enable_bitmapscan', 'on');
    UPDATE unified_state.volume SET sampled = now_there WHERE project = of_project AND author = of_author;
END $$;

-- The newest steps that match, and pass the filters. The index costs by the steps that it touches; where these are many
-- it is cheaper to look at the newest eras alone, and where nearly every step matches, to walk back from the newest
-- step until there are enough, though no further than 10,000 steps.
CREATE OR REPLACE FUNCTION unified_state.newest(
    query tsquery, touched double precision, expected double precision, total double precision, sessions bigint[],
    of_kind text, of_tool text, since bigint, until bigint, most integer
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    here bigint := unified_state.project();
    latest bigint;
    few double precision := most * total / greatest(1, expected);  -- of the newest steps should hold about enough
    found bigint[];
BEGIN
    PERFORM unified_state.tell('unified_state.wanted', query::text);
    IF sessions IS NOT NULL THEN
        SELECT array_agg(number) INTO found FROM (
            SELECT s.number FROM (
                SELECT * FROM unified_state.step WHERE project = here AND session = ANY (sessions)
                UNION ALL
                SELECT shared.* FROM unified_state.step_copy AS c JOIN unified_state.step AS shared
                    ON shared.project = here AND shared.number = c.step AND shared.author = c.author
                    WHERE c.project = here AND c.session = ANY (sessions)
            ) AS s
            JOIN unified_state.step_words AS w ON w.project = here AND w.number = s.number AND w.author = s.author
            WHERE {passes}
            ORDER BY s.number + 0 DESC LIMIT most) AS of_sessions;
        RETURN coalesce(found, '{}');
    ELSIF coalesce(of_kind, of_tool, since::text, until::text) IS NOT NULL THEN
        SELECT array_agg(number) INTO found FROM (
            SELECT w.number FROM unified_state.step_words AS w
            JOIN unified_state.step AS s ON s.project = here AND s.number = w.number AND s.author = w.author
            WHERE w.project = here AND {passes}
            ORDER BY w.number + 0 DESC LIMIT most) AS passing;
        RETURN coalesce(found, '{}');
    END IF;
    SELECT last INTO latest FROM unified_state.numbering WHERE project = here;
    IF 2 * least(10000, most * total / greatest(1, expected)) < least(1, 8192 / total) * touched THEN
        PERFORM unified_state.tell('enable_bitmapscan', 'off');
        SELECT array_agg(number) INTO found FROM (
            SELECT number FROM unified_state.step_words
            WHERE project = here AND number > latest - 10000
            ORDER BY number DESC LIMIT most) AS walked;
        PERFORM unified_state.tell('enable_bitmapscan', 'on');
        IF cardinality(found) >= most / 3 THEN
            RETURN found;
        END IF;
    END IF;
    WHILE touched > 5000 AND 4 * few < least(latest, 16777216) LOOP  -- no more than 4,096 eras
        PERFORM unified_state.tell('unified_state.wanted', (query && string_agg(
            quote_literal(unified_state.era(here, number)), ' | ')::tsquery)::text)
            FROM generate_series(latest - few::bigint, latest + 4095, 4096) AS number;
        SELECT array_agg(number) INTO found FROM (
            SELECT number FROM unified_state.step_words WHERE project = here
            ORDER BY number + 0 DESC LIMIT most) AS met;
        IF cardinality(found) = most THEN
            RETURN found;
        END IF;
        few := few * 4;
    END LOOP;
    PERFORM unified_state.tell('unified_state.wanted', query::text);
    SELECT array_agg(number) INTO found FROM (
        SELECT number FROM unified_state.step_words WHERE project = here
        ORDER BY number + 0 DESC LIMIT most) AS met;  -- not by the index on numbers, but by that on words
    RETURN coalesce(found, '{}');
END $$;

-- The candidates of a search and how well they match: those that hold all words and, where these may be few, those
-- that hold the rarest.
CREATE OR REPLACE FUNCTION unified_state.matching(
    asked text[], sessions bigint[], of_kind text, of_tool text, since bigint, until bigint, most integer
) RETURNS TABLE (step bigint, author integer, score double precision) LANGUAGE plpgsql AS $$
DECLARE
    here bigint := unified_state.project();
    tenant tsquery := quote_literal(unified_state.tenant(here))::tsquery;
    total double precision;
    queries tsquery[];
    likely double precision[];
    every tsquery;
    rarest tsquery;
    others tsquery;  -- for where the rarest are words that nobody ever said
    together double precision := 0;  -- how many match the rarest words, and how many match all: about
    often double precision := 0;     -- how many match the others
    joint double precision;
    all_words bigint[];
    found bigint[] := '{}';
BEGIN
    SELECT greatest(1, sum(steps)) INTO total FROM unified_state.volume WHERE project = here;
    SELECT array_agg(query ORDER BY expected), array_agg(expected ORDER BY expected) INTO queries, likely FROM (
        SELECT unified_state.asked(word) AS query, (
            SELECT min(coalesce((
                SELECT sum(c.share * v.steps) FROM unified_state.common_word AS c
                JOIN unified_state.volume AS v ON v.project = c.project AND v.author = c.author
                WHERE c.project = here AND c.word = lexeme
            ), total * 0.0005))
            FROM unnest(tsvector_to_array(to_tsvector('unified_state.words', word))) AS lexeme) AS expected
        FROM unnest(asked) AS word) AS counted
    WHERE numnode(query) > 0;
    FOR place IN 1 .. coalesce(array_length(queries, 1), 0) LOOP
        every := CASE WHEN place = 1 THEN queries[1] ELSE every && queries[place] END;
        joint := CASE WHEN place = 1 THEN likely[1] ELSE joint * cbrt(least(1, likely[place] / total)) END;
        IF place = 1 OR together + likely[place] <= 4000 THEN
            rarest := CASE WHEN place = 1 THEN queries[1] ELSE rarest || queries[place] END;
            together := together + likely[place];
        ELSE
            others := CASE WHEN others IS NULL THEN queries[place] ELSE others || queries[place] END;
            often := often + likely[place];
        END IF;
    END LOOP;
    IF every IS NULL THEN
        RETURN;
    END IF;
    IF joint >= most OR array_length(queries, 1) = 1 THEN
        all_words := unified_state.newest(tenant && every, joint, joint, total, sessions, of_kind, of_tool, since,
            until, most);
    END IF;
    IF array_length(queries, 1) > 1 AND coalesce(cardinality(all_words) < most, true) THEN
        found := unified_state.newest(tenant && rarest, together, together, total, sessions, of_kind, of_tool, since,
            until, 2 * most);
        IF all_words IS NULL AND cardinality(found) = 2 * most THEN
            all_words := unified_state.newest(tenant && every, joint, joint, total, sessions, of_kind, of_tool, since,
                until, most);
        END IF;
    END IF;
    found := found || all_words;
    IF others IS NOT NULL AND cardinality(found) < most THEN
        found := found || unified_state.newest(tenant && others, often, often, total, sessions, of_kind, of_tool, since,
            until, most);
    END IF;
    PERFORM unified_state.tell('unified_state.wanted', tenant::text);
    RETURN QUERY SELECT w.number, w.author, (
            SELECT sum(ln(1 + total / (each_likely + 0.5)) * ts_rank(w.words, query, 1))
            FROM unnest(queries, likely) AS word (query, each_likely))
        FROM unified_state.step_words AS w WHERE w.project = here AND w.number = ANY (found);
END $$;

-- Say who asks, for this transaction; the authors whose history is readable. Another member's lock holds it up for 20
-- seconds and no longer, unless the user or an administrator set another time, and nothing that others made takes the
-- place of PostgreSQL's own functions.
CREATE OR REPLACE FUNCTION unified_state.ask(organisation text, project text, member text) RETURNS integer[]
    LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL client_min_messages = warning;
    SET LOCAL idle_in_transaction_session_timeout = '1min';
    SET LOCAL jit = off;
    PERFORM unified_state.tell('unified_state.organisation', organisation),
        unified_state.tell('unified_state.project', project), unified_state.tell('unified_state.member', member);
    IF current_setting('lock_timeout') = '0' THEN
        SET LOCAL lock_timeout = '20s';
    END IF;
    IF current_setting('statement_timeout') = '0' THEN
        SET LOCAL statement_timeout = '10min';
    END IF;
    RETURN unified_state.readable();
END $$;
"""


# Dimensions of MiniLM's vectors. Others are compared one by one.
INDEXED_DIMENSIONS = (384,)

# Nothing else of the extension's schema is used, because other users may create functions there.
NEAREST = """
CREATE OR REPLACE FUNCTION unified_state.nearest(
    asked text, of_dimensions integer, of_model text, sessions bigint[], of_kind text, of_tool text, since bigint,
    until bigint, most integer
) RETURNS TABLE (step bigint, author integer, score double precision) LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here bigint := unified_state.project();
    is_filtered boolean := coalesce(sessions::text, of_kind, of_tool, since::text, until::text) IS NOT NULL;
BEGIN
    PERFORM asked::{schema}.halfvec;  -- loads the extension, whose settings are known from here on
    -- Of the ten nearest of 100,000 passages of real texts it finds 99.6 %.
    PERFORM unified_state.tell('hnsw.ef_search', '150');
    IF current_setting('hnsw.iterative_scan', true) IS NOT NULL THEN  -- from version 0.8 on
        PERFORM unified_state.tell('hnsw.iterative_scan', 'relaxed_order');
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT v.number, v.author, '
        '1 - (v.embedding::{schema}.halfvec(%1$s) OPERATOR({schema}.<=>) $1::{schema}.halfvec(%1$s)) '
        'FROM unified_state.step_vector AS v ' || CASE WHEN is_filtered THEN
            'JOIN unified_state.step AS s ON s.project = %2$s AND s.number = v.number '
            'AND s.author = v.author ' ELSE '' END ||
        'WHERE v.project = %2$s AND v.dimensions = %1$s AND ($2 IS NULL OR v.model = $2) ' ||
        CASE WHEN is_filtered THEN 'AND {passes} AND ($4 IS NULL OR s.session = ANY ($4) OR EXISTS ('
            'SELECT 1 FROM unified_state.step_copy AS c '
            'WHERE c.project = %2$s AND c.author = s.author AND c.step = s.number AND c.session = ANY ($4)))'
            ELSE '' END ||
        'ORDER BY v.embedding::{schema}.halfvec(%1$s) OPERATOR({schema}.<=>) $1::{schema}.halfvec(%1$s) LIMIT $3',
        of_dimensions, here)
        USING asked, of_model, most, sessions, of_kind, of_tool, since, until;
END $$;
"""

VECTOR_INDEX = """
CREATE INDEX step_vector_{dimensions} ON unified_state.step_vector
    USING hnsw ((embedding::{schema}.halfvec({dimensions})) {schema}.halfvec_cosine_ops)
    WHERE dimensions = {dimensions};
"""
