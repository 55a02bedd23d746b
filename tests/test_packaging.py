"""What the package promises of itself: licenses, bounds, hosted checks, citation."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import namer_edge_runtime

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WEIGHTS = [
    *sorted((ROOT / "runtime" / "namer_edge_runtime" / "models").iterdir()),
    ROOT / "export" / "checkpoints",
]
MENDED = {
    "opencv-python-headless": "4.12",
    "tqdm": "4.66.3",
    "starlette": "1.3.1",
    "h11": "0.16",
    "python-multipart": "0.0.32",
    "torch": "2.11",
    "onnx": "1.21",
    "ray": "2.55",
    "pillow": "12.3",
    "pytest": "9.0.3",
    "playwright": "1.56",
}
"""Package → the first version without the holes that SECURITY.md names."""


def requirements() -> dict[str, Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    every = map(
        Requirement, [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    )
    return {requirement.name: requirement for requirement in every}


@pytest.mark.parametrize("package", MENDED)
def test_no_version_with_a_known_hole_is_allowed(package: str) -> None:
    bounds = [Version(bound.version) for bound in requirements()[package].specifier]
    assert bounds
    assert max(bounds) >= Version(MENDED[package])
    row = f"| {package} .*| {re.escape(MENDED[package])} \\|"
    assert re.search(row, (ROOT / "SECURITY.md").read_text("utf-8"))


@pytest.mark.parametrize(
    "folder", [path for path in WEIGHTS if path.name != "free-edge"], ids=lambda path: path.name
)
def test_weights_of_crohme_lie_beside_their_license(folder: Path) -> None:
    text = (folder / "LICENSE").read_text("utf-8")
    assert "SPDX-License-Identifier: CC-BY-NC-SA-3.0" in text
    assert "https://creativecommons.org/licenses/by-nc-sa/3.0/" in text
    for source in ("CROHME", "TC-11", "UNIPEN", "pendigits", "UJIpenchars", "Omniglot", "Detypify"):
        assert source in text


def test_the_package_says_both_licenses() -> None:
    assert PROJECT["license"] == "Apache-2.0 AND CC-BY-NC-SA-3.0"
    named = {path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    assert named == {ROOT / "LICENSE", *(folder / "LICENSE" for folder in WEIGHTS[:-1])}
    title, _, rest = (ROOT / "README.md").read_text("utf-8").partition("\n\n")
    assert title == "# namer-edge"
    assert "BY-NC-SA 3.0" in rest.partition("\n## ")[0], "not said under the title"


def test_the_version_is_one() -> None:
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited
    assert cited[1] == namer_edge_runtime.__version__
    assert Version(cited[1])
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(cited[1])} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE)


def loaded(path: str) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_hosted_checks_cover_systems_versions_and_lower_bounds() -> None:
    jobs = loaded(".github/workflows/tests.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert matrix["python"] == [oldest, "3.12", "3.13"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {
        "ubuntu",
        "windows",
        "macos",
    }
    for job in ("tests", "lowest"):
        assert any(step.get("run") == "python -m pytest" for step in jobs[job]["steps"])
    assert any("lowest-direct" in step.get("run", "") for step in jobs["lowest"]["steps"])
    assert jobs["publish"]["if"] == jobs["release"]["steps"][3]["if"] == "github.ref_type == 'tag'"
    assert set(jobs["publish"]["needs"]) >= {"tests", "lowest", "style", "release"}
    hooks = loaded(".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} >= {"ruff-check", "ruff-format", "mypy"}
    for path in re.findall(r"\S+\.py", " ".join(hook["entry"] for hook in hooks)):
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("form", ["bug.yml", "misreading.yml"])
def test_issue_forms_ask_for_what_helps(form: str) -> None:
    fields = loaded(f".github/ISSUE_TEMPLATE/{form}")["body"]
    assert all(field["type"] == "markdown" or field["id"] for field in fields)
    assert any("namer-edge check" in str(field) for field in fields)


def test_the_citation_names_the_paper() -> None:
    cited = loaded("CITATION.cff")
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["authors"]
    paper = cited["references"][0]
    assert paper["title"].startswith("NAMER: ")
    assert len(paper["authors"]) == 9
