"""The JSON Schemas beside the files of a project, for editors. Owns where they lie.

There is no public address of the schemas, and a package lies somewhere else on every machine. So a project has copies,
in a folder beside its files, and each file names its own by a relative path, which works in every clone. The program
itself never reads them.
"""

from __future__ import annotations

from pathlib import Path

from skillassay import schema

SCHEMA_FOLDER = "evals/.schemas"

SCHEMAS = {
    "agent": "a command-line agent",
    "contract": "evals/contract.yaml",
    "fixture": "evals/fixtures/*.yaml",
    "prices": "evals/prices.yaml",
    "routing": "evals/routing.json",
    "suite": "evals/quality.json",
    "triggers": "evals/triggers.json",
    "waivers": "evals/waivers.yaml",
}
"""The schemas of files that people write, each with the file that it describes."""


def schema_path(name: str) -> str:
    """Where a project keeps its copy of a schema."""
    return f"{SCHEMA_FOLDER}/{name}.schema.json"


def schema_bytes(name: str) -> bytes:
    """A schema as it ships."""
    return (Path(schema.__file__).parent / "schemas" / f"{name}.schema.json").read_bytes()


def schema_files() -> dict[str, bytes]:
    """All of them by the path of their copy."""
    return {schema_path(name): schema_bytes(name) for name in SCHEMAS}
