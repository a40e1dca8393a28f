"""An exercise that is not right."""


class NotYet(Exception):
    """`seen` says what was seen instead of what the exercise asks for, `hint` how to go on."""

    def __init__(self, seen, hint):
        super().__init__(seen)
        self.seen, self.hint = seen, hint


def require(right, seen, hint):
    """Raises NotYet unless `right`."""
    if not right:
        raise NotYet(seen, hint)
