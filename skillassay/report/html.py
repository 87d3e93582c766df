"""The report as one HTML file: everything inline, nothing fetched, nothing run that this package did not write.

Owns what stands on the page and in which order; the layout lies in ``templates``. Every text of a model, an author or a
script is shown with its hidden characters made visible and goes through Jinja's autoescape; a content security policy
names the digests of the one style and the one script, so that nothing else could run even if an escape failed.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from skillassay.printable import one_line, visible_text
from skillassay.report.base import RunView, criteria_text, effort_lines, lift_text, rate_text, tokens_text
from skillassay.report.breakdown import all_entries, matrix_grids
from skillassay.report.costs import cost_texts
from skillassay.report.effects import effect_texts, lift_rows, p_legend
from skillassay.report.forest import MARGIN, TICKS, WIDTH, Bar, bar_of, place
from skillassay.report.hints import hints_of
from skillassay.report.html_trials import build_matrix, build_pages
from skillassay.report.noise import noise_texts
from skillassay.report.parts import HEADERS, part_rows
from skillassay.report.people import people_texts
from skillassay.report.suite_lint import LintView
from skillassay.scoring.effects import build_effects
from skillassay.scoring.scores import ModeTotal

_TEMPLATES = Path(__file__).parent / "templates"
STATUS_WORDS = {"passed": "passed", "failed": "FAILED", "undecided": "open", "not_applicable": "n/a"}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": one_line, "text": visible_text}
    return environment


def render_page(template: str, **content: Any) -> str:
    """A template with its content, style, script and the policy that allows these two alone."""
    # Both are this package's own files; nothing of a run stands in them.
    style, script = (Markup((_TEMPLATES / name).read_text("utf-8")) for name in ("page.css", "page.js"))  # noqa: S704
    policy = f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; base-uri 'none'"
    page = _environment().get_template(template).render(style=style, script=script, policy=policy, **content)
    return page + "\n"


def _source(text: str) -> str:
    """How a policy names an inline text: https://www.w3.org/TR/CSP3/#grammardef-hash-source."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRow:
    """What one mode came to and what it took."""

    mode: str
    criteria: str
    trials: str
    calls: str
    tokens_in: str
    tokens_out: str
    cached: str


def render_html(view: RunView, lint: LintView | None = None) -> str:
    """The report on one run, with what a ``lint`` of its suites found where there was one."""
    pages, n_left_out = build_pages(view)
    decision = view.assessment.decision
    return render_page(
        "run.html.j2",
        view=view,
        title=f"{decision.gate} {STATUS_WORDS[decision.status.value]}",
        words=STATUS_WORDS,
        decision=decision,
        totals=[_mode_row(total, estimated=view.facts.estimated_tokens) for total in view.assessment.scores.totals],
        slices=[(part.name, part.n_cases, part.totals) for part in view.assessment.scores.slices],
        criteria_text=criteria_text,
        rate_text=rate_text,
        effort=[*effort_lines(view.assessment.scores.totals), *cost_texts(view.costs)],
        parts={"headers": HEADERS, "rows": part_rows(view)},
        entries=all_entries(view),
        grids=matrix_grids(view),
        bars=_bars(view),
        axis={"width": WIDTH, "margin": MARGIN, "ticks": [(tick, place(tick)) for tick in TICKS]},
        effects=[*filter(None, [p_legend(view)]), *noise_texts(view), *effect_texts(view), *view.previous_texts],
        people=list(people_texts(view)),
        hints=hints_of(view),
        matrix=build_matrix(view),
        lint=lint,
        pages=pages,
        n_left_out=n_left_out,
    )


def _mode_row(total: ModeTotal, *, estimated: bool) -> ModeRow:
    usage = total.usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    tokens_in, tokens_out, cached = (tokens_text(count, estimated=estimated) for count in counts)
    return ModeRow(
        mode=total.mode.value,
        criteria=criteria_text(total),
        trials=rate_text(total.trials),
        calls=str(total.n_calls),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cached=cached,
    )


def _bars(view: RunView) -> list[Bar]:
    """The lift of each skill with its two parts, then of all where there are several."""
    scores = view.assessment.scores
    if scores.overall_lift is None:
        return []
    lifts = {lift.skill_path: lift for lift in scores.lifts}
    if len(lifts) > 1:
        lifts[""] = scores.overall_lift
    effects = {one.skill_path: one for one in build_effects(scores, view.facts.plan)}
    bars: list[Bar] = []
    for (path, lift), (_, told) in zip(lifts.items(), lift_rows(view), strict=True):
        bars.append(bar_of(path or "all skills", lift, told, is_part=False))
        if path in effects:
            body, activation = effects[path].body, effects[path].activation
            bars += [
                bar_of("body effect (eager - none)", body, lift_text(body), is_part=True),
                bar_of("activation effect (progressive - eager)", activation, lift_text(activation), is_part=True),
            ]
    return bars
