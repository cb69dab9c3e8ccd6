"""The probe of newer hosts: answered before the era is settled, because some send `initialize` after it anyway."""

from typing import Any

import mcp_types
from mcp.server.lowlevel import Server
from mcp_types import (
    SERVER_INFO_META_KEY,
    DiscoverResult,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    UnsupportedProtocolVersionErrorData,
)
from mcp_types.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

from memory_mcp.config import QUOTED


def probed_version(message: JSONRPCRequest) -> str:
    """Give the version that a well-formed `server/discover` speaks; '' for any other request.

    To the SDK a probe, even one it refuses, settles the era, and `initialize` is refused after it.
    """
    match message.params:
        case {"_meta": {mcp_types.PROTOCOL_VERSION_META_KEY: str(version), mcp_types.CLIENT_CAPABILITIES_META_KEY: {}}}:
            return version if message.method == "server/discover" else ""
        case _:
            return ""


def answer_probe(server: Server[Any], message: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
    """Say what the SDK would say."""
    version = probed_version(message)
    if version not in MODERN_PROTOCOL_VERSIONS:
        data = UnsupportedProtocolVersionErrorData(supported=list(MODERN_PROTOCOL_VERSIONS), requested=version)
        text = f"Unsupported protocol version: {version[:QUOTED]}"
        error = ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message=text, data=data.model_dump(by_alias=True))
        return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
    found = DiscoverResult(
        supported_versions=list(MODERN_PROTOCOL_VERSIONS),
        capabilities=server.get_capabilities(protocol_version=LATEST_MODERN_VERSION),
        instructions=server.instructions,
    )
    body = found.model_dump(by_alias=True, mode="json", exclude_none=True)
    body |= {"resultType": "complete", "_meta": {SERVER_INFO_META_KEY: server.server_info_stamp}}
    return JSONRPCResponse(jsonrpc="2.0", id=message.id, result=body)
