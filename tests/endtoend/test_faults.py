"""A run that is killed, interrupted, or has no disk left, and what a later one makes of it."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.endtoend.held_server import (
    PATIENCE_S,
    HeldServer,
    live_environment,
    n_recorded,
    result_of,
    start,
    wait_until,
)
from tests.project import (
    REPOSITORY,
    SKILL,
    Cli,
    build_small,
    command,
    edit,
    environment,
    records,
    run_folder,
    small_case,
    small_rules,
    spawn,
)

NAMES = ("a1", "a2", "a3", "a4", "a5", "a6")
N_TRIALS = 3 * len(NAMES)
FREE = 14  # two requests a trial: some are recorded, some are under way


def build(root: Path) -> Path:
    """Six cases, which make 18 trials and 36 requests."""
    rules = [rule for name in NAMES for rule in small_rules(name)]
    return build_small(root, cases=[small_case(name) for name in NAMES], rules=rules)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The content digest of a run that nobody disturbed."""
    root = build(tmp_path_factory.mktemp("whole"))
    with HeldServer(root, free=1000) as server:
        run = start(root, server)
        run.communicate(timeout=30)
    assert len(records(root)) == N_TRIALS
    return str(result_of(root)["content_digest"])


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldServer]:
    """The project's server, holding after some requests."""
    with HeldServer(build(tmp_path), free=FREE) as server:
        yield server
        server.release()


def resumed(root: Path, server: HeldServer) -> subprocess.CompletedProcess[str]:
    """Go on with the only run of a project."""
    server.release()
    argv = command(root, "eval", "--resume", run_folder(root).name)
    return subprocess.run(
        argv, capture_output=True, text=True, cwd=REPOSITORY, env=live_environment(server), timeout=30
    )


def assert_whole(root: Path, whole: str) -> None:
    """Every trial once, and the result of an undisturbed run."""
    ids = [record["trial_id"] for record in records(root)]
    assert len(ids) == len(set(ids)) == N_TRIALS
    assert result_of(root)["content_digest"] == whole
    assert result_of(root)["interrupted"] is False


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, held: HeldServer, whole: str) -> None:
    """kill -9, then --resume with nothing but the id: nothing lost, nothing doubled, the same content digest."""
    run = start(tmp_path, held, "--jobs", "2")
    wait_until(held.held.is_set)
    wait_until(lambda: n_recorded(tmp_path) >= 3)
    run.kill()
    run.communicate()
    assert 3 <= n_recorded(tmp_path) < N_TRIALS
    ran = resumed(tmp_path, held)
    assert ran.returncode == 1, ran.stderr  # the model gate wants a calibrated judge
    assert_whole(tmp_path, whole)


def test_one_interrupt_finishes_what_is_under_way(tmp_path: Path, held: HeldServer, whole: str) -> None:
    """Exit 130 with the report of what there is and the command that goes on; that command makes it whole."""
    run = start(tmp_path, held, "--jobs", "2")
    wait_until(held.held.is_set)
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    assert "stopping after 2 trials under way; Ctrl-C again" in run.stderr.readline()
    held.release()
    out, err = run.communicate(timeout=10)
    assert run.returncode == 130
    n_before = n_recorded(tmp_path)
    assert f"{n_before} of {N_TRIALS} trials scored" in " ".join(out.split())
    assert f"go on with: skillassay --root {tmp_path} eval --resume {run_folder(tmp_path).name}\n" in err
    assert "Traceback" not in err
    assert resumed(tmp_path, held).returncode == 1
    assert n_before < N_TRIALS
    assert_whole(tmp_path, whole)


def test_a_second_interrupt_ends_at_once(tmp_path: Path, held: HeldServer, whole: str) -> None:
    """Nobody waits for a server that does not answer: 130 while it still holds, and the record can be resumed."""
    run = start(tmp_path, held, "--jobs", "2")
    wait_until(held.held.is_set)
    wait_until(lambda: n_recorded(tmp_path) >= 3)
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    run.stderr.readline()
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=PATIENCE_S / 2)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert resumed(tmp_path, held).returncode == 1
    assert_whole(tmp_path, whole)


