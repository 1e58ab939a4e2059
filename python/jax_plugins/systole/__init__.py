"""JAX looks for devices in packages of this name. The one of Systole is made where JAX_PLATFORMS asks for it."""

from __future__ import annotations

from typing import Any

_PLATFORM, _PLATFORMS = "systole", "jax_platforms"


def _make_client() -> Any:
    from systole import jax_device

    return jax_device.make_client()


def initialize() -> None:
    """Called by JAX in every program, before it looks for devices."""
    import jax
    from jax._src import xla_bridge

    if _PLATFORM in (getattr(jax.config, _PLATFORMS) or "").split(","):
        xla_bridge.register_backend_factory(_PLATFORM, _make_client, fail_quietly=False)
