"""SKILL.md files of public reports on frontmatter, each read as the rules say. The names are the reports' labels."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from skillassay.findings import Finding, Severity
from skillassay.skills.skill import Skill, parse_skill

PUBLIC = Path(__file__).parents[1] / "data" / "public"


def read(
    case: str, folder: str, *, kind: str = "frontmatter", called: str | None = None
) -> tuple[Skill | None, list[Finding]]:
    """Parse one SKILL.md of a report; ``called`` is the folder's name where the stored one is another."""
    data = (PUBLIC / kind / case / folder / "SKILL.md").read_bytes()
    name = called or folder.rpartition("/")[2]
    skill, findings = parse_skill(data, path=f"skills/{name}", folder_name=name)
    return skill, list(findings)


def errors(findings: list[Finding]) -> list[str]:
    """The codes of the errors."""
    return [finding.code for finding in findings if finding.severity is Severity.ERROR]


def test_agentskills_474_nested_metadata_loads_with_warnings() -> None:
    """agentskills/agentskills#474: lists and mappings under metadata warn; metadata.version is still read."""
    skill, findings = read("agentskills-474", "nested")
    assert skill is not None
    assert skill.version == "2.0"
    assert skill.metadata["vendor"] == {"requires": {"bins": ["tool"]}, "beta": "true"}
    warned = {(one.severity, one.line) for one in findings if one.code == "skill.metadata-not-text"}
    assert warned == {(Severity.WARNING, 6), (Severity.WARNING, 7)}


@pytest.mark.parametrize(
    ("folder", "called"),
    [("composed", "crème"), ("chinese", "库存检查"), ("uppercase", "Crème"), ("decomposed", "crème")],
)
def test_agentskills_560_names_outside_ascii_are_refused_with_the_rule(folder: str, called: str) -> None:
    """agentskills/agentskills#560: one rule, quoted in the message; the folder is compared after NFKC."""
    _, findings = read("agentskills-560", folder, called=called)
    assert errors(findings) == ["skill.name-charset"]
    assert "1 to 64 of a-z, 0-9 and hyphens" in findings[0].message


def test_agentskills_560_the_name_is_brought_to_nfkc() -> None:
    """agentskills/agentskills#560: a decomposed name equals the composed one."""
    skill, findings = read("agentskills-560", "decomposed", called="decomposed")
    assert skill is not None
    assert skill.name == "crème"
    assert "skill.name-folder" in errors(findings)


@pytest.mark.parametrize(
    ("folder", "expected"), [("thai", []), ("emoji", []), ("thai-over", ["skill.description-length"])]
)
def test_agnix_1123_lengths_count_code_points(folder: str, expected: list[str]) -> None:
    """agent-sh/agnix#1123: 1024 code points pass in any script, 1025 do not."""
    assert errors(read("agnix-1123", folder)[1]) == expected


@pytest.mark.parametrize(
    ("folder", "key", "line"),
    [("dup", "description", 4), ("dup-quoted", "name", 3), ("dup-escaped", "name", 3), ("dup-version", "version", 6)],
)
def test_avoid_ai_writing_277_duplicate_keys(folder: str, key: str, line: int) -> None:
    """conorbronsdon/avoid-ai-writing#277: refused at every level, also quoted or escaped, at the second one's line."""
    skill, [finding] = read("avoid-ai-writing-277", folder)
    assert skill is None
    assert (finding.code, finding.line, f"`{key}`" in finding.message) == ("skill.duplicate-key", line, True)


def test_aws_wa_skills_109_text_after_a_closing_quote() -> None:
    """aws-samples/sample-well-architected-skills-and-steering#109: cause, line of file and frontmatter, hint."""
    skill, [finding] = read("aws-wa-skills-109", "plan-first")
    assert skill is None
    assert (finding.code, finding.line) == ("skill.frontmatter-invalid", 3)
    assert "text after the closing quote" in finding.message
    assert "line 2 of the frontmatter" in finding.message
    assert "whole value in quotes" in (finding.hint or "")


@pytest.mark.parametrize(("folder", "other"), [("4100", "a number"), ("on", "a truth value")])
def test_claude_code_25837_names_that_other_readers_do_not_take_for_text(folder: str, other: str) -> None:
    """anthropics/claude-code#25837: the source text is kept, and the error says what others read."""
    skill, findings = read("claude-code-25837", folder)
    assert skill is not None
    assert skill.name == folder
    assert errors(findings) == ["skill.name-not-text"]
    assert other in findings[0].message


def test_claude_code_83804_a_top_level_version_is_read_with_a_warning() -> None:
    """anthropics/claude-code#83804: the author is told to move it."""
    skill, findings = read("claude-code-83804", "topver")
    assert skill is not None
    assert (skill.version, skill.version_line) == ("0.1.0", 4)
    assert [(one.code, one.severity) for one in findings] == [("skill.version-top-level", Severity.WARNING)]
    assert "use `metadata.version`" in findings[0].message


def test_claude_code_83804_two_versions_that_disagree() -> None:
    """anthropics/claude-code#83804: an error; metadata.version is the one reported."""
    skill, findings = read("claude-code-83804", "both")
    assert skill is not None
    assert skill.version == "0.2.0"
    assert errors(findings) == ["skill.version-disagrees"]


