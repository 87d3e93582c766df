"""SKILL.md files on which Google's ADK and we might differ, each with what ADK makes of it.

The lints' own tests read them without ADK; tests/extra/adk asks ADK itself.
"""

from __future__ import annotations

from dataclasses import dataclass

BODY = "\nDo it.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkCase:
    """A file in a folder of this name. ``refused``: words of the reason; ``otherwise``: what ADK reads instead."""

    id: str
    data: bytes
    folder: str = "demo"
    refused: str | None = None
    otherwise: str | None = None


def case(
    name: str,
    lines: str = "",
    *,
    description: str = "Says hello.",
    start: str = "---\n",
    called: str = "demo",
    **told: str,
) -> AdkCase:
    """A file whose frontmatter has these further lines."""
    text = f"{start}name: {called}\ndescription: {description}\n{lines}{chr(10) if lines else ''}---\n{BODY}"
    return AdkCase(id=name, data=text.encode(), **told)


LONG = "d" * 1024
CASES = (
    case("plain"),
    AdkCase(id="crlf", data=case("crlf").data.replace(b"\n", b"\r\n")),
    case("unknown-key", "colour: blue"),
    case("tools-text", "allowed-tools: Bash(git:*) Read"),
    case("null-license", "license:\ncompatibility: ~"),
    case("metadata", "metadata:\n  n: 1.0\n  deep: {a: [1]}\n  adk_inject_state: true\n  adk_additional_tools: [x]"),
    case("full-description", description=LONG),
    case("emoji", description="😀" * 1024),
    case("folded", description=">\n  two\n  lines"),
    case("full-width-name", called="ｄｅｍｏ"),
    case("tools-list", "allowed-tools: [Read]", refused="`allowed-tools` is read as a list"),
    case("tools-number", "allowed-tools: 5", refused="`allowed-tools` is read as a number"),
    case("license-number", "license: 2.0", refused="`license` is read as a number"),
    case("license-date", "license: 2026-01-01", refused="`license` is read as a date"),
    case("license-truth", "license: yes", refused="`license` is read as a truth value"),
    case("license-no-date", "license: 2026-99-99", refused="its YAML cannot be read"),
    case("license-value-tag", "license: =", refused="its YAML cannot be read"),
    case("compatibility-number", "compatibility: 3.11", refused="`compatibility` is read as a number"),
    case("compatibility-line-end", f"compatibility: |\n  {'c' * 500}", refused="`compatibility` of 501 characters"),
    case("description-line-end", description=f">\n  {LONG}", refused="`description` of 1025 characters"),
    case("metadata-nothing", "metadata:", refused="`metadata` is read as nothing"),
    case("metadata-number-key", "metadata:\n  1: one", refused="a key under `metadata` is not text"),
    case("number-key", "1: one", refused="the key `1` is read as a number"),
    case("truth-key", "on: push", refused="the key `True` is read as a truth value"),
    case("untruth-key", "no: push", refused="the key `False` is read as a truth value"),
    case(
        "tools-of-adk", "metadata:\n  adk_additional_tools: x", refused="`metadata.adk_additional_tools` is not a list"
    ),
    case(
        "state-of-adk",
        'metadata:\n  adk_inject_state: "no"',
        refused="`metadata.adk_inject_state` is not a truth value",
    ),
    case("byte-order-mark", start="\ufeff---\n", refused="does not begin with `---`"),
    case("blank-line", start="\n---\n", refused="does not begin with `---`"),
    case("comment-fence", start="---\n# --- head\n", refused="the frontmatter is no mapping"),
    case("quoted-fence", description='"a --- b"', refused="its YAML cannot be read"),
    AdkCase(
        id="full-width-folder",
        data=case("x", called="ｄｅｍｏ").data,
        folder="ｄｅｍｏ",
        refused="the folder is not called",
    ),
    case("fence-in-description", description="Says hello --- twice.", otherwise="the description 'Says hello'"),
    case("fence-in-metadata", "metadata:\n  note: a---b", otherwise="another body"),
)
