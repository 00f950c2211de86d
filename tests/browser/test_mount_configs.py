"""Every config is taken, or refused with the reason, by the page's script and by the server alike."""

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from cogni_kernel import Err
from cogni_surfaces import AUTHORITY, config_of

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

TRIED = 500
GOOD: Mapping[str, object] = {"surface_id": "chat", "principal_token": "a.b.c", "key_id": "demo"}
ANYTHING: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    1e300,
    "",
    " ",
    "x" * 20_000,
    "a\x00b",
    "שלום",
    [],
    ["all"],
    {},
)
HOSTILE = ("<script>", "../x", "a b", "a/b", "a\u202eb", "chat\n", "https://evil.invalid/#", "１２")
REFS = ("request", "REQ-4471", "wiki:handbook/leave.md", "a" * 128, "a" * 129, "a" * 257)
BRANDS = (
    {"colour_accent": "#0b6477"},
    {"colour_accent": "red"},
    {"colour_accent": "#0b6477", "colour_on_accent": "#0b6478"},
    {"colour_text": "#777777", "colour_background": "#888888"},
    {"radius": "12px", "density": "compact", "font": "serif", "icons": "none", "placement": "left"},
    {"radius": "99px"},
    {"name": "Acme assistant"},
    {"name": "<b>Acme</b>"},
    {"label": "none"},
    {"custom_css": "*{display:none}"},
    {"generated_label": ""},
)

OPTIONS: Mapping[str, tuple[object, ...]] = {
    "surface_id": ("chat", "my.chat-2", "x" * 64, "x" * 65, *HOSTILE, *ANYTHING),
    "key_id": ("demo-acme", *HOSTILE, *ANYTHING),
    "principal_token": ("a.b.c", *HOSTILE, *ANYTHING),
    "placement": ("docked", "launcher", "Docked", *HOSTILE, *ANYTHING),
    "locale": ("de", "en-GB", "zh-Hans-CN", "de_DE", "x", "a" * 9, *HOSTILE, *ANYTHING),
    "brand": (*BRANDS, *ANYTHING),
}


def subject(choose: random.Random) -> object:
    named: dict[str, object] = {
        "kind": choose.choice((*REFS, *HOSTILE, *ANYTHING)),
        "id": choose.choice((*REFS, *HOSTILE, *ANYTHING)),
    }
    more = choose.choice(({}, {}, {}, {"body": "secret"}, {"title": "x"}, {"tenant_id": "globex"}))
    missing = choose.choice((None, None, None, "kind", "id"))
    return {name: value for name, value in (named | more).items() if name != missing}


def authority(choose: random.Random) -> str:
    name = choose.choice(sorted(AUTHORITY))
    camel = name.title().replace("_", "")
    return choose.choice((name, name.upper(), camel[0].lower() + camel[1:]))


def config(choose: random.Random) -> dict[str, object]:
    """Return a config that is good but for some of it, or for nothing."""
    made = dict(GOOD)
    ways: tuple[Callable[[], object], ...] = (
        lambda: made.update({authority(choose): choose.choice(ANYTHING)}),
        lambda: made.update({choose.choice(("colour", "toString", "")): 1}),
        lambda: made.pop(choose.choice(sorted(made))),
        lambda: made.update({"subject_ref": choose.choice((*ANYTHING, subject(choose)))}),
        lambda: made.update({"subject_ref": subject(choose)}),
        lambda: made.update(
            {(name := choose.choice(sorted(OPTIONS))): choose.choice(OPTIONS[name])}
        ),
        lambda: made.update(
            {(name := choose.choice(sorted(OPTIONS))): choose.choice(OPTIONS[name])}
        ),
    )
    for way in choose.sample(ways, choose.choice((0, 1, 1, 2))):
        way()
    return made


MOUNT_ALL = """configs => configs.map(config => {
    try {
        CogniBuild.mount(document.createElement("div"), config).unmount();
        return null;
    } catch (error) {
        return `${error.name}: ${error.message}`;
    }
})"""


