"""The zone in which a user's days begin."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import UnknownZoneError

_FIXED = re.compile(r"UTC([+-])(\d{2}):(\d{2})(?::(\d{2}))?")


@lru_cache(maxsize=512)
def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name (`Asia/Shanghai`) or of a fixed offset (`UTC+08:00`, `UTC`).

    Raises:
        UnknownZoneError: no such zone.
    """
    if name == "UTC":
        return UTC
    fixed = _FIXED.fullmatch(name)
    if fixed:
        sign = -1 if fixed[1] == "-" else 1
        hours, minutes, seconds = int(fixed[2]), int(fixed[3]), int(fixed[4] or 0)
        try:
            return timezone(sign * timedelta(hours=hours, minutes=minutes, seconds=seconds))
        except ValueError as error:  # a day or more
            raise UnknownZoneError(name) from error
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZoneError(name) from error


def fixed_zone_name(moment: datetime) -> str:
    """The name under which `zone_of` finds the moment's own offset."""
    return str(timezone(moment.utcoffset() or timedelta(0)))
