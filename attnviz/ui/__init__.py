"""The Streamlit app: its pages, components, session state and server routes. It never accesses the network.

Importing it checks Streamlit's version, and tells OpenMP threads not to spin while they wait.
"""

import os
from importlib.util import find_spec

from attnviz.versions import check_streamlit

# Set before torch loads OpenMP: threads that spin while they wait take cores from the page and its browser.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if find_spec("streamlit"):  # a view in a file needs none
    check_streamlit()  # an unsupported version would show every visitor an error
