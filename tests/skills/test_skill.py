"""A skill's fields: each rule, its severity, its line and what it tells the author."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Finding, Severity
from skillassay.skills.skill import Skill, parse_skill

GOOD = 'name: demo\ndescription: Does a thing.\nmetadata:\n  version: "1.0.0"\n'


def parse(inner: str, *, body: str = "\nDo it.\n", folder: str | None = "demo") -> tuple[Skill | None, list[Finding]]:
    """Parse a SKILL.md of this frontmatter."""
    skill, findings = parse_skill(f"---\n{inner}---\n{body}".encode(), path="skills/demo", folder_name=folder)
    return skill, list(findings)


def found(inner: str, *, body: str = "\nDo it.\n") -> dict[str, tuple[str, int | None]]:
    """Severity and line by code, of GOOD with lines put in or replaced by key."""
    keys = {line.partition(":")[0] for line in inner.splitlines() if line[:1].strip()}
    kept, dropping = [], False
    for line in GOOD.splitlines(keepends=True):
        dropping = dropping if line.startswith(" ") else line.partition(":")[0] in keys
        kept += [] if dropping else [line]
    return {one.code: (one.severity.value, one.line) for one in parse(inner + "".join(kept), body=body)[1]}


def test_a_good_skill_has_no_findings() -> None:
    """Fields, places and paths of a plain skill."""
    skill, findings = parse(GOOD)
    assert findings == []
    assert skill == Skill(
        path="skills/demo",
        file="SKILL.md",
        name="demo",
        description="Does a thing.",
        version="1.0.0",
        version_line=5,
        frontmatter={"name": "demo", "description": "Does a thing.", "metadata": {"version": "1.0.0"}},
        metadata={"version": "1.0.0"},
        body="\nDo it.\n",
        body_line=7,
    )
    assert skill.file_path == "skills/demo/SKILL.md"


def test_the_root_as_a_skill_has_its_file_at_the_root() -> None:
    """No `./` before the file's path."""
    skill, _ = parse_skill(f"---\n{GOOD}---\nx".encode(), path=".", folder_name=None)
    assert skill is not None
    assert skill.file_path == "SKILL.md"


@pytest.mark.parametrize(
    ("inner", "code", "severity", "line"),
    [
        ("name: Demo\n", "skill.name-charset", "error", 2),
        ("name: demo_x\n", "skill.name-charset", "error", 2),
        ("name: d\u00e9mo\n", "skill.name-charset", "error", 2),
        ("name: -demo\n", "skill.name-hyphens", "error", 2),
        ("name: demo-\n", "skill.name-hyphens", "error", 2),
        ("name: de--mo\n", "skill.name-hyphens", "error", 2),
        (f"name: {'a' * 65}\n", "skill.name-length", "error", 2),
        ("name: other\n", "skill.name-folder", "error", 2),
        ("name: 12\n", "skill.name-not-text", "error", 2),
        ("name: [demo]\n", "skill.name-not-text", "error", 2),
        ("name:\n", "skill.name-missing", "error", 2),
        ('name: ""\n', "skill.name-missing", "error", 2),
        ("description:\n", "skill.description-missing", "error", 2),
        ('description: "  "\n', "skill.description-missing", "error", 2),
        ("description: 2026-01-02\n", "skill.description-not-text", "error", 2),
        ("description: {a: b}\n", "skill.description-not-text", "error", 2),
        (f"description: {'d' * 1025}\n", "skill.description-length", "error", 2),
        ('compatibility: ""\n', "skill.compatibility", "error", 2),
        (f"compatibility: {'c' * 501}\n", "skill.compatibility", "error", 2),
        ("compatibility: [a]\n", "skill.compatibility", "error", 2),
        ("license: [MIT]\n", "skill.license", "error", 2),
        ("allowed-tools: [Read, Write]\n", "skill.allowed-tools", "warning", 2),
        ("allowed-tools: Read, Write\n", "skill.allowed-tools", "warning", 2),
        ("tags: x\n", "skill.unknown-key", "warning", 2),
        ("version: 1.0.0\n", "skill.version-top-level", "warning", 2),
        ("version: 1.0.1\n", "skill.version-disagrees", "error", 2),
        ("metadata: '{\"a\": 1}'\n", "skill.metadata-not-mapping", "error", 2),
        ("metadata: [a]\n", "skill.metadata-not-mapping", "error", 2),
        ("metadata:\n  a: [b]\n", "skill.metadata-not-text", "warning", 3),
        ("metadata:\n  a: yes\n", "skill.metadata-typed", "note", 2),
        ("metadata:\n  a: b\n", "skill.version-missing", "warning", 1),
        ("metadata:\n  version: 1.0\n", "skill.version-not-semver", "error", 3),
        ("metadata:\n  version: v1\n", "skill.version-not-semver", "error", 3),
        ("metadata:\n  version: [1]\n", "skill.version-not-semver", "error", 3),
    ],
)
def test_a_broken_rule(inner: str, code: str, severity: str, line: int) -> None:
    """Code, severity and the file's line of the key."""
    assert found(inner).get(code) == (severity, line)


