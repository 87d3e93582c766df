"""The digest of the code that scores: which files it is over, and that a plug-in's are among them."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

import skillassay
from skillassay.scoring.code import SCORING_FILES, scorer_digest
from tests.test_architecture import at_run_time, imported, own

PACKAGE = Path(skillassay.__file__).parent


def manifest(files: dict[str, bytes]) -> str:
    """The digest as its definition says."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def own_files() -> dict[str, bytes]:
    """The scoring modules of this package by path."""
    found = {path.relative_to(PACKAGE).as_posix(): path for glob in SCORING_FILES for path in PACKAGE.glob(glob)}
    return {name: found[name].read_bytes() for name in sorted(found, key=lambda name: PACKAGE / name)}


def test_it_is_the_digest_of_a_manifest() -> None:
    """Recomputed from the definition; built-in checks add nothing to it."""
    assert scorer_digest([]) == scorer_digest(["regex", "exact"]) == manifest(own_files())


@pytest.mark.parametrize("glob", SCORING_FILES)
def test_every_glob_finds_something(glob: str) -> None:
    """A module that was renamed does not fall out unseen."""
    assert list(PACKAGE.glob(glob))


@pytest.mark.parametrize(
    "name",
    [
        "scoring/scores.py",
        "judging/judge.py",
        "judging/behavior.py",
        "gate/decide.py",
        "checks/numbers.py",
        "runs/trial.py",
        "people/review.py",
        "people/adjudication.py",
        "suites/parts.py",
        "holdout/sealed.py",
        "holdout/voiding.py",
        "holdout/searching.py",
    ],
)
def test_what_decides_is_in_it(name: str) -> None:
    """Checks, judge, behaviour, counting, gate, people's words, parts, what voids a holdout."""
    assert name in own_files()


ROOTS = ("gate.decide", "scoring.scores", "scoring.assessment", "runs.trial")
FORMS = "a form or a reader: the digest of what it reads is bound by itself, and it decides nothing"
PORTS = "says what is asked and answered; what came of it is in the record"
TERMS = "reads the contract, of which every run freezes what it says"
KEEPS = "keeps, reads or removes what was decided elsewhere"
EXCEPTIONS = {
    "__init__": "the version, which every run says",
    "canonical": FORMS,
    "contract.contract": TERMS,
    "documents": FORMS,
    "findings": FORMS,
    "schema": FORMS,
    "suites.files": FORMS,
    "suites.normal": FORMS,
    "suites.expectation": "what a trial activated, which enters no score and no line",
    "inside": KEEPS,
    "formats": "refuses a file of another format and decides nothing of one that it reads",
    "ledger": KEEPS,
    "regular": KEEPS,
    "locks.evidence": KEEPS,
    "runs.retention": KEEPS,
    "runs.store": KEEPS,
    "isolation.levels": "names the levels that a machine can reach",
    "isolation.process": "starts and ends programs",
    "models.base": PORTS,
    "subjects.base": PORTS,
    "transcript": PORTS,
}
"""Modules that gate, scores and trials import and that are not in the digest. What these import is not looked at."""


def walked(roots: Sequence[str]) -> dict[str, str]:
    """Every module that is imported from these, with who did first; not beyond the exceptions."""
    met, todo = dict.fromkeys(roots, "the start"), list(roots)
    while todo:
        name = todo.pop()
        path = PACKAGE / f"{name.replace('.', '/')}.py"
        if name in EXCEPTIONS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for found in {one for node in at_run_time(tree) for asked in imported(node) if (one := own(asked))} - set(met):
            met[found] = name
            todo.append(found)
    return met


def test_whatever_a_verdict_rests_on_is_in_it() -> None:
    """Each module that gate, scores, assessment or trial import is in the digest, or an exception with its reason."""
    covered = {name.removesuffix(".py").replace("/", ".") for name in own_files()}
    met = walked(ROOTS)
    assert {name: by for name, by in met.items() if name not in covered | set(EXCEPTIONS)} == {}
    assert set(EXCEPTIONS) - set(met) == set()  # no exception outlives its import
    assert covered.isdisjoint(EXCEPTIONS)


def install(folder: Path, name: str, version: str = "1.0") -> None:
    """A distribution that offers the check type ``word``."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[skillassay.checks]\nword = {name}.inner:build\n", encoding="utf-8")
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("", encoding="utf-8")
    (folder / name / "inner.py").write_text("from assay_plug.more import X\n", encoding="utf-8")
    (folder / name / "more.py").write_text("X = 1\n", encoding="utf-8")


def test_a_plug_ins_code_counts_where_a_case_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of its package, in the manifest after our own; CRLF is LF, and one more character is another scorer."""
    install(tmp_path, "assay_plug")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ("__init__", "inner", "more")
    plug = {f"plugin:word/assay_plug/{name}.py": (tmp_path / f"assay_plug/{name}.py").read_bytes() for name in names}
    lines = sorted(f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in plug.items())
    own = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in own_files().items()]
    wanted = hashlib.sha256("".join(f"{line}\n" for line in own + lines).encode()).hexdigest()
    assert scorer_digest(["word", "exact", "word"]) == wanted
    (tmp_path / "assay_plug/more.py").write_bytes(b"X = 1\r\n")
    assert scorer_digest(["word"]) == wanted
    (tmp_path / "assay_plug/more.py").write_bytes(b"X = 2\n")
    assert scorer_digest(["word"]) not in {wanted, scorer_digest([])}
