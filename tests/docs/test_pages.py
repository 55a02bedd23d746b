"""Pages agree with the code that they are about, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

from .blocks import FENCE, PAGES, ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", ["api", "http"])
def test_pages_made_of_docstrings_are_not_stale(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("griffe")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import make_api  # type: ignore[import-not-found]

    made = getattr(make_api, f"{name}_page")()
    kept = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert kept == made, "docstrings have changed: python docs/make_api.py"


def anchors(page: Path) -> set[str]:
    """Of the page's headings, as they are spelled on the web."""
    text = FENCE.sub("", page.read_text("utf-8"))
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        bare = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(bare.replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_follow_in_one_shell(page: Path) -> None:
    """Who makes an environment and calls its programs by their names has entered it."""
    text = page.read_text("utf-8")
    for made in re.finditer(r"python -m venv (\S+)", text):
        later = text[made.end() :]
        if re.search(r"^(pip|namer-edge|python) ", later, re.MULTILINE):
            assert later.startswith(f" && . {made[1]}/bin/activate\n"), page.name


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in readme, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_guides_are_short(page: Path) -> None:
    longest = {"README.md": 120, "CHANGELOG.md": 300, "CONTRIBUTING.md": 180, "api.md": 1000}
    assert len(page.read_text("utf-8").splitlines()) <= longest.get(page.name, 150)
