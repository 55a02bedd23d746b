"""A device has no PyTorch, and none of the packages that training and export need."""

import subprocess
import sys
from pathlib import Path

from namer_edge_runtime.model_file import ModelFile

from .drawing import save_inputs

BLOCKED = (
    "torch",
    "albumentations",
    "scipy",
    "onnx",
    "onnxscript",
    "safetensors",
    "tensorboard",
    "PIL",
    "pandas",
)


def in_a_bare_python(code: str) -> str:
    """Output of code run where the packages above cannot be imported."""
    block = f"import sys\nfor name in {BLOCKED!r}: sys.modules[name] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", block + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_t1_a_picture_is_recognized_without_them(tiny_model: ModelFile, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    output = in_a_bare_python(
        "from namer_edge import Recognizer\n"
        f"recognizer = Recognizer.from_pretrained({str(tiny_model.path)!r})\n"
        f"result = recognizer({str(tmp_path / 'in' / 'a.png')!r})\n"
        "print(result.canonical, '|', result.mathml[:5])"
    )
    assert output == "1 - 1 | <math\n"


def test_t1_the_command_runs_without_them(tiny_model: ModelFile, tmp_path: Path) -> None:
    said = save_inputs(tmp_path / "in")
    output = in_a_bare_python(
        "from namer_edge_runtime.command import main\n"
        f"main(['recognize', {str(tmp_path / 'in')!r}, '--model', {str(tiny_model.path)!r}])\n"
        f"sys.exit(main(['check', {str(tiny_model.path)!r}]))"
    )
    assert output.count("\t") == len(said)


def test_importing_is_cheap() -> None:
    output = in_a_bare_python(
        "import namer_edge, namer_edge_runtime\n"
        "heavy = {'numpy', 'numba', 'cv2', 'onnxruntime'} & set(sys.modules)\n"
        "print(heavy, namer_edge.__version__ == namer_edge_runtime.__version__)"
    )
    assert output == "set() True\n"


def test_help_is_quick() -> None:
    output = in_a_bare_python(
        "from namer_edge_runtime.command import main\n"
        "main(['--help']), main(['recognize', '--help']), main(['--version'])\n"
        "print({'numpy', 'numba', 'cv2', 'onnxruntime'} & set(sys.modules))"
    )
    assert output.endswith("set()\n")
