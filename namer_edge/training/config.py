"""Training configurations: a flat TOML file, overridden by `key=value` from the command line."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.decode.thresholds import MAX_K_BEST
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.model import DecoderArchitecture
from ..autoregressive.registry import AUTOREGRESSIVE_MODELS
from ..checkpoints.decoding import decoding_of
from ..data.augment import Augmentation
from ..data.synthesis import SynthesisOptions
from ..model.encoder import ENCODERS
from ..model.graph_decoder import PARTS
from ..model.namer import Architecture
from .loss import FREEZABLE, LossOptions
from .targets import Candidates

T = TypeVar("T")

ALIASES = {"initial": "init", "symbol_bank": "hands", "oov": "strangers", "k_best": "routes"}
"""Other names of keys."""
NOT_COMPILED = "none"
COMPILED = ("inductor", "cudagraphs", "aot_eager", "eager")
"""Backends of torch.compile."""
FOUR = "give four numbers, for H/2, H/4, H/8 and H/16"


@dataclass(frozen=True)
class TrainConfig(
    SynthesisOptions, Augmentation, Candidates, LossOptions, DecoderArchitecture, Architecture
):
    """Every key of a training configuration, with its default: those of the parts that it consists
    of, and the run's own. Bounds stand at each field, rules between keys in `__post_init__`."""

    # Data: packs made by `namer-edge data pack`.
    train: tuple[str, ...] = ("runs/data/train.npz",)
    samples: int = bounded(0, 0, inf)  # of an epoch, all typeset from `labels`, if `train` is empty
    validation: str = "runs/data/test2013.npz"
    vocabulary: str = "crohme"  # a packaged name, or a JSON file of `namer-edge data vocabulary`
    output: str = "runs/edge"
    licence: str = ""  # of the training data, and so of the weights
    init: str = ""  # weights (.safetensors with their JSON) to begin from
    model: str = "namer"  # or an autoregressive model: dwap, comer …
    frozen: tuple[str, ...] = ()  # parts that stay as they are: encoder, vat, pgd

    # Preprocessing: pixels.
    symbol_height: float = bounded(20.0, 1e-9, inf)
    pen_width: float = bounded(2.0, 1e-9, inf)
    margin: int = bounded(8, 0, inf)
    channels: int = 1  # 3: pictures in color
    stroke_planes: bool = False  # input planes that show how pen strokes were written
    strokes_hidden: float = bounded(0.5, 0, 1)  # share of the ink that is still shown as pictures

    # Data besides the packs'.
    teacher: str = ""  # weights of a model that gives positions; "": the segmented ink does
    hands: tuple[str, ...] = ()  # symbol bank: packs whose symbols `swap` and `typeset` use too
    labels: tuple[str, ...] = ()  # label files that are typeset besides the training set's labels

    # Path selection (paper: 0.5, and 1:1).
    epsilon: float = 0.5
    left_weight: float = 1.0
    right_weight: float = 1.0
    routes: int = bounded(0, 0, MAX_K_BEST)  # `DecodingOptions.k_best`

    # Optimization (paper: Adam, 2e-4 after the first epoch, cosine to 2e-7, batch 32).
    epochs: int = bounded(240, 1, inf)
    batch_size: int = bounded(32, 1, inf)  # of an update, over all processes
    accumulate: int = bounded(1, 1, inf)  # micro-batches of a process per update
    learning_rate: float = bounded(2e-4, 1e-12, inf)
    final_learning_rate: float = bounded(2e-7, 0, inf)
    warmup_epochs: float = bounded(1.0, 0, inf)
    weight_decay: float = bounded(0.0, 0, inf)
    clip: float = bounded(0.0, 0, inf)  # largest norm of the gradient; 0: no limit
    ema: float = bounded(0.0, 0, 0.999999)  # decay of the averaged weights; 0: none
    qat: bool = False  # fine-tune `init` with the rounding of int8
    seed: int = bounded(0, 0, inf)

    # Machine.
    precision: str = "bf16"  # bf16 | fp16 | fp32
    device: str = "auto"  # auto | cpu | cuda
    threads: int = bounded(0, 0, inf)  # CPU threads of each process; 0: all it may use
    workers: int = bounded(-1, -1, inf)  # processes that draw; -1: none, beside a GPU CPUs - 1
    batch_pixels: int = bounded(0, 0, inf)  # at once on the device, padding too; 0: any number
    checkpointing: bool = False  # activations of `densenet` computed again in the backward pass
    compile: str = NOT_COMPILED  # backend of torch.compile: inductor …
    evaluate_every: int = bounded(1, 0, inf)  # epochs
    evaluate_limit: int = bounded(0, 0, inf)  # formulas to validate at most, roughly; 0: all
    checkpoint_minutes: float = bounded(5.0, 0, inf)
    log_every: int = bounded(50, 0, inf)  # steps

    def __post_init__(self) -> None:
        choices = {
            "model": ("namer", *AUTOREGRESSIVE_MODELS),
            "encoder": ENCODERS,
            "precision": ("bf16", "fp16", "fp32"),
            "device": ("auto", "cpu", "cuda"),
            "channels": (1, 3),
            "compile": (NOT_COMPILED, *COMPILED),
        }
        for key, allowed in choices.items():
            if getattr(self, key) not in allowed:
                raise ConfigError(
                    f"{key} = {getattr(self, key)!r}: choose one of {', '.join(map(str, allowed))}"
                )
        for field in fields(self):
            value = getattr(self, field.name)
            low, high = field.metadata.get("bounds", (-inf, inf))
            if not isinstance(value, int | float) or (
                math.isfinite(value) and low <= value <= high
            ):
                continue
            bounds = f" from {low:g}" + (f" to {high:g}" if high < inf else " on")
            wanted = "a finite number" + (bounds if low > -inf else "")
            raise ConfigError(f"{field.name} = {value}: must be {wanted}")
        if self.stroke_planes and self.channels != 1:
            raise ConfigError("stroke_planes = true stands beside gray pictures: set channels = 1")
        if self.qat and not self.init:
            raise ConfigError("qat = true fine-tunes a trained model: give init=CHECKPOINT")
        if self.qat and self.model != "namer":
            raise ConfigError(f"qat = true is for NAMER alone, and model = {self.model!r}")
        if self.checkpointing and self.encoder != "densenet":
            raise ConfigError(
                f"checkpointing = true is for densenet alone, and encoder = {self.encoder!r}: "
                "give batch_pixels to bound its memory"
            )
        if (self.checkpointing, self.qat, self.compile != NOT_COMPILED).count(True) > 1:
            raise ConfigError(
                "checkpointing, qat and compile exclude each other: rounding and compiled code "
                "would see the activations twice; choose one"
            )
        if self.strangers and self.model != "namer":
            raise ConfigError(
                "strangers is for NAMER alone: autoregressive models learn no unknown signs"
            )
        if self.frozen and (self.model != "namer" or not set(self.frozen) < set(FREEZABLE)):
            raise ConfigError(
                f"frozen = {list(self.frozen)}: choose from {', '.join(FREEZABLE)} of a NAMER, and "
                "leave one to be trained"
            )
        if self.teacher and self.model != "namer":
            raise ConfigError(f"a teacher is for NAMER alone, and model = {self.model!r}")
        connecting = set(self.pgd_parts) & set(PARTS[1:])
        if not connecting or not set(self.pgd_parts) <= set(PARTS):
            raise ConfigError(
                f"pgd_parts = {list(self.pgd_parts)}: choose from {', '.join(PARTS)}, and at least "
                "one of the last two"
            )
        if min(self.left_weight, self.right_weight) < 0 or not any(
            getattr(self, f"{part}_weight") for part in connecting
        ):
            raise ConfigError(
                f"edge weights {self.left_weight}:{self.right_weight}: must not be below 0, and "
                "that of a head that there is above it"
            )
        if self.window % 2 == 0:
            raise ConfigError(f"window = {self.window}: must be odd, it is centered on a cell")
        for key in ("widths", "blocks"):
            values = getattr(self, key)
            if len(values) != 4 or min(values) < (key == "widths"):
                raise ConfigError(f"{key} = {list(values)}: {FOUR}")
        for part in ("pgd", "decoder"):
            width, heads = (getattr(self, f"{part}_{size}") for size in ("width", "heads"))
            if width % heads or width % 4:
                raise ConfigError(
                    f"{part}_width = {width}: must divide by 4 and by {part}_heads, {heads}"
                )
        if self.attention_width % 16:
            raise ConfigError(f"attention_width = {self.attention_width}: must divide by 16")

    @property
    def preprocessing(self) -> Preprocessing:
        return Preprocessing(
            self.symbol_height,
            self.pen_width,
            self.margin,
            channels=self.channels,
            stroke_planes=self.stroke_planes,
        )

    @property
    def architecture(self) -> Architecture:
        return replace(_part(Architecture, self), channels=self.preprocessing.inputs)

    @property
    def decoder(self) -> DecoderArchitecture:
        """Architecture of an autoregressive model."""
        return replace(_part(DecoderArchitecture, self), channels=self.preprocessing.inputs)

    @property
    def augmentation(self) -> Augmentation:
        return _part(Augmentation, self)

    @property
    def synthesis(self) -> SynthesisOptions:
        return _part(SynthesisOptions, self)

    @property
    def decoding(self) -> DecodingOptions:
        """Decoding options of the trained model; the edges of a disabled head have weight 0."""
        return decoding_of(asdict(self))

    @property
    def candidates(self) -> Candidates:
        return _part(Candidates, self)

    @property
    def loss(self) -> LossOptions:
        return _part(LossOptions, self)


