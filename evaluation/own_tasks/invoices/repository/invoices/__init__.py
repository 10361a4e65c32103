"""Invoices and their numbers."""
