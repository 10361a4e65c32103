"""What a compaction's summary kept of the state: kept, distorted, missing."""
