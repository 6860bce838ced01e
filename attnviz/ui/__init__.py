"""The Streamlit page. It shows what a `Trace` says and never touches the network."""
