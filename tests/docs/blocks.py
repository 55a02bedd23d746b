"""What the documentation tells its readers to type: fenced blocks, and the commands in them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], key=lambda p: (p.parent != ROOT, p.name)
)
PARSED_ONLY = re.compile(r"<!-- parsed only: .+ -->")
"""Stands over a block whose commands cannot be run on the examples, and says why."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(namer-edge [^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    """Of its first line of content, from 1."""
    language: str
    text: str
    runs: bool
    """It may be run, not only parsed."""


@dataclass(frozen=True)
class Command:
    """One command of a shell block, as words."""

    page: str
    line: int
    words: tuple[str, ...]
    runs: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {shlex.join(self.words)}"

    @property
    def verb_line(self) -> list[str] | None:
        """The arguments of `namer-edge`, however it is started; None where it is another program.

        What the reader is to fill in (…) is left out.
        """
        words = [word for word in self.words if word != "…"]
        if "namer_edge_runtime.command" in words:
            return words[words.index("namer_edge_runtime.command") + 1 :]
        return words[1:] if Path(words[0]).name == "namer-edge" else None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in order."""
    text = page.read_text("utf-8")
    found = []
    for match in FENCE.finditer(text):
        above = text[: match.start()].rstrip().rpartition("\n")[2]
        line = text.count("\n", 0, match.start()) + 2
        name = str(page.relative_to(ROOT))
        found.append(Block(name, line, match[1], match[2], not PARSED_ONLY.fullmatch(above)))
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a shell block: lines that go on are joined, comments and settings of the
    environment dropped, and what `&&`, `|` or `&` joins is taken apart."""
    found = []
    joined, began = "", block.line
    for number, line in enumerate(block.text.splitlines(), block.line):
        began = began if joined else number
        joined += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        words: list[str] = []
        for word in [*shlex.split(joined, comments=True), "&&"]:
            if word in ("&&", "|", "&"):
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words.pop(0)
                if words:
                    found.append(Command(block.page, began, tuple(words), block.runs))
                words = []
            else:
                words.append(word)
        joined = ""
    return found


ALL = [block for page in PAGES for block in blocks(page)]
COMMANDS = [command for block in ALL if block.language == "sh" for command in commands(block)]
MENTIONED = [
    (page.name, match[1])
    for page in PAGES
    for match in INLINE.finditer(re.sub(r"\s*\n\s*", " ", FENCE.sub("", page.read_text("utf-8"))))
]
"""Commands in running text, which may be incomplete."""
