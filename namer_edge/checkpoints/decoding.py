"""The decoding options of a checkpoint, from the configuration of its run."""

from collections.abc import Mapping
from typing import Any

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import CheckpointError, ModelFileError

from ..model.graph_decoder import PARTS


def decoding_of(config: Mapping[str, Any]) -> DecodingOptions:
    """Options by the `config` in a checkpoint's JSON; keys that older ones lack have defaults, and
    the edges of heads that the model lacks have weight 0."""
    keys = ("epsilon", "left_weight", "right_weight", "threshold", "routes")
    values = {key: config[key] for key in keys if key in config}
    absent = set(PARTS[1:]) - set(config.get("pgd_parts", PARTS))
    try:
        return DecodingOptions.from_json({**values, **{f"{part}_weight": 0.0 for part in absent}})
    except ModelFileError as error:
        raise CheckpointError(f"the configuration of the checkpoint: {error}") from None
