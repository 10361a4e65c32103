"""Pure rules of search: query, relevance, boosts."""
