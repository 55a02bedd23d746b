"""Bytes of pictures and InkML with anything done to them: a result or a typed error, no crash."""

import io
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.picture.header import read_header
from namer_edge_runtime.picture.load import MAX_MEMORY
from namer_edge_runtime.preprocessing import Preprocessing, padded_size

LOOK = Preprocessing(max_height=128, max_width=256)
EXAMPLES = Path(__file__).parents[2] / "examples"
ROUNDS = 12
"""For each kind of file and of damage."""


def files() -> dict[str, bytes]:
    page = Image.open(EXAMPLES / "half.png").convert("L")
    page.thumbnail((120, 80))
    found = {}
    for format_ in ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF", "PPM"):
        file = io.BytesIO()
        page.save(file, format_)
        found[format_] = file.getvalue()
    return found | {"InkML": (EXAMPLES / "half.inkml").read_bytes()}


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 10)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def change_head(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(4, min(64, len(changed)))] = chance.choice([0, 1, 127, 255])
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def shuffle(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.sample(range(len(data)), 2))
    return data[:a] + data[b:] + data[a:b]


def repeat(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.sample(range(len(data)), 2))
    return data[:b] + data[a:b] * chance.randint(1, 20) + data[b:]


@pytest.mark.parametrize("damage", [change_bytes, change_head, cut, shuffle, repeat])
@pytest.mark.parametrize("kind", files())
def test_damaged_files(
    kind: str, damage: Callable[[bytes, random.Random], bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    whole = files()[kind]
    most = padded_size(LOOK.max_height, LOOK.max_width)
    assert not prepare_input(whole, LOOK).blank
    for number in range(ROUNDS):
        data = damage(whole, random.Random(f"{kind} {damage.__name__} {number}"))
        with suppress(NamerEdgeError):
            prepared = prepare_input(data, LOOK)
            assert all(np.array(prepared.image.shape) <= most)
            assert np.isfinite([prepared.scale, *prepared.offset]).all()
    capfd.readouterr()  # decoders of the formats complain on standard error


@pytest.mark.parametrize("damage", [change_bytes, change_head, shuffle, repeat])
@pytest.mark.parametrize("kind", [kind for kind in files() if kind != "InkML"])
def test_no_picture_is_larger_than_its_header_says(
    kind: str, damage: Callable[[bytes, random.Random], bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    whole = files()[kind]
    for number in range(5 * ROUNDS):
        data = damage(whole, random.Random(f"size {kind} {damage.__name__} {number}"))
        with suppress(NamerEdgeError, cv2.error):
            header = read_header(data)
            if header.memory < MAX_MEMORY:
                pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
                if pixels is not None:
                    assert pixels.shape[0] * pixels.shape[1] <= header.width * header.height
                    assert 2 * pixels.nbytes <= header.memory
    capfd.readouterr()
