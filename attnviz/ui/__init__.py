"""The Streamlit page. It shows what a `Trace` says and never touches the network."""

import os

from attnviz.versions import check_streamlit

# Read when torch loads OpenMP: threads that wait must not spin, or the page and its browser wait for the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

check_streamlit()  # another one would show every visitor an error
