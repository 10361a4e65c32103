"""A small shop: routes and a rate limit."""
