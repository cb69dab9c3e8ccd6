"""Secrets go, everything else stays. No key here is one: each is put together from parts when the test runs."""

import random
import string
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.redaction import redact

LETTERS = string.ascii_letters + string.digits


def made_up(length: int, characters: str = LETTERS) -> str:
    """A string that looks random and is the same in every run, with a capital, a small letter and digits up front."""
    head = "".join(character for character in "Qz73" if character in characters)
    return head + "".join(random.Random(length).choices(characters, k=length - len(head)))


HEX, CAPITALS, DIGITS = string.hexdigits[:16], string.ascii_uppercase + "234567", string.digits
KEY_BLOCK = "\n".join(
    ["-----BEGIN " + "RSA PRIVATE" + " KEY-----", *[made_up(64)] * 4, "-----END " + "RSA PRIVATE" + " KEY-----"]
)

SECRETS = [
    ("anthropic key", "the key is {}", "sk-" + "ant-" + "api03-" + made_up(90)),
    ("openai key", "use {} for tests", "sk-" + "proj-" + made_up(60)),
    ("openai key", "{}", "sk-" + made_up(48)),
    ("openai key", "OPENROUTER {}", "sk-" + "or-v1-" + made_up(64, HEX)),
    ("github token", "git clone with {}", "gh" + "p_" + made_up(36)),
    ("github token", "({})", "gh" + "s_" + made_up(36)),
    ("github token", "{}", "github" + "_pat_" + made_up(22) + "_" + made_up(59)),
    ("github token", "新しいのは{}だよ", "gh" + "p_" + made_up(36)),
    ("anthropic key", "これが{}。", "sk-" + "ant-" + "api03-" + made_up(90)),
    ("google key", "maps: {}", "AI" + "za" + made_up(35)),
    ("slack token", "{}", "xo" + "xb-" + made_up(12, DIGITS) + "-" + made_up(24)),
    ("slack token", "https://hooks.slack.com/services/{}", "T" + made_up(8) + "/B" + made_up(8) + "/" + made_up(24)),
    ("aws key", "id {}", "AK" + "IA" + made_up(16, CAPITALS)),
    ("aws key", "aws_secret_access_key = {}", made_up(40)),
    ("azure key", "DefaultEndpointsProtocol=https;AccountKey={};", made_up(86) + "=="),
    ("service key", "{}", "hf" + "_" + made_up(34)),
    ("service key", "{}", "np" + "m_" + made_up(36)),
    ("gitlab token", "{}", "gl" + "pat-" + made_up(20)),
    ("stripe key", "{}", "sk" + "_live_" + made_up(24)),
    ("sendgrid key", "{}", "S" + "G." + made_up(22) + "." + made_up(43)),
    ("telegram token", "{}", made_up(9, DIGITS) + ":" + made_up(35)),
    ("twilio key", "{}", "S" + "K" + made_up(32, string.ascii_lowercase + DIGITS)),
    ("json web token", "{}", "ey" + "J" + made_up(20) + "." + "ey" + "J" + made_up(40) + "." + made_up(43)),
    ("private key", "my key:\n{}\nkeep it", KEY_BLOCK),
    ("private key", '{{"private_key": "{}"}}', KEY_BLOCK.replace("\n", "\\n")),
    ("private key", "cut off:\n{}", "-----BEGIN " + "OPENSSH PRIVATE" + " KEY-----\n" + made_up(64)),
    ("bearer token", "Authorization: Bearer {}", made_up(32)),
    ("password", "Authorization: Basic {}", made_up(20)),
    ("password", "postgres://admin:{}@db.local:5432/app", "p@ss" + "w0rd1"),
    ("password", "redis://:{}@cache:6379/0", "blue" + "horse"),
    ("password", "password={}", "hunt" + "er2"),
    ("password", "password={} and the user is root", "let" + "mein"),
    ("password", "Password: {}", "Tr0ub4dor" + "&3"),
    ("password", "pwd: {}", "ab,cd" + "12"),
    ("password", "the password was {}?", "my.dog!" + "9"),
    ("password", "Passwort ist egal, password: {}", "shadow" + "99"),
    ("password", "PASSWORD='{}'", "let" + "mein"),
    ("password", '{{"password": "{}", "user": "kenji"}}', "s3cr3t" + "pw"),
    ("password", "Server=db;Password={};Database=app", "p4ss" + "w0rd1"),
    ("password", "https://example.com/login?password={}&user=kenji", "hunt" + "er2"),
    ("password", "export DB_PASSWORD={}", "xK9" + "mQ2"),
    ("password", "mysql --password={} app", "hunt" + "er2"),
    ("password", "my password is {}.", "hunt" + "er2"),
    ("password", "the wifi password is now {}", "blue!" + "horse"),
    ("password", "I changed the password to {} yesterday", "hunt" + "er22"),
    ("password", "please reset the wifi password to {}", "hunt" + "er22"),
    (
        "json web token",
        "{}",
        "session-" + "ey" + "J" + made_up(20) + "." + "ey" + "J" + made_up(40) + "." + made_up(43),
    ),
    ("password", "パスワードは{}です。", "hunt" + "er2"),
    ("password", "パスワード：{}", "Abc1" + "2345"),
    ("password", "パスワードを「{}」に変更した", "Abc1" + "2345"),
    ("password", "暗証番号は{}です。", "49" + "21"),
    ("pin", "My PIN is {}.", "49" + "21"),
    ("api key", "api_key={}", made_up(24)),
    ("api key", '"client_secret": "{}"', made_up(30)),
    ("api key", "X-Api-Key: {}", made_up(32, HEX)),
    ("api key", "APIキーは{}です", made_up(20)),
    ("json web token", "cut off: {}", "ey" + "J" + made_up(20) + "." + "ey" + "J" + made_up(20)),
    ("service key", "vault login {}", "hv" + "s." + made_up(90)),
    ("service key", "docker login, then {}", "dckr" + "_pat_" + made_up(27)),
    ("azure key", "the app's secret {}", "Qz7" + "8Q~" + made_up(34)),
    ("azure key", "https://x.blob.core.windows.net/a?sv=1&sig={}&se=2", made_up(43) + "%3D"),
    ("webhook", "https://discord.com/api/webhooks/1234/{}", made_up(68)),
    ("session cookie", "Cookie: theme=dark; sessionid={}; lang=ja", made_up(32)),
    ("private key", "age: {}", "AGE-SECRET-" + "KEY-1" + made_up(58, CAPITALS)),
    ("private key", "Private-Lines: 2{}\nPrivate-MAC: 00", "\n" + made_up(64) + "\n" + made_up(64)),
    ("private key", '{{"kty": "EC", "crv": "P-256", "d": "{}"}}', made_up(43)),
    ("seed phrase", "The seed phrase is {}.", " ".join(["orbit", "velvet", "candy", "rifle"] * 3)),
    ("password", "the wifi password of the office is {}.", "Blue-Kettle" + "-99"),
    ("password", "the password '{}' works", "hunt" + "er2"),
    ("password", "define('DB_PASSWORD', '{}');", "hunt" + "er2"),
    ("password", "alter user ada identified by '{}'", "let" + "mein"),
    ("password", "curl -u ada:{} https://api.local", "corn" + "3rStone"),
    ("password", "mysql -u root -p{} shop", "let" + "mein"),
    ("password", "machine api.local login ada password {}", "let" + "mein"),
    ("password", "jdbc:oracle:thin:scott/{}@//db:1521/ORCL", "T1ger" + "Paw"),
    ("password", "login: ada / {}", "Tea4" + "two!"),
    ("password", "PW：{}", "momiji" + "2026"),
    ("password", "Das Passwort lautet {}, bitte merken", "Apfel" + "-Baum7"),
    ("password", "密码是{}。", "hunt" + "er2"),
    ("password", "비밀번호는 {}입니다.", "hunt" + "er2"),
    ("password", "Пароль: {}", "hunt" + "er2"),
]


