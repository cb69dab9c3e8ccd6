"""Texts that hold a secret, and texts that only look as if: what benchmarks/redaction.py asks the redaction about.

In a text that holds one, `[[` and `]]` enclose the secret, and `{a36}` stands for 36 made-up characters: no key is
whole before the program runs, and none is anybody's. `·` stands for nothing and parts what a scanner would stop at.
"""

import random
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Redact = Callable[[str], tuple[str, tuple[str, ...]]]
"""Gives a text without its secrets, and their kinds."""

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "w": string.ascii_letters + string.digits + "-_",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "t": string.ascii_uppercase + "234567",
    "h": string.digits + "abcdef",
    "d": string.digits,
}
"""What `{a36}` and its like are made of: letters and digits, base64, base64 of addresses, hexadecimal, ..."""

SHORTEST_REST = 6
"""So many characters of a secret that are left give it away; of a shorter one, all of it."""


@dataclass(frozen=True)
class Sample:
    """One text. `secret` is what must not be left of it, '' where all of it may stay."""

    label: str
    text: str
    secret: str = ""

    def is_left_in(self, text: str) -> bool:
        """Whether a redacted text still holds the secret, or a telling piece of it."""
        size = min(SHORTEST_REST, len(self.secret))
        text = re.sub(r"\[redacted: [a-z ]+\]", "\n", text)
        return any(self.secret[start : start + size] in text for start in range(len(self.secret) - size + 1))


