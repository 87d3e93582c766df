"""Texts that try to become something else on a page. Authored for the tests."""

from __future__ import annotations

from pathlib import Path

from tests.project import Cli, answers, build_small, small_case

MARK = "pwned"
"""What each of them would leave behind: an attribute of the page's root."""
_ACT = f"document.documentElement.dataset.{MARK}=1"

HOSTILE = (
    f"</script><script>{_ACT}</script>",
    f"</pre></details></main><script>{_ACT}</script>",
    f'<img src=x onerror="{_ACT}">',
    f'" onmouseover="{_ACT}" autofocus onfocus="{_ACT}" x="',
    f"<svg onload='{_ACT}'><animate onbegin='{_ACT}' attributeName=x dur=1s></svg>",
    f'<iframe srcdoc="<script>parent.{_ACT}</script>"></iframe>',
    f'<a href="javascript:{_ACT}">go</a>',
    "<style>@import 'data:text/css,*{display:none}';*{display:none!important}</style><base href='https://example.invalid/'>",
    "<meta http-equiv=refresh content='0;url=//x.invalid/'><link rel=stylesheet href=//x.invalid/x.css>",
    "{{ 7*7 }} {% raw %} ${7*7} <!-- --!> ]]> <![CDATA[ <template><plaintext>",
    "\u202egnp.exe\u202c \u2066 hidden \u2069 zero\u200bwidth \x1b[31m red \x00 \x07 \ufeff",
)


def build_hostile(root: Path) -> Path:
    """A project in which answers, case ids, queries and criteria hold all of them."""
    names = [f"h{number}" for number in range(len(HOSTILE))]
    rules = [rule for name, text in zip(names, HOSTILE, strict=True) for rule in answers(name, good=f"hello {text}")]
    cases = [
        small_case(name, rubric=[{"id": "says-hello", "text": f"The answer says hello. {text}"}])
        for name, text in zip(names, HOSTILE, strict=True)
    ]
    return build_small(root, cases=cases, rules=rules)


def hostile_page(cli: Cli) -> str:
    """The HTML report on its run."""
    cli("eval")
    ran = cli("report", "--format", "html")
    assert ran.code == 0, ran.err
    return ran.out
