"""The documents: their links lead somewhere, the paths in them exist, and the first one is short."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from repository import ROOT

HIDDEN = re.compile(r"\.(?!github\b)")  # environments and caches, but not .github
MADE = {"build", "dist", "demo-output"}
LONGEST_README = 200
FOLDERS = (".", "perceptron_core", "jobs", "configs", "configs/experiments", "scripts", "tests")

FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
SOURCE = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.(?:pyx|pxd|pxi|py|sh|json|ya?ml|cfg|toml|conf|svg|css)")


class Target(NamedTuple):
    document: Path
    address: str


def name(value: object) -> str:
    if isinstance(value, Target):
        return f"{value.document.relative_to(ROOT)}: {value.address}"
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


def documents() -> list[Path]:
    found = [path for path in ROOT.rglob("*.md") if not unwanted(path.relative_to(ROOT))]
    return sorted(found)


def unwanted(path: Path) -> bool:
    return path.parts[0] in MADE or any(HIDDEN.match(part) for part in path.parts)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose(path: Path) -> str:
    """The document without its blocks of code."""
    return FENCE.sub("", text_of(path))


def links(path: Path) -> Iterator[str]:
    """The relative ones; what stands in code is not a link, though a link may be around code."""
    without_code = CODE.sub(lambda found: "" if "](" in found[2] else found[0], prose(path))
    for address in LINK.findall(without_code):
        if not re.match(r"[a-z]+:", address):
            yield address


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them: repeated ones are numbered."""
    seen: Counter[str] = Counter()
    made = set()
    for heading in HEADING.findall(prose(path)):
        shown = LINK.sub(lambda found: found[0].lstrip("!")[1 : found[0].index("](")], heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        made.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return made


def sources(path: Path) -> set[str]:
    """What a document names in backticks that looks like the path of one of our files, from the top of the repository
    or from the document's own folder."""
    spans = (found[2].strip() for found in CODE.finditer(prose(path)))
    return {
        span for span in spans if SOURCE.fullmatch(span) and any((f / span.split("/")[0]).is_dir() for f in bases(path))
    }


def bases(path: Path) -> tuple[Path, Path]:
    return ROOT, path.parent


LINKS = [Target(document, address) for document in documents() for address in links(document)]
SOURCES = [Target(document, path) for document in documents() for path in sorted(sources(document))]


def test_the_documents_are_found() -> None:
    assert {ROOT / folder / "README.md" for folder in FOLDERS} <= set(documents())
    assert ROOT / ".github" / "CONTRIBUTING.md" in documents()
    assert len(LINKS) > 50 and len(SOURCES) > 10


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_that_a_reader_opens_explains_itself(folder: str) -> None:
    assert text_of(ROOT / folder / "README.md").startswith("# ")


@pytest.mark.parametrize("target", LINKS, ids=name)
def test_a_link_leads_to_a_file_and_a_heading_that_are_there(target: Target) -> None:
    path, _, anchor = unquote(target.address).partition("#")
    file = (target.document.parent / path).resolve() if path else target.document
    assert file.exists() and ROOT in (file, *file.parents)
    if anchor:
        assert anchor in anchors(file)


@pytest.mark.parametrize("target", SOURCES, ids=name)
def test_a_path_in_backticks_is_that_of_a_file(target: Target) -> None:
    assert any((folder / target.address).is_file() for folder in bases(target.document))


def test_the_readme_is_short() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= LONGEST_README


@pytest.mark.parametrize("document", documents(), ids=name)
def test_a_document_tells_nothing_of_the_machine_it_was_written_on(document: Path) -> None:
    assert not re.search(r"(?<![\w.])/(?:work|tmp|home|root)/", text_of(document))


def test_links_and_anchors_are_read_as_github_reads_them(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text(
        "# A `b`: c, d-e\n## Twice\n## Twice\n```\n# no heading\n[no](link)\n```\n"
        "[one](x.md#y) ![two](z.svg) [`three`](t) `[no](code)` [out](https://example.org) [a [b]](c)\n",
        encoding="utf-8",
    )
    assert anchors(document) == {"a-b-c-d-e", "twice", "twice-1"}
    assert list(links(document)) == ["x.md#y", "z.svg", "t", "c"]
