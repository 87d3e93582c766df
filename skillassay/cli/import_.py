"""``skillassay import``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from skillassay.canonical import Json, write_atomic
from skillassay.cli.output import counted, emit
from skillassay.documents import load_document, parse_document
from skillassay.errors import Exit, InputError, StoreError, UsageError
from skillassay.findings import Finding, Severity
from skillassay.inside import refuse_links
from skillassay.interop.collecting import Collection, finish
from skillassay.interop.exchange import FileCopy, Imported, Merged, merge_cases
from skillassay.interop.importing import collect, find_sources, load_source
from skillassay.interop.shapes import Shape
from skillassay.printable import one_line
from skillassay.suites.case import load_routing, parse_suite
from skillassay.suites.files import CaseFile, CaseFileProblem, read_case_file
from skillassay.suites.triggers import load_triggers


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--into", metavar="SUITE", default="evals/quality.json", show_default=True, help="JSON quality suite.")
@click.option("--routing", metavar="SUITE", default="evals/routing.json", show_default=True, help="JSON routing suite.")
@click.option("--triggers", metavar="SUITE", help="JSON trigger suite: should_trigger goes there, not to routing.")
@click.option("--skill", metavar="NAME", help="The skill under test, if not the one that the file names.")
@click.option("--dry-run", is_flag=True, help="Show what would be carried; write nothing.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context,
    *,
    source: Path,
    into: str,
    routing: str,
    triggers: str | None,
    skill: str | None,
    dry_run: bool,
) -> int:
    """Read another tool's evals into the suites here.

    FILE is JSON, JSON lines or YAML, told by its shape: evals.json of the Agent Skills guide or skill-creator, lists of
    questions with a ground truth, scenarios, stimuli with graders, trigger queries (docs/reference/import.md has what
    becomes of each field). A folder is searched for such files. Statements become rubric criteria, word for word; what
    code can decide becomes a check; cases that only say which skill should answer go to the routing suite. What cannot
    be carried is listed by case and counted; a case that lacks a file is not carried, and importing again takes it up.

    Reads FILE, the files it names and the suites. Writes the suites (appended to, laid out with two spaces) and copies
    the files beside them; with --dry-run nothing. Importing twice changes nothing.

    Exit codes: 0 everything was carried; 1 something was not, it is listed; 2 wrong usage; 3 the file or a suite cannot
    be used, or could not be read with the new cases; nothing was written.
    """
    if len({name for name in (into, routing, triggers) if name}) < 2 + (triggers is not None):
        raise UsageError("two suites have one name", hint="give --into, --routing and --triggers files of their own")
    reading = _Reading(skill=skill, with_triggers=triggers is not None)
    imported, told = reading.folder(source) if source.is_dir() else reading.file(source)
    root = Path(ctx.obj["root"]).absolute()
    suites = _append(root, imported, into=into, routing=routing, triggers=triggers)
    sources = _read_sources(suites[0].target.path, imported.files, into)
    for one in suites:
        one.refuse_broken(sources)
    if not dry_run:
        _write(root, suites, imported.files if suites[0].merged.added else ())
    _show(imported, suites, told)
    return int(Exit.FAILED if imported.lost else Exit.PASSED)


def _append(root: Path, imported: Imported, *, into: str, routing: str, triggers: str | None) -> list[_Appended]:
    """The suites with the new cases, the quality suite first."""
    suites = [
        _merge(_Target(root=root, name=into, option="--into"), imported.cases, _quality_findings),
        _merge(_Target(root=root, name=routing, option="--routing"), imported.routing, _routing_findings),
    ]
    if triggers is not None:
        target = _Target(root=root, name=triggers, option="--triggers", head={"triggers": 1})
        suites.append(_merge(target, imported.triggers, _trigger_findings))
    return suites


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How files are to be read."""

    skill: str | None
    with_triggers: bool

    def collect(self, path: Path, label: str | None = None) -> tuple[Shape, Collection]:
        value = load_source(path)
        return collect(value, source=path, skill=self.skill, label=label, with_triggers=self.with_triggers)

    def file(self, path: Path) -> tuple[Imported, list[str]]:
        shape, collection = self.collect(path)
        return finish([collection]), [_told(path.name, shape.value, collection)]

    def folder(self, folder: Path) -> tuple[Imported, list[str]]:
        """All files of a folder that are of a shape that is read; the others are named and passed over."""
        collections, told = [], []
        for path in find_sources(folder):
            label = path.relative_to(folder).as_posix()
            try:
                shape, collection = self.collect(path, label)
            except InputError as error:
                told.append(f"skipped  {one_line(label)}: {one_line(error.message.split('; looked for', 1)[0])}")
                continue
            told.append(_told(label, shape.value, collection))
            collections.append(collection)
        if not collections:
            message = f"{folder} holds no file of a shape that is read"
            raise InputError(message, hint="the shapes are described at docs/reference/import.md")
        return finish(collections), told


def _told(name: str, shape: str, collection: Collection) -> str:
    return f"read     {one_line(name)}: {shape}, {counted(collection.n_read, 'case')}"


