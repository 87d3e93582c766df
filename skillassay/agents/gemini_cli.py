"""The Gemini CLI (``@google/gemini-cli``), read and tried with 0.61.0. Owns its settings and its event stream.

A trial's settings are those of the trial's home, and the machine's are left out; a judge's are those of its working
folder, which win over its user's. (As the machine's own they would win over all, but the program skips such a file
below a folder that others may write, as /tmp is.) ``none`` and ``eager`` switch its skills off and take away the tool
that activates them, since the tool's description alone would be a trace; the two skills that come with the program are
off in every mode. Temperature, seed and output limit of the contract are set by overrides for whatever model it chats
with: it asks some names as another model (``gemini-3.5-flash`` as ``gemini-3.8-flash``), which its stream tells.

It looks for ``.env`` and ``.gemini/.env`` from its working folder up to the root, and takes address, proxy and system
text from there. So ``.env`` is ignored by a setting, which does not hold for the other one: an empty ``.gemini/.env``
of ours lies in the working folder, where the search ends. ``@path`` in a query puts the file in; the search for one
that is not there is off.

What its stream does not tell: the tools it offers, thought tokens, its retries (of broken and empty replies too), the
exit code of a command, and that an answer was cut at the token limit: it says success, and only an answer without any
text is told as cut. A blocked prompt is told as a stream without an end, so it is a ``provider_error``, kind ``empty``.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from skillassay.agents.base import (
    AGENT_KIND,
    Agent,
    Ask,
    Conversation,
    Failure,
    Launch,
    StreamProblem,
    Told,
    count_of,
    object_of,
    read_events,
    text_of,
    unreadable,
)
from skillassay.errors import Reason
from skillassay.transcript import Usage

SKILL_TOOL = "activate_skill"
BUILT_IN_SKILLS = ("skill-creator", "antigravity-support")
SETTINGS, SYSTEM_TEXT = ".gemini/settings.json", ".gemini/system.md"
N_ATTEMPTS = 3
"""HTTP attempts for one request; the program's own ten, five to thirty seconds apart, outlast any trial."""

_REDACTION = {"environmentVariableRedaction": {"enabled": True}}
"""Keeps the key out of the environment of commands. They could still read it from the program's own."""
_ENV_FILE = {".gemini/.env": ""}
_CHATS: tuple[dict[str, Any], ...] = ({"model": "chat-base"}, {"model": "chat-base", "isRetry": True})
"""What all its conversations inherit from. It has a temperature of its own for a request that it makes again."""
_TURN_LIMIT = "FatalTurnLimitedError"
_MEANINGS = tuple(
    (re.compile(pattern, re.IGNORECASE), reason, kind)
    for pattern, reason, kind in (
        (r'"RESOURCE_EXHAUSTED"|"code": ?429|\bquota\b', Reason.PROVIDER_ERROR, "quota"),
        (r'API key not valid|"code": ?40[13]\b|"UNAUTHENTICATED"', Reason.PROVIDER_ERROR, "auth"),
        (r"blocked due to safety", Reason.BLOCKED, "safety"),
        (r"blocked due to recitation", Reason.BLOCKED, "recitation"),
        (r"blocked due to other|loop detected|execution (?:stopped|blocked)", Reason.PROVIDER_ERROR, "finish"),
        (r"exceeded the token limit", Reason.TRUNCATED, "max_tokens"),
        (r"malformed function call", Reason.CONTRACT_ERROR, "malformed_function_call"),
        (r"unexpected tool call", Reason.CONTRACT_ERROR, "unexpected_tool_call"),
        (r"empty response|no final response|without a finish reason", Reason.PROVIDER_ERROR, "empty"),
        (r'"code": ?5\d\d\b', Reason.PROVIDER_ERROR, "server"),
        (r'"code": ?4\d\d\b', Reason.PROVIDER_ERROR, "request"),
        (r"fetch failed|ECONN|ENOTFOUND|ETIMEDOUT|socket hang up", Reason.PROVIDER_ERROR, "connection"),
    )
)
"""The program's messages, the first that holds; what none of them knows is of the kind ``agent``."""


