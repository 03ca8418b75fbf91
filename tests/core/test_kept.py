"""Values that are computed once for an object."""

import threading

from manyhands.core.kept import kept


class Thing:
    def __init__(self, value):
        self.value, self.calls = value, 0

    @kept
    def text(self):
        self.calls += 1
        return self.value() if callable(self.value) else self.value


def test_a_value_is_computed_once():
    thing = Thing("a")
    assert (thing.text, thing.text, thing.calls) == ("a", "a", 1)
    assert isinstance(Thing.text, kept)


def test_no_object_waits_for_another():
    """While the value of one is computed in a thread, another has its own."""
    begun, done = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert done.wait(10)
        return "slow"

    first, second = Thing(slow), Thing("fast")
    thread = threading.Thread(target=lambda: first.text, daemon=True)
    thread.start()
    assert begun.wait(10)
    other = threading.Thread(target=lambda: second.text, daemon=True)
    other.start()
    other.join(5)
    waited = other.is_alive()
    done.set()
    thread.join(10)
    assert not waited and (first.text, second.text) == ("slow", "fast")
