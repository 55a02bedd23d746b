"""Table 3 of the paper measured here: `namer-edge benchmark --paper`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.checkpoints.weights import save_weights
from namer_edge.data.labels import Label
from namer_edge.evaluation.samples import Sample
from namer_edge_benchmarks.baselines import Baseline, baselines
from namer_edge_benchmarks.decoded_lengths import load_lengths
from namer_edge_benchmarks.decoder_timing import (
    FORCED,
    FORCED_NAMER,
    OWN_STOP,
    DecoderTiming,
    Picture,
    SearchSetting,
)
from namer_edge_benchmarks.end_to_end import open_whole
from namer_edge_benchmarks.machine import Machine
from namer_edge_benchmarks.namer_stages import run_stages
from namer_edge_benchmarks.table3 import Comparison, compare
from namer_edge_benchmarks.table3_report import PAPER, paper_json, paper_page
from namer_edge_runtime import command
from namer_edge_runtime.bulk.input_files import Source
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import DataError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.small import small
from ..handwriting import written
from .analytic_flops import AnalyticFlops
from .small_baselines import CROHME, small_baselines

LABEL = tuple("\\frac { x ^ { 2 } } { \\sqrt { y } } + 1".split())  # noqa: SIM905


def sample(number: int) -> Sample:
    formula = written(number)
    label = Label(formula.name, " ".join(formula.tokens))
    return Sample(Source(formula.name, formula.source), label)


@pytest.fixture(scope="module")
def found() -> Comparison:
    broken = Sample(Source("torn", error=DataError("torn: cannot be read")), Label("torn", "1"))
    unlabeled = Sample(Source("secret", written(2).source))
    crowded = Sample(Source("crowded", written(2).source), Label("crowded", "1 " * 250))
    samples = [sample(0), broken, sample(1), unlabeled, crowded]
    return compare(small_baselines(), samples, beams=(1, 2))


def test_each_decoder_reads_the_same_pictures_in_every_way(found: Comparison) -> None:
    assert [line.name for line in found.lines] == ["NAMER", *["DWAP"] * 2, *["TreeDecoder"] * 2] + [
        "CoMER"
    ] * 4
    ways = [line.way for line in found.lines if line.name == "CoMER"]
    assert ways[0] == "greedy, cached"
    assert ways[-1] == "beam 2, both directions, uncached"
    for line in found.lines:
        assert len(line.decoder) == len(found.encoder) == 2
        assert all(spent > 0 for spent in line.decoder)
        assert line.decoder_flops > 0


def test_without_weights_formulas_are_as_long_as_their_labels(found: Comparison) -> None:
    lengths = [len(written(number).tokens) for number in (0, 1)]
    for line in found.lines:
        if line.name != "TreeDecoder":
            assert line.steps == lengths
        assert line.stop == (FORCED_NAMER if line.name == "NAMER" else FORCED)


def test_what_cannot_be_compared_is_named(found: Comparison) -> None:
    assert set(found.failed) == {"torn", "secret", "crowded"}
    assert "cells" in found.failed["crowded"]


def test_uncached_decoding_computes_more(found: Comparison) -> None:
    comer = {line.way: line.decoder_flops for line in found.lines if line.name == "CoMER"}
    assert comer["greedy, uncached"] > comer["greedy, cached"]


def test_ratios_and_fps_are_the_papers(found: Comparison) -> None:
    namer, dwap = found.lines[0], found.lines[1]
    assert found.slower_decoding(namer) == found.slower(namer) == 1.0
    assert found.slower_decoding(dwap) == pytest.approx(sum(dwap.decoder) / sum(namer.decoder))
    assert found.fps(dwap) == pytest.approx(1000 / np.mean(np.add(found.encoder, dwap.decoder)))
    # The published figures agree with that definition, and with the ratios that the paper quotes.
    for row in PAPER.values():
        assert 1000 / (row.encoder + row.decoder) == pytest.approx(row.fps, rel=0.005)
    assert PAPER["CoMER"].decoder / PAPER["NAMER"].decoder == pytest.approx(13.7, abs=0.05)
    assert PAPER["NAMER"].fps / PAPER["DWAP"].fps == pytest.approx(1.61, abs=0.005)


def test_page_and_json_tell_how_formulas_end(found: Comparison) -> None:
    page = paper_page(Machine.here(), found)
    assert FORCED in page
    assert "secret: no label" in page
    kept = json.loads(json.dumps(paper_json(Machine.here(), found)))
    assert kept["lines"][1]["paper"]["decoder"] == 35.41
    assert len(kept["lines"][0]["vat"]) == 2


def test_a_namer_that_is_told_the_label_selects_the_labels_own_path() -> None:
    namer = small_baselines().namer.eval()
    with torch.inference_mode():
        f8, f16 = namer.encoder(torch.zeros(1, 1, 64, 128))
    stages = run_stages(namer, DecodingOptions(), f8, f16, lambda: 0.0, LABEL)
    assert stages.tokens == LABEL


def test_a_trained_decoder_stops_by_itself() -> None:
    whole = small_baselines()
    dwap = whole.decoders[0].model
    with torch.no_grad():
        dwap.output.bias[dwap.alphabet.eos] = 1e3  # type: ignore[index,union-attr]
    trained = replace(whole, decoders=(Baseline("dwap", dwap, True),))
    line = compare(trained, [sample(0)], beams=(1,)).lines[1]
    assert line.steps == [0]
    assert line.stop == OWN_STOP


def test_random_weights_write_as_much_as_trained_ones_of_another_encoder(tmp_path: Path) -> None:
    dwap = small("dwap", vocabulary=CROHME)
    with torch.no_grad():  # a decoder that never stops
        dwap.output.bias[dwap.alphabet.eos] = -1e3  # type: ignore[index,union-attr]
    path = tmp_path / "dwap.safetensors"
    save_weights(path, dwap, Preprocessing(), {})
    whole = small_baselines()
    long = replace(whole.decoders[0], lengths=load_lengths({"dwap": path})["dwap"])
    lines = compare(
        replace(whole, decoders=(long, whole.decoders[2])), [sample(0)], beams=(1,)
    ).lines
    assert lines[1].steps == [dwap.longest]
    assert "dwap on encoder edge" in lines[1].stop.lower()
    assert lines[2].steps == [len(written(0).tokens)]
    assert lines[2].stop == FORCED


def test_a_model_file_reads_the_same_from_end_to_end(tiny_model: ModelFile) -> None:
    wholes = open_whole(str(tiny_model.path), 1)
    found = compare(small_baselines(), [sample(0), sample(1)], beams=(1, 10), recognizers=wholes)
    whole = found.wholes[0]
    assert len(whole.milliseconds) == 2
    line = found.lines[1]
    times = sum(found.encoder) + sum(line.decoder)
    assert found.times_as_long(line, whole) == pytest.approx(times / sum(whole.milliseconds))
    page = paper_page(Machine.here(), found)
    assert f"times as long as {whole.name}" in page
    aims = paper_json(Machine.here(), found)["targets"]
    assert [aim["limit"] for aim in aims] == [2.4, 14, *[100] * len(wholes), *[15] * len(wholes)]
    assert all(aim["met"] == (aim["measured"] >= aim["limit"]) for aim in aims)


def test_counts_by_library_and_by_hand_agree() -> None:
    height, width = 64, 160
    paper = baselines({})
    paper.to("cpu")
    ways = [SearchSetting(baseline, 1, True) for baseline in paper.decoders]
    race = DecoderTiming(paper, ways, "cpu")
    picture = Picture("zeros", torch.zeros(1, 1, height, width, dtype=torch.uint8), LABEL)
    analytic = AnalyticFlops(height, width)
    assert race.count(picture) == pytest.approx(analytic.encoder, rel=0.05)
    counted = {line.name: line.decoder_flops for line in race.lines}
    size = paper.decoders[0].model.alphabet.size
    nodes = 2 + len([token for token in LABEL if token != "{"])
    assert counted["NAMER"] == pytest.approx(analytic.namer(nodes, CROHME.size), rel=0.05)
    assert counted["DWAP"] == pytest.approx(analytic.dwap(len(LABEL) + 1, size), rel=0.05)
    assert counted["CoMER"] == pytest.approx(analytic.comer(len(LABEL) + 1, size), rel=0.05)


def test_weights_that_would_not_compare_like_with_like_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "dwap.safetensors"
    save_weights(path, small("dwap", vocabulary=CROHME), Preprocessing(), {})
    with pytest.raises(UsageError, match="encoder=densenet"):
        baselines({"dwap": path})
    with pytest.raises(UsageError, match="those of a dwap"):
        baselines({"comer": path})
    with pytest.raises(UsageError, match="no entrant 'wap'"):
        baselines({"wap": path})
    with pytest.raises(UsageError, match="those of a dwap"):
        baselines({}, lengths={"comer": path})
    with pytest.raises(UsageError, match="no entrant 'namer'"):
        baselines({}, lengths={"namer": path})
    with pytest.raises(UsageError, match="stops by itself"):
        baselines({"dwap": path}, lengths={"dwap": path})


def test_options_that_make_no_sense_are_refused(
    tiny_pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["benchmark", "--paper", str(tiny_pack), "--teacher", "dwap"]) == 2
    assert "write NAME=VALUE" in capsys.readouterr().err
    many = ["--threads", "1", "--threads", "2"]
    assert command.main(["benchmark", "--paper", str(tiny_pack), *many]) == 2
    assert "give --threads once" in capsys.readouterr().err
