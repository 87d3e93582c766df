"""A skill as its SKILL.md states it. Owns the fields, their rules and the findings about them; touches no disk.

:func:`parse_skill` yields fields and body together, so that no two readers can disagree. Severity: an error breaks a
MUST of the Agent Skills specification, or makes a known client refuse the skill; a warning is read differently by
clients; a note is worth knowing. ``name`` and ``description`` are stripped, ``name`` is brought to NFKC; lengths count
code points after that. A skill without frontmatter, name or description is no skill to any client: the result is None.

The version is ``metadata.version``, else a top-level ``version`` with a warning; both and different is an error, and
``metadata.version`` is then the one reported. Having none is a warning here; the lock decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from skillassay.findings import Finding, Severity, register
from skillassay.skills.frontmatter import (
    Document,
    Frontmatter,
    FrontmatterProblem,
    Yaml,
    other_reading,
    read_frontmatter,
    split_document,
)
from skillassay.versions import is_semver, suggest_version

BOM = register("skill.byte-order-mark", "SKILL.md begins with a byte-order mark, which some clients do not skip.")
NAME_MISSING = register("skill.name-missing", "The frontmatter has no `name`.")
NAME_NOT_TEXT = register("skill.name-not-text", "`name` is not text, or is read as a number, date or truth value.")
NAME_CHARSET = register("skill.name-charset", "`name` holds characters other than a-z, 0-9 and hyphens.")
NAME_HYPHENS = register("skill.name-hyphens", "`name` begins or ends with a hyphen, or has two in a row.")
NAME_LENGTH = register("skill.name-length", "`name` is longer than 64 characters.")
NAME_FOLDER = register("skill.name-folder", "`name` differs from the name of the skill's folder.")
DESCRIPTION_MISSING = register("skill.description-missing", "The frontmatter has no `description`, or an empty one.")
DESCRIPTION_NOT_TEXT = register(
    "skill.description-not-text", "`description` is not text, or is read as a number or date."
)
DESCRIPTION_LENGTH = register("skill.description-length", "`description` is longer than 1024 characters.")
COMPATIBILITY = register("skill.compatibility", "`compatibility` is not text of 1 to 500 characters.")
LICENSE = register("skill.license", "`license` is not text.")
ALLOWED_TOOLS = register("skill.allowed-tools", "`allowed-tools` is not one text of names separated by spaces.")
UNKNOWN_KEY = register("skill.unknown-key", "The frontmatter has a key that the specification does not define.")
METADATA = register("skill.metadata-not-mapping", "`metadata` is not a mapping.")
METADATA_VALUE = register("skill.metadata-not-text", "A value under `metadata` is a list or a mapping instead of text.")
METADATA_TYPED = register("skill.metadata-typed", "A value under `metadata` is unquoted and read as a number or date.")
VERSION_MISSING = register("skill.version-missing", "The skill has no version.")
VERSION_TOP_LEVEL = register("skill.version-top-level", "`version` stands at top level instead of under `metadata`.")
VERSION_DISAGREES = register("skill.version-disagrees", "`version` and `metadata.version` differ.")
VERSION_NOT_SEMVER = register("skill.version-not-semver", "The skill's version is not SemVer.")
BODY_EMPTY = register("skill.body-empty", "Nothing stands below the frontmatter.")
BODY_LONG = register("skill.body-long", "The body is longer than 500 lines.")

_NOTES = frozenset((BOM, METADATA_TYPED, BODY_LONG))
_WARNINGS = frozenset(
    (ALLOWED_TOOLS, UNKNOWN_KEY, METADATA_VALUE, VERSION_MISSING, VERSION_TOP_LEVEL, BODY_EMPTY)
)  # all other codes are errors

SPEC_KEYS = frozenset(("name", "description", "license", "compatibility", "metadata", "allowed-tools"))
NAME_RULE = "1 to 64 of a-z, 0-9 and hyphens, no hyphen at either end, no two in a row"
MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY, MAX_BODY_LINES = 64, 1024, 500, 500

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ODD = re.compile(r"[^a-z0-9-]+")
_ARGUMENTS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """What SKILL.md says. ``path`` is the skill's folder, POSIX, relative to the project root (``.`` is the root).

    ``frontmatter`` and ``metadata`` hold text, lists and mappings as written; plain nulls are absent. ``body`` begins
    at line ``body_line`` of the file ``file``; ``version`` stands at ``version_line``.
    """

    path: str
    file: str
    name: str
    description: str
    version: str | None
    version_line: int | None
    frontmatter: Mapping[str, Yaml]
    metadata: Mapping[str, Yaml]
    body: str
    body_line: int

    @property
    def file_path(self) -> str:
        """The path of SKILL.md, POSIX, relative to the project root."""
        return self.file if self.path == "." else f"{self.path}/{self.file}"


def parse_skill(
    data: bytes, *, path: str, folder_name: str | None, file: str = "SKILL.md"
) -> tuple[Skill | None, tuple[Finding, ...]]:
    """Parse the bytes of SKILL.md.

    ``folder_name`` None leaves the folder's name out: what a clone of a whole repository is called says nothing.
    """
    where = file if path == "." else f"{path}/{file}"
    try:
        document = split_document(data)
        front = read_frontmatter(document)
    except FrontmatterProblem as problem:
        error, message, hint, line = Severity.ERROR, problem.message, problem.hint, problem.line
        return None, (Finding(code=problem.code, severity=error, path=where, message=message, hint=hint, line=line),)
    rules = _Rules(where, document, front)
    name, description = rules.name(folder_name), rules.description()
    rules.keys()
    metadata = rules.metadata()
    version, version_line = rules.version(metadata)
    rules.body()
    findings = tuple(rules.findings)
    if name is None or description is None:
        return None, findings
    skill = Skill(
        path=path,
        file=file,
        name=name,
        description=description,
        version=version,
        version_line=version_line,
        frontmatter=front.values,
        metadata=metadata,
        body=document.body,
        body_line=document.body_line,
    )
    return skill, findings


class _Rules:
    """The rules of the fields over one document; what they find is collected, nothing is raised."""

    __slots__ = ("_document", "_places", "_values", "_where", "findings")

    def __init__(self, where: str, document: Document, front: Frontmatter) -> None:
        self._where = where
        self._document = document
        self._values = front.values
        self._places = front.places
        self.findings: list[Finding] = []
        if document.has_bom:
            self._add(BOM, "the file begins with a byte-order mark (skipped here)", (), "save it as UTF-8 without BOM")

    def _add(self, code: str, message: str, key: tuple[str, ...], hint: str | None = None) -> None:
        severity = Severity.NOTE if code in _NOTES else Severity.WARNING if code in _WARNINGS else Severity.ERROR
        line = self._line(key) if key else 1
        found = Finding(code=code, severity=severity, path=self._where, message=message, hint=hint, line=line)
        self.findings.append(found)

    def _line(self, key: tuple[str, ...]) -> int:
        place = self._places.get(key)
        return 1 if place is None else self._document.line_at(place[0].start_mark.index)

    def _text(self, key: str, code: str) -> str | None:
        """The stripped text of a required key; None, with a finding, when it is something else."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            self._add(code, f"`{key}` is {_kind(value)}, not text", (key,), "write one line of text")
            return None
        other = None if value is None or self._places[(key,)][1].style else other_reading(value)
        if other is not None:
            self._add(code, f"`{key}` must be text: other clients read {value} as {other}", (key,), f'write "{value}"')
        return (value or "").strip()

    def name(self, folder_name: str | None) -> str | None:
        """``name`` in NFKC, or None."""
        text = self._text("name", NAME_NOT_TEXT)
        if text is None:
            return None
        if not text:
            hint = f"add `name: {folder_name}`" if folder_name else "add `name: …`"
            self._add(NAME_MISSING, "`name` is missing", ("name",), hint)
            return None
        name = text if text.isascii() else unicodedata.normalize("NFKC", text)
        if len(name) > MAX_NAME or _NAME.fullmatch(name) is None:
            self._name_rules(name)
        if folder_name is not None and name != folder_name and name != unicodedata.normalize("NFKC", folder_name):
            hint = "rename one of the two: the specification asks for the same name"
            self._add(NAME_FOLDER, f"name `{name}` differs from its folder `{folder_name}`", ("name",), hint)
        return name

    def _name_rules(self, name: str) -> None:
        odd = "".join(_ODD.findall(name))
        if odd:
            what = "uppercase letters" if odd.isascii() and odd.isalpha() else repr(odd[:20])
            self._add(NAME_CHARSET, f"name {name[:80]!r} holds {what}; the rule: {NAME_RULE}", ("name",))
        if name.startswith("-") or name.endswith("-") or "--" in name:
            self._add(NAME_HYPHENS, f"name {name[:80]!r} has a hyphen out of place; the rule: {NAME_RULE}", ("name",))
        if len(name) > MAX_NAME:
            self._add(NAME_LENGTH, f"name of {len(name)} characters is over the limit of {MAX_NAME}", ("name",))

    def description(self) -> str | None:
        """``description`` without the white space around it, or None."""
        text = self._text("description", DESCRIPTION_NOT_TEXT)
        if text is None:
            return None
        if not text:
            hint = "say what the skill does and when to use it"
            self._add(DESCRIPTION_MISSING, "`description` is missing or empty", ("description",), hint)
            return None
        if len(text) > MAX_DESCRIPTION:
            message = f"description of {len(text)} characters is over the limit of {MAX_DESCRIPTION}"
            self._add(
                DESCRIPTION_LENGTH, message, ("description",), "some clients refuse to load the skill; shorten it"
            )
        return text

    def keys(self) -> None:
        """The optional keys, and those the specification does not know."""
        values = self._values
        for key in values:
            if key not in SPEC_KEYS and key != "version":
                hint = "other clients ignore or refuse it; own data belongs under `metadata`"
                self._add(UNKNOWN_KEY, f"unknown key `{key}`", (key,), hint)
        text = values.get("compatibility", "-")
        if not isinstance(text, str) or not 1 <= len(text.strip()) <= MAX_COMPATIBILITY:
            what = f"text of {len(text.strip())} characters" if isinstance(text, str) else _kind(text)
            message = f"`compatibility` is {what}; it must be text of 1 to {MAX_COMPATIBILITY}"
            self._add(COMPATIBILITY, message, ("compatibility",))
        if not isinstance(text := values.get("license", ""), str):
            self._add(LICENSE, f"`license` is {_kind(text)}, not text", ("license",))
        tools = values.get("allowed-tools", "")
        if not isinstance(tools, str):
            message = f"`allowed-tools` is {_kind(tools)}; some clients refuse to load the skill"
            self._add(ALLOWED_TOOLS, message, ("allowed-tools",), "write the names in one line, separated by spaces")
        elif "," in _ARGUMENTS.sub("", tools):
            message = "`allowed-tools` is separated by commas; the specification asks for spaces"
            self._add(ALLOWED_TOOLS, message, ("allowed-tools",), "write the names separated by spaces")

    def metadata(self) -> Mapping[str, Yaml]:
        """``metadata``; empty, with a finding, when it is no mapping."""
        metadata = self._values.get("metadata", {})
        if not isinstance(metadata, dict):
            message = f"`metadata` is {_kind(metadata)}, not a mapping"
            self._add(METADATA, message, ("metadata",), "write `key: value` lines below `metadata:`")
            return {}
        typed = []
        for key, value in metadata.items():
            place = ("metadata", key)
            if not isinstance(value, str):
                message = f"`metadata.{key}` is {_kind(value)}; the specification allows text only"
                self._add(METADATA_VALUE, message, place, "some clients refuse it or turn it into text of their own")
            elif key != "version" and not self._places[place][1].style and other_reading(value) is not None:
                typed.append(f"`{key}`")
        if typed:
            message = f"unquoted under `metadata` and no text to other clients: {', '.join(typed)}"
            self._add(METADATA_TYPED, message, ("metadata",), "quote the values")
        return metadata

    def version(self, metadata: Mapping[str, Yaml]) -> tuple[str | None, int | None]:
        """The version's text and line."""
        inner, outer = metadata.get("version"), self._values.get("version")
        if outer is not None:
            hint = "write it as `metadata.version`: clients ignore or refuse the top-level key"
            self._add(VERSION_TOP_LEVEL, "unexpected key `version`; use `metadata.version`", ("version",), hint)
        if inner is None and outer is None:
            hint = "run `skillassay bump --init`, for one skill with its folder behind it"
            self._add(VERSION_MISSING, "the skill has no version", (), hint)
            return None, None
        if inner is not None and outer is not None and inner != outer:
            message = f"two versions disagree: `version` {outer!r} and `metadata.version` {inner!r}"
            self._add(VERSION_DISAGREES, message, ("version",), "keep `metadata.version` and remove `version`")
        key = ("version",) if inner is None else ("metadata", "version")
        value = outer if inner is None else inner
        if not isinstance(value, str):
            self._add(VERSION_NOT_SEMVER, f"version is {_kind(value)}, not text", key, 'write `version: "0.1.0"`')
            return None, None
        if not is_semver(value):
            likely = suggest_version(value)
            hint = f'write "{likely}", or run `skillassay bump --init {self._target}`' if likely else 'write "X.Y.Z"'
            self._add(VERSION_NOT_SEMVER, f"version {value[:80]!r} is not SemVer (X.Y.Z)", key, hint)
        return value, self._line(key)

    @property
    def _target(self) -> str:
        folder, slash, _ = self._where.rpartition("/")
        return folder if slash else "."

    def body(self) -> None:
        """How much stands below the frontmatter."""
        body = self._document.body
        if not body or body.isspace():
            self._add(
                BODY_EMPTY, "the body is empty: the skill gives no instructions", (), "write what the agent should do"
            )
        elif (n_lines := body.count("\n")) > MAX_BODY_LINES:
            hint = "move detail to files under `references/`"
            self._add(BODY_LONG, f"body of {n_lines} lines; {MAX_BODY_LINES} is the advice", (), hint)


def _kind(value: Yaml) -> str:
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "text"
