"""An empty page whose visitors may each have 100 kB of uploads in memory, and all together 250 kB."""

import streamlit as st
from starlette.middleware import Middleware

from attnviz.ui.waiting import UploadQuota

if __name__ == "__main__":
    st.text("Upload something.")
else:
    app = st.App(__file__, middleware=[Middleware(UploadQuota, 100_000, 250_000)])
