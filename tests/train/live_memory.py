"""Bytes of the tensors that are alive on a CPU, counted storage by storage, and their peak."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveMemory(TorchDispatchMode):
    """Counts every storage that an operation returns until it is freed; also in the backward pass."""

    def __init__(self, held: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self._known: dict[int, weakref.ref[Any]] = {}
        self.live = self.peak = 0
        for tensor in held:
            self._count(tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for one in tree_leaves(out):
            if isinstance(one, Tensor):
                self._count(one)
        return out

    def _count(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place, size = storage._cdata, storage.nbytes()
        if place in self._known:
            return

        def freed(_: Any) -> None:
            del self._known[place]
            self.live -= size

        self._known[place] = weakref.ref(storage, freed)
        self.live += size
        self.peak = max(self.peak, self.live)
