"""`python -m memory_mcp`."""

import sys

from memory_mcp.cli.entry import main

sys.exit(main())