def test_two_processes_cannot_go_on_with_one_run(tmp_path: Path, held: HeldServer, whole: str) -> None:
    """The second one is refused with exit 3 and changes nothing; the first one ends as if alone."""
    run = start(tmp_path, held, "--jobs", "2")
    wait_until(lambda: n_recorded(tmp_path) >= 1)
    argv = command(tmp_path, "eval", "--resume", run_folder(tmp_path).name)
    second = subprocess.run(
        argv, capture_output=True, text=True, cwd=REPOSITORY, env=live_environment(held), timeout=30
    )
    assert second.returncode == 3
    assert "is under way in another process" in second.stderr
    held.release()
    run.communicate(timeout=20)
    assert_whole(tmp_path, whole)


def test_a_skill_that_moves_under_a_run_leaves_it_open(tmp_path: Path, held: HeldServer) -> None:
    """Files that changed between the first and the last trial: the decision names the skill, and nothing is proven."""
    run = start(tmp_path, held, "--jobs", "2")
    wait_until(held.held.is_set)
    edit(tmp_path / "skills/greeter/SKILL.md", "twice", "thrice")
    held.release()
    out, _ = run.communicate(timeout=20)
    assert "OPEN    digests_match: 1 skills changed during the run" in out
    assert "skills/greeter: its files changed while the run was under way" in " ".join(out.split())
    assert result_of(tmp_path)["evidence"] == {}


def limit_files(n_bytes: int) -> None:
    """Let this process write no file longer than this: what a full disk looks like to it."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def test_a_full_disk_ends_the_run_and_keeps_the_record(tmp_path: Path, held: HeldServer, whole: str) -> None:
    """Exit 3 in one line; what was written before is readable, and the run goes on when there is room."""
    held.release()
    run = start(tmp_path, held, preexec_fn=lambda: limit_files(16_000))
    _, err = run.communicate(timeout=20)
    assert run.returncode == 3
    assert "the record in" in err
    assert "cannot be written: No space left on device" in err
    assert "Traceback" not in err
    shown = spawn(tmp_path, "report", "--format", "json")
    assert shown.returncode == 0
    counts = json.loads(shown.stdout)["counts"]
    assert 0 < counts["passed"] + counts["failed"] < N_TRIALS == counts["planned"]
    assert spawn(tmp_path, "gate").returncode in {1, 3}
    assert resumed(tmp_path, held).returncode == 1
    assert_whole(tmp_path, whole)


def can_mount() -> bool:
    """Whether this machine lets a test mount a small disk of its own."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no user and mount namespaces here")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """On a disk of 32 KiB the run ends with exit 3 and a report of what was recorded can still be made."""
    root = build(tmp_path / "project")
    (root / ".skillassay").mkdir()
    python = f"{sys.executable} -m skillassay --root {root}"
    script = (
        f"mount -t tmpfs -o size=32k none {root}/.skillassay; {python} eval; echo code $?; "
        f"{python} report --format json; echo code $?"
    )
    argv = ["unshare", "-rm", "sh", "-c", script]
    ran = subprocess.run(argv, capture_output=True, text=True, cwd=REPOSITORY, env=environment(), timeout=30)
    assert "cannot be written: No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    head, _, shown = ran.stdout.partition("code 3\n")
    assert head == ""
    counts = json.loads(shown.partition("code 0")[0])["counts"]
    assert 0 < counts["unscored"] < counts["planned"] == N_TRIALS


@pytest.fixture
def finished(cli: Cli) -> Path:
    """A finished run on the embedded fixture."""
    build(cli.root)
    assert cli("eval", "--jobs", "1").code == 0
    return run_folder(cli.root)


@pytest.mark.parametrize("cut", [1, 2, 300, 1500, 5000, 9000, 12000, 100_000_000])
def test_a_torn_line_is_cut_and_run_again(cli: Cli, finished: Path, cut: int) -> None:
    """A record that lost its last bytes, at whatever place, resumes to the same content."""
    digest = result_of(cli.root)["content_digest"]
    (finished / "result.json").unlink()
    data = (finished / "trials.jsonl").read_bytes()
    (finished / "trials.jsonl").write_bytes(data[: max(0, len(data) - cut)])
    (finished / "events.jsonl").write_bytes(b'{"event": "run_st')
    assert cli("report").code == 0
    assert cli("eval", "--resume", finished.name).code == 0
    assert len(records(cli.root)) == N_TRIALS
    assert result_of(cli.root)["content_digest"] == digest
    assert (finished / "events.jsonl").read_bytes().startswith(b'{"at"')


