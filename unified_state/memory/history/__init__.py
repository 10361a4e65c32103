"""The portable history: what every store takes, keeps and gives back."""
