"""Real-valued fields of short simulations: what is known of their equations."""

import numpy as np
import pytest

import decisional as ds


def test_a_lattice_of_maps_is_its_rule():
    field = ds.processes.coupled_map_lattice(7, 5, coupling=0.3, growth=1.7, rng=1, transient=3)
    mapped = 1.0 - 1.7 * field[:-1] ** 2
    for cell in range(7):
        beside = mapped[:, cell - 1] + mapped[:, (cell + 1) % 7]
        np.testing.assert_allclose(field[1:, cell], 0.7 * mapped[:, cell] + 0.15 * beside, atol=1e-14)
    assert np.abs(field).max() <= 1.0


def test_maps_without_coupling_are_alone():
    field = ds.processes.coupled_map_lattice(5, 4, coupling=0.0, growth=2.0, rng=2, transient=0)
    np.testing.assert_allclose(field[1:], 1.0 - 2.0 * field[:-1] ** 2, atol=1e-14)


def test_turbulence_loses_energy_and_no_vorticity():
    field = ds.processes.decaying_turbulence(32, 5, viscosity=2e-3, rng=3, transient=1.0, spacing=0.5)
    assert field.shape == (5, 32, 32)
    np.testing.assert_allclose(field.mean(axis=(1, 2)), 0.0, atol=1e-12)
    assert (np.diff((field**2).mean(axis=(1, 2))) < 0.0).all()


def test_turbulence_without_viscosity_keeps_its_vorticity():
    """Nothing but what the cut of the modes loses."""
    field = ds.processes.decaying_turbulence(48, 2, viscosity=0.0, rng=3, transient=0.0, spacing=0.2)
    square = (field**2).mean(axis=(1, 2))
    assert square[1] == pytest.approx(square[0], rel=1e-3)


def test_a_single_wave_only_decays():
    """Its flow carries none of its vorticity: the exact answer is known."""
    from decisional.machines.flows import _Modes

    modes = _Modes(16, 0.1)
    wave = np.fft.rfft2(np.cos(2 * np.pi * 3 * np.arange(16) / 16)[:, None] + np.zeros(16))
    np.testing.assert_allclose(modes.later(wave, 0.7), wave * np.exp(-0.1 * 9 * 0.7), atol=1e-9)


def test_a_slow_stream_has_no_vortices_and_a_fast_one_has():
    made = {r: ds.processes.vortex_street((36, 90), 2, reynolds=r, rng=1, transient=3000) for r in (10.0, 150.0)}
    # Behind the disc, the vorticity of a symmetric flow is the opposite on both sides.
    odd = {r: np.abs(field[-1] + field[-1, ::-1]).mean() / np.abs(field[-1]).mean() for r, field in made.items()}
    assert odd[10.0] < 0.05 < 0.2 < odd[150.0]
    assert all(np.isfinite(field).all() for field in made.values())


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: ds.processes.coupled_map_lattice(9, 4, rng=seed),
        lambda seed: ds.processes.decaying_turbulence(16, 2, rng=seed, transient=0.1),
        lambda seed: ds.processes.vortex_street((24, 30), 2, rng=seed, transient=5),
    ],
)
def test_seeds_repeat(call):
    np.testing.assert_array_equal(call(1), call(1))
    assert (call(1) != call(2)).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ds.processes.coupled_map_lattice(9, 4, coupling=2), "coupling"),
        (lambda: ds.processes.decaying_turbulence(15, 2), "must be even: use 16"),
        (lambda: ds.processes.vortex_street((24, 30), 2, reynolds=0), "reynolds"),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
