"""General code that knows nothing of the product."""
