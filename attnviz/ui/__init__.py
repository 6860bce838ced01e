"""The Streamlit page. It shows what a `Trace` says and never touches the network."""

import os

# Read when torch loads OpenMP: threads that wait must not spin, or the page and its browser wait for the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
