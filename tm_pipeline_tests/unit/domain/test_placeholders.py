"""Protected spans: what is found, what is plain text, and when two texts hold the same ones."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tm_pipeline.domain.placeholders import SpanKind, find_spans, multiset

TOKENS = (
    "%s",
    "%1$s",
    "%d",
    "%(count)d",
    "{name}",
    "{0}",
    "{}",
    "{{user}}",
    "${price}",
    "$unit.name|",
    "<b>",
    "</b>",
    "<a href='x'>",
    "[b]",
    "[/b]",
    "https://a.example/x?y=1",
    "help@a.example",
    "@seoul_fan",
    "#spring",
    "😀",
    "🇰🇷",
    "{n, plural, one {# item} other {# items}}",
)


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("보기 https://a.example/b?c=1#d 참고", SpanKind.URL, "https://a.example/b?c=1#d"),
        ("(https://a.example/b)", SpanKind.URL, "https://a.example/b"),
        ("https://a.example에서 보기", SpanKind.URL, "https://a.example"),
        ("https://a.example/에서 보기", SpanKind.URL, "https://a.example/"),
        ("https://a.example/をご覧ください", SpanKind.URL, "https://a.example/"),
        ("https://a.example/b。終わり", SpanKind.URL, "https://a.example/b"),
        ("https://a.example/가?x=1", SpanKind.URL, "https://a.example/가?x=1"),
        ("https://a.example/wiki/한국어 참고", SpanKind.URL, "https://a.example/wiki/한국어"),
        ("https://a.example/w/日本のアニメ?x=1", SpanKind.URL, "https://a.example/w/日本のアニメ?x=1"),
        ("문의: help.me@a.example.com로", SpanKind.EMAIL, "help.me@a.example.com"),
        ("가 <br/> 나", SpanKind.TAG, "<br/>"),
        ("가 <a href='x y'>", SpanKind.TAG, "<a href='x y'>"),
        ("가 <ref=x> 나", SpanKind.TAG, "<ref=x>"),
        ("[color=#fff]가", SpanKind.BBCODE, "[color=#fff]"),
        (
            "{count, plural, one {1개} other {#개}}",
            SpanKind.ICU,
            "{count, plural, one {1개} other {#개}}",
        ),
        (
            "{g, select, a {{n, plural, other {#}}} other {x}}",
            SpanKind.ICU,
            "{g, select, a {{n, plural, other {#}}} other {x}}",
        ),
        ("{{ user.name }}님", SpanKind.DOUBLE_BRACE, "{{ user.name }}"),
        ("${price}원", SpanKind.DOLLAR_BRACE, "${price}"),
        ("{subject}님", SpanKind.BRACE, "{subject}"),
        ("{}개", SpanKind.BRACE, "{}"),
        ("%(count)d개", SpanKind.NAMED_PRINTF, "%(count)d"),
        ("%s님", SpanKind.PRINTF, "%s"),
        ("%2$s님", SpanKind.PRINTF, "%2$s"),
        ("%.2f점", SpanKind.PRINTF, "%.2f"),
        ("%lld개", SpanKind.PRINTF, "%lld"),
        ("%@님", SpanKind.PRINTF, "%@"),
        ("%ds left", SpanKind.PRINTF, "%d"),
        ("안녕 $name. 반가워", SpanKind.VARIABLE, "$name"),
        ("%(이름)s님", SpanKind.NAMED_PRINTF, "%(이름)s"),
        ("$unit.name|가", SpanKind.VARIABLE, "$unit.name|"),
        ("안녕 @seoul_fan", SpanKind.MENTION, "@seoul_fan"),
        ("오늘 #spring", SpanKind.HASHTAG, "#spring"),
        ("좋아요 👍🏽", SpanKind.EMOJI, "👍🏽"),
        ("👩\u200d❤\ufe0f\u200d👨", SpanKind.EMOJI, "👩\u200d❤\ufe0f\u200d👨"),
        ("대한민국 🇰🇷", SpanKind.EMOJI, "🇰🇷"),
        ("1\ufe0f\u20e3 먼저", SpanKind.EMOJI, "1\ufe0f\u20e3"),
        ("시계 ⌚", SpanKind.EMOJI, "⌚"),
        ("고양이 🐈\u200d⬛", SpanKind.EMOJI, "🐈\u200d⬛"),
        ("상표 ™\ufe0f", SpanKind.EMOJI, "™\ufe0f"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            SpanKind.EMOJI,
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
    ],
)
def test_a_span_is_found_whole_with_its_kind(text: str, kind: SpanKind, found: str) -> None:
    assert [(span.kind, span.text) for span in find_spans(text)] == [(kind, found)]


@pytest.mark.parametrize(
    "text",
    ["50% 할인", "50% discount", "$100", "1 < 2 > 1", "<3", "[1]", "#1", "@a", "{ 가 }", "R&D", "C#", "그래서..."],
)
def test_signs_of_plain_text_are_no_spans(text: str) -> None:
    assert find_spans(text) == ()


@settings(max_examples=200, deadline=None)
@given(text=st.one_of(st.text(max_size=80), st.text(alphabet="%s1$d{}<>b/[]@#._| a가😀\u200d\ufe0f", max_size=60)))
def test_spans_lie_in_order_without_overlap_and_hold_their_text(text: str) -> None:
    spans = find_spans(text)

    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(span.start < span.end for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))


@settings(max_examples=200, deadline=None)
@given(data=st.data(), tokens=st.lists(st.sampled_from(TOKENS), max_size=8))
def test_tokens_in_another_order_are_the_same_multiset(data: st.DataObject, tokens: list[str]) -> None:
    reordered = data.draw(st.permutations(tokens))

    assert multiset(" 가 ".join(tokens)) == multiset(" b ".join(reordered))
    assert multiset(" 가 ".join(tokens)).total() == len(tokens)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), tokens=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=8))
def test_a_lost_or_doubled_token_changes_the_multiset(data: st.DataObject, tokens: list[str]) -> None:
    number = data.draw(st.integers(0, len(tokens) - 1))
    lost, doubled = tokens[:number] + tokens[number + 1 :], [*tokens, tokens[number]]

    assert multiset(" ".join(tokens)) != multiset(" ".join(lost))
    assert multiset(" ".join(tokens)) != multiset(" ".join(doubled))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        pytest.param("%s의 %s", "%2$s of %1$s", id="numbered-printf"),
        pytest.param("$unit.name|가", "$unit.name here", id="closing-bar"),
        pytest.param("<a href='ko' title='집'>집</a>", "<a href='en'>home</a>", id="attributes"),
        pytest.param("<BR>", "<br/>", id="case-of-a-tag"),
        pytest.param("[url=a]가[/url]", "[url=b]a[/url]", id="value-of-bbcode"),
        pytest.param("https://a.example/b.", "https://a.example/b", id="full-stop-behind-a-url"),
    ],
)
def test_variants_that_translators_write_count_as_the_same_token(source: str, target: str) -> None:
    assert multiset(source) == multiset(target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        pytest.param("{subject}님", "{주제}", id="translated-name"),
        pytest.param(
            "{count, plural, one {1개} other {#개}}", "{count, 복수, one {1} other {#}}", id="translated-icu-keyword"
        ),
        pytest.param("%s", "%d", id="conversion"),
        pytest.param("{0}", "{1}", id="index"),
        pytest.param("<b>가</b>", "<b>a<b>", id="closing-tag"),
        pytest.param("https://a.example/1", "https://a.example/2", id="url"),
        pytest.param("😀", "😂", id="emoji"),
    ],
)
def test_a_changed_token_is_another_token(source: str, target: str) -> None:
    assert multiset(source) != multiset(target)


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "a.",
        "a@",
        "%",
        "{a,select,b {{c,plural,d {",
        "<a ",
        "[a=",
        "{a,plural,",
        "{a,select,{a}",
        "%(",
        "#1",
        "$a.",
    ],
)
def test_a_long_run_that_is_nearly_a_span_is_read_in_linear_time(part: str) -> None:
    text = part * (40_000 // len(part))
    started = time.process_time()

    find_spans(text)

    assert time.process_time() - started < 1.5


@pytest.mark.parametrize("text", ["%" + "0" * 40_000, "%" + "1" * 40_000, "%(" + "a" * 40_000, "#" + "1" * 40_000])
def test_one_opening_before_a_long_run_is_read_in_linear_time(text: str) -> None:
    started = time.process_time()

    find_spans(text)

    assert time.process_time() - started < 1.5
