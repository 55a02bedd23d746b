"""A configuration says what it means, or a typed error says what is wrong with it."""

from pathlib import Path

import pytest

from namer_edge.training.config import TrainConfig, load_config
from namer_edge.training.loop import rate
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


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["epoch=3"], "did you mean 'epochs'"),
        (["epochs"], "key=value"),
        (["epochs=many"], "expected int"),
        (["epochs=0"], "above 0"),
        (["encoder=resnet"], "edge, densenet"),
        (["window=4"], "odd"),
        (["pgd_heads=5"], "divide"),
        (["train=3"], "train"),
        (["widths=32,48,96,192"], r"a list of int, written \[a, b"),
        (["widths=[32, 48]"], "four numbers"),
        (["blocks=[0, 1, 2, -3]"], "four numbers"),
        (["pgd_heads=0"], "above 0"),
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
