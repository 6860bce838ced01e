"""Store a visitor's choice in a cookie for a year, and read it when a session begins."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.component import component


def remember(name: str, value: str | None) -> None:
    """Store `value`, of letters, under `name` for a year; None leaves the stored value as it is."""
    payload = {"name": _cookie(name), "value": value}
    component("stored_choice", key=f"remembered_{name}", data=payload, height=1)


def remembered(name: str) -> str | None:
    """Return the value stored under `name` when this session began; it may be forged."""
    return st.context.cookies.get(_cookie(name))


def _cookie(name: str) -> str:
    return f"attnviz_{name}"
