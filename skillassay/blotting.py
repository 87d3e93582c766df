"""Taking secrets out of a text that somebody else wrote. Owns in which forms a secret is still the secret.

A service repeats a key as it is, or as its own format writes it: percent-encoded, escaped for JSON, for HTML, or as a
program's ``repr``; in a text inside another text twice, each character in its own way, and in another case of its
letters. All of these are found.
Whoever cuts a text cuts it here: half of a secret is one too, and no longer to be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

BLOT = "[key]"
_MAX_BACKSLASHES = 8
_STARTS = r"\\%&+"
"""What an escaped character begins with."""


def blot(text: str, secrets: Iterable[str], *, max_chars: int | None = None) -> str:
    """``text`` with ``BLOT`` in the place of each secret, then cut to ``max_chars``, the last of which is an ellipsis.

    Secrets that overlap become one blot. Of a long text no more is looked at than is needed.
    """
    patterns = [(secret[0], re.compile("".join(map(_forms, secret)), re.IGNORECASE)) for secret in secrets if secret]
    firsts = re.compile(f"[{_STARTS}{''.join(re.escape(sign) for sign, _ in patterns)}]", re.IGNORECASE)
    out: list[str] = []
    n_out = done = 0
    for place in firsts.finditer(text) if patterns else ():
        start = place.start()
        if max_chars is not None and n_out + start - done > max_chars:
            break
        end = max((found.end() for _, one in patterns if (found := one.match(text, start))), default=0)
        if end and start >= done:
            out.append(text[done:start] + BLOT)
            n_out += len(out[-1])
        done = max(done, end)
    blotted = "".join(out) + text[done:]
    return blotted if max_chars is None or len(blotted) <= max_chars else blotted[: max_chars - 1] + "…"


def _forms(sign: str) -> str:
    """A pattern for all forms of one character."""
    data = sign.encode("utf-8", "surrogatepass")
    units = sign.encode("utf-16-be", "surrogatepass")
    slashes = rf"\\{{1,{_MAX_BACKSLASHES}}}"
    pairs = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    escaped = [
        "".join(f"%(?:25)*{byte:02x}" for byte in data),
        "".join(f"{slashes}u{pair}" for pair in pairs),
        "".join(f"{slashes}x{byte:02x}" for byte in data),
        f"{slashes}U{ord(sign):08x}",
        f"&#0*{ord(sign)};",
        f"&#x0*{ord(sign):x};",
        *([f"{slashes}x{ord(sign):02x}"] if 0x80 <= ord(sign) < 0x100 else []),
        *([re.escape(escape(sign))] if escape(sign) != sign else []),
        *(["&apos;"] if sign == "'" else []),
        *([r"\+"] if sign == " " else []),
    ]
    plain = slashes if sign == "\\" else rf"\\{{0,{_MAX_BACKSLASHES}}}{re.escape(sign)}"
    return f"(?:{'|'.join([*escaped, plain])})"
