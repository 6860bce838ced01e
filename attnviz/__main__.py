"""Run the command line: `python -m attnviz`."""

import sys

from attnviz.commands.program import main

sys.exit(main())
