"""A training run as one flat table: a TOML file, then `key=value` from the command line."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

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

FORMERLY = {"initial": "init"}
"""Keys that had another name: runs that were begun with it can be resumed by the same command."""


SHARES = (
    *("dropout", "vat_dropout", "label_smoothing", "corrupt", "ema"),
    *("scanned", "cut", "swap", "typeset", "vary", "strangers", "strokes_hidden"),
)
"""Keys that say how often, or which part: from 0 to 1."""
NOT_NEGATIVE = (
    *("margin", "pgd_weight", "threshold", "jitter", "surplus"),
    *("scale", "aspect", "rotation", "shear", "symbol_shift", "symbol_shape", "stroke_shift"),
    *("wave", "ripple", "pen", "final_learning_rate", "warmup_epochs", "weight_decay", "clip"),
    *("seed", "threads", "workers", "evaluate_every", "evaluate_limit", "checkpoint_minutes"),
    *("log_every", "routes"),
)


@dataclass(frozen=True)
class TrainConfig:
    """Every key of a training configuration, with its default."""

    # Data: packs made by `namer-edge data pack`.
    train: tuple[str, ...] = ("runs/data/train.npz",)
    validation: str = "runs/data/test2013.npz"
    vocabulary: str = "crohme"  # a packaged name, or a JSON file of `namer-edge data vocabulary`
    output: str = "runs/edge"
    licence: str = ""  # of the training data, and so of the weights
    init: str = ""  # weights (.safetensors with their JSON) to begin from
    frozen: tuple[str, ...] = ()  # parts that stay as they are: encoder, vat, pgd

    # Look: pixels.
    symbol_height: float = 20.0
    pen_width: float = 2.0
    margin: int = 8
    channels: int = 1  # 3: pictures in color
    stroke_planes: bool = False  # read also how pen strokes were written, where there are any
    strokes_hidden: float = 0.5  # share of the ink that is shown as a picture for all that

    # Architecture.
    model: str = "namer"  # or one of the autoregressive recognizers: dwap, comer …
    encoder: str = "edge"
    widths: tuple[int, ...] = (32, 48, 96, 192)
    blocks: tuple[int, ...] = (0, 1, 2, 3)
    vat_width: int = 192
    pgd_width: int = 192
    pgd_layers: int = 2
    pgd_heads: int = 6
    pgd_feedforward: int = 2
    pgd_parts: tuple[str, ...] = PARTS  # fewer for ablations (table 6)
    dropout: float = 0.1  # in PGD
    vat_dropout: float = 0.0  # of whole channels, before VAT's classes

    # Architecture of autoregressive recognizers (the published widths).
    decoder_width: int = 256
    attention_width: int = 512  # of coverage attention and counting
    decoder_layers: int = 3  # of transformers, as the next two
    decoder_heads: int = 8
    decoder_feedforward: int = 4

    # Targets and losses (paper: a DWAP as teacher, window 5, pgd_weight 0.5, the rest off).
    teacher: str = ""  # weights of a recognizer, or a NAMER, that gives positions; "": the ink does
    window: int = 5
    pgd_weight: float = 0.5
    vat_loss_per_token: bool = False
    label_smoothing: float = 0.0
    threshold: float = 2.0  # recall-first nodes from this probability; above 1: arg max only
    corrupt: float = 0.0
    jitter: float = 0.0
    surplus: float = 0.0

    # Reading: path selection (paper: 0.5, and 1:1).
    epsilon: float = 0.5
    left_weight: float = 1.0
    right_weight: float = 1.0
    routes: int = 0  # most probable paths that are weighed; 0: the longest path is the formula

    # Augmentation of ink (off: the paper's "no augmentation").
    scale: float = 0.0
    aspect: float = 0.0
    rotation: float = 0.0  # degrees
    shear: float = 0.0
    symbol_shift: float = 0.0  # symbol heights
    symbol_shape: float = 0.0  # of each symbol's own slant, turn and stretch
    stroke_shift: float = 0.0  # symbol heights
    wave: float = 0.0  # symbol heights
    ripple: float = 0.0  # symbol heights
    pen: float = 0.0
    scanned: float = 0.0  # share drawn as a scan and prepared as a device would

    # Synthesis from segmented ink: probabilities.
    cut: float = 0.0  # a part of a formula for the whole
    swap: float = 0.0  # another writer's strokes for a symbol
    hands: tuple[str, ...] = ()  # packs whose symbols are swapped in beside the training set's own
    typeset: float = 0.0  # a label set in symbols of many writers for a formula
    vary: float = 0.5  # of these, how many have symbols exchanged for others of their kind
    strangers: float = 0.0  # of these, how many hold a sign that the vocabulary does not know
    labels: tuple[str, ...] = ()  # label files that are set beside the training set's own labels

    # Optimization (paper: Adam, 2e-4 after the first epoch, cosine to 2e-7, batch 32).
    epochs: int = 240
    batch_size: int = 32  # of an update, over all processes
    accumulate: int = 1  # parts that a process takes its share of a batch in
    learning_rate: float = 2e-4
    final_learning_rate: float = 2e-7
    warmup_epochs: float = 1.0
    weight_decay: float = 0.0
    clip: float = 0.0  # largest norm of the gradient; 0: no limit
    ema: float = 0.0  # decay of the averaged weights; 0: none
    qat: bool = False  # fine-tune `init` with the roundings of int8
    seed: int = 0

    # Machine.
    precision: str = "bf16"  # bf16 | fp16 | fp32
    device: str = "auto"  # auto | cpu | cuda
    threads: int = 0  # CPU threads of each process; 0: all it may use
    workers: int = 0  # processes that draw pictures
    evaluate_every: int = 1  # epochs
    evaluate_limit: int = 0  # every n-th formula of the validation set, so many at least; 0: all
    checkpoint_minutes: float = 5.0
    log_every: int = 50  # steps

    def __post_init__(self) -> None:
        choices = {
            "model": ("namer", *AUTOREGRESSIVE_MODELS),
            "encoder": ENCODERS,
            "precision": ("bf16", "fp16", "fp32"),
            "device": ("auto", "cpu", "cuda"),
            "channels": (1, 3),
        }
        for key, allowed in choices.items():
            if getattr(self, key) not in allowed:
                raise ConfigError(
                    f"{key} = {getattr(self, key)!r}: choose one of {', '.join(map(str, allowed))}"
                )
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ConfigError(f"{field.name} = {value}: must be a finite number")
        for key in NOT_NEGATIVE:
            if getattr(self, key) < 0:
                raise ConfigError(f"{key} = {getattr(self, key)}: must not be below 0")
        for key in SHARES:
            if not 0 <= getattr(self, key) <= 1:
                raise ConfigError(f"{key} = {getattr(self, key)}: must be from 0 to 1")
        for key in ("dropout", "vat_dropout", "ema"):
            if getattr(self, key) == 1:
                raise ConfigError(f"{key} = 1: must be below 1, or nothing would be learned")
        counts = ("epochs", "batch_size", "accumulate", "pen_width")
        for key in (*counts, "window", "symbol_height", "learning_rate"):
            if getattr(self, key) <= 0:
                raise ConfigError(f"{key} = {getattr(self, key)}: must be above 0")
        if self.stroke_planes and self.channels != 1:
            raise ConfigError("stroke_planes = true stands beside gray pictures: set channels = 1")
        if self.qat and not self.init:
            raise ConfigError("qat = true fine-tunes a trained model: give init=CHECKPOINT")
        if self.qat and self.model != "namer":
            raise ConfigError(f"qat = true is for NAMER alone, and model = {self.model!r}")
        if self.strangers and self.model != "namer":
            raise ConfigError(
                "strangers is for NAMER alone: other recognizers have no doubts to learn"
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
        if self.routes > MAX_K_BEST:
            raise ConfigError(f"routes = {self.routes}: must not be above {MAX_K_BEST}")
        if self.window % 2 == 0:
            raise ConfigError(f"window = {self.window}: must be odd, it is centerd on a cell")
        for key in ("widths", "blocks"):
            values = getattr(self, key)
            if len(values) != 4 or min(values) < (key == "widths"):
                raise ConfigError(
                    f"{key} = {list(values)}: give four numbers, for H/2, H/4, H/8 and H/16"
                )
        sizes = ("width", "layers", "heads", "feedforward")
        for key in (
            *("vat_width", "attention_width"),
            *(f"{part}_{size}" for part in ("pgd", "decoder") for size in sizes),
        ):
            if getattr(self, key) < 1:
                raise ConfigError(f"{key} = {getattr(self, key)}: must be above 0")
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
        """Of an autoregressive recognizer."""
        return replace(_part(DecoderArchitecture, self), channels=self.preprocessing.inputs)

    @property
    def augmentation(self) -> Augmentation:
        return _part(Augmentation, self)

    @property
    def synthesis(self) -> SynthesisOptions:
        return _part(SynthesisOptions, self)

    @property
    def decoding(self) -> DecodingOptions:
        """How this model is read; a head that there is not weighs nothing."""
        return decoding_of(asdict(self))

    @property
    def candidates(self) -> Candidates:
        return _part(Candidates, self)

    @property
    def loss(self) -> LossOptions:
        return LossOptions(
            self.pgd_weight, self.vat_loss_per_token, self.label_smoothing, self.window
        )


def _part(kind: type[T], config: TrainConfig) -> T:
    """The fields of `kind` that the config has, by name."""
    names = {field.name for field in fields(kind)} & {  # type: ignore[arg-type]
        field.name for field in fields(TrainConfig)
    }
    return kind(**{name: getattr(config, name) for name in names})


def load_config(name: str, overrides: Sequence[str] = ()) -> TrainConfig:
    """`name`: a TOML file, or one in `namer_edge/configs/`; `overrides`: "key=value" each.

    A file with a key `base` says only what differs from that one: a packaged configuration, or a
    file beside it.

    Raises `ConfigError` for a config that is not there, an unknown key or a value of another type.
    """
    values = dict(_read(name))
    for override in overrides:
        key, separator, text = override.partition("=")
        if not separator:
            raise ConfigError(f"{override!r} is no setting: write key=value")
        values[key.strip()] = _parse(text.strip())
    values = {FORMERLY.get(key, key): value for key, value in values.items()}
    hints = get_type_hints(TrainConfig)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        import difflib

        close = difflib.get_close_matches(unknown[0], hints, 1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(hints)}"
        raise ConfigError(f"unknown key {unknown[0]!r} in the configuration{hint}")
    return replace(TrainConfig(), **{k: _typed(k, v, hints[k]) for k, v in values.items()})


def _read(name: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys of a file, upon those of its `base`; `above` are the files that led here."""
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
    """A value as TOML would read it; bare words are strings."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _typed(key: str, value: Any, hint: Any) -> Any:
    """`value` as the type that the key has."""
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
