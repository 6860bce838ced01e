"""`python -m attnviz`: the command line."""

import sys

from attnviz.commands.program import main

sys.exit(main())
