"""What PyInstaller cannot see in the imports: models, vocabularies, the page, verbs and engines."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

datas = collect_data_files("namer_edge_runtime")
# Loaded by name are verbs, engines and the names of the package itself. What an engine or the demo
# needs is packed where it is installed, and PyInstaller passes over it where it is not.
hiddenimports = collect_submodules(
    "namer_edge_runtime", lambda name: not name.startswith("namer_edge_runtime.pyinstaller")
)
with suppress(PackageNotFoundError):  # a checkout on the path, not installed
    datas += copy_metadata("namer-edge")  # the licenses
