"""Policy files: damage is noticed, and whatever a file holds, it is a policy or a `PolicyError`."""

import contextlib
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands.baselines.players import network as policies
from manyhands.core.env import PolicyError

SHIPPED = sorted(
    Path(str(resources.files("manyhands") / "assets" / "policies")).rglob("*.safetensors")
)
SMALL = next(path for path in SHIPPED if path.name == "cramped_room-ippo.safetensors")


@pytest.fixture(scope="module")
def env():
    return manyhands.make("kitchen", layout="cramped_room")


def contents(path):
    """(arrays, metadata without the checksum)."""
    return policies.read_tensors(path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_shipped_policies_have_a_checksum(path, tmp_path):
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert len(header["__metadata__"]["checksum"]) == 32
    policies.write_tensors(tmp_path / "again.safetensors", *contents(path))
    assert (tmp_path / "again.safetensors").read_bytes() == data


def test_flipped_bits_are_noticed(tmp_path):
    data, path = SMALL.read_bytes(), tmp_path / "p.safetensors"
    size = 8 + int.from_bytes(data[:8], "little")
    rng = np.random.default_rng(0)
    places = [*rng.integers(size, len(data), 40), *rng.integers(0, size, 40)]
    noticed = 0
    for place in places:
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        try:
            policies.load(path)
        except PolicyError:
            noticed += 1
        else:  # a blank in the header may be another blank
            assert place < size and contents(path)[1] == contents(SMALL)[1]
    assert noticed >= 75


def test_files_from_before_checksums_are_loaded(env, tmp_path):
    data, path = SMALL.read_bytes(), tmp_path / "p.safetensors"
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    del header["__metadata__"]["checksum"]
    old = json.dumps(header).encode()
    path.write_bytes(len(old).to_bytes(8, "little") + old + data[8 + size :])
    before, now = policies.load(path, env), policies.load(SMALL, env)
    a, b = policies.tensors_of(before.params), policies.tensors_of(now.params)
    assert a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(env, tmp_path, value):
    path = tmp_path / "p.safetensors"
    tensors, metadata = contents(SMALL)
    for chosen in (list(tensors), [next(iter(tensors))]):
        bad = {n: np.full_like(t, value) if n in chosen else t for n, t in tensors.items()}
        policies.write_tensors(path, bad, metadata)
        with pytest.raises(PolicyError, match="no numbers"):
            policies.load(path, env)


def forged(path, change):
    """A file whose description `change` was made to, with a checksum that fits."""
    tensors, metadata = contents(SMALL)
    about = json.loads(metadata["about"])
    about = change(about) or about
    policies.write_tensors(path, tensors, metadata | {"about": json.dumps(about)})
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda a: [a],
        lambda a: a["network"].update(width="64"),
        lambda a: a["network"].update(width=10**12),
        lambda a: a["network"].update(layers=10**9),
        lambda a: a["network"].update(layers=True),
        lambda a: a["network"].update(activation=["tanh"]),
        lambda a: a["network"].update(recurrent=[]),
        lambda a: a["network"].update(depth=1),
        lambda a: a.update(network=None),
        lambda a: a.update(reads={}),
        lambda a: a.update(spec=[]),
        lambda a: a["spec"].update(config=[1]),
        lambda a: a["spec"].update(config="layout"),
        lambda a: a["spec"].update(env={"id": 3}),
        lambda a: a["spec"].update(version=7),
        lambda a: a.update(snapshots=float("inf")),
        lambda a: a.update(snapshots=-1),
        lambda a: a.update(snapshots=3),
        lambda a: a.update(greedy="no"),
        lambda a: a.pop("algorithm"),
    ],
)
def test_forged_descriptions_are_policy_errors(env, tmp_path, change):
    def changed(about):
        result = change(about)
        return result if isinstance(result, list) else None

    with pytest.raises(PolicyError):
        policies.load(forged(tmp_path / "p.safetensors", changed), env)


def test_forged_names_of_arrays_are_policy_errors(env, tmp_path):
    path = tmp_path / "p.safetensors"
    tensors, metadata = contents(SMALL)
    one = np.zeros(3, np.float32)
    for extra in ({"mean/deeper": one}, {"network": one}, {"": one}, {"more": one}):
        policies.write_tensors(path, tensors | extra, metadata)
        with pytest.raises(PolicyError):
            policies.load(path, env)
    for about in ("", "[" * 100_000, "{", '"text"', "\ud800", "1e999", "null"):
        with pytest.raises((PolicyError, UnicodeEncodeError)):
            policies.write_tensors(path, tensors, metadata | {"about": about})
            policies.load(path, env)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([10**30, -1, 2**31, "kitchen", "vector", "perception", "tanh"])
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_field_replaced_by_anything_is_a_policy_or_an_error(env, tmp_path_factory, data):
    def change(about):
        at = about
        while True:
            key = data.draw(st.sampled_from(sorted(at)))
            if not (isinstance(at[key], dict) and at[key]) or data.draw(st.booleans()):
                break
            at = at[key]
        at[key] = data.draw(JSON)

    path = tmp_path_factory.getbasetemp() / "forged.safetensors"
    with contextlib.suppress(PolicyError):
        policies.load(forged(path, change), env)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_header_is_a_policy_or_an_error(tmp_path_factory, data):
    whole = SMALL.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    name = data.draw(st.sampled_from(sorted(header)))
    field = data.draw(st.sampled_from(sorted(header[name])))
    header[name][field] = data.draw(JSON | st.sampled_from(["F64", "BF16", "F8_E5M2", "I8", [0]]))
    raw = json.dumps(header).encode()
    path = tmp_path_factory.getbasetemp() / "header.safetensors"
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + whole[8 + size :])
    with contextlib.suppress(PolicyError):
        policies.load(path)


def test_a_damaged_file_that_is_shipped_is_said_to_be_damaged(tmp_path, monkeypatch):
    env = manyhands.make("kuhn_poker")
    folder = tmp_path / "assets" / "policies" / env.id
    folder.mkdir(parents=True)
    (folder / "any-ippo.safetensors").write_bytes(b"nothing")
    monkeypatch.setattr(policies.resources, "files", lambda package: tmp_path)
    with pytest.raises(PolicyError, match="any-ippo"):
        policies.shipped(env, "ippo")
