"""The names of Streamlit that views need, imported at the first use of one.

A view in a file or a notebook needs no Streamlit, which takes half a second and is not installed with every extra.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlit import button as button
    from streamlit import components as components
    from streamlit import container as container
    from streamlit import context as context
    from streamlit import file_uploader as file_uploader
    from streamlit import html as html
    from streamlit import popover as popover
    from streamlit import query_params as query_params
    from streamlit import rerun as rerun
    from streamlit import session_state as session_state
    from streamlit import text as text
else:

    def __getattr__(name: str) -> Any:
        import streamlit

        return getattr(streamlit, name)
