"""The command line: one module for each command, `program`, which runs them, and `shared`, their helpers."""
