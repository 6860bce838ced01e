"""Sign visitors in where `.streamlit/secrets.toml` names an identity provider (`st.login`, OpenID Connect)."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext


def is_configured() -> bool:
    """Return whether the secrets have a section `auth` with a provider."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def signed_in() -> bool:
    """Return whether this visitor may see the page; if not, draw the sign-in button."""
    if not is_configured() or st.user.is_logged_in:
        return True
    with st.container(key="sign_in"):
        st.subheader(gettext("This page asks who you are"), anchor=False)
        st.text(gettext("Only people who sign in can use this page. What you type is not stored."))
        st.button(gettext("Sign in"), on_click=st.login, type="primary", key="sign_in_button")
    return False


def sign_out_link() -> None:
    """Draw the sign-out button for visitors who have signed in."""
    if is_configured() and st.user.is_logged_in:
        st.button(gettext("Sign out"), on_click=st.logout, type="tertiary", key="sign_out")
