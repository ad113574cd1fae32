"""Where an index is: a folder, or a PostgreSQL database. The address alone tells which."""

import re
from dataclasses import dataclass
from pathlib import Path

from ingest.document import CorpusError

_SCHEMES = ("postgresql://", "postgres://")
_PASSWORD = re.compile(r"^(\w+://[^:@/?]*):[^@]*@")
_PASSWORD_OPTION = re.compile(r"(?i)([?&][a-z]*password=)[^&]*")


@dataclass(frozen=True, slots=True, repr=False)
class Database:
    """A PostgreSQL database by its `address` (libpq's URI), which may hold a password; `str` and `repr` never show it."""

    address: str

    def __str__(self) -> str:
        return _PASSWORD_OPTION.sub(r"\1***", _PASSWORD.sub(r"\1@", self.address))

    def __repr__(self) -> str:
        return f"Database({str(self)!r})"

    @property
    def is_plain(self) -> bool:
        """Whether the address has no @ except one after the user.

        Otherwise part of the password could be taken for the host and shown.
        """
        authority = re.split(r"[/?#]", self.address.partition("://")[2], maxsplit=1)[0]
        return self.address.count("@") == authority.count("@") <= 1


Place = Path | Database


def place_at(address: str | Place) -> Place:
    """Return the folder or the database that an address names; raise CorpusError for one that names another kind of server."""
    if not isinstance(address, str):
        return address
    if "://" in address and not address.startswith(_SCHEMES):
        # As a folder it would be shown, with its password.
        raise CorpusError(f"An index is a folder or postgresql://USER@HOST/DATABASE, and {address.partition('://')[0]}:// is neither: write it so.")
    return Database(address) if address.startswith(_SCHEMES) else Path(address)


def address_of(place: Place) -> str:
    """Return an address of the place that is valid anywhere on this machine. It may hold a password: never show it."""
    return str(place.resolve()) if isinstance(place, Path) else place.address
