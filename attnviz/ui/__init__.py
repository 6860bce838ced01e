"""Draw the Streamlit pages. They show what a `Trace` contains and never access the network."""

import os

from attnviz.versions import check_streamlit

# Set before torch loads OpenMP: threads that spin while they wait take the cores from the page and its browser.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

check_streamlit()  # an unsupported version would show every visitor an error
