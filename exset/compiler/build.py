"""The step of a package build that compiles grammars, layouts and kernels."""

import os
import subprocess
import sys
from pathlib import Path

from setuptools.command.build_py import build_py


class BuildCompiled(build_py):  # type: ignore[misc]
    """Copy the package to the build folder, and compile the copy's code to its folder `compiled`.

    The name of each compiled file contains its platform and a digest of its sources. exset uses the
    file only if both match. A later build keeps files that still match. A build without Numba, and
    an editable install, compile nothing: exset then compiles when it needs the code.
    """

    def run(self) -> None:
        """Build the package as setuptools does, then compile the copy."""
        super().run()
        if self.editable_mode:
            return
        root = Path(self.build_lib).resolve()
        folder = root / "exset" / "compiled"
        # The libraries of an isolated build are on this process's import path alone.
        paths = os.pathsep.join([str(root), *filter(None, sys.path)])
        settings = {"PYTHONPATH": paths, "EXSET_CACHE": str(folder)}
        command = [sys.executable, "-P", "-m", "exset.compiler", "--prune"]
        if subprocess.run(command, env=os.environ | settings).returncode:
            self.warn("some kernels are not compiled; exset works without them")
