"""The portable history: the records that every store can store and return."""
