"""Finding packages beyond the bundle: micropip chooses, and the worker downloads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langfx_web.errors import LangfxError, PackageError
from langfx_web.masking import said_by


class Resolver:
    """Installs requirements with all that they need.

    `packages` are the entries of a lock that is preferred to the registry, and `load` installs those of its names;
    `read` gives the bytes behind an address.
    """

    def __init__(
        self,
        packages: Mapping[str, Mapping[str, Any]],
        *,
        load: Callable[[Sequence[str]], Awaitable[None]],
        read: Callable[[str], Awaitable[bytes]],
    ) -> None:
        self._packages = packages
        self._load = load
        self._read = read
        self._network = False

    async def install(self, requirement: str) -> None:
        """Install one requirement; `PackageError` if that is not possible, retryable if a server did not answer."""
        from micropip._compat import compatibility_layer
        from micropip.package_manager import PackageManager

        self._network = False
        manager = PackageManager(self._layer(compatibility_layer))
        try:
            await manager.install(requirement)
        except PackageError:
            raise
        except Exception as error:
            reason = said_by(error) or type(error).__name__
            raise PackageError(reason, names=[requirement], retryable=self._network) from error

    def _layer(self, base: Any) -> Any:
        """What micropip needs of the world, with the lock and the downloads that are ours."""
        resolver = self

        class Layer(base):  # type: ignore[misc]  # micropip has no types for it
            lockfile_packages = resolver._packages

            @staticmethod
            async def loadPackage(names: Any) -> None:  # noqa: N802  # micropip's word
                await resolver._load([str(name) for name in names])

            @staticmethod
            async def fetch_bytes(url: str, kwargs: dict[str, str]) -> bytes:
                if url.startswith("emfs:"):
                    return bytes(await base.fetch_bytes(url, kwargs))
                return await resolver._download(url)

            @staticmethod
            async def fetch_string_and_headers(url: str, kwargs: dict[str, str]) -> tuple[str, dict[str, str]]:
                return await resolver._ask(base.fetch_string_and_headers, url, kwargs)

        return Layer

    async def _download(self, url: str) -> bytes:
        try:
            return await self._read(url)
        except LangfxError as error:
            self._network = self._network or error.retryable
            raise OSError(error.message) from error

    async def _ask(self, fetch: Any, url: str, kwargs: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Remember whether an index did not answer: micropip tells of every failure as of an unknown name."""
        try:
            text, headers = await fetch(url, kwargs)
        except OSError as error:
            status = getattr(error, "status", None)
            self._network = self._network or status is None or status >= 500
            raise
        return text, headers