def trial(ask: Ask) -> Launch:
    """Answer in the workspace with every tool, asking nobody."""
    skills = {"disabled": list(BUILT_IN_SKILLS)} if ask.offers_skills else {"enabled": False}
    tools = {} if ask.offers_skills else {"exclude": [SKILL_TOOL]}
    auth = {"auth": {"selectedType": "gemini-api-key"}}
    launch = _launch(ask, "--yolo", {"skills": skills, "tools": tools, "security": {**_REDACTION, **auth}})
    machines = dict.fromkeys(("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), "/nowhere")
    return replace(launch, env={**launch.env, **machines})


def judge(ask: Ask) -> Launch:
    """Answer under the judge's instructions, without any tool, skill, hook, extension or server.

    One text of the user's cannot be kept out: the program reads ``~/.gemini/GEMINI.md`` whatever its settings say.
    """
    settings = {
        "skills": {"enabled": False},
        "tools": {"core": []},
        "hooksConfig": {"enabled": False},
        "mcp": {"allowed": ["no-server"]},
        "experimental": {"enableAgents": False},
    }
    launch = _launch(ask, "--approval-mode=plan", settings, "--extensions", "none")
    return replace(
        launch,
        files={**launch.files, **_ENV_FILE, SYSTEM_TEXT: ask.system},
        env={**launch.env, "GEMINI_SYSTEM_MD": f"{ask.settings}/{SYSTEM_TEXT}"},
    )


def _launch(ask: Ask, approval: str, settings: dict[str, Any], *more: str) -> Launch:
    wanted = {"temperature": ask.temperature, "maxOutputTokens": ask.max_output_tokens, "seed": ask.seed}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    overrides = [{"match": match, "modelConfig": {"generateContentConfig": wanted}} for match in _CHATS]
    everywhere: dict[str, Any] = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": N_ATTEMPTS},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": _REDACTION,
        "model": {} if ask.turn_limit is None else {"maxSessionTurns": ask.turn_limit},
        "modelConfigs": {"customOverrides": overrides if wanted else []},
        "advanced": {"ignoreLocalEnv": True},
        "context": {"fileFiltering": {"enableRecursiveFileSearch": False}},
    }
    model = () if ask.model is None else (f"--model={ask.model}",)
    return Launch(
        # The query behind an equals sign: one that begins with a hyphen would be read as an option.
        arguments=(*model, approval, *more, "--output-format=stream-json", f"--prompt={ask.query}"),
        files={SETTINGS: json.dumps({**everywhere, **settings}, ensure_ascii=False)},
        env={
            # Not --skip-trust, which comes after the working folder's settings were read.
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",  # one process instead of two
            "NO_COLOR": "1",
        },
    )


def read(stdout: bytes) -> Told:
    """The conversation of a stream of events. Raises nothing."""
    talk = Conversation()
    problem: str | None = None
    end: dict[str, Any] = {}
    try:
        for event in read_events(stdout):
            kind = event.get("type")
            if kind == "result":
                end = event
            elif kind == "error":
                problem = problem or text_of(event, "message")
            else:
                _say(talk, event)
    except StreamProblem as broken:
        return unreadable(broken)
    stats = object_of(end, "stats")
    failed = object_of(end, "error")
    told = text_of(failed, "message") or problem
    is_limit = failed.get("type") == _TURN_LIMIT
    # An error that the program calls a warning still cut the conversation short.
    is_over = end.get("status") == "success" and problem is None
    has_failed = bool(end or problem) and not is_over and not is_limit
    return Told(
        turns=talk.turns,
        answer=talk.answer if is_over else None,
        failure=_failure(told or "it ended with an error and no word of it") if has_failed else None,
        turn_limit=is_limit,
        usage=_usage(stats, talk.n_calls),
        model=_model(stats),
    )


def _say(talk: Conversation, event: dict[str, Any]) -> None:
    kind = event.get("type")
    if kind == "message" and event.get("role") == "assistant":
        talk.say(text_of(event, "content"))
    elif kind == "tool_use":
        talk.call(text_of(event, "tool_name"), object_of(event, "parameters"), text_of(event, "tool_id"))
    elif kind == "tool_result":
        output = text_of(event, "output") or text_of(object_of(event, "error"), "message")
        talk.result(text_of(event, "tool_id"), ok=event.get("status") == "success", output=output)


def _failure(message: str) -> Failure:
    for pattern, reason, kind in _MEANINGS:
        if pattern.search(message):
            return Failure(reason=reason, kind=kind, message=message)
    return Failure(reason=Reason.PROVIDER_ERROR, kind=AGENT_KIND, message=message)


def _usage(stats: dict[str, Any], n_calls: int) -> Usage:
    total = count_of(stats, "total_tokens")
    if not total:  # it counts from zero, and a request that failed was counted by nobody
        return Usage(n_calls=n_calls)
    return Usage(
        input_tokens=count_of(stats, "input_tokens"),
        output_tokens=count_of(stats, "output_tokens"),
        cached_tokens=count_of(stats, "cached"),
        total_tokens=total,
        n_calls=n_calls,
    )


def _model(stats: dict[str, Any]) -> str | None:
    """The models that answered, as the service names them; one that was asked in vain has no tokens."""
    models = object_of(stats, "models")
    return ", ".join(sorted(name for name in models if count_of(object_of(models, name), "total_tokens"))) or None


GEMINI_CLI = Agent(
    name="gemini-cli",
    program="gemini",
    trial=trial,
    judge=judge,
    read=read,
    skills_folder=".gemini/skills",
    context_file="GEMINI.md",
    imports_at=True,
    reserved=(".gemini", ".geminiignore", "GEMINI.md"),
    blinds=_ENV_FILE,
    commands_at="/",
    skill_tool=(SKILL_TOOL, "name"),
    shell_tools=("run_shell_command",),
    providers=frozenset({"gemini", "fixture"}),
    key_variable="GEMINI_API_KEY",
    url_variable="GOOGLE_GEMINI_BASE_URL",
    login_variables=(
        *("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS"),
        *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    ),
    exit_kinds={41: "auth"},
    personal_text=".gemini/GEMINI.md",
    install=(
        "npm install -g @google/gemini-cli; in this repository `make e2e-gemini-cli` installs it (then with "
        ".venv-gemini-cli/node_modules/.bin on the PATH)"
    ),
)
