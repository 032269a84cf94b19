"""Pictures and films of many kinds: grey levels, what is lost of colours is told, frames are one field."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import decisional as ds
from decisional import cli

Image = pytest.importorskip("PIL.Image")
GREY = np.random.default_rng(1).integers(0, 256, (6, 8)).astype(np.uint8)


@pytest.mark.parametrize("ending", ["png", "tif", "bmp", "gif"])
def test_grey_pictures_are_their_levels(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"grey.{ending}"
    Image.fromarray(GREY).save(path)
    np.testing.assert_array_equal(ds.read(path), GREY)
    np.testing.assert_array_equal(ds.read(path, "field"), GREY)


def test_photographs(tmp_path: Path) -> None:
    smooth = np.tile(np.arange(0, 240, 10, dtype=np.uint8), (24, 1))
    Image.fromarray(smooth).save(tmp_path / "grey.jpg", quality=95)
    assert np.abs(ds.read(tmp_path / "grey.jpg").astype(int) - smooth).max() < 10


def test_colours_become_luminance_and_that_is_told(tmp_path: Path) -> None:
    colours = np.zeros((2, 3, 3), np.uint8)
    colours[0, 0], colours[0, 1], colours[0, 2] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    for name in ("colour.png", "colour.ppm"):
        Image.fromarray(colours).save(tmp_path / name)
        with pytest.warns(UserWarning, match="is in colour: its luminance is taken"):
            found = ds.read(tmp_path / name, "field")
        np.testing.assert_array_equal(found, [[76, 150, 29], [0, 0, 0]])
    clear = np.dstack([GREY, GREY, GREY, np.full_like(GREY, 255)])
    Image.fromarray(clear).save(tmp_path / "opaque.png")
    np.testing.assert_array_equal(ds.read(tmp_path / "opaque.png"), GREY)
    clear[0, 0, 3] = 0
    Image.fromarray(clear).save(tmp_path / "clear.png")
    with pytest.warns(UserWarning, match="is transparent: its luminance is taken, on white"):
        assert ds.read(tmp_path / "clear.png")[0, 0] == 255


def test_films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    film = (np.random.default_rng(2).integers(0, 2, (12, 10, 9)) * 255).astype(np.uint8)
    frames = [Image.fromarray(frame) for frame in film]
    frames[0].save("film.gif", save_all=True, append_images=frames[1:], loop=0)
    frames[0].save("film.tif", save_all=True, append_images=frames[1:])
    Path("frames").mkdir()
    for k, frame in enumerate(frames):
        frame.save(f"frames/frame{k}.png")
    paths = [f"frames/frame{k}.png" for k in range(12)]
    for data in ("film.gif", "film.tif", "frames", paths):
        np.testing.assert_array_equal(ds.read(data, "field"), film)
        np.testing.assert_array_equal(ds.read(data, levels=2), film // 255)
    with pytest.warns(UserWarning, match=r"in the order of letters, .*frame0.png' to 'frames/frame11.png'"):
        np.testing.assert_array_equal(ds.read(sorted(paths)), film)
    np.testing.assert_array_equal(ds.read(paths[::-1]), film[::-1])
    shown = []
    for files in (["film.gif"], ["frames"], paths):
        assert cli.main(["field", *files, "--levels", "2", "--past", "1", "--future", "2"]) == 0
        shown.append(capsys.readouterr().out)
    assert "12 × 10 × 9 cells" in shown[0]
    assert shown[0].splitlines()[2:] == shown[1].splitlines()[2:] == shown[2].splitlines()[2:]
    Image.fromarray(GREY).save("frames/frame12.png")
    with pytest.raises(ValueError, match=r"The frame .*frame12.png' is of shape \(6, 8\)"):
        ds.read("frames")
    Path("damaged.jpg").write_bytes(b"\xff\xd8\xff nothing")
    with pytest.raises(ValueError, match="is no complete image"):
        ds.read("damaged.jpg")
    Path("text.txt").write_text("0110\n")
    with pytest.raises(ValueError, match="'levels' is for pictures"):
        ds.read("text.txt", levels=2)


# The program that reads films leaves its pipes to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_videos(tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v3")
    pytest.importorskip("imageio_ffmpeg")
    film = np.repeat((np.arange(8)[:, None, None] * 30).astype(np.uint8), 32, axis=1).repeat(32, axis=2)
    imageio.imwrite(tmp_path / "film.mp4", film, fps=10)
    found = ds.read(tmp_path / "film.mp4")
    assert found.shape == (8, 32, 32)
    assert np.abs(found.astype(int) - film).max() < 12


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_pictures_in_pipes(tmp_path: Path) -> None:
    Image.fromarray(GREY).save(tmp_path / "grey.png")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "grey.png").read_bytes()))
    writer.start()
    np.testing.assert_array_equal(ds.read(tmp_path / "pipe", "field"), GREY)
    writer.join()
