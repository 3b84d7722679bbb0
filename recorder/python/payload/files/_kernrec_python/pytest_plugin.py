"""The pytest plugin's entry point. Costs one look at the environment when nothing is recorded.

PYTEST_DONT_REWRITE
"""

import os

if os.environ.get("KERNREC_PYTHON_DIR"):
    from _kernrec_python import is_supported

    if is_supported():
        from _kernrec_python._pytest_notes import *  # noqa: F403
