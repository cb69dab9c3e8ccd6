"""How a failure is worded for the model, and what of it may be logged."""

import logging

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from memory_mcp.errors import InvalidInput, MemoryMcpError, NotFound
from memory_mcp.logs import places
from memory_mcp.server.arguments import explain

log = logging.getLogger(__name__)

UNTOUCHED = {
    "store": "Nothing was saved.",
    "summarize": "Nothing was saved.",
    "forget": "Nothing was changed.",
}
"""What a failed call of each tool that writes leaves behind: every write is one transaction."""

UNEXPECTED = "Internal error in {name}; the log on stderr says where."
UNCERTAIN = "It is not known whether anything was saved: recall to see."


def of_tool(name: str, error: Exception) -> ToolError:
    """Word the failure of a tool. The SDK would hide the text of any error but its own, and prefix that."""
    cause = _cause(error)
    if isinstance(cause, MemoryMcpError):
        return ToolError(_told(name, str(cause)))
    if isinstance(cause, ValidationError) and type(error) is ToolError:
        return ToolError(_told(name, explain(cause)))
    if type(cause) is ToolError:
        return ToolError(harmless(str(cause)))
    report(cause, name)
    return ToolError(" ".join([UNEXPECTED.format(name=name), *([UNCERTAIN] if name in UNTOUCHED else [])]))


def of_resource(error: MemoryMcpError) -> ResourceError:
    """Word the failure of a resource; the SDK answers -32602 for one that does not exist."""
    told = harmless(str(error))
    return ResourceNotFoundError(told) if isinstance(error, NotFound) else ResourceError(told)


def of_request(method: str, error: Exception) -> MCPError:
    """Word whatever else goes wrong in a request; to older clients the SDK would send the error's own text."""
    report(error, method)
    return MCPError(INTERNAL_ERROR, UNEXPECTED.format(name=method))


def of_prompt(name: str, error: Exception) -> MCPError:
    """Word the failure of a prompt."""
    cause = _cause(error)
    if isinstance(cause, MemoryMcpError):
        code = INVALID_PARAMS if isinstance(cause, InvalidInput | NotFound) else INTERNAL_ERROR
        return MCPError(code, harmless(str(cause)))
    report(cause, name)
    return MCPError(INTERNAL_ERROR, UNEXPECTED.format(name=name))


def report(error: BaseException, doing: str) -> None:
    """Log where an unexpected error happened."""
    log.error("Unexpected %s in %s:\n%s", type(error).__name__, doing, places(error.__traceback__))


def _cause(error: BaseException) -> BaseException:
    """Find what was raised first: the SDK wraps it, sometimes twice."""
    while error.__cause__ is not None and not isinstance(error, MemoryMcpError | ValidationError):
        error = error.__cause__
    return error


def _told(name: str, text: str) -> str:
    # Many errors say themselves that nothing was saved; the others must not leave it open.
    untouched = UNTOUCHED.get(name, "")
    return harmless(text if "othing was" in text else f"{text} {untouched}".strip())


def harmless(text: str) -> str:
    """Take secrets out of an error: it may repeat the beginning of an argument, and hosts log what comes back."""
    from memory_mcp.redaction import redact  # noqa: PLC0415 - the handshake must not wait for what only failures need

    return redact(text)[0]
