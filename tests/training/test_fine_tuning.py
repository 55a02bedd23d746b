"""`namer-edge train edge init=CHECKPOINT`: on one's own ink, with symbols that there were not."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from namer_edge.autoregressive.model import DecoderArchitecture
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge.checkpoints.load_pretrained import load_pretrained
from namer_edge.checkpoints.weights import load_weights, save_weights
from namer_edge.data.formula import Formula
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.render import render

from ..handwriting import VOCABULARY, written
from .conftest import PLAIN, SMALL

SHIPPED = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"
SMILEY = "\\smiley"


def test_a_deeper_encoder_reads_as_the_one_it_grew_from(checkpoint: Path) -> None:
    old, _, _ = load_weights(checkpoint)
    blocks = tuple(count + 1 for count in old.architecture.blocks)
    new = Namer(replace(old.architecture, blocks=blocks), old.vocabulary)
    load_pretrained(new, checkpoint)
    picture = torch.rand(1, 1, 32, 64)
    with torch.no_grad():
        before, after = (model.eval().encode(picture) for model in (old, new))
    assert torch.allclose(before.logits, after.logits, atol=1e-5)
    assert torch.allclose(before.memory, after.memory, atol=1e-5)
    # What is new can be learned: a gradient reaches it.
    new.train().encode(picture).logits.square().sum().backward()
    grown = new.get_parameter(f"encoder.stages.3.blocks.{blocks[3] - 1}.second.norm.weight")
    assert grown.grad is not None
    assert grown.grad.abs().max() > 0
    shallower = Namer(replace(old.architecture, blocks=(0, 0, 0, 0)), old.vocabulary)
    with pytest.raises(ConfigError, match="the configuration asks for"):
        load_pretrained(shallower, checkpoint)


def test_with_stroke_planes_a_model_reads_as_the_one_it_began_from(checkpoint: Path) -> None:
    old, preprocessing, _ = load_weights(checkpoint)
    config = load_config("edge", [*SMALL, "stroke_planes=true"])
    new = Namer(config.architecture, old.vocabulary)
    load_pretrained(new, checkpoint)
    prepared = render(written(5).strokes, replace(preprocessing, stroke_planes=True))
    planes = torch.from_numpy(prepared.planes(config.preprocessing.inputs)[None]).float() / 255
    assert planes[:, 1:].any()
    with torch.no_grad():
        before = old.eval().encode(planes[:, :1])
        after = new.eval().encode(planes)
    assert torch.equal(before.logits, after.logits)
    new.train().encode(planes).logits.square().sum().backward()
    first = new.get_parameter("encoder.stages.0.down.conv.weight")
    assert first.grad is not None
    assert (first.grad[:, 1:].abs().amax((0, 2, 3)) > 0).all(), "all planes can be learned"
    save_weights(checkpoint, new, config.preprocessing, {})
    with pytest.raises(ConfigError, match="the configuration asks for"):
        load_pretrained(Namer(old.architecture, old.vocabulary), checkpoint)


def smiling(formula: Formula) -> Formula:
    """The formula with a face in place of its first symbol."""
    box = formula.boxes[0]
    center, radius = (box[:2] + box[2:]) / 2, float((box[2:] - box[:2]).max()) / 2
    turn = np.linspace(0, 2 * np.pi, 24)
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    face = [circle * radius, circle[2:11] * radius / 2, *(circle[:1] * radius * s for s in (-0.3,))]
    strokes = [np.asarray(line + center, np.float32) for line in face]
    kept = [s for s, owner in zip(formula.strokes, formula.symbols, strict=True) if owner]
    assign_strokes = [owner for owner in formula.symbols if owner]
    return replace(
        formula,
        strokes=[*strokes, *kept],
        symbols=np.array([0] * len(strokes) + assign_strokes, np.int32),
        tokens=(SMILEY, *formula.tokens[1:]),
    )


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A vocabulary of one's own: CROHME's with a face, in another order."""
    symbols = sorted([*VOCABULARY.symbols, SMILEY], reverse=True)
    vocabulary = replace(VOCABULARY, name="mine", symbols=tuple(symbols))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(vocabulary.to_json()), "utf-8")
    return path


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    config = load_config("edge", SMALL)
    namer = Namer(config.architecture, VOCABULARY)
    torch.nn.init.normal_(namer.vat.classify.bias)
    torch.nn.init.normal_(namer.pgd.correct.bias)
    path = tmp_path / "crohme.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": asdict(config)})
    return path


