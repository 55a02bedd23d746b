"""A configuration says what it means, or a typed error says what is wrong with it."""

from pathlib import Path

import pytest

from namer_edge.training.config import TrainConfig, load_config
from namer_edge.training.schedule import rate
from namer_edge_runtime.errors import ConfigError


def test_a_packaged_config_is_used_by_name_and_overridden() -> None:
    config = load_config("edge", ["epochs=3", "output=runs/mine", 'train=["a.npz", "b.npz"]'])
    assert (config.encoder, config.epochs, config.output) == ("edge", 3, "runs/mine")
    assert config.train == ("a.npz", "b.npz")
    assert config.augmentation.scale == config.scale > 0


def test_a_file_is_read_and_the_rest_are_defaults(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('encoder = "densenet"\nlearning_rate = 1\n')
    config = load_config(str(tmp_path / "my.toml"))
    assert config.encoder == "densenet"
    assert config.learning_rate == 1.0
    assert config.window == TrainConfig().window == 5


def test_keys_have_other_names_too() -> None:
    names = ["symbol_bank=a.npz", "oov=0.1", "k_best=3", "initial=b.safetensors"]
    config = load_config("edge", names)
    assert (config.hands, config.strangers, config.routes) == (("a.npz",), 0.1, 3)
    assert config.init == "b.safetensors"
    assert load_config("edge", ["hands=a.npz", "strangers=0.1", "routes=3"]).hands == config.hands


def test_a_file_upon_a_base_says_only_what_differs(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('base = "edge"\nepochs = 7\nwindow = 3\n')
    (tmp_path / "mine.toml").write_text('base = "base.toml"\nwindow = 7\n')
    mine, edge = load_config(str(tmp_path / "mine.toml"), ["seed=1"]), load_config("edge")
    assert (mine.epochs, mine.window, mine.seed) == (7, 7, 1)
    assert (mine.output, mine.scale) == (edge.output, edge.scale)


def test_bases_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('base = "b.toml"\n')
    (tmp_path / "b.toml").write_text('base = "a.toml"\n')
    with pytest.raises(ConfigError, match="based on each other"):
        load_config(str(tmp_path / "a.toml"))
    (tmp_path / "b.toml").write_text('base = "egde"\n')
    with pytest.raises(ConfigError, match="edge"):
        load_config(str(tmp_path / "a.toml"))
    (tmp_path / "b.toml").write_text("base = 3\n")
    with pytest.raises(ConfigError, match="name another"):
        load_config(str(tmp_path / "a.toml"))


def test_what_a_configuration_reads_with_follows_its_heads() -> None:
    assert load_config("edge").decoding.threshold == load_config("edge").threshold
    only = load_config("edge", ['pgd_parts=["self", "right"]', "epsilon=0.4"]).decoding
    assert (only.left_weight, only.right_weight, only.epsilon) == (0, 1, 0.4)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["epoch=3"], "did you mean 'epochs'"),
        (["epochs"], "key=value"),
        (["epochs=many"], "expected int"),
        (["epochs=0"], "from 1 on"),
        (["encoder=resnet"], "edge, densenet"),
        (["window=4"], "odd"),
        (["pgd_heads=5"], "divide"),
        (["train=3"], "train"),
        (["widths=32,48,96,192"], r"a list of int, written \[a, b"),
        (["widths=[32, 48]"], "four numbers"),
        (["blocks=[0, 1, 2, -3]"], "four numbers"),
        (["pgd_heads=0"], "from 1 to 256"),
        (["pgd_parts=[self]"], "pgd_parts"),
        (['pgd_parts=["self"]'], "at least one of the last two"),
        (['pgd_parts=["left", "middle"]'], "self, left, right"),
        (["left_weight=-1"], "edge weights"),
        (["clip=-1.0"], "clip = -1.0: must be a finite number from 0 on"),
        (["seed=-1"], "seed"),
        (["routes=1000"], "routes = 1000: must be a finite number from 0 to"),
        (["dropout=2.0"], "dropout = 2.0: must be a finite number from 0 to 0.999"),
        (["ema=1"], "ema = 1.0: must be a finite number from 0 to"),
        (["typeset=1.5"], "typeset"),
        (["pen_width=0.0"], "pen_width"),
        (["scale=nan"], "finite"),
        (['pgd_parts=["left"]', "left_weight=0"], "edge weights"),
    ],
)
def test_what_makes_no_sense_is_named(settings: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config("edge", settings)


def test_a_config_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="edge"):
        load_config("egde")
    (tmp_path / "broken.toml").write_text("epochs = = 3")
    with pytest.raises(ConfigError, match="no TOML"):
        load_config(str(tmp_path / "broken.toml"))


def test_the_learning_rate_warms_up_and_falls_like_a_cosine() -> None:
    """As in "Implementation Details": from 0 to 2e-4 over the first epoch, to 2e-7 at the end."""
    config = TrainConfig()
    assert rate(config, 0) == 0
    assert rate(config, 0.5) == pytest.approx(1e-4)
    assert rate(config, 1) == pytest.approx(2e-4)
    assert rate(config, 120.5) == pytest.approx(1e-4, rel=1e-2)
    assert rate(config, 240) == pytest.approx(2e-7)
