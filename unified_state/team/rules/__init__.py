"""What counts of the items of others: computed from records alone."""