def test_a_damaged_line_in_the_middle_is_an_error(cli: Cli, finished: Path) -> None:
    """Only the last line may be torn: anything else is exit 3 with the line's number."""
    lines = (finished / "trials.jsonl").read_bytes().split(b"\n")
    lines[4] = lines[4][:-5]
    (finished / "trials.jsonl").write_bytes(b"\n".join(lines))
    for arguments in (("report",), ("gate",), ("eval", "--resume", finished.name)):
        ran = cli(*arguments)
        assert ran.code == 3
        assert "trials.jsonl, line 5" in ran.err


def new_skill(root: Path) -> None:
    """Another skill in the catalog, so that the candidate would be asked otherwise."""
    (root / "skills" / "other").mkdir()
    (root / "skills" / "other" / "SKILL.md").write_text(SKILL.format(name="other"), encoding="utf-8")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "skill": (
        lambda root: edit(root / "skills/greeter/SKILL.md", "twice", "thrice"),
        "files of skills/greeter",
    ),
    "case": (lambda root: edit(root / "evals/quality.json", "Greet a3.", "Greet a3, please."), "the case quality/a3"),
    "contract": (
        lambda root: edit(root / "evals/contract.yaml", "contract: 1", "contract: 1\ngate: {quality_min: 0.5}"),
        "evals/contract.yaml or of the options (gate.quality_min 4/5, not 1/2)",
    ),
    "fixture": (
        lambda root: (root / "evals/fixtures/more.json").write_text('{"fixture": 1}', encoding="utf-8"),
        "the authored answers (fixtures)",
    ),
    "new skill": (new_skill, "files of skills/other"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_project_is_another_run(cli: Cli, finished: Path, what: str) -> None:
    """A run goes on as the same experiment only: exit 3, saying which file differs, and nothing is written."""
    change, words = CHANGES[what]
    change(cli.root)
    before = {path: path.read_bytes() for path in finished.iterdir()}
    ran = cli("eval", "--resume", finished.name)
    assert ran.code == 3
    assert "cannot be resumed" in ran.err
    assert words in ran.err
    assert {path: path.read_bytes() for path in finished.iterdir()} == before


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--mode", "none"), "--mode (progressive, none, eager, now none)"),
        (("--repeats", "2"), "--repeats (1, now 2)"),
        (("--case", "a1"), "--case (all, now a1)"),
        (("--quality-min", "0.9"), "(gate.quality_min 4/5, not 9/10)"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_another_option_is_another_run(cli: Cli, finished: Path, option: tuple[str, ...], words: str) -> None:
    """The refusal names the option, with what it was and what it is."""
    ran = cli("eval", "--resume", finished.name, *option)
    assert ran.code == 3
    assert words in ran.err


def test_a_run_goes_on_with_the_options_it_was_begun_with(cli: Cli) -> None:
    """Cases, modes and repeats come from the record, so that the id is all one needs."""
    build(cli.root)
    assert cli("eval", "--case", "a2", "--mode", "progressive", "--repeats", "3").code == 3  # none was not asked
    before = (run_folder(cli.root) / "trials.jsonl").read_bytes()
    (run_folder(cli.root) / "trials.jsonl").write_bytes(before[:-900])
    assert cli("eval", "--resume", run_folder(cli.root).name).code == 3
    assert len(records(cli.root)) == 3


def test_the_number_of_jobs_changes_nothing(cli: Cli, finished: Path) -> None:
    """One trial at a time or eight: the same content digest."""
    digest = result_of(cli.root)["content_digest"]
    shutil.rmtree(finished)
    assert cli("eval", "--jobs", "8").code == 0
    assert result_of(cli.root)["content_digest"] == digest
