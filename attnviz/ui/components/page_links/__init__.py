"""The ways to the other pages: before one is taken, the server hears what was typed on this one."""
