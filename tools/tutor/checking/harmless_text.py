"""What a program has printed, as a terminal may show it."""

import unicodedata

# Categories of characters that act on a terminal, or are no characters: control, format (marks of direction among them), line
# and paragraph separators, surrogates.
_ACTING = {"Cc", "Cf", "Zl", "Zp", "Cs"}


def harmless(text):
    return "".join("?" if character not in "\n\t" and unicodedata.category(character) in _ACTING else character
                   for character in text)
