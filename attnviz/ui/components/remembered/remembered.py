"""The program that has the browser remember a choice, in a cookie: the server has it before it draws anything."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.loader import component


def remember(name: str, value: str | None) -> None:
    """Have the browser remember `value`, of letters, under `name`, for a year; None leaves what it remembers."""
    record = {"name": _cookie(name), "value": value}
    component("remembered", isolate=False)(key=f"remembered_{name}", data=record, height=1)


def remembered(name: str) -> str | None:
    """Return what the browser remembered under `name` when this visit began; anybody may write there."""
    return st.context.cookies.get(_cookie(name))


def _cookie(name: str) -> str:
    return f"attnviz_{name}"
