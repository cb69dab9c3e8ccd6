"""No text, however made, holds the server up."""

import subprocess
import sys

PROGRAM = """
from datetime import UTC, datetime

from memory_mcp import dates, privacy, redaction, text, tokens
from memory_mcp.injection import commands_assistant
from memory_mcp.errors import InvalidInput

SIZE = 16_000
REPEATED = [
    "set", "reset ", "a", " ", ".", "(", "<", "</", "< / ", "<private ", "<private>", "password ", "password: a1b2 ",
    "password:,a.", "change to password ", "token:", "secret= ", "aws=", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
    "eyJ", "eyJ-", "sk-ant-", "bearer ", "http://", "a://b:c", "x@", "-", "_-", "=a,", "\\"", "\\"'", "\u300c", "1",
    "1,", "(1)", "\\n", " \\n", "\u3002", "a.", "a. ", "AA ", "Aa", "\u4e00", "\uff1c", "\u0301\u0316", "\uff9e\u0301",
    "cookie: sid=", "curl -u ", "mysql -p", "machine ", "login: a/", "seed phrase: ", "abc ", "-pass ",
    "identified by '", "jdbc:oracle:a:b/", "pw: ", "Private-Lines: 1\\n", "password for ", "パスワードは", "トークン",
    "https://a.webhook.office.com/webhookb2/", "&sig=", "dp.pt.", "sl.u.", '"kty": "d": "',
    "\u200b", "a\u200b", "ignore ", "ignore all ", "never ignore all previous instructions ", "send passwords ",
    "do not tell ", "system ", "system: ", "remember this ", "call forget ", "---", "![a](https://a/", "a b ", "act ",
    "\u3059\u3079\u3066", "\u30e6\u30fc\u30b6\u30fc\u306b", "\u30d1\u30b9\u30ef\u30fc\u30c9\u3092", "[U+E0041]",
    "attack '", "sk" + "_live_" + "Aa1" * 8,
]
TEXTS = [one * (SIZE // len(one)) for one in REPEATED]
TEXTS += ["A" * SIZE, "a" * SIZE + "A", "g1" + "A" * SIZE]
TEXTS += ["<" + " " * SIZE, "password: " + "aaa1 : " * 2_300, " " * 8_000 + "a. " * 2_600, "set" + "a" * SIZE]

def kept(given):
    # What comes after admission never sees more combining marks in a row than that lets through.
    try:
        return privacy.admit(given, "content", 10 * SIZE, "redact").text[:SIZE]
    except InvalidInput:
        return ""

def when(given):
    try:
        dates.read_span(given, zone=UTC, now=datetime(2026, 5, 4, tzinfo=UTC))
    except InvalidInput:
        pass

for given in TEXTS:
    redaction.redact(given)
    commands_assistant(given)
    privacy.without_private(given)
    privacy.neutralise(given)
    privacy.quote(given)
    when(given)
    terms = tokens.query_terms(given)
    stored = kept(given)
    text.sentences(stored)
    text.excerpt(stored, terms, 500)
    text.is_cjk(stored)
    tokens.index_tokens(stored)
    tokens.digest(stored)
    tokens.differs(stored, stored[:-1])
print("done")
"""


def test_every_text_is_dealt_with_in_reasonable_time():
    """Seconds in all; before quadratic patterns were mended, minutes. The limit only ends a hang."""
    shown = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (shown.stderr, shown.stdout.strip()) == ("", "done")
