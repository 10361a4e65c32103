"""How we decide: pure functions of records and of the time that is handed in."""
