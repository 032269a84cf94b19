"""The screenshots of the documentation: the report, the live page, the first page and the gallery, in Chromium.

Run it after `make docs`, whose pages it opens, and look at each picture: `python docs/screenshots.py`. Each page is
taken at 1280 and 400 pixels, in light and dark colours. Without errors in the console, and no wider than the screen.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from PIL import Image
from skimage import data

import decisional as ds
from decisional.cli import main

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import browser  # noqa: E402

WIDTHS, THEMES = (1280, 400), ("light", "dark")
PAGES = ROOT / "docs" / "_build" / "html"
SYMBOLS, PACE, CHUNK = 60_000, 4_000, 400  # of the stream: how many, and how many a second


def take() -> None:
    with TemporaryDirectory() as folder, browser.Browser() as chromium:
        os.chdir(folder)
        for name, address in (("landing", "index.html"), ("gallery", "gallery/index.html")):
            for width, theme in sizes():
                page = chromium.open((PAGES / address).as_uri(), width, 1100 if width > 600 else 1400, theme == "dark")
                time.sleep(1.5)
                keep(page, f"{name}_{width}_{theme}")
        report()
        for width, theme in sizes():
            page = chromium.open(
                Path("report.html").resolve().as_uri(), width, 1100 if width > 600 else 1400, theme == "dark"
            )
            zoomed(page)
            keep(page, f"report_{width}_{theme}")
        Image.fromarray(data.camera()[::4, ::4]).save("image.png")
        np.save("field.npy", ds.processes.elementary_ca(110, 200, 150, 1)[50:])
        for line in ("field field.npy --past 4 --match exact", "image image.png --tau 7"):
            kind = line.split()[0]
            assert main([*line.split(), "--report", f"{kind}.html", "--quiet"]) == 0
            page = chromium.open(Path(f"{kind}.html").resolve().as_uri(), 1280, 1150)
            pointed(page, 1)
            keep(page, f"report_{kind}", section=True)
        live(chromium)


def sizes() -> Iterator[tuple[int, str]]:
    return ((width, theme) for width in WIDTHS for theme in THEMES)


def keep(page: browser.Page, name: str, whole: bool = False, section: bool = False) -> None:
    """Write a picture in few colours, once nothing was complained of; of the section of the data alone."""
    assert not page.errors(), page.errors()
    assert page.run("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
    page.screenshot("shot.png", whole=whole)
    shot = Image.open("shot.png").convert("RGB")
    if section:
        page.run("place = document.getElementById('overview').closest('section').getBoundingClientRect()")
        left, right, bottom = page.run("[place.left, place.right, place.bottom]")
        shot = shot.crop((int(left), 0, int(right) + 1, min(int(bottom), shot.height)))
    image = shot.quantize(160, dither=Image.Dither.NONE)
    image.save(ROOT / "docs" / "images" / f"{name}.png", optimize=True)
    print(name, image.size)


def utility() -> ds.utility.Utility:
    return ds.utility.table([[0, 0], [-3, 1]], y=["stay out", "bet on open"], z=["closed", "open"])


def report() -> None:
    """A door that is open for even numbers of hours, and a bet on it."""
    symbols = np.where(ds.processes.even().simulate(6_000, rng=1) == 1, "open", "closed")
    door = pd.Series(symbols, pd.date_range("2024-01-01", periods=symbols.size, freq="h"), name="door")
    selection = ds.selection.select(door)
    choice = ds.DecisionalStates(utility()).fit(selection.machine)
    asked = {"data": "a door, each hour"}
    ds.report.write(
        "report.html", title="A door", asked=asked, command="", series=door, choice=choice, selection=selection
    )


def pointed(page: browser.Page, number: int) -> None:
    """One of the maps, and the pointer on a place of it."""
    page.wait("/Aggregated|Single/.test(document.getElementById('overview').innerText)")
    page.run(f"document.querySelector('[data-map=\"{number}\"]').click()")
    page.run("document.getElementById('overview').closest('section').scrollIntoView()")
    time.sleep(1.5)
    point(page, 0.5, 260)


def zoomed(page: browser.Page) -> None:
    """Two weeks of the data, with a state that is highlighted, and the pointer on a place."""
    page.wait("/Aggregated|Single/.test(document.getElementById('overview').innerText)")
    for _ in range(4):
        page.run("document.querySelector('#overview [data-move=in]').click()")
        time.sleep(0.3)
    page.run('document.querySelector(\'#overview [data-state="1"], #along [data-state="1"]\').click()')
    page.run("document.getElementById('overview').closest('section').scrollIntoView()")
    time.sleep(1.5)
    point(page, 0.55, 110)


def point(page: browser.Page, across: float, down: int) -> None:
    """Put the pointer on a place of the figure."""
    page.run("figure = document.querySelector('#overview [data-part=figure]').getBoundingClientRect()")
    left, top, width = page.run("[figure.left, figure.top, figure.width]")
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=left + across * width, y=top + down)
    time.sleep(0.6)


@contextmanager
def watched() -> Iterator[tuple[str, subprocess.Popen]]:
    """Where a stream is shown, and the program that follows it."""
    ds.processes.even().save("machine.json")
    Path("bet.csv").write_text("U,0,1\nstay out,0,0\nbet on 1,-3,1\n")
    command = [
        sys.executable,
        "-m",
        "decisional",
        "watch",
        "machine.json",
        "--utility",
        "bet.csv",
        "--adapt",
        "--serve",
        "0",
    ]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as program:
        yield program.stderr.readline().decode().split()[-1], program
        program.stdin.close()


def live(chromium: browser.Browser) -> None:
    """A stream that changes twice."""
    even, other = ds.processes.even(), ds.processes.golden_mean()
    parts = [machine.simulate(SYMBOLS // 3, rng=k) for k, machine in enumerate((even, other, even))]
    text = "".join(map(str, np.concatenate(parts).tolist()))
    with watched() as (address, program), ThreadPoolExecutor(1) as feeder:
        pages = {(w, t): chromium.open(address, w, 900 if w > 600 else 1400, t == "dark") for w, t in sizes()}
        fed = feeder.submit(feed, program, text)
        for (width, theme), page in pages.items():
            page.wait(f"now.position > {0.8 * len(text)}", 60.0)
            keep(page, f"live_{width}_{theme}", whole=width > 600)
        fed.result()


def feed(program: subprocess.Popen, text: str) -> None:
    """Write a text at the pace of the stream."""
    start = time.monotonic()
    for begin in range(0, len(text), CHUNK):
        program.stdin.write(text[begin : begin + CHUNK].encode())
        program.stdin.flush()
        time.sleep(max(start + begin / PACE - time.monotonic(), 0.0))


if __name__ == "__main__":
    take()
