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


def test_the_cost_is_that_of_the_size_that_is_trained(capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for height in (20, 40):
        assert main(["train", "edge", f"symbol_height={height}", "--dry-run"]) == 0
        lines.append(capsys.readouterr().out.splitlines())
    (small, large) = (text[-6:] for text in lines)
    assert small[0].startswith("96 x 256 pixels")
    assert large[0].startswith("192 x 512 pixels")
    flops = [float(text[1].split()[-2]) for text in (small, large)]
    assert flops[1] == pytest.approx(4 * flops[0], rel=0.01)
    assert "multiply-adds (the paper's table 3: 11.39 G)" in large[-1]
    assert float(large[-1].split()[0]) == pytest.approx(float(large[-2].split()[-2]) / 2, abs=0.01)


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
