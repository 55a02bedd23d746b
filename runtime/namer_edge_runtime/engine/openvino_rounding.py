"""Rounding before sums, which OpenVINO's CPU leaves out of int8 graphs.

Where a convolution's result is rounded to 8 bits, added to another tensor and rounded again, as in
a residual block, the CPU plugin fuses all of it into the convolution and drops the first rounding:
a fifth of the sums then are off by one step. Written as `Round` it is fused too, and kept. Nor is
the zero point added before rounding then, which would cost the fraction bits of a float.
"""

from typing import Any

from openvino import opset8

AS_FLOAT = ("Convert", "Subtract", "Multiply")
"""Operators between a tensor's rounding and its use, in this order but for a second `Convert`."""


def round_before_sums(graph: Any) -> int:
    """The number of roundings of `graph`, an `openvino.Model` read from QDQ, that lead to nothing
    but a sum; each is replaced by operators which the CPU carries out. The results are the same.
    """
    found = 0
    for quantizer in graph.get_ops():
        if quantizer.get_type_name() != "FakeQuantize":
            continue
        end = _dequantized(quantizer)
        if end is None or [user.get_type_name() for user in _users(end)] != ["Add"]:
            continue
        low, high = (quantizer.input_value(side).get_node().data.item() for side in (1, 2))
        step = end.input_value(1)
        steps = quantizer.get_attributes()["levels"] - 1
        lowest = round(low * steps / (high - low))
        counted = opset8.round(opset8.divide(quantizer.input_value(0), step), "half_to_even")
        kept = opset8.clamp(counted, float(lowest), float(lowest + steps))
        for target in end.output(0).get_target_inputs():
            target.replace_source_output(opset8.multiply(kept, step).output(0))
        found += 1
    return found


def _dequantized(quantizer: Any) -> Any:
    """The multiplication with the step that ends a quantizer's way back to float; None where the
    way forks or is another."""
    node = quantizer
    while node.get_type_name() != "Multiply":
        users = _users(node)
        if len(users) != 1 or users[0].get_type_name() not in AS_FLOAT:
            return None
        node = users[0]
    return node


def _users(node: Any) -> list[Any]:
    return [target.get_node() for output in node.outputs() for target in output.get_target_inputs()]
