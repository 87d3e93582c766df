"""A client of an SDK that is made at the first call and shared by all threads. Owns when it opens and when it closes.

Left out: which SDK it is and with what it is opened, which each model knows.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar


class Sdk(Protocol):
    """An opened SDK."""

    @property
    def client(self) -> Any:
        """What holds the connections."""


AnySdk = TypeVar("AnySdk", bound=Sdk)


@dataclass(kw_only=True, eq=False)
class OnSdk(ABC, Generic[AnySdk]):
    """A model that asks through an SDK."""

    _sdk: AnySdk | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @abstractmethod
    def _open(self) -> AnySdk:
        """Load the SDK and make its client."""

    def close(self) -> None:
        """Release the connections. Idempotent; a later call opens new ones."""
        with self._lock:
            sdk, self._sdk = self._sdk, None
        if sdk is not None:
            sdk.client.close()

    def _opened(self) -> AnySdk:
        with self._lock:
            if self._sdk is None:
                self._sdk = self._open()
            return self._sdk
