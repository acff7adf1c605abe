"""What every engine asks of a text."""


def utf16_units(text: str) -> int:
    """The length in UTF-16 units, which never counts less than an engine does."""
    return len(text) + sum(char > "\uffff" for char in text)


def refusal(text: str) -> str | None:
    """Why no engine may take, or give, this text; None where one may."""
    if not text.strip():
        return "a blank text"
    if "\x00" in text:
        return "a text with a NUL character"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "a text with half a surrogate pair"
    return None