POSITIVES: Mapping[str, Sequence[tuple[str, str]]] = {
    "cloud keys": [
        ("aws access key id in prose", "The access key of the backup user is [[AKIA{u16}]], region eu-west-1."),
        ("aws temporary key id", "assume-role gave [[ASIA{u16}]] and it ends at 17:00"),
        ("aws secret in a credentials file", "[default]\naws_access_key_id = x\naws_secret_access_key = [[{b40}]]"),
        ("aws secret in JSON", '{"SecretAccessKey": "[[{b40}]]", "Expiration": "2026-05-04T09:30:00Z"}'),
        ("aws session token", "export AWS_SESSION_TOKEN=[[{b320}==]]"),
        ("google api key", "Maps works now, the key is [[AIza{w35}]]."),
        ("google oauth client secret", "client_secret: [[GOCSPX-{w28}]]"),
        ("google access token", "gcloud printed [[ya29.{w120}]]"),
        (
            "azure storage key",
            "DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=[[{b86}==]];EndpointSuffix=x",
        ),
        (
            "azure signature of an address",
            "https://logs.blob.core.windows.net/c/f.csv?sv=2024-08-04&se=2026-06-01&sr=b&sp=r&sig=[[{a40}%2B{a3}%3D]]",
        ),
        ("azure client secret", "The app registration's secret: [[{a3}8Q~{w34}]]"),
        ("alibaba key id", "aliyun: AccessKeyId [[LTAI{a20}]]"),
        ("digitalocean token", "doctl auth init -t [[dop_v1_{h64}]]"),
        ("cloudflare token", "CLOUDFLARE_API_TOKEN=[[{w40}]]"),
        ("heroku key", "HEROKU_API_KEY=[[{h8}-{h4}-4{h3}-a{h3}-{h12}]]"),
        ("databricks token", "databricks configure --token, then [[dapi{h32}]]"),
        ("vault token", "Vault is unsealed, root token [[hvs.{w90}]]"),
        ("terraform cloud token", 'credentials "app.terraform.io" {\n  token = "[[{a14}.atlasv1.{w67}]]"\n}'),
        ("cloud key in Japanese", "本番のアクセスキーは[[AKIA{u16}]]です。誰にも見せないで。"),
        ("supabase token", "新しいSupabaseのトークンは [[sbp_{h40}]] だよ"),
    ],
    "tokens": [
        ("anthropic key", "Claude runs with [[sk-ant-api03-{w93}AA]]"),
        ("openai project key", "OPENAI_API_KEY=[[sk-proj-{w120}]]"),
        ("openai key of old", "I put [[sk-{a48}]] into the notebook"),
        ("github token", "git push fails; use [[ghp_{a36}]] instead of the password"),
        ("github fine-grained token", "gh auth login --with-token <<< [[github_pat_{a22}_{a59}]]"),
        ("gitlab token", "curl --header 'PRIVATE-TOKEN: [[glpat-{w20}]]' https://gitlab.example.org/api/v4/projects"),
        ("slack bot token", "The bot talks with [[xoxb-{d12}-{d12}-{a24}]]"),
        ("slack webhook", "Alerts go to https://hooks.slack.com/services/[[T{u10}/B{u10}/{a24}]]"),
        ("discord bot token", "client.run('[[M{a23}.G{a5}.{w38}]]')"),
        ("discord webhook", "https://discord.com/api/webhooks/{d18}/[[{w68}]]"),
        ("telegram bot token", "BotFather says: [[{d10}:AA{w33}]]"),
        ("stripe secret key", "stripe.api_key = '[[sk_live_{a24}]]'"),
        ("stripe restricted key", "The worker only has [[rk_live_{a99}]]"),
        ("sendgrid key", "Mail goes out through [[SG.{w22}.{w43}]]"),
        ("mailgun key", "curl -s --user 'api:[[key-{h32}]]' https://api.mailgun.net/v3/x/messages"),
        ("twilio auth token", "TWILIO_ACCOUNT_SID=AC0\nTWILIO_AUTH_TOKEN=[[{h32}]]"),
        ("npm token", "//packages.example.org/:_authToken=[[npm_{a36}]]"),
        ("pypi token", "twine upload -u __token__ -p [[pypi-AgEIcHlwaS5vcmc{w150}]]"),
        ("docker hub token", "docker login -u ada, then paste [[dckr_pat_{w27}]]"),
        ("hugging face token", "HF says [[hf_{a34}]] may only read"),
        ("notion token", "The Notion integration is [[ntn_{a43}]]"),
        ("airtable token", "Airtable: [[pat{a14}.{h64}]]"),
        ("figma token", "X-Figma-Token: [[figd_{w40}]]"),
        ("shopify token", "The shop's admin token [[shpat_{h32}]] can write orders"),
        ("grafana token", "Authorization for Grafana: [[glsa_{a32}_{h8}]]"),
        ("sentry token", "sentry-cli uses [[sntrys_eyJ{a120}_{a43}]]"),
        ("new relic key", "NEW_RELIC=[[NRAK-{u27}]]"),
        ("postman key", "Postman key [[PMAK-{h24}-{h34}]]"),
        ("atlassian token", "Jira accepts [[ATATT3xFfGF0{w170}={h8}]]"),
        ("json web token", "Cookie: session=[[eyJ{a33}.eyJ{a90}.{w43}]]"),
        ("bearer token", "curl -H 'Authorization: Bearer [[{w48}]]' https://api.example.org/v1/me"),
        ("basic authorization", "Authorization: Basic [[YWRtaW46{a18}==]]"),
        ("token in an address", "https://api.example.org/v1/items?limit=5&access_token=[[{a40}]]"),
        ("refresh token in JSON", '{"token_type": "Bearer", "expires_in": 3600, "refresh_token": "[[1//0{w90}]]"}'),
        ("own header", "X-Api-Key: [[{l32}]]"),
        ("secret of one-time passwords", "otpauth://totp/GitHub:ada?secret=[[{t32}]]&issuer=GitHub"),
        ("token in Japanese", "GitHubのトークンは[[ghp_{a36}]]に変えました"),
        ("key in Japanese", "APIキー：[[{a32}]]（来月まで有効）"),
    ],
    "private keys": [
        (
            "rsa key",
            "-----BEGIN RSA PRI·VATE KEY-----\n[[{b64}\n{b64}\n{b64}\n{b20}==]]\n-----END RSA PRI·VATE KEY-----",
        ),
        (
            "openssh key among words",
            "Here is my key:\n-----BEGIN OPENSSH PRI·VATE KEY-----\n[[{b70}\n{b70}]]\n-----END OPENSSH PRI·VATE KEY-----\nok?",
        ),
        ("ec key", "-----BEGIN EC PRI·VATE KEY-----\n[[{b64}\n{b64}\n{b32}==]]\n-----END EC PRI·VATE KEY-----"),
        (
            "encrypted key",
            "-----BEGIN ENCRYPTED PRI·VATE KEY-----\n[[{b64}\n{b64}]]\n-----END ENCRYPTED PRI·VATE KEY-----",
        ),
        (
            "pgp key",
            "-----BEGIN PGP PRI·VATE KEY BLOCK-----\n\n[[{b64}\n{b64}\n={b4}]]\n-----END PGP PRI·VATE KEY BLOCK-----",
        ),
        (
            "key in a service account's JSON",
            '{"type": "service_account", "private_key": "-----BEGIN PRI·VATE KEY-----\\n[[{b64}\\n{b64}\\n]]-----END PRI·VATE KEY-----\\n"}',
        ),
        ("key that is cut off", "-----BEGIN PRI·VATE KEY-----\n[[{b64}\n{b64}]]"),
        ("age key", "# created: 2026-05-04\n[[AGE-SECRET-KEY-1{t58}]]"),
        ("wireguard key", "[Interface]\nAddress = 10.0.0.2/32\nPrivateKey = [[{b42}A=]]"),
        ("key of a wallet", "The wallet's private key is [[0x{h64}]], keep it offline."),
        (
            "seed phrase",
            "Seed phrase: [[orbit velvet candy rifle humble salad tower pigeon amateur wisdom frozen ladder]]",
        ),
        (
            "key in Japanese",
            "秘密鍵はこれです。\n-----BEGIN EC PRI·VATE KEY-----\n[[{b64}\n{b64}]]\n-----END EC PRI·VATE KEY-----",
        ),
    ],
    "connection strings": [
        ("postgres", "DATABASE_URL=postgres://app:[[k7Hq2mVx9]]@db.internal:5432/app?sslmode=require"),
        ("mysql", "mysql+pymysql://root:[[Zebra-42-lamp]]@127.0.0.1/shop"),
        ("mongodb", "mongodb+srv://reader:[[pQ8wN3vT]]@cluster0.ab1cd.mongodb.net/test"),
        ("redis without a user", "redis://:[[plumtreeriver]]@cache:6379/0"),
        ("amqp", "The queue is amqp://worker:[[bun9Tray]]@mq.internal:5672/%2f"),
        ("sql server", "Server=tcp:db.example.org,1433;Database=hr;User ID=sa;Password=[[Gr8-Wall!7]];Encrypt=True;"),
        ("odbc", "Driver={ODBC Driver 18};Server=db;UID=report;PWD=[[m0nkeyBars]];"),
        ("jdbc", "jdbc:postgresql://db:5432/app?user=app&password=[[tulip88field]]"),
        ("jdbc for oracle", "jdbc:oracle:thin:scott/[[T1gerPaw]]@//db:1521/ORCL"),
        ("libpq", "psql 'host=db user=app password=[[9fold-Paper]] dbname=app'"),
        ("git with a token", "git clone https://ada:[[glass7Onion3]]@git.example.org/team/app.git"),
        ("curl with a user", "curl -u ada:[[corn3rStone]] https://api.example.org/health"),
        ("netrc", "machine api.example.org login ada password [[wheel8Barrow]]"),
        ("service bus", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=[[{b43}=]]"),
        ("in Japanese", "DBの接続先は postgresql://tanaka:[[sakura2026x]]@10.0.0.5/keiri です"),
    ],
    "passwords": [
        ("said", "My password is [[hunter2]], please remember it."),
        ("of the wifi", "The wifi password at the office is [[Blue-Kettle-99]]."),
        ("changed", "I changed the admin password to [[Quartz!2026]] yesterday."),
        ("in an ini file", "[mail]\nuser = ada\npassword = [[s3a-Breeze]]\n"),
        ("in YAML", "db:\n  user: app\n  password: [[fern42Hollow]]\n"),
        ("in JSON", '{"username": "ada", "password": "[[moss-and-stone]]"}'),
        ("in the environment", "export PGPASSWORD=[[river7Bend]]; psql -h db"),
        ("on a command line", "mysqldump -u root --password=[[Elm_Street_5]] shop > shop.sql"),
        ("in SQL", "ALTER USER app WITH PASSWORD '[[copper9Kettle]]';"),
        ("in Python", 'connect(host="db", user="app", password="[[n1ghtOwl]]")'),
        ("with a short word", "login: ada / pw: [[Tea4two!]]"),
        ("in German", "Das Passwort lautet [[Apfel-Baum7]], bitte merken."),
        ("in Japanese", "パスワードは[[Himawari88]]です。"),
        ("in Japanese with a label", "ID：tanaka\nPW：[[momiji2026]]"),
        ("pin in Japanese", "金庫の暗証番号は[[4921]]です。"),
    ],
}
"""By family. Every second one is held out: the rules were never fitted to it."""

NEGATIVES: Mapping[str, Sequence[str]] = {
    "prose about passwords": [
        "I forgot my password again and had to reset it.",
        "The password must have at least 12 characters, one digit and one sign.",
        "We decided to replace passwords by passkeys in 2027.",
        "Ada keeps her passwords in 1Password and the recovery kit in the safe.",
        "The password is stored hashed with argon2id, never in plain text.",
        "Password: see the envelope in the safe.",
        "Her password is the name of her first cat, she says.",
        "The wifi password is on the sticker under the router.",
        "Password rotation every 90 days was dropped, as NIST SP 800-63B recommends.",
        "Never paste secrets into the chat; use the vault.",
        "The secret of good bread is time.",
        "The token expires after 3600 seconds and is refreshed 5 minutes before.",
        "An API key is needed for the weather service; Ken will ask for one.",
        "He said the password was wrong three times in a row.",
        "The private key never leaves the HSM.",
        "Secret Santa is on 2026-12-20, the budget is 15 euros.",
        "The passphrase should be five random words.",
        "Two-factor: the code changes every 30 seconds.",
        "Credentials for the staging system are requested through the service desk, form F-1204.",
        "The password policy says: no reuse of the last 10 passwords.",
        "Access tokens are signed with RS256, refresh tokens are opaque.",
        "password reset emails arrive late since version 2.14.0",
        "The token bucket refills 100 per second, burst 250.",
        "The keynote was about secrets management at scale.",
        "My bank sent a new PIN by post; it has not come yet.",
        "Key results for Q3: revenue 1.2M, churn 2.1 %, NPS 48.",
    ],
    "documentation keys and placeholders": [
        "In the AWS documentation the key is AKIA·IOSFODNN7EXAMPLE.",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY·EXAMPLEKEY",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Bearer <your-access-token>",
        "Authorization: Bearer ${ACCESS_TOKEN}",
        "api_key: YOUR_API_KEY_HERE",
        "password: <password>",
        "password: ********",
        "DB_PASSWORD=changeme",
        "postgres://user:password@localhost:5432/db",
        "mongodb://<user>:<password>@<host>/<db>",
        "postgresql://${DB_USER}:${DB_PASSWORD}@db/app",
        "password: ${{ secrets.DB_PASSWORD }}",
        "token: {{ .Values.github.token }}",
        "secret_key_base: <%= ENV['SECRET_KEY_BASE'] %>",
        "client_secret=your-client-secret",
        "https://user:pass@example.com/",
        "SLACK_WEBHOOK=https://hooks.slack.com/serv·ices/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "export API_TOKEN=...",
        "-----BEGIN PRI·VATE KEY----- is the first line of such a file.",
        'password = "your_password"',
        "stripe.api_key = 'sk_test_...'",
        "export HF_TOKEN=hf_***",
    ],
    "hashes": [
        "md5 of the dump: d41d8cd98f00b204e9800998ecf8427e",
        "sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "The image is app@sha256:9b2cf535f27731c974343645a3985328d1a3c0f0c1d5e6f7a8b9c0d1e2f3a4b5",
        "Fixed in commit 3f2a9c1b77de0011223344556677889900aabbcc.",
        "git bisect says 8c1d2e3f is the first bad commit",
        'integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"',
        "resolved lodash 4.17.21 integrity sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
        "golang.org/x/net v0.17.0 h1:pVaXccu2ozPjCXewfr1S7xza/zcXTity9cCdXQYSjIM=",
        "requests==2.32.3 --hash=sha256:55365417734eb18255590a9ff9eb97e9e1da868d4ccd6402399eba5f68a0b1d6",
        "crc32 3610a686, length 5",
        'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
        "password_hash: $2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW",
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b3dWRWJTmaaJObG",
        "The file's checksum is 7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069.",
        "blake2b 0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
        "cache key: deps-v3-linux-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "merge base 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d, 14 commits ahead",
        "The weights' sha256 is 0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    ],
    "ids": [
        "request id 550e8400-e29b-41d4-a716-446655440000 took 3.2 s",
        "memory 019a3c5e-7d21-7b3a-9f10-5a6b7c8d9e0f was superseded",
        "ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "ObjectId 507f1f77bcf86cd799439011 is missing in orders",
        "arn:aws:iam::123456789012:role/deploy-prod",
        "ami-0abcdef1234567890 in subnet-0123456789abcdef0",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "pod checkout-7d9f8b6c5d-x2k4q restarted 3 times",
        "container 4c01db0b339c8ad4a1bd5f2e0c7b9e16 exited with 137",
        "The doc is https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUvWxYz0123456789/edit",
        "video https://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "customer cus_NffrFeUfNV2Hib has subscription sub_1MowQVLkdIwHu7ixeRlqHVzs",
        "channel C024BE91L, user U023BECGF",
        "tenant 72f988bf-86f1-41af-91ab-2d7cd011db47, subscription 0b1f6471-1bf0-4dda-aec3-cb9272f09590",
        "session_id is 'f3b1c2d4-0e5f-4a6b-8c7d-9e0f1a2b3c4d'",
        "Zotero key 8QXK2V9P, page 214",
        "message <CAF8x2kQ7Lm3n9Pz1@mail.gmail.com>",
        "build 20260504.3, agent linux-x64-17",
        "The key of the setting is favourite_restaurant_2026.",
        "invoice INV-2026-000431, order 4500012345",
    ],
    "public keys and addresses": [
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkq3rV8Yw2Lw9kDq0t6cJm1uQ5sXbZ7hPzRf4nVe8aT ada@laptop",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7v3m9k2LwQ8xYt5rPz1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 deploy",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8xOUetsCa8EfOlDEBAfREhJqspDo\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
        "gpg fingerprint 7F2A 9C1B 77DE 0011 2233 4455 6677 8899 00AA BBCC",
        "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 (ED25519)",
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        "PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=",
        "bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "The contract is 0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2.",
        "Stripe's publishable key pk_li·ve_51H8xYzKq2LmN9pRs4TuV may stand in the page.",
        "tunnel fingerprint MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
    ],
    "numbers": [
        "ISBN 978-0-13-468599-1 is in the library.",
        "Call +81 3-3224-5000 or 03-3224-5000, extension 4921.",
        "Support: +1 (555) 010-4477, weekdays 9:00-17:30",
        "numpy 2.1.3, SQLite 3.53.0, Python 3.11.7, build 20260504",
        "192.168.10.24/24, gateway 192.168.10.1, port 8443",
        "MAC 00:1A:2B:3C:4D:5E, VLAN 120",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334 does not answer",
        "35.6895 N, 139.6917 E, altitude 40 m",
        "IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX",
        "parcel 1Z999AA10123456784 comes on Tuesday",
        "Flight NH 0211, seat 24K, booking Q7RT2L",
        "Postal code 168-0063, room 1204, building B2",
        "The boiler is a Vaillant ecoTEC VC 206/5-5, serial 21174500100146060007005032N4",
        "PIN 13 of the Arduino blinks, PIN 2 is the interrupt.",
        "Paid 12,480.50 EUR on 2026-05-04, cost centre 4711",
        "VIN WVWZZZ1JZXW000001, plate B-MX 4312",
        "The meeting code is on the invitation, it begins at 14:30 in room 3.04.",
        "Blood pressure 118/76, pulse 62, temperature 36.8",
        "part number 0-1734592-4, 24 pins, pitch 0.5 mm",
        "doi:10.1145/3292500.3330701, pages 2623-2631",
    ],
    "code": [
        "def login(user: str, password: str) -> Token:",
        "password: SecretStr = Field(min_length=12)",
        "password = os.environ['DB_PASSWORD']",
        "api_key = settings.anthropic_api_key.get_secret_value()",
        "const token = await getToken({ scope: 'read' });",
        "for token in tokenizer.encode(text): count += 1",
        "max_tokens=4096, temperature=0.2, stop_token_id=128001",
        "ALTER TABLE users ADD COLUMN password_hash varchar(255) NOT NULL;",
        "SELECT id, password FROM users WHERE password IS NOT NULL LIMIT 10;",
        '<input type="password" name="password" autocomplete="current-password">',
        '"password": {"type": "string", "minLength": 8, "format": "password"}',
        '"password": "Passwort", "forgot_password": "Passwort vergessen?"',
        "secretKeyRef:\n  name: db-credentials\n  key: password",
        "password = var.db_password  # from terraform.tfvars",
        "if not check_password(user.password, password): raise Forbidden",
        "user.setPassword(passwordEncoder.encode(dto.getPassword()));",
        'DEFINE_string(auth_token, "", "token sent with each request");',
        "items.sort(key=lambda one: (one.secret, one.name))",
        "assert response.json() == {'detail': 'Invalid token'}",
        "token_count: 18342, prompt_tokens: 1024, completion_tokens: 256",
        "public_key = load_pem_public_key(data)",
        "Authorization header is set by `client.with_token(token)`",
        "--color-token-primary: #0f62fe; --space-token-4: 16px;",
        "pwd: /home/ada/src/app",
        "echo $PASSWORD | docker login -u ada --password-stdin",
        "read -s -p 'Password: ' password",
        "ssh -i ~/.ssh/id_ed25519 deploy@10.0.0.5",
        "parser.add_argument('--api-key', default=os.getenv('API_KEY'))",
        "secret = Fernet.generate_key()",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "background: url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)",
        "regex: ^(?=.*[A-Z])(?=.*\\d).{8,}$ for the new password",
    ],
    "addresses without credentials": [
        "https://example.com/reset-password?step=2",
        "https://github.com/psf/requests/blob/3f2a9c1b77de0011223344556677889900aabbcc/src/requests/auth.py#L42",
        "git@github.com:team/app.git",
        "ssh://git@git.example.org:2222/team/app.git",
        "http://localhost:8080/@ada/12:30",
        "postgres://db.internal:5432/app",
        "redis://cache:6379/0",
        "amqp://guest@localhost:5672/",
        "s3://backups-eu/2026/05/04/app.dump.zst",
        "https://www.amazon.co.jp/dp/B0CX23V2ZK?th=1&psc=1",
        "https://meet.google.com/abc-defg-hij",
        "@types/node@20.11.5 and @scope/pkg@1.2.3",
        "Write to ada.lovelace+memory@example.org or ken@example.jp.",
        "https://maps.app.goo.gl/Q2m8Zr5Kx1Yt7Lb9A",
        "https://arxiv.org/abs/1706.03762v7",
        "https://login.microsoftonline.com/common/oauth2/v2.0/token",
        "https://docs.example.org/auth/tokens#token-lifetime",
    ],
    "Japanese": [
        "パスワードは定期的に変更してください。",
        "パスワードを忘れたので再設定しました。",
        "パスワードは8文字以上、英数字を混ぜること。",
        "パスワードはSHA-256でハッシュ化して保存する。",
        "パスワード：別紙を参照",
        "暗証番号は銀行から郵送で届きます。",
        "合言葉は開けゴマ、と子どもに読み聞かせた。",
        "トークンの有効期限は3600秒です。",
        "APIキーは来週、田中さんが発行します。",
        "シークレットサンタは12月20日、予算は2000円です。",
        "秘密鍵はHSMから外に出ません。",
        "会議室は3階、内線は4921です。",
        "電話は03-3224-5000、平日10時から17時まで。",
        "郵便番号は168-0063、部屋は1204号室です。",
        "コーヒーはブラックで、牛乳は入れない。",
        "Pythonは3.11.7、SQLiteは3.53.0を使う。",
        "コミット3f2a9c1bで直った。",
        "アクセスキーを押すとメニューが開く。",
        "田中さんのIDは550e8400-e29b-41d4-a716-446655440000です。",
        "認証はOAuth2.0、スコープはread:allにする。",
        "そばアレルギーなので外食のときは確認する。",
        "デプロイは毎週金曜の15時、担当は佐藤さん。",
    ],
    "other languages": [
        "Das Passwort muss mindestens 12 Zeichen lang sein.",
        "Ich habe mein Passwort vergessen.",
        "Le mot de passe doit contenir au moins 8 caractères.",
        "La contraseña caduca cada 90 días.",
        "密码至少需要8位，并包含数字。",
        "비밀번호는 8자 이상이어야 합니다.",
        "Пароль должен содержать не менее 8 символов.",
        "Der Schlüssel liegt unter der Matte.",
    ],
}
"""By family; every second one is held out."""


def positives(draw: int = 0) -> list[Sample]:
    """Put the texts with a secret together, the same ones every time; another `draw` makes up other characters."""
    return [_sample(f"{family}: {label}", text, draw) for family, found in POSITIVES.items() for label, text in found]


def negatives() -> list[Sample]:
    """Give the texts without one, labelled by their family and how they begin."""
    return [
        Sample(f"{family}: {text[:40]!r}", text.replace("·", ""))
        for family, found in NEGATIVES.items()
        for text in found
    ]


def halves(samples: Iterable[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Part samples into those that rules may be fitted to and those that are held out."""
    both = list(samples)
    return both[::2], both[1::2]


def missed(samples: Iterable[Sample], redact: Redact) -> list[Sample]:
    """Name the texts that still hold their secret after a redaction."""
    return [one for one in samples if one.is_left_in(redact(one.text)[0])]


def mistaken(samples: Iterable[Sample], redact: Redact) -> list[Sample]:
    """Name the texts without a secret out of which something was taken."""
    return [one for one in samples if redact(one.text)[1]]


def _sample(label: str, text: str, draw: int) -> Sample:
    made_up = random.Random(label + str(draw) * bool(draw))
    whole = re.sub(
        r"\{([abwlutdh])(\d+)\}",
        lambda part: "".join(made_up.choices(ALPHABETS[part[1]], k=int(part[2]))),
        text.replace("·", ""),
    )
    before, secret, after = re.split(r"\[\[|\]\]", whole)
    return Sample(label, before + secret + after, secret)
