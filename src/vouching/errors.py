"""What can go wrong, classified once. Every message says what was got, what was wanted and what to do."""

from __future__ import annotations


class VouchError(Exception):
    """Base of every error that vouching raises on purpose."""

    can_retry: bool = False
    """Whether trying the same call again may help."""


class InputError(VouchError, ValueError):
    """What the caller passed cannot be used: an empty claim, a missing file, a binary file."""


class ConfigError(VouchError, ValueError):
    """A setting is wrong; a retry cannot help."""


class MissingExtraError(ConfigError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, extra: str, feature: str, module: str) -> None:
        super().__init__(f"{feature} needs the module {module!r}: install it with  pip install 'vouching[{extra}]'")
        self.extra = extra


class BackendError(VouchError):
    """An endpoint failed after bounded retries; trying later may help."""

    can_retry = True


class PromptError(ConfigError):
    """A prompt template and the values for it do not fit."""


class WeightsError(ConfigError):
    """A shipped model file is missing, altered or of another version."""
