"""Reader of InkML: pen strokes, their symbols, and the MathML tree that holds the symbols.

The reader is lenient, because files in the wild are: any text encoding, any namespace or none,
no `traceFormat`, more channels than declared or fewer, strokes of one point, references to
strokes that do not exist. Unusable files raise an `InkError` that names file and reason.
"""

import html
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import InkError
from .strokes import Strokes
from .traces import read_traces

Source = str | Path | bytes | IO[bytes]

LARGEST_FILE = 1 << 24
"""Bytes of an InkML file: an element takes up to some twenty times its bytes once it is read."""
EMPTY = "the file is empty"
"""Reason in the error for a file of no bytes."""
DEEPEST_MATH = 200
"""Levels of MathML; a tree that is nested deeper is left out, the strokes are read all the same."""

_XML_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_DECLARATIONS = re.compile(r"<\?xml\s[^>]*\?>")
_SECOND_ROOT = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_PREFIX = re.compile(r"(</?|\s)(?!xml:)[A-Za-z_][\w.-]*:(?=[A-Za-z_])")


@dataclass(frozen=True)
class MathNode:
    """One element of a presentation MathML tree: tag without namespace, own text, `xml:id`."""

    tag: str
    text: str = ""
    identifier: str | None = None
    children: tuple["MathNode", ...] = ()


@dataclass(frozen=True)
class Symbol:
    """One symbol group of the ink.

    `strokes` are indices into `Ink.strokes`; references to strokes that do not exist are left
    out. `href` is the `xml:id` of the MathML element that the symbol is, where the file says so.
    """

    label: str
    strokes: tuple[int, ...]
    href: str | None = None


@dataclass(frozen=True)
class Ink:
    """One InkML file: strokes float32 [points, 2] as (x, y) in the file's own units, y down.

    `annotations` are those of the whole file, by type (`truth`, `writer`, …).
    """

    name: str
    strokes: Strokes
    symbols: tuple[Symbol, ...] = ()
    math: MathNode | None = None
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def truth(self) -> str | None:
        """The raw LaTeX that the file gives for itself."""
        return self.annotations.get("truth")


def read_inkml(source: Source, name: str | None = None) -> Ink:
    """Read one InkML file given as path, bytes or open binary file.

    Raises `InkError` when it cannot be opened, is no XML (empty and truncated files too), or
    holds no strokes.
    """
    if isinstance(source, bytes):
        data, name = source, name or "ink"
    elif isinstance(source, (str, Path)):
        name = name or Path(source).stem
        try:
            data = Path(source).read_bytes()
        except OSError as error:
            raise InkError(f"{source}: cannot be opened ({error.strerror or error})") from error
    else:
        name = name or Path(str(getattr(source, "name", "ink"))).stem
        data = source.read()
    root = _parse(data, name)
    return _ink(root, name)


def iterate_ink(source: str | Path | bytes) -> Iterator[tuple[str, Ink | InkError]]:
    """Every InkML file of a folder (searched through), a zip (path or bytes) or a single file.

    Yields (name, ink) in the order of the names; a file that cannot be read comes as its
    `InkError` instead, so that nothing is dropped in silence. Raises `InkError` when `source`
    itself is not there, is a broken zip, or holds no InkML at all.
    """
    if isinstance(source, bytes):
        yield from _iterate_zip(io.BytesIO(source), "zip")
        return
    path = Path(source)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() == ".inkml")
        if not files:
            raise InkError(f"{path}: no .inkml file in this folder")
        for file in files:
            yield file.stem, _attempt(file, file.stem)
    elif not path.exists():
        raise InkError(f"{path}: not there; give a folder, a zip or an .inkml file")
    elif zipfile.is_zipfile(path):
        yield from _iterate_zip(path, str(path))
    elif path.suffix.lower() == ".zip":
        raise InkError(f"{path}: not a zip file, or a damaged one; fetch or pack it again")
    else:
        yield path.stem, _attempt(path, path.stem)


def _iterate_zip(file: Path | IO[bytes], place: str) -> Iterator[tuple[str, Ink | InkError]]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        raise InkError(f"{place}: not a readable zip ({error})") from error
    with archive:
        members = sorted(m for m in archive.namelist() if m.lower().endswith(".inkml"))
        # macOS adds shadow files of its own to zips; they carry no ink.
        members = [m for m in members if not m.startswith("__MACOSX/")]
        if not members:
            raise InkError(f"{place}: no .inkml file in this zip")
        for member in members:
            name = Path(member).stem
            if archive.getinfo(member).file_size > LARGEST_FILE:
                yield name, InkError(f"{name}: more than {LARGEST_FILE >> 20} MiB, too large")
                continue
            try:
                data = archive.read(member)
            except Exception as error:  # zipfile raises many kinds for a damaged member
                yield name, InkError(f"{name}: cannot be unpacked ({error})")
                continue
            yield name, _attempt(data, name)