@pytest.mark.parametrize(
    "inner",
    [
        f"description: {'d' * 1024}\n",
        f'description: "  {"d" * 1024}  "\n',
        "compatibility: needs git\n",
        f"compatibility: {'c' * 500}\n",
        "license: Apache-2.0\n",
        "allowed-tools: Read Bash(git:*, gh:*) Write\n",
        "allowed-tools: Read\n",
        'metadata:\n  version: "1.0.0"\n  since: "2026-01-02"\n',
        "metadata:\n  version: 1.0.0-rc.1+b5\n",
        "name: 'demo'\n",
        "name: ' demo '\n",
        "name: \uff44emo\n",
    ],
)
def test_a_kept_rule(inner: str) -> None:
    """Limits are inclusive; white space and compatibility forms around a name do not count."""
    assert found(inner) == {}


def test_a_name_of_sixty_four_characters_passes() -> None:
    """The limit of a name is inclusive."""
    name = "a" * 64
    skill, findings = parse(GOOD.replace("demo", name), folder=name)
    assert skill is not None
    assert findings == []


@pytest.mark.parametrize("inner", ["name: x\n", "description: x\n", "name: [a]\ndescription: d\n", "a: b\n"])
def test_no_client_loads_a_skill_without_name_or_description(inner: str) -> None:
    """The skill is None, and the findings say why."""
    skill, findings = parse(inner)
    assert skill is None
    assert any(one.severity is Severity.ERROR for one in findings)


def test_every_problem_is_reported_at_once() -> None:
    """A rule that is broken hides no other."""
    codes = {one.code for one in parse("name: My Skill\ntags: x\nversion: 1.0\n", body="")[1]}
    assert codes == {
        "skill.name-charset",
        "skill.name-folder",
        "skill.description-missing",
        "skill.unknown-key",
        "skill.version-top-level",
        "skill.version-not-semver",
        "skill.body-empty",
    }


def test_the_top_level_version_names_the_place_it_belongs() -> None:
    """The message can be acted on."""
    _, [finding] = parse(GOOD.replace("metadata:\n  version", "version"))
    assert "use `metadata.version`" in finding.message


@pytest.mark.parametrize(("version", "likely"), [("1.0", "1.0.0"), ("v1", "1.0.0"), ("2026.06.03", "2026.6.3")])
def test_a_version_that_is_not_semver_gets_a_suggestion(version: str, likely: str) -> None:
    """With the version to write, and the command that writes it."""
    _, [finding] = parse(GOOD.replace('"1.0.0"', version))
    assert finding.hint == f'write "{likely}", or run `skillassay bump --init skills/demo`'


def test_a_missing_version_names_the_command() -> None:
    """The hint is one for all skills, so that forty findings of the kind stand together before it."""
    _, [finding] = parse("name: demo\ndescription: d\n")
    assert finding.hint == "run `skillassay bump --init`, for one skill with its folder behind it"


@pytest.mark.parametrize(("n_lines", "expected"), [(500, {}), (501, {"skill.body-long": ("note", 1)})])
def test_a_long_body_is_worth_a_note(n_lines: int, expected: dict[str, tuple[str, int | None]]) -> None:
    """Over 500 lines."""
    assert found("", body="x\n" * n_lines) == expected


@pytest.mark.parametrize("body", ["", "\n \n"])
def test_an_empty_body_warns(body: str) -> None:
    """White space is no instruction."""
    assert found("", body=body) == {"skill.body-empty": ("warning", 1)}


def test_findings_name_the_file_as_it_is_called() -> None:
    """Another spelling of SKILL.md is shown as it is."""
    skill, findings = parse_skill(b"---\nname: demo\n---\n", path="a/demo", folder_name="demo", file="skill.md")
    assert skill is None
    assert {one.path for one in findings} == {"a/demo/skill.md"}


@given(st.binary(max_size=120))
def test_bytes_are_parsed_or_explained(data: bytes) -> None:
    """Law: no bytes raise; a skill that is None has an error."""
    for candidate in (data, b"---\nname: demo\ndescription: d\n" + data + b"\n---\nbody\n"):
        skill, findings = parse_skill(candidate, path="skills/demo", folder_name="demo")
        assert skill is not None or any(one.severity is Severity.ERROR for one in findings)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=200))
def test_fields_and_body_never_disagree(body: str) -> None:
    """Law: whatever the body holds, fences and keys in it too, the fields are those of the frontmatter."""
    skill, _ = parse(GOOD, body=body)
    assert skill is not None
    assert (skill.name, skill.version, skill.body) == ("demo", "1.0.0", body)
