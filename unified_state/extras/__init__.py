"""Side products: each folder can be deleted without the core noticing."""
