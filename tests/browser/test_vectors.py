"""The package's twins, its kernels and the browser's module say the same of the same inputs."""

import base64
import gzip
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.decode import warm_up

from .conftest import Site
from .vectors import PATH, vectors

HERE = Path(__file__).parent
IN_NODE = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [checker, folder, path] = process.argv.slice(1);
const { check } = await import(pathToFileURL(checker));
const load = (name) => import(new URL(name, pathToFileURL(`${folder}/`)));
console.log(JSON.stringify(await check(load, JSON.parse(readFileSync(path)))));
"""
IN_BROWSER = """async (vectors) => {
  const { check } = await import("./vectors.mjs");
  return check((name) => import(new URL(`page/namer-edge/${name}`, location)), vectors);
}"""


def kept() -> Any:
    return json.loads(PATH.read_text("utf-8"))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            unpacked(v) == unpacked(other[key]) if key == "image" else same(v, other[key])
            for key, v in one.items()
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def unpacked(image: str) -> bytes:
    return gzip.decompress(base64.b64decode(image))


@pytest.mark.parametrize("plain", [True, False], ids=["twins", "kernels"])
def test_the_package_still_says_so(plain: bool) -> None:
    assert plain or warm_up().compiled
    assert same(json.loads(json.dumps(vectors(plain))), kept()), "python -m tests.browser.vectors"


def in_node(module: Path, path: Path) -> Any:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node is installed")
    (module / "namer-edge" / "package.json").write_text('{"type": "module"}')
    command = [node, "--input-type=module", "-e", IN_NODE]
    files = [HERE / "vectors.mjs", module / "namer-edge", path]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_module_says_so_in_node(module: Path) -> None:
    assert in_node(module, PATH) == []


def test_a_wrong_answer_is_seen(module: Path, tmp_path: Path) -> None:
    """The comparison itself can fail."""
    wrong = kept()
    wrong["selection"][0]["hypotheses"][0]["score"] += 1e-3
    wrong["drawing"][0]["size"][1] += 1
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(wrong))
    assert {room for room, *_ in in_node(module, path)} == {"drawing", "selection"}


def test_the_module_says_so_in_chromium(chromium: Any, module: Path, site: Site) -> None:
    shutil.copytree(module, site.folder / "page")
    shutil.copy(HERE / "vectors.mjs", site.folder)
    page = chromium.new_page()
    page.goto(site.url)
    assert page.evaluate(IN_BROWSER, kept()) == []
    page.close()
