"""How properties are tried in every folder: no example is timed, and where CI is set all runs try the same ones."""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("house")
