"""Options under their present and their former names, and as a model file has them."""

import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from namer_edge_runtime.decode import DecodingOptions
from namer_edge_runtime.decoding import Decoding

OPTIONS = DecodingOptions(k_best=3, tta_scales=(0.9, 1.2), confidence_threshold=0.5)


def test_former_names_still_work() -> None:
    former = Decoding(routes=3, second_looks=(0.9, 1.2), sure=0.5)  # type: ignore[call-arg]
    assert former == OPTIONS
    assert isinstance(OPTIONS, Decoding)
    assert (OPTIONS.routes, OPTIONS.second_looks, OPTIONS.sure) == (  # type: ignore[attr-defined]
        3,
        (0.9, 1.2),
        0.5,
    )
    once = replace(OPTIONS, second_looks=())  # type: ignore[call-arg]
    assert once == replace(OPTIONS, tta_scales=())
    assert once.k_best == 3
    with pytest.raises(FrozenInstanceError):
        OPTIONS.sure = 0.1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        DecodingOptions(rutes=3)  # type: ignore[call-arg]


def test_a_model_file_keeps_its_keys() -> None:
    stored = OPTIONS.to_json()
    assert set(stored) == {
        *("epsilon", "left_weight", "right_weight", "threshold", "max_nodes"),
        *("routes", "second_looks", "sure"),
    }
    assert DecodingOptions.from_json({**stored, "second_looks": [0.9, 1.2]}) == OPTIONS
    assert pickle.loads(pickle.dumps(OPTIONS)) == OPTIONS
