"""The names of the models, known without loading one."""

from __future__ import annotations

from unified_state.setting_table import MINILM, STATIC

MODELS = (MINILM, STATIC)
# What the archive calls them.
MODEL_NAMES = {MINILM: "all-MiniLM-L6-v2-int8", STATIC: "wordllama-l2-supercat-256"}
