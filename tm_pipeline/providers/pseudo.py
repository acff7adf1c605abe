"""An engine without network: recognisable, repeatable text that keeps placeholders, markup and lines.

It is the default for trying the product, and a stand-in for a paid engine in tests. Letters outside
placeholders become accented Latin ones, so that nothing of the source's script is left.
"""

import unicodedata

from tm_pipeline.domain.errors import InvalidInputError
from tm_pipeline.domain.languages import UNDETERMINED, same_language
from tm_pipeline.domain.placeholders import find_spans
from tm_pipeline.ports import (
    BatchOutcome,
    Capabilities,
    Detection,
    ItemOutcome,
    TranslationItem,
    TranslationRequest,
)
from tm_pipeline.providers.texts import refusal, utf16_units

_LATIN = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "áƀçďéƒğĥíĵķĺɱñóƥɋŕšťúʋŵẋýžÁɃÇĎÉƑĞĤÍĴĶĹḾÑÓƤɊŔŠŤÚƲŴẊÝŽ",
        strict=True,
    )
)
# None is ASCII: right after a placeholder such as %d, an ASCII letter would make another thing of it.
_CONSONANTS = "ñçšžřťďłğķśźńĺħŵýɓ"
_VOWELS = "áàâäãåéèêëíìîïóòôöõúùûü"


class PseudoProvider:
    """Marks the text with its language and respells it; free of charge, every pair."""

    name = "pseudo"
    version = "1"
    capabilities = Capabilities(max_items=50, auto_source=True, billed=False)

    def translate(self, request: TranslationRequest) -> BatchOutcome:
        """Respell every text of ``request``; never raises."""
        outcomes = tuple(self._outcome(item, request) for item in request.items)
        return BatchOutcome(outcomes=outcomes, http_calls=0)

    def _outcome(self, item: TranslationItem, request: TranslationRequest) -> ItemOutcome:
        reason = refusal(item.text)
        if reason is None and utf16_units(item.text) > self.capabilities.max_characters_item:
            reason = f"a text of more than {self.capabilities.max_characters_item:,} characters"
        if reason is not None:
            return ItemOutcome(id=item.id, error=InvalidInputError(f"pseudo does not take {reason}."))
        if same_language(request.source_language, request.target_language):
            return ItemOutcome(id=item.id, text=item.text, billed_estimated=False)
        text = f"⟦{request.target_language}⟧ {_respelled(item.text)}"
        return ItemOutcome(id=item.id, text=text, billed_estimated=False)


class PseudoDetector:
    """Tells a language by its script alone, without a confidence."""

    name = "pseudo"

    def detect(self, text: str) -> Detection:
        """Any kana → ja, Hangul → ko, Han → zh-CN, Latin → en, otherwise ``und``; never raises."""
        scripts = {_script(char) for char in text if char.isalpha()}
        for script, language in (("KANA", "ja"), ("HANGUL", "ko"), ("CJK", "zh-CN"), ("LATIN", "en")):
            if script in scripts:
                return Detection(language=language, provider=self.name)
        return Detection(language=UNDETERMINED, provider=self.name)


def _respelled(text: str) -> str:
    parts, end = [], 0
    for span in find_spans(text):
        parts += [_letters(text[end : span.start]), span.text]
        end = span.end
    return "".join([*parts, _letters(text[end:])])


def _letters(text: str) -> str:
    return "".join(_LATIN.get(char) or (_syllable(char) if char.isalpha() else char) for char in text)


def _syllable(char: str) -> str:
    if _script(char) == "LATIN":
        return char
    number = ord(char)
    return _CONSONANTS[number % len(_CONSONANTS)] + _VOWELS[number // len(_CONSONANTS) % len(_VOWELS)]


def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    if "KATAKANA" in name or "HIRAGANA" in name:
        return "KANA"
    return name.removeprefix("HALFWIDTH ").removeprefix("FULLWIDTH ").split(" ", 1)[0]
