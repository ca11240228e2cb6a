"""Whose memory it is."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from .errors import OwnerRequiredError
from .values import Value


class Owner(Value):
    """Tenant and user (or group). The agent is a label on memories, never part of the owner."""

    tenant: str = Field(min_length=1, max_length=200)
    user: str = Field(min_length=1, max_length=200)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `TENANT/USER`, or `USER` alone (tenant `local`).

        Raises:
            OwnerRequiredError: empty, or one of the two parts is empty or over 200 characters.
        """
        tenant, slash, user = text.strip().partition("/")
        if not slash:
            tenant, user = "local", tenant
        if not (0 < len(tenant) <= 200 and 0 < len(user) <= 200) or any(
            ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in text
        ):
            raise OwnerRequiredError(text)
        return cls(tenant=tenant, user=user)

    def __str__(self) -> str:
        return f"{self.tenant}/{self.user}"
