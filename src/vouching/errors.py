"""The errors of vouching. Every message says what was found, what was expected and what to do."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class VouchError(Exception):
    """Base of every error that vouching raises on purpose."""

    can_retry: bool = False
    """Whether the same call may succeed later."""


class InputError(VouchError, ValueError):
    """What the caller passed cannot be used: an empty claim, a missing file, a binary file."""


class OutputBusyError(InputError):
    """Another process is writing the output."""

    can_retry = True


class ConfigError(VouchError, ValueError):
    """A setting is wrong; a retry cannot help."""

    status: int | None = None
    """The HTTP status by which a server says so; None if none did."""


class NoLanguageModelError(ConfigError):
    """Settings that need a language model, given with a model that is none."""

    def __init__(self, model: str, settings: tuple[str, ...]) -> None:
        names = " and ".join(settings)
        super().__init__(
            f"{model} is not a language model, so {names} cannot be used: pass a language model, or omit {names}"
        )
        self.model = model
        self.settings = settings


class MissingExtraError(ConfigError, ImportError):
    """A feature needs a dependency that is not installed; without an extra, one of vouching's own."""

    def __init__(self, extra: str, feature: str, module: str) -> None:
        package = f"'vouching[{extra}]'" if extra else module
        super().__init__(f"{feature} needs the module {module!r}: install it with  pip install {package}")
        self.extra = extra


def needed(module: str, extra: str, feature: str) -> Any:
    """Import a module that may not be installed. Raises MissingExtraError, naming the feature and the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(extra, feature, module.partition(".")[0]) from error


def cause_of(error: Exception) -> str:
    """Why a record could not be read, for a message.

    >>> cause_of(KeyError("files"))
    'it lacks "files"'
    """
    if isinstance(error, IndexError):
        return "a list in it is too short"
    return f'it lacks "{error.args[0]}"' if isinstance(error, KeyError) and error.args else str(error)


class BackendError(VouchError):
    """An endpoint failed after bounded retries; trying later may help."""

    can_retry = True
    others_answered: bool = False
    """Whether it answered other calls while it failed this one, again and again: the cause is in the call."""


class ModelError(BackendError):
    """A language model gave no usable answer; the subclasses say whether a retry can help."""

    can_retry = False


class ModelUnavailableError(ModelError):
    """The model is busy, down or out of reach for now: status 429 or 5xx, a timeout, a broken connection."""

    can_retry = True

    def __init__(self, message: str, retry_after: float | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the server asked to wait; None if it named none."""
        self.status = status
        """The HTTP status of the answer; None if there was none."""


class ModelRefusedError(ModelError):
    """The request was understood and refused, e.g. because the prompt is too long: the same call fails again."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status of the refusal, 400 to 499; None from a model in this process."""


class ModelContextError(ModelRefusedError):
    """The prompt and the reply do not fit into the model's context; a shorter prompt may."""


class ModelAnswerError(ModelError):
    """The server's answer holds no completion: HTML, broken JSON, no choices."""


class ModelDeadlineError(ModelError):
    """No answer within the caller's deadline; with more time there may be one."""

    can_retry = True


class SearchError(BackendError):
    """A search engine gave no usable answer: it is down, busy, or its answer cannot be read. Other engines continue."""


class FetchError(BackendError):
    """A web page was not read: its address is not allowed, it is too large or of another type, or it is down."""

    can_retry = False


class AccessError(VouchError):
    """A service refuses the caller: no key, an unknown or revoked one, or one without the scope for this call."""

    def __init__(self, message: str, status: int = 401) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status: 401 without a valid key, 403 if the key lacks the scope."""


class ServerUnavailableError(BackendError):
    """A Vouch server is busy, stopping or out of reach: the same call may succeed later."""

    def __init__(self, message: str, retry_after: float | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the server asked to wait; None if it named none."""
        self.status = status
        """The HTTP status of the answer; None if there was none."""


class PromptError(ConfigError):
    """A prompt template does not match the values for it."""


class WeightsError(ConfigError):
    """A shipped model file is missing, altered or of another version."""


class TrainingError(VouchError):
    """A training run cannot continue: its gradient is not finite. The last checkpoint is intact."""


__all__ = [
    "AccessError",
    "BackendError",
    "ConfigError",
    "FetchError",
    "InputError",
    "MissingExtraError",
    "ModelAnswerError",
    "ModelContextError",
    "ModelDeadlineError",
    "ModelError",
    "ModelRefusedError",
    "ModelUnavailableError",
    "PromptError",
    "SearchError",
    "ServerUnavailableError",
    "TrainingError",
    "VouchError",
    "WeightsError",
]
