"""Settings: frozen values, read once from environment variables at the edge of the program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from chatbot.answer import ReaderError
from ingest import Place, place_at

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What every command needs: `WATTWISE_INDEX` and `WATTWISE_MODEL`."""

    index: Place = Path("index")
    model: str = "offline"


_COMMON = [f.name for f in fields(Settings)]


def settings_from(environ: Mapping[str, str], kind: type[T], *, prefix: str = "WATTWISE_") -> T:
    """Read a settings value from environment variables: each field from the prefix and its name in capitals.

    A field is a str, Path, Place, bool, int, float or tuple[str, ...] (separated by commas or spaces). An empty
    variable counts as unset. `index` and `model` fall back to `WATTWISE_INDEX` and `WATTWISE_MODEL`. If a variable
    cannot be read, raises ReaderError with its name and what it takes.
    """
    hints = get_type_hints(kind)
    given = {}
    for name in (f.name for f in fields(kind)):  # type: ignore[arg-type]
        variables = [start + name.upper() for start in (prefix, "WATTWISE_") if start == prefix or name in _COMMON]
        if variable := next((v for v in variables if environ.get(v, "").strip()), ""):
            given[name] = _value(variable, environ[variable].strip(), hints[name])
    return kind(**given)


def _value(variable: str, text: str, hint: Any) -> Any:
    read, takes = _READERS[hint]
    try:
        return read(text)
    except (ValueError, KeyError) as error:
        raise ReaderError(f"{variable} is {text!r}: it takes {takes}.") from error


_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_READERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    str: (str, "a text"),
    Path: (Path, "a path"),
    Place: (place_at, "a folder or an address postgresql://…"),
    bool: (lambda text: _TRUTH[text.lower()], "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    tuple[str, ...]: (lambda text: tuple(text.replace(",", " ").split()), "names separated by commas"),
}
