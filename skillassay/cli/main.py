"""The entry: the table of commands, global options, and the one place where an exception becomes an exit code."""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from skillassay import __version__
from skillassay.cli.output import prepare_streams, print_error, say
from skillassay.errors import Exit, SkillassayError
from skillassay.printable import one_line

COMMANDS: dict[str, tuple[str, str]] = {
    "eval": ("evaluate", "Run the quality cases in three modes, score, gate, record."),
    "record": ("record", "Run eval on live models and keep their traffic for the replay model."),
    "e2e": ("e2e", "Run the routing cases: right skill, right script, or none."),
    "triggers": ("triggers", "Run the trigger cases: how often does a request load its skill?"),
    "check": ("check", "Check skills, suites, contract and lock, offline, all problems at once."),
    "lock": ("lock", "Write skills.lock.json, or verify it with --check."),
    "mutate": ("mutate", "Damage a skill on purpose: which damage do its cases notice?"),
    "plan": ("plan", "Say what lift each skill's cases can show, before anything is spent."),
    "suite": ("suite", "Show the cases of a suite now, or as a past run had them."),
    "holdout": ("holdout", "Seal, check or void the hidden holdout that the contract names."),
    "init": ("init", "Begin in a repository of skills: contract, skeletons of cases, make, CI."),
    "doctor": ("doctor", "Explain what a run would meet on this machine and in this project."),
    "schema": ("schema", "Print or write the JSON Schemas of the files that people write."),
    "bump": ("bump", "Raise a skill's metadata.version in place; --init adds missing ones."),
    "gate": ("gate", "Decide again on a stored run, without a model."),
    "baseline": ("baseline", "Show, pin or unpin the run that new runs are compared with."),
    "compare": ("compare", "Compare two stored runs trial by trial, where their contracts allow it."),
    "report": ("report", "Show a stored run again: table, Markdown, JSON, HTML, JUnit, CSV."),
    "score": ("score", "Score answers that were made elsewhere, without asking a candidate."),
    "scorecard": ("scorecard", "Show what stored runs say of each skill and version, with trends."),
    "events": ("events", "Stream a stored run as JSON lines."),
    "approve": ("approve", "Show what there is to approve of a run, or approve it under a name."),
    "review": ("review", "Show what of a run people must look at, or say what one decided."),
    "read": ("read", "Say of a sample of the judge's verdicts whether they are right."),
    "label": ("label", "Say of answers whether they meet what the judge decides, blind to it."),
    "calibrate": ("calibrate", "Compare the judge with people's labels; certify it, or say why not."),
    "pairwise": ("pairwise", "Let the judge compare answers of two modes or runs, in both orders."),
    "export": ("export", "Write what other tools read: statements of evidence, a run as a workspace."),
    "import": ("import_", "Read another tool's evals into the suites here."),
}
"""Command name -> (module in skillassay.cli, one line of help). Modules are imported when their command is called."""

ALIASES = {"eval-quality": "eval"}

EPILOG = """\b
Exit codes: 0 passed; 1 a gate or a verification failed; 2 wrong usage;
3 cannot decide (bad input, provider error, incomplete run); 70 a bug;
130 interrupted; 141 closed pipe. make turns every failure into 2.
"""


class CommandTable(click.Group):
    """A group that knows its commands by name and imports one when it is called: `--help` must start at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        entry = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        command = importlib.import_module(f"skillassay.cli.{entry[0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])


@click.group(cls=CommandTable, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skillassay")
@click.option(
    "--root", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), help="Project folder."
)
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def cli(ctx: click.Context, *, root: Path, quiet: bool, debug: bool) -> None:
    """Measure whether an Agent Skill really helps, and stop a changed skill from shipping without a new version and a
    new measurement.

    Reads skills, evals/ and skills.lock.json below the project folder; writes only what a command's own help says.
    """
    ctx.obj = {"root": root, "quiet": quiet, "debug": debug}


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code. Never raises."""
    prepare_streams()
    try:
        return _run(arguments)
    except SystemExit as error:
        # click ends so on a closed pipe (1) and after it wrote a shell completion (0).
        return _closed_pipe() if error.code == 1 else int(Exit.PASSED)
    except BrokenPipeError:
        return _closed_pipe()
    except OSError:
        # The error stream itself takes nothing, so nobody can be told.
        return int(Exit.UNDECIDED)


def _run(arguments: Sequence[str]) -> int:
    try:
        code = cli.main(args=list(arguments), prog_name="skillassay", standalone_mode=False)
        # A command's `ctx.exit(n)` comes back as a value in this mode.
        return int(code) if isinstance(code, int) else int(Exit.PASSED)
    except click.ClickException as error:
        error.show()
        return int(Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return int(Exit.INTERRUPTED)
    except SkillassayError as error:
        print_error(error)
        _trace(arguments)
        return int(error.exit_code)
    except BrokenPipeError:
        raise
    except OSError as error:
        # Nobody's mistake here: a disk, a permission, a stream of this machine.
        _trace(arguments)
        say(f"error: {one_line(str(error))}")
        return int(Exit.UNDECIDED)
    except Exception as error:  # noqa: BLE001 - the last stop: a bug says so in one line and keeps its traceback for --debug
        _trace(arguments)
        say(f"bug: {type(error).__name__}: {one_line(str(error))}")
        say("hint: run again with --debug before the command and report the traceback")
        return int(Exit.BUG)


def _trace(arguments: Sequence[str]) -> None:
    if "--debug" in arguments:
        traceback.print_exc()


def _closed_pipe() -> int:
    """Whoever read our output is gone; nothing more may be written, not even at interpreter exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    return int(Exit.CLOSED_PIPE)
