"""The tiers: interchangeable stores of history, behind one protocol, held to one numbered suite of contracts."""
