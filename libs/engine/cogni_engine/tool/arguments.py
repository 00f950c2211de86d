"""What a model wrote between the braces: parsed once, strictly, never coerced."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from cogni_engine.tool.definition import Definition
from cogni_kernel import Err, HumanText, InvalidArgumentError, ModelFacingText, Ok, Result

Arguments: TypeAlias = Mapping[str, object]

MAX_CHARACTERS = 100_000


def parse_arguments(raw: str, definition: Definition) -> Result[Arguments]:
    """Read a call's JSON against its tool's parameters.

    An empty string is valid for a tool that needs nothing. Whatever is wrong is an InvalidArgumentError
    whose `model_hint` says how to mend the call; nothing is ever filled in.

    Source:
        DESIGN, rulings, "malformed tool arguments".
    """
    if len(raw) > MAX_CHARACTERS:
        return _wrong(f"the arguments are longer than {MAX_CHARACTERS} characters")
    try:
        found = json.loads(raw, object_pairs_hook=_unique, parse_constant=_refuse) if raw else {}
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        return _wrong(f"the arguments are not valid JSON ({error})")
    if not isinstance(found, dict):
        return _wrong("the arguments must be one JSON object")
    return _checked(found, definition)


def canonical(arguments: Arguments) -> str:
    """Return the one JSON text of these arguments, for hashing and keeping."""
    return json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _checked(found: dict[str, object], definition: Definition) -> Result[Arguments]:
    known = {p.name: p for p in definition.parameters}
    if found.keys() - known.keys():
        return _wrong(f"{definition.name} takes {', '.join(known) or 'nothing'}, and nothing else")
    if missing := [p.name for p in definition.parameters if p.required and p.name not in found]:
        return _wrong(f"{definition.name} needs {', '.join(missing)}")
    checked: dict[str, object] = {}
    for name, value in found.items():
        result = known[name].validate(value)
        if isinstance(result, Err):
            return result
        checked[name] = result.value
    return Ok(MappingProxyType(checked))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _wrong(what: str) -> Err:
    return Err(
        InvalidArgumentError(
            HumanText("The assistant filled in a form wrongly."),
            ModelFacingText(f"The call was not run: {what}. Correct it and call again."),
        )
    )
