from datetime import UTC, datetime

import pytest

from tm_pipeline.providers.retry_after import retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "nonsense", "retry-after": "9"}, 9.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:02:00 GMT"}, 120.0),
        ({"retry-after": "Sunday, 01-Mar-26 12:02:00 GMT"}, 120.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:02:00 -0000"}, 120.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "604800"}, 604_800.0),
        ({"retry-after": "604801"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "3_0"}, None),
        ({"retry-after": "３０"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Sun, 99 Mar 2026 12:02:00 GMT"}, None),
        ({"retry-after": "Sun, 01 Mar 99999 12:02:00 GMT"}, None),
    ],
)
def test_every_form_of_a_wait_is_read_and_nonsense_is_none(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now=NOW) == seconds