def _part(kind: type[T], config: TrainConfig) -> T:
    """The fields of one of the parts of a configuration."""
    return kind(**{field.name: getattr(config, field.name) for field in fields(kind)})  # type: ignore[arg-type]


def load_config(name: str, overrides: Sequence[str] = ()) -> TrainConfig:
    """`name`: a TOML file, or one in `namer_edge/configs/`; `overrides`: "key=value" each.

    A file with the key `base`, a packaged configuration or a file beside it, overrides that one.

    Raises `ConfigError` for a missing configuration, an unknown key, or a value of another type.
    """
    values = dict(_read(name))
    for override in overrides:
        key, separator, text = override.partition("=")
        if not separator:
            raise ConfigError(f"{override!r} is no setting: write key=value")
        values[key.strip()] = _parse(text.strip())
    values = {ALIASES.get(key, key): value for key, value in values.items()}
    hints = get_type_hints(TrainConfig)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        import difflib

        close = difflib.get_close_matches(unknown[0], hints, 1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(hints)}"
        raise ConfigError(f"unknown key {unknown[0]!r} in the configuration{hint}")
    return replace(TrainConfig(), **{k: _typed(k, v, hints[k]) for k, v in values.items()})


def _read(name: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys of a file and of its `base`; `above` are the files whose base this is."""
    if name in above:
        raise ConfigError(f"configurations are based on each other: {' -> '.join([*above, name])}")
    path = Path(name)
    packaged = resources.files("namer_edge") / "configs" / f"{name}.toml"
    try:
        text = path.read_text("utf-8") if path.suffix == ".toml" else packaged.read_text("utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        known = sorted(
            item.name.removesuffix(".toml")
            for item in (resources.files("namer_edge") / "configs").iterdir()
            if item.name.endswith(".toml")
        )
        raise ConfigError(
            f"no configuration {name!r}: give a .toml file or one of {', '.join(known)}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"configuration {name!r} is no TOML: {error}") from None
    base = values.pop("base", None)
    if base is None:
        return values
    if not isinstance(base, str):
        raise ConfigError(f"base = {base!r} in {name!r}: name another configuration")
    beside = str(path.parent / base) if base.endswith(".toml") else base
    return {**_read(beside, (*above, name)), **values}


def _parse(text: str) -> Any:
    """A value in TOML; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _typed(key: str, value: Any, hint: Any) -> Any:
    """`value` converted to the type of the key; raises `ConfigError` if it cannot be."""
    if get_args(hint):
        item = get_args(hint)[0]
        if isinstance(value, str) and item is str:
            return (value,)
        if isinstance(value, list) and all(isinstance(v, item) for v in value):
            return tuple(value)
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif type(value) is hint:
        return value
    expected = hint.__name__
    if get_args(hint):
        expected = f"a list of {get_args(hint)[0].__name__}, written [a, b, …]"
    raise ConfigError(f"{key} = {value!r}: expected {expected}")
