"""``python -m rectiline`` is the command ``rectiline``."""

import sys

from rectiline.cli import main

if __name__ == "__main__":
    sys.exit(main())
