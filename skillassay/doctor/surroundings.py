"""What the environment's variables say: keys by their names, addresses by their hosts. Owns that no value is shown.

An address may hold a key anywhere. So of one that can be read its host and port are told, if they look like a host and
hold no part of what is secret here; of everything else that it is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from skillassay.contract.contract import Contract
from skillassay.doctor.base import Item, note, ok, problem
from skillassay.holdout.hidden import KEY_VARIABLE, PATH_VARIABLE
from skillassay.models.endpoint import secrets_in
from skillassay.models.opening import KEY_VARIABLES, api_keys_in_environment

ADDRESSES = (
    *("GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL", "SKILLASSAY_JUDGE_BASE_URL", "SKILLASSAY_SECOND_JUDGE_BASE_URL"),
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
HIDDEN = "not shown"

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"localhost|{_LABEL}(?:\.{_LABEL}){{1,6}}|[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{2,7}}")
"""A name with a point, or an address of numbers: a word alone may be a key in the wrong place."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_MIN_SECRET_CHARS = 4


def surrounding_items(contract: Contract) -> Iterator[Item]:
    """Keys, addresses, proxies and the hidden holdout."""
    yield _keys()
    for name in ADDRESSES:
        if _value(name):
            yield _address(name)
    set_proxies = [name for known in PROXIES for name in (known, known.lower()) if _value(name)]
    for name in set_proxies:
        yield note("proxy", f"{name} leads to {_host(name)}", "it must let requests to the model's host through")
    if not set_proxies:
        yield ok("proxy", "none is set")
    if contract.holdout is not None or _value(PATH_VARIABLE):
        yield _holdout(contract)


def _value(name: str) -> str:
    return os.environ.get(name, "").strip()


def _keys() -> Item:
    found = api_keys_in_environment()
    ours = [name for name in found if name in KEY_VARIABLES]
    others = [name if _NAME.fullmatch(name) else HIDDEN for name in found if name not in KEY_VARIABLES]
    if not ours:
        says = f"no key of a model's provider is set{_also(others)}"
        return note("keys", says, "export GEMINI_API_KEY=… for gemini:NAME")
    return ok("keys", f"set: {', '.join(ours)}{_also(others)}")


def _also(others: list[str]) -> str:
    return f"; scripts see nothing of these either: {', '.join(others)}" if others else ""


def _address(name: str) -> Item:
    host = _host(name)
    if host == HIDDEN:
        do = "write https://HOST[:PORT]"
        return note("address", f"{name} is set, and what it holds is no address that could be shown", do)
    return note("address", f"{name} leads to {host}: models are asked there, and a contract may ask for another place")


def _host(name: str) -> str:
    """Host and port of the address in a variable; never anything else of it."""
    url = _value(name)
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port, secrets = parts.hostname or "", parts.port, secrets_in(url)
    except ValueError:
        return HIDDEN
    known = {*secrets, *(_value(key) for key in api_keys_in_environment() if key != name)}
    told = [word.casefold() for word in known if len(word) >= _MIN_SECRET_CHARS]
    if not _HOST.fullmatch(host) or any(word in host or host in word for word in told):
        return HIDDEN
    return f"{host}:{port}" if port is not None else host


def _holdout(contract: Contract) -> Item:
    path, has_key = _value(PATH_VARIABLE), bool(_value(KEY_VARIABLE))
    if contract.holdout is None:
        return note("holdout", f"{PATH_VARIABLE} is set, and the contract names no holdout", f"unset {PATH_VARIABLE}")
    missing = [] if path else [PATH_VARIABLE]
    if path and not has_key and not Path(f"{path}.key").is_file():
        missing.append(KEY_VARIABLE)
    if missing:
        says = (
            f"the contract names a hidden holdout, and this is not set: {', '.join(missing)}; its cases have no score"
        )
        return problem("holdout", says, f"export {missing[0]}=… (docs/guides/holdout.md)")
    if not Path(path).is_file():
        return problem("holdout", f"{PATH_VARIABLE} leads to no file", "name the suite's file")
    return ok("holdout", "the suite and its key can be reached")
