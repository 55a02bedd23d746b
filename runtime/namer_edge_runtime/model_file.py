"""The model file: one folder or zip that describes itself completely, verified before it is used.

`model.json` holds what recognition needs beside the graphs (look, vocabulary, decoding constants)
and where the model comes from; each graph is a part with its size and SHA-256.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from .aliases import alias
from .atomic import atomic_file, atomic_folder
from .decode.options import DecodingOptions
from .errors import ModelFileError, UsageError
from .formula.vocabulary import Vocabulary
from .preprocessing import Preprocessing
from .score_calibration import ScoreCalibration

FORMAT = "namer-edge-model"
FORMAT_VERSION = 1
META = "model.json"
SUFFIXES = {"onnx": ".onnx", "openvino": ".xml", "torch": ".safetensors"}
CHECKPOINT = ".safetensors"
"""Ending of a checkpoint, which torch reads and no engine opens by itself."""
DEFAULT_MODEL = "crohme-edge"
NO_MODELS = "this program has none: were the package's data files left out when it was frozen?"
LARGEST_PART = 1 << 31
"""Bytes of a graph that ONNX Runtime and OpenVINO load."""
LARGEST_META = 1 << 24
"""Largest `model.json` that is accepted, in bytes."""


@dataclass(frozen=True)
class Part:
    """One file of a model."""

    file: str
    sha256: str
    bytes: int

    @classmethod
    def from_json(cls, value: Any, place: str) -> "Part":
        """Raises `ModelFileError` that names what is no file name, hash or size."""
        if not isinstance(value, Mapping) or set(value) != {"file", "sha256", "bytes"}:
            raise ModelFileError(f"{place} must hold file, sha256 and bytes: export it again")
        size = value["bytes"]
        if not isinstance(value["file"], str) or not isinstance(value["sha256"], str):
            raise ModelFileError(f"{place}: file and sha256 must be text: export it again")
        if type(size) is not int or not 0 <= size <= LARGEST_PART:
            raise ModelFileError(
                f"{place}.bytes is {size!r:.60}: must be a whole number from 0 to {LARGEST_PART}"
            )
        return cls(**value)


@dataclass(frozen=True)
class ModelFile:
    """An opened model file: its path and what `model.json` says. Picklable; holds no graph."""

    path: Path
    name: str
    engine_format: str
    """"onnx", "openvino" or "torch"."""
    precision: str
    """"fp32", "fp16" or "int8"."""
    parts: Mapping[str, Part]
    preprocessing: Preprocessing
    vocabulary: Vocabulary
    decoding: DecodingOptions
    score_calibration: ScoreCalibration

    look = alias("preprocessing")
    scalings = alias("score_calibration")
    meta: Mapping[str, Any] = field(repr=False)
    """All of `model.json`: also training, metrics, calibration and licence."""

    @classmethod
    def open(cls, name_or_path: str | Path | None = None) -> "ModelFile":
        """Opens and verifies a packaged model by name (the default one for None) or any by path.

        Raises `ModelFileError` where nothing is there, for an unknown format version, a missing
        part, a part outside the folder or one whose size or SHA-256 is not as stated.
        """
        path = locate(name_or_path)
        model = cls._from_meta(path, _read_meta(path))
        for role in model.parts:
            model.read(role)
        return model

    @classmethod
    def _from_meta(cls, path: Path, meta: Any) -> "ModelFile":
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise ModelFileError(f"{path}: {META} is not that of a namer-edge model")
        if meta.get("format_version") != FORMAT_VERSION:
            raise ModelFileError(
                f"{path}: format version {meta.get('format_version')!r} is unknown, this version "
                f"reads {FORMAT_VERSION}: update namer-edge or export the model again"
            )
        try:
            for key in ("name", "engine_format", "precision"):
                if not isinstance(meta[key], str):
                    raise ModelFileError(f"{path}: {key} is {meta[key]!r:.60}, no text")
            if not isinstance(meta["parts"], dict):
                raise ModelFileError(f"{path}: parts is {meta['parts']!r:.60}, no object")
            parts = {
                role: Part.from_json(part, f"parts.{role}") for role, part in meta["parts"].items()
            }
            for part in parts.values():
                _check_inside(path, part.file)
            return cls(
                path=path,
                name=meta["name"],
                engine_format=meta["engine_format"],
                precision=meta["precision"],
                parts=parts,
                preprocessing=Preprocessing.from_json(meta["look"]),
                vocabulary=Vocabulary.from_json(meta["vocabulary"]),
                decoding=DecodingOptions.from_json(meta["decoding"]),
                score_calibration=ScoreCalibration.from_json(meta.get("scalings", {})),
                meta=meta,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(
                f"{path}: {META} is incomplete or malformed ({error!r}): export the model again"
            ) from error

    def read(self, role: str) -> bytes:
        """Content of a part, its size and SHA-256 checked; raises `ModelFileError`."""
        if role not in self.parts:
            raise ModelFileError(f"{self.path}: the model has no part {role!r}: export it again")
        part = self.parts[role]
        data = _read(self.path, part.file, part.bytes)
        if len(data) != part.bytes or hashlib.sha256(data).hexdigest() != part.sha256:
            raise ModelFileError(
                f"{self.path}: {part.file} is not the file that {META} describes (wrong SHA-256): "
                "copy the model again"
            )
        return data

    @staticmethod
    def write(
        path: str | Path, meta: Mapping[str, Any], parts: Mapping[str, bytes | Path]
    ) -> "ModelFile":
        """Writes a model, whole or not at all: a zip where `path` ends in `.zip`, else a folder.

        `meta` gives name, engine_format, precision, look, vocabulary and decoding (as JSON values)
        and may say more; format, version and the table of parts are added here. `parts` maps a
        role ("vat", "pgd") to its content or to a file that holds it; a role with a dot is itself
        the name of its file. Returns the model, opened and verified. Raises `UsageError` where
        `path` holds anything but a model, which would be lost, or cannot be written.
        """
        path = Path(path)
        suffix = SUFFIXES.get(str(meta.get("engine_format")), "")
        contents = {
            role: part.read_bytes() if isinstance(part, Path) else part
            for role, part in parts.items()
        }
        table = {
            role: Part(
                role if "." in role else role + suffix, hashlib.sha256(data).hexdigest(), len(data)
            )
            for role, data in contents.items()
        }
        whole = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **meta,
            "parts": {role: asdict(part) for role, part in table.items()},
        }
        ModelFile._from_meta(path, whole)  # refuse to write what could not be read
        check_replaceable(path)
        text = json.dumps(whole, indent=1, ensure_ascii=False).encode()
        files = {META: text, **{table[role].file: data for role, data in contents.items()}}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".zip":
            with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
                for name, data in files.items():
                    # A fixed date, so that equal models are equal files.
                    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        else:
            with atomic_folder(path) as folder:
                for name, data in files.items():
                    (folder / name).write_bytes(data)
        return ModelFile.open(path)


def packaged_models() -> list[str]:
    """Names of the models inside the package."""
    return sorted(_packaged())


def _packaged() -> dict[str, Path]:
    """Name → path of each packaged model; inside an archive where the package lies in one."""
    folder = resources.files(__package__) / "models"
    if not folder.is_dir():
        return {}
    return {
        item.name.removesuffix(".zip"): Path(str(item))
        for item in folder.iterdir()
        if item.name.endswith(".zip") or (item / META).is_file()
    }


def locate(name_or_path: str | Path | None) -> Path:
    """Path of a model; a packaged name wins over a path of the same spelling."""
    packaged = _packaged()
    wanted = DEFAULT_MODEL if name_or_path is None else name_or_path
    if isinstance(wanted, str) and wanted in packaged:
        return packaged[wanted]
    if not isinstance(wanted, str | Path):
        raise UsageError(f"{wanted!r} is no model: give the path or the name of one")
    path = Path(wanted)
    if path.suffix == CHECKPOINT and path.is_file():
        raise ModelFileError(
            f"{path} is a checkpoint, no model file: make one of it with namer-edge export"
        )
    if name_or_path is not None and path.exists():
        return path
    raise ModelFileError(
        f"no model {str(wanted)!r}: give the path of a model file, or the name of a packaged model "
        f"({', '.join(sorted(packaged)) or NO_MODELS})"
    )


def _read_meta(path: Path) -> Any:
    try:
        return json.loads(_read(path, META, LARGEST_META))
    except ValueError as error:
        raise ModelFileError(f"{path}: {META} is no JSON ({error})") from error


def _read(path: Path, file: str, largest: int) -> bytes:
    """One file of a model folder or zip, or of a folder in a zip; `largest` bounds what is read."""
    try:
        if path.is_dir():
            with (path / file).open("rb") as stream:
                return stream.read(largest + 1)
        whole = next((parent for parent in (path, *path.parents) if parent.is_file()), path)
        member = path.relative_to(whole) / file
        with zipfile.ZipFile(whole) as archive, archive.open(member.as_posix()) as stream:
            return stream.read(largest + 1)
    except MemoryError:
        raise  # says nothing of the model
    except (FileNotFoundError, KeyError):
        raise ModelFileError(f"{path}: {file} is missing from the model: copy it again") from None
    except (OSError, zipfile.BadZipFile, EOFError, RuntimeError) as error:
        raise ModelFileError(f"{path}: {file} cannot be read ({error})") from error
    except Exception as error:  # zlib.error and its kin, of a damaged zip
        raise ModelFileError(f"{path}: {file} is damaged ({error})") from error


def check_replaceable(path: Path) -> None:
    """Raises `UsageError` where a model may not be written at `path`.

    It takes the place of an older model or of nothing, never of somebody's other files.
    """
    if not path.exists():
        return
    if path.suffix.lower() == ".zip" and path.is_file():
        if not _is_model(path):
            raise UsageError(f"{path} is there and no model: give a name that is not taken yet")
        return
    if not path.is_dir():
        raise UsageError(f"{path} is a file: give a folder for the model, or a name ending in .zip")
    own = {META}
    if (path / META).is_file():
        own |= {part.file for part in ModelFile._from_meta(path, _read_meta(path)).parts.values()}
    others = sorted(item.name for item in path.iterdir() if item.name not in own)
    if others:
        raise UsageError(
            f"{path} holds other files ({', '.join(others[:3])}): a model is a folder of its own, "
            f"give one that is not there yet, as {path / 'model'}"
        )


def _is_model(path: Path) -> bool:
    """Whether a zip says that it is a model, of whatever version, whole or damaged."""
    try:
        meta = _read_meta(path)
    except ModelFileError:
        return False
    return isinstance(meta, dict) and meta.get("format") == FORMAT


def _check_inside(path: Path, file: str) -> None:
    """Parts lie in the model's own folder, links followed; whatever leads elsewhere is refused."""
    pure = PurePosixPath(file)
    plain = file and "\\" not in file and ":" not in file and not pure.is_absolute()
    inside = plain and ".." not in pure.parts
    if inside and path.is_dir():
        inside = (path / file).resolve().is_relative_to(path.resolve())
    if not inside:
        raise ModelFileError(f"{path}: part {file!r} leaves the model's folder: do not trust it")
