"""What the wrappers share: a model around a model that has its name and closes it."""

from __future__ import annotations

from vouching.models.base import Model


class Wrapper:
    """Passes on everything but ``generate``."""

    def __init__(self, model: Model) -> None:
        self.model = model
        """The model inside."""

    @property
    def name(self) -> str:
        """The name of the model inside: what is around it does not change what answers."""
        return self.model.name

    async def aclose(self) -> None:
        """Close the model inside."""
        await self.model.aclose()
