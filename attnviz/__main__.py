"""Run the command line: `python -m attnviz`."""

import sys

from attnviz.commands.main import main

sys.exit(main())
