"""How one line becomes a protocol message, or a refusal that says what is wrong with it."""

import json
import re
from codecs import BOM_UTF8
from typing import Any, cast

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memory_mcp.config import QUOTED
from memory_mcp.stdio.wire import ENDS_KEPT, MAX_LINE, Overlong

LONGEST_NUMBER = 20  # digits and sign of 64 bits

MOST_ENTRIES = 100_000
"""Members, entries, lists and objects of one request: the longest conversation that `summarize` takes has half of that.
A line of 8 MiB could hold four million, and each of a wrong kind makes an error of a kilobyte while it is checked."""

# A whole string, or what is left of one at a cut. With a bracket or a number: enough to know how deep a key lies.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|$)')
_TOKEN = re.compile(rb"%b|[\[\]{}]|-?\d[\d.eE+-]*" % _TEXT.pattern)
_LAST_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$')


def read_message(line: bytes | Overlong) -> JSONRPCMessage | JSONRPCError | None:
    """Read one line. A `JSONRPCError` whose request cannot be served is the refusal to send; None: nothing to do.

    The SDK drops such lines silently, and the client waits for its answer until it times out.
    """
    if isinstance(line, Overlong):
        limit = MAX_LINE // (1024 * 1024)
        return _refusal(
            _first_id(line.head, line.tail),
            INVALID_REQUEST,
            f"The request is longer than {limit} MiB and was not read. Nothing was saved; send less at once.",
        )
    line = line.removeprefix(BOM_UTF8)  # Windows shells put it before what they pipe
    if not line.strip():
        return None
    if is_crowded(line):
        text = f"The request holds more than {MOST_ENTRIES:,} entries. Nothing was saved; send less at once."
        return _refusal(_first_id(line[:ENDS_KEPT], line[-ENDS_KEPT:]), INVALID_REQUEST, text)
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _refuse(line)
    # An id of a wrong kind makes it a notification to the SDK, which would leave the sender waiting.
    unanswerable = isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line)
    return _refuse(line) if unanswerable else message


def refuse_busy(request: JSONRPCRequest) -> JSONRPCError:
    """Refuse a request for which there was no room."""
    text = "Too many requests are being worked on. Nothing was saved; ask again when some are answered."
    return _refusal(request.id, INTERNAL_ERROR, text)


def brief(message: JSONRPCMessage) -> JSONRPCMessage:
    """Cut what the data of an error repeats of the request: the SDK gives it back whole, be it a megabyte."""
    if not isinstance(message, JSONRPCError) or not message.error.data:
        return message
    return message.model_copy(update={"error": message.error.model_copy(update={"data": _cut(message.error.data)})})


def _cut(value: object) -> object:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in cast("dict[str, object]", value).items()}
    return value[:QUOTED] if isinstance(value, str) else value


def is_crowded(line: bytes) -> bool:
    """Whether JSON holds more than `MOST_ENTRIES`; what stands in its texts does not count."""
    if _marks(line) <= MOST_ENTRIES:
        return False
    most_texts = 2 * MOST_ENTRIES  # a member is at most two texts, name and value
    return _marks(_TEXT.sub(b"", line, most_texts)) > MOST_ENTRIES


def _marks(line: bytes) -> int:
    return sum(map(line.count, (b",", b"[", b"{")))


def _refuse(line: bytes) -> JSONRPCError | None:
    try:
        value = cast("object", json.loads(line))
    except RecursionError:
        return _too_deep(_first_id(line[:ENDS_KEPT], line[-ENDS_KEPT:]))
    except (json.JSONDecodeError, UnicodeDecodeError):
        return _refusal(None, PARSE_ERROR, "This line is not JSON in UTF-8.")
    except ValueError:  # Python reads no number of more than 4,300 digits
        request_id = _first_id(line[:ENDS_KEPT], line[-ENDS_KEPT:])
        return _refusal(request_id, INVALID_REQUEST, "The request holds a number that is too long. Nothing was saved.")
    if isinstance(value, dict):
        return _refuse_message(line, cast("dict[str, Any]", value))
    if isinstance(value, list):
        return _refusal(None, INVALID_REQUEST, "Batches are not part of the protocol: send one message a line.")
    return _refusal(None, INVALID_REQUEST, "A message is a JSON object.")


def _refuse_message(line: bytes, message: dict[str, Any]) -> JSONRPCError | None:
    if "id" not in message and "method" in message:
        return None  # JSON-RPC 2.0, section 4.1: a notification is never answered, not even a bad one
    if _has_lone_surrogate(line, message):
        text = "The request holds half a surrogate pair (\\ud800..\\udfff), which is no character. Nothing was saved."
        return _refusal(_usable_id(message), INVALID_PARAMS, text)
    if _is_well_formed(message):
        return _too_deep(_usable_id(message))
    text = 'A request has "jsonrpc": "2.0", a text or whole number as "id", a "method", and an object as "params".'
    return _refusal(_usable_id(message), INVALID_REQUEST, text)


def _too_deep(request_id: str | int | None) -> JSONRPCError:
    return _refusal(request_id, INVALID_REQUEST, "The request is nested too deeply. Nothing was saved.")


def _is_well_formed(message: dict[str, Any]) -> bool:
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return False
    return "id" not in message or _usable_id(message) is not None


def _has_lone_surrogate(line: bytes, message: dict[str, Any]) -> bool:
    if b"\\u" not in line:
        return False
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _refusal(request_id: str | int | None, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=text))


def _usable_id(message: dict[str, Any]) -> str | int | None:
    value = message.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return None if isinstance(value, str) and not _encodable(value) else value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first_id(head: bytes, tail: bytes) -> str | int | None:
    """Find the id of a request that cannot be parsed: the top-level one in `head`, or the last member in `tail`."""
    depth, expecting = 0, False
    for match in _TOKEN.finditer(head):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and expecting:
            return _id_of(token)
        expecting = depth == 1 and token == b'"id"'
    last = _LAST_ID.search(tail)
    return _id_of(last.group(1)) if last else None


def _id_of(token: bytes) -> str | int | None:
    is_too_long = not token.startswith(b'"') and len(token) > LONGEST_NUMBER
    if is_too_long:
        return None
    try:
        return _usable_id({"id": json.loads(token)})
    except ValueError:  # a string that is cut off, or no JSON
        return None