_Findings = Callable[[str, Path, str, Mapping[str, CaseFile]], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A suite to append to."""

    root: Path
    name: str
    option: str
    head: Mapping[str, Json] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.root / self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Appended:
    """A suite with what is to be appended, and who reads it back."""

    target: _Target
    merged: Merged
    find: _Findings

    @property
    def text(self) -> str:
        return json.dumps(self.merged.document, ensure_ascii=False, indent=2) + "\n"

    def refuse_broken(self, sources: Mapping[str, CaseFile]) -> None:
        """What would be written is read first, with the files still where they come from."""
        findings = self.find(self.text, self.target.path, self.target.name, sources) if self.merged.added else ()
        if findings:
            # Lines of a text that was never written would mislead.
            shown = tuple(replace(finding, line=None) for finding in findings)
            message = f"{self.target.name} could not be read with the imported cases, so nothing was written"
            raise InputError(message, hint="mend these cases in the imported file", findings=shown)


def _merge(target: _Target, cases: Sequence[dict[str, Json]], find: _Findings) -> _Appended:
    path = target.path
    if not path.resolve().is_relative_to(target.root.resolve()):
        hint = f"name a suite below the project's root with {target.option}"
        raise InputError(f"{target.name} lies outside the project", hint=hint)
    if path.suffix != ".json":
        hint = f"name one with {target.option}"
        raise InputError(f"{target.name}: only a JSON suite can be appended to", hint=hint)
    document = _load_target(target, find) if cases else {"cases": []}
    return _Appended(target=target, merged=merge_cases(document, cases, shown_as=target.name), find=find)


def _load_target(target: _Target, find: _Findings) -> Json:
    """The suite's document; a new one where there is none. It is refused as a whole when a reader would refuse it."""
    if not target.path.exists():
        return {**target.head, "suite": target.path.stem, "version": "1.0.0", "cases": []}
    document, findings = load_document(target.path, shown_as=target.name)
    if document is not None:
        findings = find(document.text, target.path, target.name, {})
    if document is None or findings:
        message = f"{target.name} has problems of its own and was left as it is"
        raise InputError(message, hint="mend them and import again", findings=findings)
    return document.value


def _quality_findings(text: str, path: Path, name: str, sources: Mapping[str, CaseFile]) -> tuple[Finding, ...]:
    def read_file(file: str) -> CaseFile:
        return sources[file] if file in sources else read_case_file(file, path.parent)

    document, findings = parse_document(text, path=name, is_json=True)
    return findings if document is None else parse_suite(document, read_file=read_file).findings


def _routing_findings(text: str, path: Path, name: str, _: Mapping[str, CaseFile]) -> tuple[Finding, ...]:
    return _read_back(text, path, lambda copy: load_routing(copy, shown_as=name)[1])


def _trigger_findings(text: str, path: Path, name: str, _: Mapping[str, CaseFile]) -> tuple[Finding, ...]:
    found = _read_back(text, path, lambda copy: load_triggers(copy, shown_as=name)[1])
    return tuple(finding for finding in found if finding.severity is Severity.ERROR)


def _read_back(text: str, path: Path, read: Callable[[Path], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(text, encoding="utf-8")
        return read(copy)


def _read_sources(target: Path, files: tuple[FileCopy, ...], into: str) -> dict[str, CaseFile]:
    """The files to copy, by target. One that is there with other content belongs to cases that are there."""
    sources: dict[str, CaseFile] = {}
    for copy in files:
        real = copy.source.resolve()
        try:
            file = read_case_file(real.name, real.parent)
            there = target.parent / copy.target
            is_other = there.exists() and read_case_file(copy.target, target.parent).sha256 != file.sha256
        except CaseFileProblem as problem:
            raise InputError(f"{copy.source}, or its copy beside {into}, {problem}", hint="mend the file") from problem
        if is_other or sources.get(copy.target, file).sha256 != file.sha256:
            message = f"{into}: {copy.target} is there with another content than {copy.source}"
            raise InputError(message, hint="rename one of them, or raise the suite's version and edit it by hand")
        sources[copy.target] = replace(file, path=copy.target)
    return sources


def _write(root: Path, appended: Sequence[_Appended], files: Sequence[FileCopy]) -> None:
    suites = [one for one in appended if one.merged.added]
    copies = {appended[0].target.path.parent / copy.target: copy.source for copy in files}
    for path in (*copies, *(one.target.path for one in suites)):
        refuse_links(root, path)
    try:
        for path, source in copies.items():
            write_atomic(path, source.read_bytes())
        for one in suites:
            write_atomic(one.target.path, one.text.encode())
    except OSError as error:
        raise StoreError(f"the suites cannot be written: {error.strerror}") from error


def _show(imported: Imported, suites: Sequence[_Appended], told: Sequence[str]) -> None:
    for line in told:
        emit(line)
    quality, *others = suites
    for one in suites:
        for name in one.merged.added:
            emit(f"added    {one_line(name)} ({one.target.name})")
        for name in one.merged.present:
            emit(f"present  {one_line(name)} ({one.target.name})")
    for line in imported.lost:
        emit(f"lost     {one_line(line)}")
    emit(f"cases: {imported.n_read} read, {imported.n_read - imported.n_refused} carried, {imported.n_refused} not")
    for one in others:
        if one.merged.added or one.merged.present:
            emit(f"{one.target.name}: {_counts(one)}")
    n_lost = counted(len(imported.lost), "thing")
    emit(f"{quality.target.name}: {_counts(quality)}, {n_lost} not carried")


def _counts(one: _Appended) -> str:
    return f"{len(one.merged.added)} added, {len(one.merged.present)} already there"
