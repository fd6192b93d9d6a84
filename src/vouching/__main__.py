"""``python -m vouching``: the ``vouch`` command where scripts are not on the path."""

import sys

from vouching.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
