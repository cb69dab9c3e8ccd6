"""`python -m memory_mcp`."""

import sys

from memory_mcp.cli import main

sys.exit(main())
