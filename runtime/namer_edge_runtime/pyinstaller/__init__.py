"""Hooks that tell PyInstaller what to pack; it finds them by the entry point `pyinstaller40`."""

from pathlib import Path


def get_hook_dirs() -> list[str]:
    """Folders with hooks, for PyInstaller."""
    return [str(Path(__file__).parent)]