async def test_five_hundred_configs_are_taken_or_refused_alike_on_both_sides(
    open_chat: "Open",
) -> None:
    choose = random.Random(4471)
    configs = [config(choose) for _ in range(TRIED)]
    chat = await open_chat()

    page: list[str | None] = await chat.page.evaluate(MOUNT_ALL, configs)

    server = [_refusal(each) for each in configs]
    apart = [
        (each, here, there)
        for each, here, there in zip(configs, page, server, strict=True)
        if (here is None) != (there is None)
    ]
    assert apart[:5] == []
    assert 50 < page.count(None) < TRIED - 50
    for said in filter(None, page):
        assert said.startswith("TypeError: CogniBuild.mount: ")
        assert len(said) > 50, said
    assert all(len(said) > 20 for said in server if said)


def _refusal(given: Mapping[str, object]) -> str | None:
    found = config_of(given)
    return str(found.error.message) if isinstance(found, Err) else None


REASONS: tuple[tuple[Mapping[str, object], str], ...] = (
    ({"grants": ["all"]}, "from the directory"),
    ({"scope": "everything"}, "from the directory"),
    ({"tools": []}, "follows from the person's grants"),
    ({"principal": "hr-lead"}, "proven by principal_token"),
    ({"subject_ref": {"kind": "request", "id": "R", "body": "secret"}}, "not body"),
    ({"colour": "red"}, "there is no colour"),
    ({"placement": "everywhere"}, "docked or launcher"),
    ({"surface_id": 7}, "surface_id names a surface"),
    ({"brand": {"custom_css": "*{}"}}, "there is no brand token custom_css"),
    ({"brand": {"radius": "1em"}}, "the brand token radius has no such value"),
    ({"brand": {"colour_text": "#777777", "colour_background": "#888888"}}, "contrast of 1.3"),
)


async def test_a_developer_is_told_why(open_chat: "Open") -> None:
    chat = await open_chat()

    said: list[str | None] = await chat.page.evaluate(
        MOUNT_ALL, [{**GOOD, **given} for given, _ in REASONS]
    )

    assert [
        why for (_, why), text in zip(REASONS, said, strict=True) if why not in (text or "")
    ] == []


AROUND_THE_SCRIPT = """async ([address, more]) => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    frame.src = `${address}/surface/demo-acme?surface_id=chat#host=${encodeURIComponent(location.origin)}`;
    const token = await (await fetch("/host-token")).text();
    addEventListener("message", ({source, data}) => {
        if (source === frame.contentWindow && data.type === "cogni:ready") source.postMessage({type: "cogni:init", token, ...more}, address);
    });
}"""


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"grants": ["all"]}, "Grants is not accepted"),
        ({"subject_ref": {"kind": "request", "id": "R", "body": "secret"}}, "kind and id alone"),
        ({"brand": {"generated_label": ""}}, "generated_label"),
    ],
)
async def test_a_host_that_goes_around_the_script_is_refused_by_the_server(
    open_chat: "Open", line: "Line", more: Mapping[str, object], why: str
) -> None:
    chat = await open_chat()
    told: list[str] = []
    chat.page.on("console", lambda message: told.append(message.text))

    await chat.page.evaluate(AROUND_THE_SCRIPT, [line.address, more])
    frame = chat.page.frame_locator("iframe")

    await expect(frame.locator("#welcome")).to_contain_text("not available here", timeout=12_000)
    await expect(frame.locator("html[data-ready]")).to_have_count(0)
    assert [text for text in told if text.startswith("CogniBuild.mount: ") and why in text]


async def test_what_only_a_script_can_say_is_refused_too(open_chat: "Open") -> None:
    chat = await open_chat()

    said: list[str | None] = await chat.page.evaluate(
        f"""() => ({MOUNT_ALL})([
            undefined, null, 7, "chat", [], () => 1, new Date(),
            {{...{{surface_id: "chat", key_id: "demo", principal_token: "t"}}, [Symbol("grants")]: 1}},
            JSON.parse('{{"surface_id": "chat", "key_id": "demo", "principal_token": "t", "__proto__": {{"grants": 1}}}}'),
            {{surface_id: new String("chat"), key_id: "demo", principal_token: "t"}},
            {{surface_id: "chat", key_id: "demo", principal_token: Promise.resolve("t")}},
            {{surface_id: "chat", key_id: "demo", principal_token: "t", subject_ref: () => 1}},
            {{surface_id: "chat", key_id: "demo", principal_token: "t", brand: new Map()}},
            {{surface_id: "chat", key_id: "demo", principal_token: "t", brand: {{name: {{toString: () => "x"}}}}}},
        ])"""
    )

    assert [
        n for n, text in enumerate(said) if not (text or "").startswith("TypeError: CogniBuild")
    ] == []
