"""General code that does not depend on the product."""
