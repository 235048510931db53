"""URLs as Go reads them; the complaints are those of Go's ``net/url``."""

import pytest

from schedctl.api.urls import path_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("aws://zone/vol-1", "/vol-1"),
        ("aws:///vol-1", "/vol-1"),
        ("aws://zone", ""),
        ("aws://user:word@zone:80/a/b?c=d#e", "/a/b"),
        ("aws://zone/vol-%31", "/vol-1"),
        ("aws://zoné/x", "/x"),
    ],
)
def test_the_path_of_a_url(url, path):
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("aws://z/\x01", 'parse "aws://z/\\x01": net/url: invalid control character in URL'),
        ("aws://a b/x", 'parse "aws://a b/x": invalid character " " in host name'),
        ("aws://z%20q/x", 'parse "aws://z%20q/x": invalid URL escape "%20"'),
        ("aws://z/x%zz", 'parse "aws://z/x%zz": invalid URL escape "%zz"'),
        ("aws://z/x%1", 'parse "aws://z/x%1": invalid URL escape "%1"'),
        ("aws://z:x/x", 'parse "aws://z:x/x": invalid port ":x" after host'),
        ("aws://a b@z/x", 'parse "aws://a b@z/x": net/url: invalid userinfo'),
        ("aws://z/x#%zz", 'parse "aws://z/x#%zz": invalid URL escape "%zz"'),
    ],
)
def test_a_malformed_url_is_refused_in_the_words_of_go(url, text):
    with pytest.raises(ValueError) as complaint:
        path_of(url)
    assert str(complaint.value) == text
