"""`python -m manyhands` is the `manyhands` command."""

import sys

from manyhands.cli import main

sys.exit(main())
