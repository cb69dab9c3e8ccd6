"""What can go wrong, worded for whoever must act.

MemoryMcpError
├── InvalidInput            an argument is wrong; nothing was changed
├── NotFound                no such memory, episode or session
├── Conflict                the act contradicts the present state
├── TooFast                 assistants store more a minute than the person allows; later it works
├── StoreUnavailable        the file cannot be used
│   ├── StoreBusy           another process holds it; try again
│   ├── StoreReadOnly       no permission to write
│   ├── StoreFull           no space left
│   ├── StoreForeign        the file belongs to another program, or to a newer version of this one
│   └── StoreDamaged        SQLite reports corruption
├── EmbedderUnavailable     no vectors can be made; keyword search still works
└── SummaryFailed           no usable summary; the session stays to be summarized
"""


class MemoryMcpError(Exception):
    """The root of everything this package raises on purpose. Its text is fit for people and for models."""


class InvalidInput(MemoryMcpError):
    """An argument is wrong; the text names it and shows the right form."""


class NotFound(MemoryMcpError):
    """No such memory, episode or session."""


class Conflict(MemoryMcpError):
    """The act contradicts the present state."""


class TooFast(MemoryMcpError):
    """Assistants store more a minute than the person allows; the text says how long to wait."""


class StoreUnavailable(MemoryMcpError):
    """The memory file cannot be used."""


class StoreBusy(StoreUnavailable):
    """Another process holds the file for too long."""


class StoreReadOnly(StoreUnavailable):
    """The file or its folder cannot be written."""


class StoreFull(StoreUnavailable):
    """The disk, or the allowed size, is used up."""


class StoreForeign(StoreUnavailable):
    """The file belongs to another program or to a newer version of this one, or its key is wrong."""


class StoreDamaged(StoreUnavailable):
    """SQLite reports corruption."""


class EmbedderUnavailable(MemoryMcpError):
    """The embedding model cannot be loaded or does not answer."""


class SummaryFailed(MemoryMcpError):
    """No usable summary came back."""