@pytest.mark.parametrize(
    ("folder", "length", "expected"),
    [("fold-ok", 1024, []), ("fold-over", 1025, ["skill.description-length"]), ("fold-clip", 1024, [])],
)
def test_delegate_skills_4_the_folded_and_stripped_value_is_measured(
    folder: str, length: int, expected: list[str]
) -> None:
    """amElnagdy/delegate-skills#4: folding and the final newline of `>` are no characters of the description."""
    skill, findings = read("delegate-skills-4", folder)
    assert skill is not None
    assert (len(skill.description), errors(findings)) == (length, expected)


def test_fastmcp_4701_block_scalars_are_kept_and_scalars_stay_text() -> None:
    """PrefectHQ/fastmcp#4701: no marker as value, no dates, truth values or numbers."""
    skill, findings = read("fastmcp-4701", "block")
    assert skill is not None
    assert skill.frontmatter["description"] == "First line.\nSecond line.\n"
    assert skill.metadata == {
        "released": "2026-01-02",
        "stable": "yes",
        "build": "0o17",
        "clock": "12:30:45",
        "ratio": "1e3",
    }
    assert errors(findings) == []


@pytest.mark.parametrize(
    ("folder", "code", "words"),
    [
        ("latin1", "skill.not-utf8", "offset 39"),
        ("utf16", "skill.not-utf8", "UTF-16"),
        ("nul", "skill.nul", "byte offset 28"),
    ],
)
def test_git_hunk_42_bytes_that_are_no_text(folder: str, code: str, words: str) -> None:
    """wkentaro/git-hunk#42: an error for this skill, with the place of the first bad byte."""
    skill, [finding] = read("git-hunk-42", f"skills/{folder}", kind="encoding")
    assert skill is None
    assert finding.code == code
    assert words in finding.message


def test_git_hunk_42_utf16_is_told_what_to_do() -> None:
    """wkentaro/git-hunk#42: save as UTF-8."""
    _, [finding] = read("git-hunk-42", "skills/utf16", kind="encoding")
    assert "UTF-8" in (finding.hint or "")


def test_hermes_99609_name_and_folder_differ() -> None:
    """NousResearch/hermes-agent#99609: reported at load with both names."""
    _, findings = read("hermes-99609", "team-rules")
    assert errors(findings) == ["skill.name-folder"]
    assert "`acme-team-rules`" in findings[0].message
    assert "`team-rules`" in findings[0].message


def test_kirocrew_6193_a_blank_after_the_closing_fence() -> None:
    """kirodotdev/KiroCrew#6193: fields and body agree; no frontmatter reaches the body."""
    skill, findings = read("kirocrew-6193", "trail")
    assert skill is not None
    assert (skill.body, errors(findings)) == ("Body line\n", [])


@pytest.mark.parametrize(("folder", "version"), [("v110", "1.10"), ("v100", "1.10"), ("v3", "1.2.3")])
def test_odysseus_2131_versions_stay_as_written(folder: str, version: str) -> None:
    """odysseus-dev/odysseus#2131: 1.10 is never 1.1; what is not SemVer gets a suggestion."""
    skill, findings = read("odysseus-2131", folder)
    assert skill is not None
    assert skill.version == version
    assert errors(findings) == ([] if version == "1.2.3" else ["skill.version-not-semver"])
    assert version == "1.2.3" or '"1.10.0"' in (findings[0].hint or "")


def test_plugins_3921_text_outside_ascii() -> None:
    """anthropics/claude-plugins-official#3921: read as UTF-8 whatever the locale."""
    skill, _ = read("plugins-3921", "demo", kind="encoding")
    assert skill is not None
    assert skill.description == "Přehled \u201cfaktur\u201d \u2013 ověření"


def test_pyyaml_235_aliases_are_refused_before_they_expand() -> None:
    """yaml/pyyaml#235: nine levels of nine aliases cost nothing."""
    start = time.monotonic()
    skill, [finding] = read("pyyaml-235", "bomb")
    assert skill is None
    assert (finding.code, finding.line) == ("skill.yaml-alias", 5)
    assert time.monotonic() - start < 20


def test_rhdp_rca_35_an_unclosed_frontmatter() -> None:
    """redhat-et/rhdp-rca-plugin#35: an error, never an empty body."""
    skill, [finding] = read("rhdp-rca-35", "unclosed")
    assert skill is None
    assert finding.code == "skill.frontmatter-unclosed"
    assert "no closing fence" in finding.message


def test_sh1pt_981_example_lines_in_the_body_are_no_metadata() -> None:
    """profullstack/sh1pt#981: only a fence at the top starts frontmatter."""
    skill, [finding] = read("sh1pt-981", "plain")
    assert skill is None
    assert finding.code == "skill.no-frontmatter"


def test_skillevaluator_91_a_byte_order_mark_is_skipped_and_said() -> None:
    """NVIDIA/SkillEvaluator#91: fields read as without it."""
    skill, findings = read("skillevaluator-91", "bom-skill")
    assert skill is not None
    assert (skill.name, skill.description) == ("bom-skill", "Saved by a Windows editor.")
    assert (findings[0].code, findings[0].severity) == ("skill.byte-order-mark", Severity.NOTE)