@pytest.mark.parametrize(("kind", "around", "secret"), SECRETS)
def test_a_secret_is_replaced_by_its_kind_and_the_rest_stays(kind, around, secret):
    """B65"""
    redacted, kinds = redact(around.format(secret))
    assert kinds == (kind,)
    assert redacted == around.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password again.",
        "The password must be at least 12 characters long.",
        "password: must contain digits and signs",
        "The password is 8-64 characters long.",
        "Reset the password at https://example.com/reset",
        "passwords are bcrypt-hashed, the pepper is in the vault",
        "the password is stored in 1Password",
        "password: ********",
        "password: <your password>",
        "password=${DB_PASSWORD}",
        "password: str",
        "password: SecretStr = Field(min_length=12)",
        "password: varchar(255) not null",
        "password: z.string().min(8)",
        "'password' => 'required|min:8'",
        "login(user, password=password)",
        "authenticate(user=user, password=new_password)",
        "password = os.environ['DB_PASSWORD']",
        "password = getpass.getpass()",
        '<input type="password" name="password">',
        "postgres://user:password@localhost/db",
        "http://localhost:8080/@user/12:30",
        "pwd: /home/kenji/src",
        "パスワードは定期的に変更してください。",
        "パスワードはSHA-256でハッシュ化する。",
        "パスワードは8文字以上にする。",
        "the key " + "AKIA" + "IOSFODNN7" + "EXAMPLE" + " stands in the documentation",
        "aws_secret_access_key = wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCYEXAMPLEKEY",
        "api_key: YOUR_API_KEY",
        "API_KEY=your-key-here-123",
        "OPENAI_API_KEY=sk-" + "x" * 40,
        "the api key is rotated every 90 days",
        "max_tokens=4096, token: string, tokens: 128000",
        "token_type: Bearer",
        "Bearer authentication is used by the gateway",
        "a bearer of bad news came at 12",
        "the token bucket refills 100 per second",
        "secret santa is on 2026-12-20",
        "commit 3f2a9c1b77de0011223344556677889900aabbcc fixed it",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "token: 550e",
        "data:image/png;base64," + made_up(3000, LETTERS + "+/"),
        "-----BEGIN " + "PRIVATE KEY----- is how such a file begins",
        "-----BEGIN CERTIFICATE-----\n" + made_up(64) + "\n-----END CERTIFICATE-----",
        "ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAI" + made_up(40) + " kenji@laptop",
        "sk-learn-contrib is a scikit package, task-2026-very-long-hyphenated-Name is not",
        "for token in text.split(): print(token)",
        "PIN 13 of the Arduino blinks",
        "会議室は3階、内線は4921です。",
        '"password": "Passwort", "forgot_password": "Passwort vergessen?"',
        "{checkbox:!0,file:!0,password:!0,image:!0}",
        "credentials=None,\n    grant_type_2=None,",
        "the schema is identified by `diagnostics.previous_message_id`",
        "private_key: ed25519.Ed25519PrivateKey = load()",
        '{"d": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}',
        'styles = {Token: "#d8dee9"}',
        'publicKeyToken="1fc8b3b9a1e18e3b"',
        "https://abc:xyz" + "@example.com/ is how such an address looks",
        "docker run --name mysql -p3306:3306 mysql:8",
        "recovery: clean the filter then press start and wait until the green light shows again",
    ],
)
def test_what_only_looks_like_a_secret_passes(text):
    assert redact(text) == (text, ())


