"""`from namer_edge import Recognizer` leads to the runtime by a name, unseen by PyInstaller."""

hiddenimports = ["namer_edge_runtime"]
