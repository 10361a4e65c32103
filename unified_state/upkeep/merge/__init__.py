"""Merge journals into the archive that could not be used when they were written."""
