"""Links, pictures and anchors of the documentation lead somewhere, and every picture is shown with a description."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]

FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(`+)(?:(?!\n\n).)+?\1", re.DOTALL)
PICTURE = re.compile(r"!\[([^\[\]]*)\]\(([^()\s]+)\)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
ROLE = re.compile(r"\{(doc|ref)\}`(?:[^`<]*<)?([^`<>]+)>?`")
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def prose(page: Path) -> str:
    """The text without blocks of code and directives."""
    return FENCE.sub("", page.read_text())


def directives(page: Path, name: str) -> list[tuple[str, str]]:
    """The argument and the body of each directive of this name."""
    found = FENCE.findall(page.read_text())
    return [(info.split("}", 1)[1].strip(), body) for _, info, body in found if info.startswith(f"{{{name}}}")]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub and MyST make them."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(page)):
        text = LINK.sub(r"\2", heading).replace("`", "").replace("*", "").lower()
        slug, k = re.sub(r"[^\w\- ]", "", text).replace(" ", "-"), 0
        while (name := slug if k == 0 else f"{slug}-{k}") in found:
            k += 1
        found.add(name)
    return found


def pictures(page: Path) -> list[tuple[str, str]]:
    """The path and the description of every picture of a page."""
    markdown = [(target, alt) for alt, target in PICTURE.findall(prose(page))]
    described = [
        (target, next(iter(re.findall(r"^:alt: *(.+)$", body, re.MULTILINE)), ""))
        for name in ("image", "figure")
        for target, body in directives(page, name)
    ]
    return markdown + described


def is_page(folder: Path, name: str) -> bool:
    """Whether a page is there, or is made of an example; the first one of the gallery is made of its header."""
    if name.startswith("gallery/"):
        return (ROOT / "examples" / f"{name.removeprefix('gallery/')}.py").exists() or name == "gallery/index"
    return (folder / f"{name}.md").exists()


def broken(page: Path) -> list[str]:
    """What a page refers to that is not there."""
    text = SPAN.sub("code", prose(page))
    labels = {label for other in DOCS.glob("*.md") for label in LABEL.findall(prose(other))}
    lost = []
    for _, _, target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page if not path else page.parent / path
        if not file.exists():
            lost.append(target)
        elif page.parent == DOCS and path and DOCS not in file.resolve().parents:
            lost.append(f"{target} (outside the pages that Sphinx builds)")
        elif anchor and anchor not in anchors(file):
            lost.append(target)
    for kind, target in ROLE.findall(prose(page)):
        if not is_page(page.parent, target) if kind == "doc" else target not in labels:
            lost.append(f"{{{kind}}}`{target}`")
    own = [target for target, _ in pictures(page) if not target.startswith("https://")]
    lost += [target for target in own if not (page.parent / target).exists()]
    for _, body in directives(page, "toctree"):
        names = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith(":")]
        lost += [name for name in names if not is_page(page.parent, name)]
    return lost


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_are_described(page: Path) -> None:
    assert [target for target, alt in pictures(page) if len(alt.split()) < 3] == []


def test_every_picture_is_shown() -> None:
    shown = {(page.parent / target).resolve() for page in PAGES for target, _ in pictures(page)}
    assert {path for path in (DOCS / "images").iterdir() if path.resolve() not in shown} == set()


def test_every_page_is_in_the_navigation() -> None:
    bodies = [body for _, body in directives(DOCS / "index.md", "toctree")]
    listed = {line.strip() for body in bodies for line in body.splitlines() if not line.startswith(":")} - {""}
    assert listed == {page.stem for page in DOCS.glob("*.md")} - {"index"} | {"gallery/index"}


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title, `code`\n\n[good](#a-title-code) [bad](#no) [gone](gone.md) `[not](a-link)` {doc}`nowhere` "
        "{ref}`none` [web](https://example.org)\n\n![](gone.png)\n\n```{image} lost.png\n:width: 1px\n```\n"
    )
    assert set(broken(page)) == {"#no", "gone.md", "gone.png", "lost.png", "{doc}`nowhere`", "{ref}`none`"}
    assert [alt for _, alt in pictures(page)] == ["", ""]
