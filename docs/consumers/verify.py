from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time


def _hmac(secret: str, message: bytes) -> str:
    return base64.b64encode(hmac.new(secret.encode(), message, hashlib.sha256).digest()).decode()


def answer_crc(consumer_secret: str, crc_token: str) -> str:
    """The `response_token` for a CRC. Never sign anything but a token: the answer could be the signature of an event."""
    if not re.fullmatch(r"[A-Za-z0-9+/=_-]{16,128}", crc_token):
        raise ValueError("this is not a CRC token")
    return "sha256=" + _hmac(consumer_secret, crc_token.encode())


def is_signed(consumer_secret: str, header: str | None, raw: bytes) -> bool:
    """`x-svc-webhooks-signature`, over the raw bytes of the body (of a CRC: over the raw query)."""
    return header is not None and hmac.compare_digest(header.encode(), ("sha256=" + _hmac(consumer_secret, raw)).encode())


def is_signed_standard(consumer_secret: str, headers, raw: bytes, now: float | None = None, tolerance: float = 300) -> bool:
    """The Standard Webhooks headers, which also say when it was sent: what is older than five minutes is refused."""
    id, timestamp, signatures = (headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp or not signatures or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        return False
    expected = "v1," + _hmac(consumer_secret, f"{id}.{timestamp}.".encode() + raw)
    return any(hmac.compare_digest(each.encode(), expected.encode()) for each in signatures.split(" "))
