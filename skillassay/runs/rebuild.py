"""What a stored run was asked for, read back, and whether the project still is what it was then.

A run that goes on must be the same experiment. A run that is made again (``eval --like``) must be the same in
everything that its frozen contract holds, the environment included; what differs is listed, and nothing is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from skillassay.canonical import canonical_bytes
from skillassay.contract.contract import CONTRACT_PATH
from skillassay.contract.frozen import frozen_differences, require_whole
from skillassay.contract.groups import FIELDS, RESULT
from skillassay.errors import InputError
from skillassay.isolation.levels import LEVELS
from skillassay.locks.terms import differing_terms
from skillassay.runs.plan import ALL_MODES, Mode
from skillassay.runs.preparation import EvalRequest
from skillassay.runs.retention import FULL
from skillassay.runs.store import read_header, run_folder

Header = Mapping[str, Any]
SIDES = ("candidate", "judge", "second")

OF_THE_HOUR = frozenset(("environment.time",))
"""Fields that no two runs share."""
SECTIONS = ("skills", "earlier", "placebo", "suites", "cases")
"""Parts of a header that hold one digest or state a name."""


def resumed_request(request: EvalRequest, run: str) -> EvalRequest:
    """The request of a stored run. What is named again must be the same, which the start of the run checks."""
    header = read_header(run_folder(request.root, run))
    require_whole(header, None)
    facts, settings = header["facts"], header["settings"]
    given, own = settings["given"], header["models"]["candidate"].get("own_model")
    return replace(
        request,
        skills=request.skills or tuple(given["skills"]),
        cases=request.cases or tuple(given["cases"]),
        modes=tuple(Mode(mode) for mode in facts["modes"]) if request.modes == ALL_MODES else request.modes,
        repeats=facts["repeats"] if request.repeats == 1 else request.repeats,
        # Of an agent with a model of its own the label names no model that could be opened.
        model=request.model or (given["model"] if own else header["models"]["candidate"]["label"]),
        judge_model=request.judge_model or header["models"]["judge"]["label"],
        judge_samples=request.judge_samples or given.get("judge_samples"),
        second_judge_model=request.second_judge_model or header["models"].get("second", {}).get("label"),
        quality_min=request.quality_min or given["quality_min"],
        subject=request.subject or given["subject"],
        base=given["base"],
        require_isolation=_stronger(request.require_isolation, settings.get("require_isolation")),
        purpose=settings.get("purpose", request.purpose),
        holdout=settings.get("holdout"),
        sample=request.sample or given.get("sample"),
        seed=given.get("seed") if request.seed is None else request.seed,
        rpm=request.rpm or settings.get("rpm"),
        tpm=request.tpm or settings.get("tpm"),
    )


def _stronger(one: str | None, other: str | None) -> str | None:
    """The isolation that meets both demands."""
    return max((level for level in (one, other) if level is not None), key=LEVELS.index, default=None)


def refuse_other_run(now: Header, then: Header) -> None:
    """A run goes on only as the same experiment: same trials (skill bytes, cases, modes), models, gate and program.

    Both are headers: the one that a new run would get, and the stored one.
    """
    require_whole(then, None)
    differs = list(_other_plan(then, now))
    if now["contract"]["binding"] != then["contract"]["binding"]:
        terms = differing_terms(then["contract"]["binding"], now["contract"]["binding"], exactly=True)
        differs.append(f"terms of {CONTRACT_PATH} or of the options ({'; '.join(terms)})")
    rules = [header.get("retention", FULL) for header in (then, now)]
    if rules[0] != rules[1]:
        differs.append(f"the retention ({rules[0]}, now {rules[1]})")
    if (now.get("answers") or {}).get("digest") != (then.get("answers") or {}).get("digest"):
        differs.append("the answers")
    if _use(now) != _use(then):
        differs.append("the holdout, or what is known against it")
    differs += _other_isolation(then.get("isolation", now["isolation"]), now["isolation"])
    if now["fixture_digest"] != then["fixture_digest"]:
        differs.append("the authored answers (fixtures)")
    differs += _other_models(then, now)
    differs += _agents(then, now)
    if now["skillassay"] != then["skillassay"]:
        differs.append(f"skillassay ({then['skillassay']}, now {now['skillassay']})")
    elif _scorer(now) != _scorer(then):
        differs.append("the code that scores")
    if differs:
        hint = "resume with the same options and files, or start a new run"
        raise InputError(f"run {then['id']} cannot be resumed: {', '.join(differs)} differ", hint=hint)


def refuse_unlike(now: Header, then: Header) -> None:
    """Raise :class:`InputError` with everything in which a new run would not be the stored one again."""
    now = json.loads(canonical_bytes(dict(now)))
    groups = require_whole(then, None)
    stated_now = now["contract"]["groups"]
    differs = [f"{n} planned trials" for n in (_n_other_trials(now, then),) if n]
    differs += list(_sections(then, now))
    paths = [field.path for field in FIELDS if field.group != RESULT and field.path not in OF_THE_HOUR]
    if _is_dated_by_itself(then) and _is_dated_by_itself(now):
        paths.remove("dataset.snapshot_time")
    differs += frozen_differences(groups, stated_now, paths)
    differs += _other_models(then, now)
    differs += _agents(then, now)
    if differs:
        hint = "bring back what differs (git knows the files), or start a run of its own"
        message = f"run {then['id']} cannot be made again; then and now differ: {'; '.join(differs)}"
        raise InputError(message, hint=hint)


def _agents(then: Header, now: Header) -> Iterator[str]:
    """Sides whose agent is another one, or described or programmed otherwise; a version that is not known is none."""
    old, new = then.get("agents", {}), now.get("agents", {})
    for side in SIDES:
        first, second = old.get(side, {}), new.get(side, {})
        names = [name for name in ("name", "file_digest") if first.get(name) != second.get(name)]
        versions = (first.get("version"), second.get("version"))
        if names or (None not in versions and versions[0] != versions[1]):
            yield f"the {side}'s agent ({_agent_words(first)}, now {_agent_words(second)})"


def _agent_words(agent: Mapping[str, Any]) -> str:
    digest = agent.get("file_digest")
    words = [agent.get("name") or "none", agent.get("version") or "", f"file {digest[:12]}" if digest else ""]
    return " ".join(filter(None, words))


def _is_dated_by_itself(header: Header) -> bool:
    """Whether the contract states no time for its cases, so that they are as of the run."""
    return bool(header["contract"]["groups"]["dataset"]["snapshot_time"] == header["created_at"])


def _n_other_trials(now: Header, then: Header) -> int:
    ids = [{trial["trial_id"] for trial in header["facts"]["trials"]} for header in (then, now)]
    return len(ids[0] ^ ids[1])


def _sections(then: Header, now: Header) -> Iterator[str]:
    for section in SECTIONS:
        names = [
            name
            for name in sorted({*then.get(section, {}), *now.get(section, {})})
            if then.get(section, {}).get(name) != now.get(section, {}).get(name)
        ]
        if names:
            yield f"{section}: {', '.join(names)}"


def _digests(skills: Mapping[str, Any]) -> dict[str, str]:
    return {path: skill["digest"] for path, skill in skills.items()}


def _other_plan(then: Header, now: Header) -> Iterator[str]:
    """Which files and options make another plan: skills and cases by name, options as they are written."""
    n_other = _n_other_trials(now, then)
    causes = []
    for what, old, new in (
        ("files of", _digests(then["skills"]), _digests(now["skills"])),
        ("the earlier state of", _digests(then["earlier"]), _digests(now["earlier"])),
        ("the placebo of", _digests(then.get("placebo", {})), _digests(now.get("placebo", {}))),
        ("the case", then["cases"], now["cases"]),
    ):
        names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if names:
            causes.append(f"{what} {', '.join(names)}")
    given = [header["settings"]["given"] for header in (then, now)]
    facts = [header["facts"] for header in (then, now)]
    for option, (before, after) in {
        "--skill": [sorted(one["skills"]) for one in given],
        "--case": [sorted(one["cases"]) for one in given],
        "--mode": [one["modes"] for one in facts],
        "--repeats": [[str(one["repeats"])] for one in facts],
    }.items():
        if before != after and n_other:
            causes.append(f"{option} ({', '.join(before) or 'all'}, now {', '.join(after) or 'all'})")
    samples = [_sample_words(header) for header in (then, now)]
    if samples[0] != samples[1]:
        causes.append(f"--sample ({samples[0]}, now {samples[1]})")
    if n_other:
        yield f"{n_other} trials ({'; '.join(causes) or 'cause unknown'})"
    elif causes:
        yield "; ".join(causes)


def _sample_words(header: Header) -> str:
    sample = header.get("sample")
    return "none" if sample is None else f"{sample['n']} of {sample['of']} with seed {sample['seed']}"


def _use(header: Header) -> Any:
    """The holdout that a run planned. Whether it can be reached is another thing: then its trials are tried again."""
    use = header["facts"].get("holdout")
    return None if use is None else {**use, "looked": True, "doubts": list(use["doubts"])}


def _scorer(header: Header) -> Any:
    return header["contract"]["groups"]["scoring"]["code_digest"]


def _other_models(then: Header, now: Header) -> Iterator[str]:
    """Each side on which another model is asked, or the same one elsewhere, with both."""
    for side in SIDES:
        old, new = (header["models"].get(side) for header in (then, now))
        if old != new:
            words = ["none" if model is None else _whereabouts(model) for model in (old, new)]
            yield f"the {'second judge' if side == 'second' else side} ({words[0]}, now {words[1]})"


def _whereabouts(model: Mapping[str, Any]) -> str:
    recorded = model.get("recorded")
    where = (
        f"on {model['endpoint']}{_by_address(model)}"
        if recorded is None
        else f"with the digest {recorded['digest'][:12]}"
    )
    return f"{model['label']} {where}"


def _other_isolation(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What of the trials' surroundings differs; the rule for scripts only where there is one to run."""
    if then["level"] != now["level"]:
        yield f"the isolation ({then['level']}, now {now['level']})"
    if (then["skills"] or now["skills"]) and then["scripts"] != now["scripts"]:
        yield f"the rule for scripts ({then['scripts']}; now {now['scripts']})"


def _by_address(model: Mapping[str, Any]) -> str:
    """What of its address a record only has a digest of."""
    return f", user and query {model['address']}" if "address" in model else ""