def test_rows_go_where_their_tokens_stand_now(
    mine: Path, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, _, _ = load_weights(checkpoint)
    new = Namer(old.architecture, Vocabulary.load(str(mine)))
    taken = load_pretrained(new, checkpoint)
    assert (taken.new, taken.dropped) == ((SMILEY,), ())
    taken.report(checkpoint)
    assert "1 classes new, to be learned: \\smiley" in capsys.readouterr().err
    for token in ("x", "=", "\\frac", "^"):
        a, b = VOCABULARY.id(token), new.vocabulary.id(token)
        for name in ("vat.classify.weight", "vat.classify.bias", "pgd.token.weight"):
            assert torch.equal(old.state_dict()[name][a], new.state_dict()[name][b])
        assert torch.equal(old.pgd.correct.weight[a], new.pgd.correct.weight[b])
    # What is no visual class: none of VAT; }, <sos>, <eos>; }, delete.
    assert torch.equal(old.vat.classify.weight[-1], new.vat.classify.weight[-1])
    assert torch.equal(old.pgd.token.weight[-3:], new.pgd.token.weight[-3:])
    assert torch.equal(old.pgd.correct.bias[-2:], new.pgd.correct.bias[-2:])
    face = new.vocabulary.id(SMILEY)
    known = old.pgd.token.weight[: old.vocabulary.size].mean(0)
    assert torch.allclose(new.pgd.token.weight[face], known)
    for name, value in old.encoder.state_dict().items():
        assert torch.equal(value, new.encoder.state_dict()[name])


def test_a_symbol_with_other_arguments_is_another_symbol(checkpoint: Path) -> None:
    relations = {**VOCABULARY.relations, "\\sqrt": ("{",)}
    old, _, _ = load_weights(checkpoint)
    new = Namer(old.architecture, replace(VOCABULARY, relations=relations))
    assert load_pretrained(new, checkpoint).new == ("\\sqrt",)


def test_nothing_in_common_is_refused(checkpoint: Path) -> None:
    old, _, _ = load_weights(checkpoint)
    foreign = Namer(old.architecture, Vocabulary("runes", ("ᚠ", "ᚢ"), {}))
    with pytest.raises(ConfigError, match="no token in common"):
        load_pretrained(foreign, checkpoint)


def test_a_teacher_begins_with_the_encoder_of_a_trained_namer(checkpoint: Path) -> None:
    old, _, _ = load_weights(checkpoint)
    same = DecoderArchitecture(
        widths=old.architecture.widths,
        blocks=old.architecture.blocks,
        decoder_width=16,
        attention_width=16,
    )
    teacher = build_autoregressive(same, VOCABULARY)
    load_pretrained(teacher, checkpoint)
    for name, value in old.encoder.state_dict().items():
        assert torch.equal(value, teacher.encoder.state_dict()[name])
    wider = replace(same, widths=(8, 8, 16, 40))
    with pytest.raises(ConfigError, match="another encoder"):
        load_pretrained(build_autoregressive(wider, VOCABULARY), checkpoint)


@pytest.mark.slow
def test_weights_tell_what_they_began_from(pack: Path, tmp_path: Path) -> None:
    """Stopped and resumed, and from weights that began from others in turn."""
    settings = [f'train=["{pack}"]', "validation=", "precision=fp32", *SMALL, *PLAIN]

    def run(name: str, *more: str, resume: bool = False) -> dict[str, Any]:
        output = tmp_path / name
        train(load_config("edge", [*settings, f"output={output}", *more]), resume)
        return load_weights(output / "last.safetensors")[2]

    first = run("first", "epochs=1")
    assert "before" not in first
    begun = [f"init={tmp_path / 'first' / 'last.safetensors'}"]
    second = run("second", "epochs=1", *begun)
    assert second["before"]["sha256"] == first["sha256"]
    assert second["before"]["progress"] == first["progress"]
    assert run("second", "epochs=2", *begun, resume=True)["before"] == second["before"]
    third = run("third", "epochs=1", f"init={tmp_path / 'second' / 'last.safetensors'}")
    assert third["before"]["before"] == second["before"]


@pytest.mark.slow
def test_a_made_up_symbol_is_learned_and_the_others_are_not_forgotten(
    mine: Path, tmp_path: Path
) -> None:
    """The shipped weights, 40 batches of eight formulas, four of which have a face."""
    formulas = [written(number) for number in (0, 8, 11, 13)]
    formulas += [smiling(written(number)) for number in (2, 4, 6, 15)]
    save_pack(tmp_path / "train.npz", Pack(formulas * 40, Report(320), {}))
    save_pack(tmp_path / "faces.npz", Pack(formulas, Report(8), {}))
    settings = [
        *(f"init={SHIPPED}", f"vocabulary={mine}", f"output={tmp_path / 'run'}"),
        *(f'train=["{tmp_path / "train.npz"}"]', f"validation={tmp_path / 'faces.npz'}"),
        *("epochs=1", "batch_size=8", "learning_rate=1.5e-3", "warmup_epochs=0.1", "ema=0.7"),
        *("precision=fp32", "threads=1", *PLAIN),
    ]
    threads = torch.get_num_threads()
    try:
        train(load_config("edge", settings))
    finally:
        torch.set_num_threads(threads)
    namer, _, record = load_weights(tmp_path / "run" / "best.safetensors")
    assert SMILEY in namer.vocabulary
    assert record["validation"]["exprate"] >= 87  # all but one at most, four of them with a face
