"""The probe of newer hosts: answered before the era is settled, because some send `initialize` after it anyway."""

from typing import Any

import mcp_types
from mcp.server.lowlevel import Server
from mcp_types import (
    SERVER_INFO_META_KEY,
    DiscoverResult,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS


def is_probe(message: JSONRPCRequest) -> bool:
    """Whether this is a well-formed `server/discover`. To the SDK it settles the era, and `initialize` is refused."""
    match message.params:
        case {"_meta": {mcp_types.PROTOCOL_VERSION_META_KEY: str(version), mcp_types.CLIENT_CAPABILITIES_META_KEY: {}}}:
            return message.method == "server/discover" and version in MODERN_PROTOCOL_VERSIONS
        case _:
            return False


def answer_probe(server: Server[Any], request_id: RequestId) -> JSONRPCResponse:
    """Say what the SDK would say."""
    found = DiscoverResult(
        supported_versions=list(MODERN_PROTOCOL_VERSIONS),
        capabilities=server.get_capabilities(protocol_version=LATEST_MODERN_VERSION),
        instructions=server.instructions,
    )
    body = found.model_dump(by_alias=True, mode="json", exclude_none=True)
    body |= {"resultType": "complete", "_meta": {SERVER_INFO_META_KEY: server.server_info_stamp}}
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=body)