@given(
    st.lists(st.sampled_from([around.format(secret) for _, around, secret in SECRETS]) | st.text(), max_size=5),
    st.sampled_from([" ", "\n", ", ", ""]),
)
def test_redacting_twice_changes_nothing(parts, between):
    redacted, _ = redact(between.join(parts))
    assert redact(redacted) == (redacted, ())


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e\u2060", "[U+200B]", "\U000e0041"])
def test_invisible_characters_inside_a_secret_do_not_hide_it(hidden):
    token = "gh" + "p_" + made_up(36)
    split = hidden.join([token[:2], token[2:20], token[20:]])
    assert redact(f"use {split}, {hidden}then rest") == (
        f"use [redacted: github token], {hidden}then rest",
        ("github token",),
    )


def test_a_secret_directly_after_another_in_one_word_goes_with_it():
    assert redact("keys: " + ("sk" + "_live_" + made_up(24)) * 3) == ("keys: [redacted: stripe key]", ("stripe key",))


def test_what_stands_in_the_place_of_a_secret_is_not_taken_for_the_word_before_one():
    """Else each round would uncover one more: quadratic work."""
    redacted, kinds = redact("password: " + "aaa1 : " * 20)
    assert kinds == ("password",)
    assert redacted == "password: [redacted: password] : " + "aaa1 : " * 19


def test_one_private_key_block_after_another_is_redacted():
    assert redact(f"{KEY_BLOCK}\nand\n{KEY_BLOCK}") == (
        "[redacted: private key]\nand\n[redacted: private key]",
        ("private key",) * 2,
    )


def test_several_secrets_of_a_text_are_all_named_in_order():
    text = f"password={'hunt' + 'er2'}, then {'gh' + 'p_' + made_up(36)} and again {'gh' + 'o_' + made_up(36)}"
    redacted, kinds = redact(text)
    assert kinds == ("password", "github token", "github token")
    assert redacted == "password=[redacted: password], then [redacted: github token] and again [redacted: github token]"


def test_an_ordinary_text_does_not_pay_for_the_detectors():
    program = (
        "import sys; from memory_mcp.redaction import redact\n"
        "redact('Deploy commit 3f2a9c1b77de0011223344556677889900aabbcc on Friday at 10:30')\n"
        "print('detect_secrets' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