def _attempt(source: Path | bytes, name: str) -> Ink | InkError:
    try:
        return read_inkml(source, name)
    except InkError as error:
        return error


def _parse(data: bytes, name: str) -> ElementTree.Element:
    """The XML tree of `data`, parsed as it is where possible, else after `_mend`; several documents
    in one file become parts of one tree."""
    if len(data) > LARGEST_FILE:
        raise InkError(f"{name}: more than {LARGEST_FILE >> 20} MiB of InkML: split the file")
    if not data.strip(b"\x00 \t\r\n"):
        raise InkError(f"{name}: {EMPTY}")
    try:
        return _tree(data, name)
    except (ElementTree.ParseError, LookupError, ValueError):
        pass
    text = _mend(data)
    try:
        try:
            return _tree(text, name)
        except ElementTree.ParseError as error:
            if error.code != _SECOND_ROOT:
                raise
            return _tree(f"<parts>{_DECLARATIONS.sub('', text)}</parts>", name)
    except (ElementTree.ParseError, ValueError) as error:
        raise InkError(f"{name}: not readable as XML, or cut short ({error})") from error


class _RootFoundError(Exception):
    """All declarations of a file have been read."""


def _tree(data: bytes | str, name: str) -> ElementTree.Element:
    """Raises `InkError` where the DOCTYPE declares entities or attributes: what these stand for may
    come again with each use, and fill the memory from a few bytes."""

    def refuse(*_: object) -> None:
        raise InkError(f"{name}: declares entities or attributes of its own: remove its DOCTYPE")

    def stop(*_: object) -> None:
        raise _RootFoundError

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = parser.AttlistDeclHandler = refuse
    parser.StartElementHandler = stop
    with suppress(_RootFoundError, expat.ExpatError):
        parser.Parse(data, True)
    return ElementTree.fromstring(data)


def _mend(data: bytes) -> str:
    """The text of a malformed file with encoding, entities and namespaces corrected."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            # A stray byte that is no UTF-8 is nearly always Latin-1 (a middle dot in MathML).
            text = data.decode("latin-1")
    text = _NOT_XML.sub("", _DECLARATION.sub("", text)).strip()
    text = _ENTITY.sub(_entity, text)
    return _PREFIX.sub(r"\1", text)


def _entity(match: re.Match[str]) -> str:
    """The character of a named MathML entity, since no DTD declares it here."""
    return match[0] if match[1] in _XML_ENTITIES else html.escape(html.unescape(match[0]))


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1].rsplit(":", 1)[-1]


def _attribute(element: ElementTree.Element, name: str) -> str | None:
    value = element.get(name)
    if value is not None:
        return value
    return next((v for k, v in element.attrib.items() if _local(k) == name), None)


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()


def _ink(root: ElementTree.Element, name: str) -> Ink:
    for element in root.iter():
        if isinstance(element.tag, str):  # comments have a function there
            element.tag = _local(element.tag)
            for key in [key for key in element.attrib if _local(key) != key]:
                element.attrib.setdefault(_local(key), element.attrib.pop(key))
    try:
        strokes, index = read_traces(root)
    except InkError as error:
        raise InkError(f"{name}: {error}") from error
    if not strokes:
        raise InkError(f"{name}: no strokes in this InkML file")
    annotations: dict[str, str] = {}
    for element in root.findall("annotation"):
        annotations.setdefault(element.get("type", ""), _text(element))
    math = next(root.iter("math"), None)
    return Ink(
        name=name,
        strokes=strokes,
        symbols=_symbols(root, index),
        math=None if math is None or _deep(math) else _math(math),
        annotations=annotations,
    )


def _symbols(root: ElementTree.Element, index: dict[str, tuple[int, ...]]) -> tuple[Symbol, ...]:
    """The symbols of the innermost trace groups; outer groups describe the segmentation only."""
    symbols = []
    for group in root.iter("traceGroup"):
        if group.find("traceGroup") is not None:
            continue
        references = [_attribute(view, "traceDataRef") for view in group.findall("traceView")]
        references += [_attribute(trace, "id") for trace in group.findall("trace")]
        known = {n for r in references if r for n in index.get(r.rpartition("#")[2], ())}
        label = next((_text(a) for a in group.findall("annotation")), "")
        links = (_attribute(a, "href") for a in group.findall("annotationXML"))
        href = next((link for link in links if link), None)
        symbols.append(Symbol(label, tuple(sorted(known)), href))
    return tuple(symbols)


def _deep(element: ElementTree.Element) -> bool:
    level = [element]
    for _ in range(DEEPEST_MATH):
        level = [child for parent in level for child in parent]
    return bool(level)


def _math(element: ElementTree.Element) -> MathNode:
    children = tuple(_math(child) for child in element if isinstance(child.tag, str))
    return MathNode(element.tag, _text(element), _attribute(element, "id"), children)
