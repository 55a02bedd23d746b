"""A record names the processor's int8 unit and says where int8 figures cannot be trusted."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from namer_edge_benchmarks.machine import Machine
from namer_edge_runtime.engine.int8_sums import WITHOUT, int8_unit


def test_a_record_names_the_int8_unit_and_the_outcome_of_the_probe() -> None:
    machine = Machine.here()
    assert machine.int8_unit == int8_unit()
    assert machine.int8_sums["onnxruntime"] in ("exact", "saturated")
    assert f"int8 unit {int8_unit()}, int8 sums " in machine.text()


@pytest.mark.parametrize(("sums", "told"), [("saturated", True), ("exact", False)])
def test_a_record_without_exact_sums_says_so_on_its_page(sums: str, told: bool) -> None:
    machine = replace(Machine.here(), int8_sums={"onnxruntime": sums})
    assert (WITHOUT in machine.text()) == told
