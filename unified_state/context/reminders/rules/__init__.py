"""Pure rules of reminders."""
