"""Run the app on Streamlit Community Cloud, which installs the requirements beside this file: torch without CUDA."""

import runpy
import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if __name__ == "__main__":  # as Streamlit runs it, for each visitor
    runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
else:  # as the server imports it, once
    from attnviz.ui.server import MIDDLEWARE, ROUTES, lifespan

    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
