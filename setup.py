"""Puts the SQL files and the Dagster instance file, which live beside the package, into the wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithSharedFiles(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "tm_pipeline"
        shutil.copytree(ROOT / "sql", package / "_sql", dirs_exist_ok=True)
        (package / "_instance").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "dagster.yaml", package / "_instance" / "dagster.yaml")


setup(cmdclass={"build_py": BuildWithSharedFiles})
