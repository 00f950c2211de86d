import subprocess
import sys
from pathlib import Path

import pytest

from cogni_event_sink.settings import Settings, WrongSettingError

KEY = "ab" * 32


@pytest.fixture(autouse=True)
def _good(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    monkeypatch.setenv("COGNI_EVENT_SINK_DATABASE_URL", "postgresql+psycopg://db/cogni")
    monkeypatch.setenv("COGNI_EVENT_SINK_KEY_FILE", str(tmp_path / "key"))


def test_good_settings_are_read() -> None:
    settings = Settings.read()

    assert (settings.key, settings.host, settings.port) == (bytes.fromhex(KEY), "127.0.0.1", 8085)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DATABASE_URL", None, "Field required"),
        ("DATABASE_URL", "mysql://x", "should match pattern"),
        ("DATABASE_URL", "", "should match pattern"),
        ("KEY_FILE", None, "Field required"),
        ("KEY_FILE", "/nowhere/key", "cannot be read"),
        ("PORT", "http", "valid integer"),
        ("PORT", "70000", "less than or equal to 65535"),
        ("HOST", "", "at least 1 character"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, said: str
) -> None:
    variable = f"COGNI_EVENT_SINK_{name}"
    if value is None:
        monkeypatch.delenv(variable)
    else:
        monkeypatch.setenv(variable, value)

    with pytest.raises(WrongSettingError, match=said) as refused:
        Settings.read()

    assert str(refused.value).startswith(f"{variable}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("text", "said"), [("xy", "no hexadecimal"), ("abcd", "2 bytes, not 32")])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "key").write_text(text)

    with pytest.raises(WrongSettingError, match=said):
        Settings.read()


def test_the_process_says_which_setting_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COGNI_EVENT_SINK_DATABASE_URL")

    done = subprocess.run(
        [sys.executable, "-m", "cogni_event_sink"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr == "COGNI_EVENT_SINK_DATABASE_URL: Field required\n"
