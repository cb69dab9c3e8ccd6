"""How a person is asked before many memories are forgotten, where the host can ask."""

from typing import Annotated

from mcp.server.elicitation import AcceptedElicitation, CancelledElicitation
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, Field

from memory_mcp.answers import Preview
from memory_mcp.errors import Conflict
from memory_mcp.models import Selection
from memory_mcp.server.arguments import Ids, MaybeSource, Tags
from memory_mcp.server.desk import Desk

SHOWN = 5
NO_QUESTION = Preview(0, "")


class Agreement(BaseModel):
    """What the person answers."""

    agreed: bool = Field(title="Forget them", description="This cannot be undone")


async def find(  # noqa: PLR0913 - the selectors of forget, by name
    ctx: Context[Desk],
    *,
    ids: Ids,
    query: str,
    tags: Tags,
    session_id: str,
    source: MaybeSource,
    before: str,
    namespace: str,
    archive: bool,
    restore: bool,
    confirm: str,
) -> Preview:
    """Find what to ask about: nothing when the request is exact, reversible or confirmed, or nobody can be asked."""
    if ids or archive or restore or confirm or not _can_ask(ctx):
        return NO_QUESTION
    service = await ctx.request_context.lifespan_context.opening.service()
    chosen = Selection((), query, tags, session_id, source, before, namespace)
    found = await service.forget(chosen)
    return found if isinstance(found, Preview) else NO_QUESTION


def _can_ask(ctx: Context[Desk]) -> bool:
    capabilities = ctx.client_capabilities
    asking = capabilities.elicitation if capabilities else None
    return asking is not None and (asking.form is not None or asking.url is None)  # neither named: forms


def ask(found: Annotated[Preview, Resolve(find)]) -> Elicit[Agreement] | Agreement:
    """Ask. The handle is part of the question: if the memories change meanwhile, it is another question."""
    if not found.count:
        return Agreement(agreed=False)
    from memory_mcp.context import one_line  # noqa: PLC0415 - the handshake must not wait for what only calls need
    from memory_mcp.server import replies  # noqa: PLC0415 - as above

    shown = [f"- {one_line(replies.quoted(memory.content, 120))}" for memory in found.sample[:SHOWN]]
    more = [f"... and {found.count - len(shown)} more"] if found.count > len(shown) else []
    along = f", and {len(found.cascaded)} that hang on them," if found.cascaded else ""
    question = (
        f"Forget {found.count} {'memory' if found.count == 1 else 'memories'}{along} for good? (set {found.confirm})"
    )
    return Elicit("\n".join([question, *shown, *more]), Agreement)


def decision(found: Preview, answer: ElicitationResult[Agreement]) -> str:
    """Give the handle that the person agreed to; '' when nobody was asked or answered, so that a preview follows.

    Raises `Conflict` when they declined.
    """
    if not found.count or isinstance(answer, CancelledElicitation):
        return ""
    if isinstance(answer, AcceptedElicitation) and answer.data.agreed:
        return found.confirm
    raise Conflict("The question was declined, by the user or by a host that runs unattended. Nothing was changed.")
