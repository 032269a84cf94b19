"""Machines, monitors and states that an earlier version saved are loaded, and go on as they did then."""

import json

import pytest

import decisional as ds
import reference
import saved
import saved_models

EXPECTED = json.loads(saved.EXPECTED.read_text())


def test_all_files_are_asked():
    assert list(EXPECTED) == list(saved.files())
    assert {path.name for path in saved.FOLDER.iterdir()} == {*EXPECTED, saved.EXPECTED.name}


@pytest.mark.parametrize("name", EXPECTED)
def test_loaded(name):
    wrong = reference.differences(saved.answers(name), EXPECTED[name])
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("name", EXPECTED)
def test_saved_again(name, tmp_path):
    load, ask = saved.files()[name]
    load(saved.FOLDER / name).save(tmp_path / name)
    twin = load(tmp_path / name)
    assert not reference.differences(reference.plain(ask(twin)), EXPECTED[name])


def test_monitors_of_one_model():
    first, second = (ds.Monitor.load(saved.FOLDER / f"monitor_{name}.json") for name in ("adapting", "relearnt"))
    assert first.same_model(second)
    assert not first.same_model(ds.Monitor.load(saved.FOLDER / "monitor_plain.json"))


@pytest.mark.parametrize("name", saved_models.MODELS)
def test_models_of_states_say_the_same_of_new_data(name):
    expected = json.loads(saved_models.EXPECTED.read_text())
    wrong = reference.differences(saved_models.answers(name), expected[name], tolerance=1e-9)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])
    assert {path.name for path in saved_models.FOLDER.iterdir()} == {
        *(f"{model}.json" for model in saved_models.MODELS),
        saved_models.EXPECTED.name,
    }
