"""Spans that a translation must keep: one ordered pattern list, and their comparison as a multiset (C49, T29).

People and engines reorder tokens (ko and ja in 11–19 % of segments), so order never counts; ``%2$s``
stands for an unnumbered ``%s``, the closing bar of ``$name|`` is optional, and of a tag its name counts,
not its attributes (corpora study §6).
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum


class SpanKind(StrEnum):
    """What a protected span is."""

    URL = "url"
    EMAIL = "email"
    TAG = "tag"
    BBCODE = "bbcode"
    ICU = "icu"
    DOUBLE_BRACE = "double_brace"
    DOLLAR_BRACE = "dollar_brace"
    BRACE = "brace"
    NAMED_PRINTF = "named_printf"
    PRINTF = "printf"
    VARIABLE = "variable"
    MENTION = "mention"
    HASHTAG = "hashtag"
    EMOJI = "emoji"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters ``start`` to ``end`` of the text, which is ``text``."""

    start: int
    end: int
    text: str
    kind: SpanKind


ICU_DEPTH = 4  # a plural inside a select: the case of the select, the plural, its case and an argument there


def _nested(depth: int) -> str:
    return rf"(?:[^{{}}]|\{{{_nested(depth - 1)}*\}})" if depth else r"[^{}]"


_PICTURE = (
    "[\U0001f000-\U0001f0ff\U0001f18e-\U0001f1ad\U0001f200-\U0001faff\u231a\u231b\u23e9-\u23fa\u25fd\u25fe"
    "\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55][\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
)
_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f?\u20e3"
    "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u3030\u303d\u3297\u3299]\ufe0f"
    f"|{_PICTURE}(?:\u200d{_PICTURE})*)"
)

# A Korean particle or Japanese kana right behind an address is no part of it; letters of an address follow / = _ or -
# and are not Latin, which engines put there.
_PARTICLE = "(?:에서|에게|에|을|를|은|는|이|가|으로|로|의|와|과|도|만|까지|부터|입니다)(?![가-힣/?#=&_-])"
_URL = (
    r"https?://(?:[!#-&(*-;=?-\\^-|~]"
    rf"|(?<=[/=_-])(?!{_PARTICLE})[^\W\x00-\u024f\u1e00-\u1eff\u3041-\u309f][^\W\x00-\x7f]*)+"
)
# Counts are bounded so that a long run of digits is not read again and again.
_PRINTF = r"%(?:\d{1,3}\$)?[-+#0]{0,5}\d{0,4}(?:\.\d{1,4})?"

# Known names only: titles such as [공지] become [Notice], which is no markup.
_BBCODE_NAMES = "b|i|u|s|url|img|color|size|font|quote|code|list|center|left|right|spoiler|table|tr|td|li|sup|sub"

_PATTERNS: tuple[tuple[SpanKind, str], ...] = (
    (SpanKind.URL, _URL),
    (SpanKind.EMAIL, r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    (SpanKind.TAG, r"</?[A-Za-z][A-Za-z0-9:_-]*(?:=[^<>\s]*)?(?:\s[^<>]*)?/?>"),
    (SpanKind.BBCODE, rf"\[/?(?:{_BBCODE_NAMES})(?:=[^\[\]]*)?\]"),
    (
        SpanKind.ICU,
        rf"\{{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,{_nested(ICU_DEPTH)}*\}}",
    ),
    (SpanKind.DOUBLE_BRACE, r"\{\{[^{}]*\}\}"),
    (SpanKind.DOLLAR_BRACE, r"\$\{[^{}]*\}"),
    (SpanKind.BRACE, r"\{[\w.:!-]*\}"),
    (SpanKind.NAMED_PRINTF, r"%\(\w+\)[#0\- +]{0,5}\d{0,4}(?:\.\d{1,4})?[a-zA-Z]"),
    (
        SpanKind.PRINTF,
        # The usual %s and %d may touch a letter (%ds), but not behind a number: 50%discount is a percentage.
        rf"{_PRINTF}(?:hh|h|ll|l|L|z|j|t)?[sdiouxXeEfgGcp@](?![A-Za-z])|(?<![\d%]){_PRINTF}[sd@]",
    ),
    (SpanKind.VARIABLE, r"\$[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*\|?"),
    (SpanKind.MENTION, r"(?<![\w@])@[A-Za-z0-9_]{2,}"),
    (SpanKind.HASHTAG, r"(?<![\w&#])#[A-Za-z0-9_]*[A-Za-z_][A-Za-z0-9_]*"),
    (SpanKind.EMOJI, _EMOJI),
)
_ANY = re.compile("|".join(f"(?P<{kind.value}>{pattern})" for kind, pattern in _PATTERNS))
_POSITION = re.compile(r"^%(\d+)\$")


def find_spans(text: str) -> tuple[Span, ...]:
    """The protected spans of ``text``, left to right, never overlapping."""
    return tuple(
        Span(start=match.start(), end=match.end(), text=match.group(), kind=SpanKind(match.lastgroup or ""))
        for match in _ANY.finditer(text)
    )


def _token(span: Span) -> str:
    if span.kind is SpanKind.PRINTF:
        return _POSITION.sub("%", span.text)
    if span.kind is SpanKind.VARIABLE:
        return span.text.rstrip("|")
    if span.kind in {SpanKind.TAG, SpanKind.BBCODE}:
        name = re.match(r"[<\[](/?)([A-Za-z][A-Za-z0-9:_-]*)", span.text)
        return f"<{name[1]}{name[2].lower()}>" if name else span.text
    return span.text.rstrip(".,!?…") if span.kind is SpanKind.URL else span.text


def multiset(text: str) -> Counter[str]:
    """The tokens of ``text`` with their counts, in the form in which source and target must agree."""
    return Counter(_token(span) for span in find_spans(text))


def numbered(text: str) -> tuple[Counter[str], bool]:
    """Every printf token as the argument that it shows, and whether the text numbers any of them itself."""
    tokens: Counter[str] = Counter()
    explicit, index = False, 0
    for span in find_spans(text):
        if span.kind is not SpanKind.PRINTF:
            continue
        position = _POSITION.match(span.text)
        explicit = explicit or position is not None
        index += position is None
        tokens[f"%{position[1] if position else index}${_token(span)[1:]}"] += 1
    return tokens, explicit
