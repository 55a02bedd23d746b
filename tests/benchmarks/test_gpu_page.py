"""The GPU page: what it says without a GPU, and what it measures where one is played."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from namer_edge_benchmarks import gpu_memory as memory
from namer_edge_benchmarks import gpu_page
from namer_edge_benchmarks.configuration import Configuration, Row
from namer_edge_benchmarks.machine import Machine
from namer_edge_runtime.command import main

CHECKPOINT = "export/checkpoints/crohme-edge.safetensors"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    here = replace(Machine.here(), gpu=None)
    monkeypatch.setattr(Machine, "here", lambda: here)
    return here


def test_without_a_gpu_the_page_says_so(
    machine: Machine, tmp_path: Path, tiny_pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "gpu.md"
    told = ["benchmark", "gpu", str(tiny_pack), "--checkpoint", CHECKPOINT, "--markdown", str(out)]
    assert main(told) == 0
    assert "No NVIDIA GPU was had" in out.read_text("utf-8")
    assert "crohme-edge" in capsys.readouterr().out


def test_with_one_each_export_is_read_at_each_batch(
    machine: Machine, tiny_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exports: list[list[str]] = []

    def export(words: list[str]) -> int:
        exports.append(words)
        return 0

    def row(trial: Configuration) -> Row:
        return Row(trial, error="no driver")

    monkeypatch.setattr(Machine, "here", lambda: replace(machine, gpu="a GPU"))
    monkeypatch.setattr(gpu_page, "main", export)
    monkeypatch.setattr(gpu_page, "in_own_process", row)
    assert main(["benchmark", "gpu", str(tiny_pack), "--checkpoint", CHECKPOINT]) == 1
    assert [words[3] for words in exports] == ["fp32", "fp16"]


def test_memory_on_a_gpu_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    held = f"1, 900\n{os.getpid()}, 512\n{os.getpid()}, 100\n"
    monkeypatch.setattr(memory, "output_of", lambda command: held)
    assert memory.gpu_memory() == 612
    monkeypatch.setattr(memory, "output_of", lambda command: None)
    assert memory.gpu_memory() is None
