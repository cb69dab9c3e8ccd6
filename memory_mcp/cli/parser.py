"""The shell's verbs, and what each is for."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

from memory_mcp.cli import (
    capturing,
    commands,
    flags,
    forgetting,
    housekeeping,
    models,
    placing,
    porting,
    sessions,
    tending,
    wiping,
)
from memory_mcp.cli.terminal import harmless
from memory_mcp.release import installed_version

ABOUT = """\
Long-term memory for AI assistants, on your own machine.

Without a verb it serves MCP on standard input and output: that is how a host, such as Claude Desktop, starts it.
"""
START = """\
to begin:
  memory-mcp doctor                            is everything in order?
  memory-mcp install claude-desktop            place it in your host
  memory-mcp store "I take my coffee without milk"
  memory-mcp recall "how do I like my coffee?"

exit codes: 0 done, 1 not done, as after a preview (stderr says why), 2 wrong usage, 3 a fault of ours, 130 interrupted
"""


class _Parser(ArgumentParser):
    """Refuses wrong usage without repeating a secret: argparse quotes the argument it does not take."""

    def error(self, message: str) -> NoReturn:
        super().error(harmless(message))


def build_parser() -> ArgumentParser:
    """Make the parser. `run` is the function of the verb; `opens` says whether it needs the memory open."""
    parser = _Parser(
        "memory-mcp",
        usage="memory-mcp [options] [VERB ...]",
        description=ABOUT,
        epilog=START,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"memory-mcp {installed_version()}")
    flags.common(parser, "the namespace to work in: a project's name, or user (MEMORY_MCP_NAMESPACE)")
    parser.set_defaults(db="", namespace="", model="", json=False)
    add = parser.add_subparsers(prog="memory-mcp", dest="verb", metavar="VERB", title="verbs").add_parser
    for name, verb in VERBS.items():
        one = add(
            name,
            usage=" ".join(filter(None, ("memory-mcp", name, verb.words, "[options]"))),
            help=verb.does,
            description=f"{verb.does[0].upper()}{verb.does[1:]}.",
            epilog=f"example:\n  memory-mcp {name} {verb.example}".rstrip(),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.flags(one)
        if not verb.apart:
            flags.common(one, verb.namespace)
            one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting")
        one.add_argument("--json", action="store_true", help="answer in JSON, for programs")
        one.set_defaults(run=verb.run, opens=verb.opens, error=one.error)
    return parser


# ---- the verbs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verb:
    """A verb of the shell. `words` must or may follow its name, as in `example`; `namespace` says what that flag means.

    `opens` is false where no memory is needed; `apart` is true where no file or model of the person's is used.
    """

    run: Callable[..., Awaitable[int]]
    does: str
    example: str = ""
    flags: Callable[[ArgumentParser], None] = flags.none
    words: str = ""
    namespace: str = ""
    opens: bool = True
    apart: bool = False


GOES = "where it goes, a project's name or user (MEMORY_MCP_NAMESPACE)"
LOOKS = "where to look, besides user (MEMORY_MCP_NAMESPACE)"
EXACTLY = "those of exactly this namespace; without it, of MEMORY_MCP_NAMESPACE and user"
GIVEN = "the namespace to set (MEMORY_MCP_NAMESPACE)"

VERBS: dict[str, Verb] = {
    "store": Verb(
        commands.store, "keep one text", '"Ken is allergic to buckwheat" --tag health', flags.store, "TEXT...", GOES
    ),
    "recall": Verb(
        commands.recall,
        "find what fits a question",
        '"what may Ken not eat?" --explain',
        flags.recall,
        "[QUESTION...]",
        LOOKS,
    ),
    "list": Verb(
        commands.list_memories,
        "list memories, newest first",
        "--kind decision --since 2026-01-01",
        flags.listing,
        namespace=LOOKS,
    ),
    "show": Verb(commands.show, "show one memory with all that is known about it", "ID", flags.show, "ID"),
    "context": Verb(
        commands.context,
        "print the briefing that a conversation begins with",
        "--max-tokens 1000",
        flags.context,
        namespace=LOOKS,
    ),
    "summarize": Verb(
        sessions.summarize,
        "turn what was kept of a conversation into an episode and its key facts",
        "--pending",
        flags.summarize,
        "[SESSION]",
        "where the session belongs (MEMORY_MCP_NAMESPACE)",
    ),
    "import-conversation": Verb(
        sessions.import_conversation,
        "keep the conversations of a file as turns; again is harmless",
        "chat.json --session planning",
        flags.import_conversation,
        "FILE",
        GOES,
    ),
    "consolidate": Verb(
        tending.consolidate,
        "propose patterns and lessons from what recurs, and store those that are accepted",
        '--accept 402718 --text "Deploys fail when the migration is forgotten"',
        flags.consolidate,
        namespace=LOOKS,
    ),
    "audit": Verb(
        tending.audit,
        "name memories that are useless, unused, stale or contradictory; or read the log of what was done",
        "log --verb forget --since 2026-01-01",
        flags.audit,
        "relevance|log",
        LOOKS,
    ),
    "maintain": Verb(
        tending.maintain,
        "erase what is past its time to live, archive what faded; a server does this by itself",
        "--dry-run",
        flags.maintain,
    ),
    "edit": Verb(
        commands.edit,
        "change what is known about a memory; its text is corrected by storing another",
        "ID --importance 0.9 --tag work --move-to my-project",
        flags.edit,
        "ID",
    ),
    "pin": Verb(commands.pin, "let memories never expire, and stand first", "ID", flags.ids, "ID..."),
    "unpin": Verb(commands.unpin, "take pins off again", "ID", flags.ids, "ID..."),
    "forget": Verb(
        forgetting.forget,
        "erase memories for good; without ids, preview first",
        "--tag draft",
        flags.selection,
        "[ID...]",
        EXACTLY,
    ),
    "archive": Verb(
        forgetting.archive,
        "stop recalling memories, reversibly; without ids, preview first",
        "--session old-project",
        flags.selection,
        "[ID...]",
        EXACTLY,
    ),
    "restore": Verb(
        forgetting.restore,
        "take archived memories back, and by its id one that was superseded; without ids, preview first",
        "ID",
        flags.selection,
        "[ID...]",
        EXACTLY,
    ),
    "forgotten": Verb(
        forgetting.forgotten,
        "list what was forgotten and is kept from coming back by itself, or let it come back",
        "--lift 12",
        flags.forgotten,
    ),
    "export": Verb(
        porting.export,
        "write all that is kept as lines of JSON, for another machine or for safety, in a FILE for you alone;"
        " vectors are left out and made anew, and places that were forgotten stay so",
        "memories.jsonl",
        flags.export,
        "[FILE]",
        opens=False,
    ),
    "import": Verb(
        porting.import_files,
        "take in what export wrote, each memory once and under its own id, or documents as reference, in parts; again"
        " is harmless, and a document that changed takes the place of what it was",
        "notes/ memories.jsonl --dry-run",
        flags.import_files,
        "FILE...",
        "where documents go, a project's name or user (MEMORY_MCP_NAMESPACE)",
    ),
    "wipe": Verb(
        wiping.wipe,
        "erase everything for good: all memories, their history, what is noted of what was forgotten, the audit,"
        " our backups and the pause of capture; the file goes, too, unless a server has it open",
        "--confirm 120",
        flags.wipe,
        opens=False,
    ),
    "stats": Verb(commands.stats, "count what is kept", "--json"),
    "capture": Verb(
        capturing.capture,
        "keep what is new of a conversation; hosts' hooks call it, and tell of it on standard input",
        "claude-code",
        flags.capture,
        "HOST",
        "where it goes (MEMORY_MCP_NAMESPACE)",
        opens=False,
    ),
    "pause": Verb(housekeeping.pause, "forbid all capture of conversations", opens=False),
    "resume": Verb(housekeeping.resume, "allow capture again, where it is switched on", opens=False),
    "settings": Verb(
        housekeeping.settings,
        "print every setting and where it comes from",
        "--json",
        namespace=GIVEN,
        opens=False,
    ),
    "models": Verb(
        models.models,
        "list embedding models, say which one the file has, or let it come to another",
        "use all-MiniLM-L6-v2",
        flags.models,
        "[list|status|use NAME]",
        opens=False,
    ),
    "doctor": Verb(housekeeping.doctor, "check every part for real", "--scan", flags.doctor, opens=False),
    "demo": Verb(housekeeping.demo, "show the main job on a temporary file", opens=False, apart=True),
    "install": Verb(
        placing.install,
        "place the server in a host, with hooks and skill where it has them",
        "claude-code --dry-run",
        flags.install,
        "[HOST]",
        GIVEN,
        opens=False,
    ),
}
