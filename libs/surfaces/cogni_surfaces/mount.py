"""What a host page may say when it mounts a surface: who, and what is looked at; never what may be done."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from cogni_kernel import Err, HumanText, InvalidArgumentError, Ok, Result
from cogni_surfaces.brand import BrandTokens, wrong_token

PLACEMENTS = ("docked", "launcher")
MAX_TOKEN = 16_384

_REF = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_ID = re.compile(r"[^\x00-\x1f\x7f]{1,256}")
_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LOCALE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}")
_REQUIRED = ("surface_id", "principal_token", "key_id")
_OPTIONAL = ("subject_ref", "brand", "placement", "locale")

AUTHORITY: Mapping[str, str] = {
    **dict.fromkeys(
        ("grants", "grant", "permissions", "roles", "role"),
        "what a person may call is decided here, from the directory, at every request",
    ),
    **dict.fromkeys(
        ("scope", "scopes", "readers", "groups", "corpora", "filter"),
        "what a person may read is decided here, from the directory, at every request",
    ),
    **dict.fromkeys(
        ("tools", "tool", "effects"), "which tools are offered follows from the person's grants"
    ),
    **dict.fromkeys(
        ("principal", "user", "user_id", "person", "tenant", "tenant_id", "on_behalf_of"),
        "who asks is proven by principal_token, which your server signs",
    ),
    **dict.fromkeys(
        ("body", "record", "content", "text", "html", "data", "subject", "context"),
        "a record is named by subject_ref {kind, id}; its content is looked up under the person's own rights",
    ),
    **dict.fromkeys(
        ("instructions", "prompt", "system", "model"), "an administrator sets up the assistant here"
    ),
}
"""What a host can never give, and why."""


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """What a mount is made of: identity and references.

    Source:
        COGNI.BUILD spec, package surfaces, "SurfaceMount"; DESIGN D11.
    """

    surface_id: str
    principal_token: str = field(repr=False)
    key_id: str
    subject_ref: tuple[str, str] | None = None
    brand: BrandTokens = BrandTokens()  # noqa: RUF009 - a frozen value
    placement: str = "docked"
    locale: str | None = None


def config_of(given: object) -> Result[SurfaceConfig]:
    """Read a config as a host page gave it.

    Errors:
        InvalidArgumentError: It says more than a host may, or something else than it means; tells the
            developer which key, and why. `detail["field"]` names it.
    """
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        return _wrong("config", "a config is an object with named values")
    config = cast(Mapping[str, object], given)
    for key in config:
        if key not in (*_REQUIRED, *_OPTIONAL):
            return _wrong(key, why_not(key))
    for key, valid in (("surface_id", _KEY), ("key_id", _KEY)):
        if not _matches(valid, config.get(key)):
            return _wrong(key, f"{key} is a name of letters, digits, dot, hyphen and underscore")
    token = config.get("principal_token")
    if not isinstance(token, str) or not token.strip() or len(token) > MAX_TOKEN:
        return _wrong("principal_token", "principal_token is a token that your server signed")
    return _with_options(config)


def why_not(key: str) -> str:
    """Return why a key is no part of a config, for the developer who wrote it."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).casefold()
    if name in AUTHORITY:
        return f"{key[:64]} is not accepted: {AUTHORITY[name]}"
    return f"there is no {key[:64]!r}; a config has {', '.join((*_REQUIRED, *_OPTIONAL))}"


def _with_options(config: Mapping[str, object]) -> Result[SurfaceConfig]:
    subject = _subject(config.get("subject_ref"))
    if isinstance(subject, Err):
        return subject
    brand = config.get("brand")
    if brand is not None and not isinstance(brand, Mapping):
        return _wrong("brand", "brand is an object of brand tokens")
    if brand and (wrong := wrong_token(brand)) is not None:
        return Err(wrong)
    placement, locale = config.get("placement", "docked"), config.get("locale")
    if placement not in PLACEMENTS:
        return _wrong("placement", f"placement is {' or '.join(PLACEMENTS)}")
    if locale is not None and not _matches(_LOCALE, locale):
        return _wrong("locale", "locale is a language tag like de or en-GB")
    return Ok(
        SurfaceConfig(
            surface_id=str(config["surface_id"]),
            principal_token=str(config["principal_token"]),
            key_id=str(config["key_id"]),
            subject_ref=subject.value,
            brand=BrandTokens(dict(brand or {})),
            placement=str(placement),
            locale=None if locale is None else str(locale),
        )
    )


def _subject(given: object) -> Result[tuple[str, str] | None]:
    if given is None:
        return Ok(None)
    if not isinstance(given, Mapping):
        return _wrong("subject_ref", "subject_ref is {kind, id}: a reference, never a record")
    for key in given:
        if key not in ("kind", "id"):
            why = AUTHORITY["record"]
            return _wrong("subject_ref", f"subject_ref has kind and id alone: {why}")
    kind, identifier = given.get("kind"), given.get("id")
    if not _matches(_REF, kind) or not _matches(_ID, identifier):
        return _wrong("subject_ref", "subject_ref is {kind, id}, two short names")
    return Ok((str(kind), str(identifier)))


def _matches(valid: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and valid.fullmatch(value) is not None


def _wrong(key: str, why: str) -> Err:
    text = f"{why[0].upper()}{why[1:]}."
    return Err(InvalidArgumentError(HumanText(text), detail={"field": key[:64]}))
