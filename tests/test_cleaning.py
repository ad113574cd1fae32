"""Cleaning is idempotent and leaves storable text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.loaders import clean

# Random characters alone would hardly ever trigger the cleaners.
_TEXTS = st.text(
    st.one_of(
        st.sampled_from("\n\r\t\f\v \u00a0\u00ad\u200b\u200d\u2028\x85\x00\x02\ufeff\u0301\u0327e\u00e9ab-|"),
        st.characters(),
    )
)


@given(_TEXTS)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(_TEXTS)
def test_cleaned_text_can_be_stored_as_utf_8(text: str) -> None:
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x07c\u200bd\ufeffe\ud800f", "abcdef"),
        ("Trai\u00adnium", "Trainium"),
        ("e\u0301", "\u00e9"),
        ("10\u00b2 and \u00bd", "10\u00b2 and \u00bd"),
        ("30\u00a0TFLOPS at 72\u202fW", "30 TFLOPS at 72 W"),
        ("ends  \nhere\t", "ends\nhere"),
        ("  indented\tcode", "  indented\tcode"),
        ("a\n\n\nb\n\n\n\n\nc", "a\n\n\nb\n\n\nc"),
        ("a\n \n \n \n \nb", "a\n\n\nb"),
        ("page one\fpage two", "page one\fpage two"),
    ],
)
def test_what_cleaning_changes_and_what_it_leaves(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
