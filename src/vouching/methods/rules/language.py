"""The language a text is written in, by ``langdetect``: a naive Bayes over letters, seeded, nothing downloaded.

Left out: texts of several languages; short ones are often told wrong.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from vouching.errors import needed

SEED = 0
"""The sampling inside langdetect starts from it, for every text anew: one text, one language."""

LANGUAGES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "kn": "Kannada",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi",
    "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "so": "Somali", "sq": "Albanian",
    "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh-cn": "Chinese (simplified)",
    "zh-tw": "Chinese (traditional)", "zh": "Chinese",
}  # fmt: skip
"""Every code that :func:`language_of` can tell, with its language; "zh" stands for Chinese, however written."""


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the language, "zh-cn" or "zh-tw" for Chinese; None for a text without letters.

    Raises:
        MissingExtraError: langdetect is not installed.

    >>> language_of("Das ist ein Satz auf Deutsch."), language_of("1973!")
    ('de', None)
    """
    factory, no_language = _detector()
    detector = factory.create()
    detector.append(text)
    try:
        return str(detector.detect())
    except no_language:
        return None


@cache
def _detector() -> tuple[Any, type[Exception]]:
    """Makes detectors; one of our own, so that nobody else's seed is changed."""
    module = needed("langdetect.detector_factory", "rules", "telling the language of a text")
    factory = module.DetectorFactory()
    factory.set_seed(SEED)
    factory.load_profile(module.PROFILES_DIRECTORY)
    return factory, module.LangDetectException
