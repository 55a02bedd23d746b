"""`namer-edge train` as a user meets it: what it would do, and what it says when it cannot."""

from pathlib import Path

import pytest

from namer_edge_runtime.command import main


def test_a_dry_run_prints_the_configuration_and_the_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["train", "edge", "epochs=7", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "epochs = 7" in text
    for part in ("encoder", "vat", "pgd", "total"):
        assert part in text
    assert "GFLOPs" in text


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["egde"], 2, "no configuration 'egde'"),
        (["edge", "epoch=3"], 2, "did you mean 'epochs'"),
        (["edge", "train=nowhere.npz", "output=OUT"], 1, "data pack"),
        (["edge", "--resume", "output=OUT"], 1, "no checkpoint to resume from"),
        (["edge", "vocabulary=nowhere.json", "output=OUT"], 2, "vocabulary cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str],
    code: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [a.replace("OUT", str(tmp_path / "run")) for a in arguments]
    assert main(["train", *arguments]) == code
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()
