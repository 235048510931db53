"""An attribute that is lazy is worked out once, for each object, and not before it is read."""

from schedctl.api.lazy import lazy


class Square:
    """Counts how often its area is worked out."""

    def __init__(self, side):
        self.side = side
        self.asked = 0

    @lazy
    def area(self):
        """The area."""
        self.asked += 1
        return self.side * self.side


def test_each_object_works_its_attribute_out_once():
    small, large = Square(2), Square(3)
    assert (small.area, large.area, small.area) == (4, 9, 4)
    assert (small.asked, large.asked) == (1, 1)


def test_nothing_is_worked_out_before_it_is_read():
    square = Square(2)
    assert square.asked == 0
    assert "area" not in square.__dict__


def test_the_class_shows_the_attribute_and_its_text():
    assert Square.area.__doc__ == "The area."
