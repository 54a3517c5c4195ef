# SPDX-License-Identifier: Apache-2.0
"""libptds: the default stream of unmodified CUDA programs, remapped and reported. `python -m ptds help`.

Importing this changes nothing in the program that does; the library is preloaded by `python -m ptds run`,
and by a Python for which `python -m ptds enable` was called (at_start.py).
"""

import os as _os

_HERE = _os.path.dirname(_os.path.abspath(__file__))

#: The `ptds` command and the library that it preloads.
COMMAND = _os.path.join(_HERE, "bin", "ptds")
LIBRARY = _os.path.join(_HERE, "lib", "libptds.so")
