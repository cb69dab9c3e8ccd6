"""Twenty conversations, each with what is true of it in other words, and what a model might make up."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Turn:
    role: str
    text: str
    time: str


@dataclass(frozen=True)
class Conversation:
    """`summary` and `facts` are true; each of `inventions` holds something that was never said."""

    name: str
    turns: tuple[Turn, ...]
    summary: str
    facts: tuple[str, ...]
    inventions: tuple[str, ...]

    def texts(self) -> list[str]:
        """Give the turns as a summarizer sees them."""
        return [f"[{n}] ({turn.time}) {turn.role}: {turn.text}" for n, turn in enumerate(self.turns, 1)]


def _turns(start: str, *texts: str) -> tuple[Turn, ...]:
    begun = datetime.fromisoformat(start)
    times = [(begun + timedelta(minutes=2 * n)).isoformat() for n in range(len(texts))]
    roles = ["user", "assistant"] * len(texts)
    return tuple(Turn(role, text, time) for role, text, time in zip(roles, texts, times, strict=False))


def _each(listed: str) -> tuple[str, ...]:
    return tuple(listed.split(" | "))


ENGLISH = (
    Conversation(
        "a migration",
        _turns(
            "2026-05-03T14:30:00+09:00",
            "We have to get off MySQL 5.7 before June 30. The database is about 42 GB, Priya wants Postgres 16.",
            "pgloader can do it. Put the mapping into db/migrate/pgloader.load and run `pgloader --dry-run` first.",
            "It failed with ERR_BAD_ENUM in the orders table, column ship_status. 1,250 rows.",
            "Cast it with `using zero-dates-to-null` and clean those rows with scripts/fix_enum.sql.",
            "That worked. Priya and Tomasz agreed to switch over on the 14th at 9:00, with a freeze of two hours.",
        ),
        "The team is leaving MySQL 5.7 for PostgreSQL 16, as Priya asked. Loading the 42 GB with pgloader "
        "first failed with ERR_BAD_ENUM on ship_status for 1250 rows; scripts/fix_enum.sql cleaned them. Priya "
        "and Tomasz will switch over on May 14 at 9 am with a 2-hour freeze.",
        _each(
            "The mapping lives in db/migrate/pgloader.load. | MySQL must be gone before 30 June. | Run pgloader "
            "with --dry-run first."
        ),
        _each(
            "Migrations are reviewed by Marcus. | The database holds 58 GB. | The rows were cleaned with "
            "scripts/fix_dates.sql. | They pass --no-owner to the loader. | The details are at "
            "https://pgloader.example.org/enum."
        ),
    ),
    Conversation(
        "a trip",
        _turns(
            "2026-02-10T19:05:00+01:00",
            "Lena and I fly to Lisbon on March 21, back on the 28th. Hotel budget is 900 euros.",
            "Alfama is central. Hotel Mirador has rooms at €115 a night, so 7 nights cost €805.",
            "Book it then. Lena is allergic to peanuts, keep that in mind for restaurants. Flight is TP573.",
            "Noted. Tram 28 gets crowded after ten; go early. Sintra makes a good day trip by train from Rossio.",
        ),
        "The user and Lena travel to Lisbon from 21 to 28 March on flight TP573. They chose the Hotel Mirador "
        "in Alfama: seven nights at 115 euros, 805 in all, within the budget of 900. Lena's peanut allergy "
        "matters for restaurants.",
        _each(
            "Lena is allergic to peanuts. | Sintra can be reached by train from Rossio. | Tram 28 is crowded after 10."
        ),
        _each(
            "They stay at the Hotel Bairro. | They fly with TP581. | The hotel costs 950 euros. | Jonas joins them "
            "in Lisbon. | They plan a day trip to Cascais."
        ),
    ),
    Conversation(
        "a failing test",
        _turns(
            "2026-06-18T08:12:00+00:00",
            "tests/api/test_login.py::test_refresh fails on CI only. Python 3.12.4, pytest 8.2.",
            "Probably the clock: TokenStore.refresh() compares naive times. See src/auth/token_store.py line 88.",
            "Right, datetime.utcnow() there. I changed it to datetime.now(UTC), commit 7f3a9c2. Green now, 3 runs.",
            "Good. Add a ruff rule: DTZ in pyproject.toml catches this from now on.",
            "Done, opened PR #412 and Oskar approved it.",
        ),
        "A test of the login (test_refresh in tests/api/test_login.py) failed only on CI, because "
        "TokenStore.refresh compared naive times. Commit 7f3a9c2 replaced utcnow with datetime.now(UTC); three "
        "runs were green. The DTZ rule of ruff was added, and Oskar approved PR 412.",
        _each("CI runs Python 3.12.4 with pytest 8.2. | The fault stood in src/auth/token_store.py, line 88."),
        _each(
            "The fix is commit 9b1d4e7. | The fault stood in src/auth/session_store.py. | CI runs Python 3.11.9. | "
            "Refreshing is done by `TokenCache.renew()`. | Ingrid approved the pull request."
        ),
    ),
    Conversation(
        "a household",
        _turns(
            "2026-09-01T21:40:00-04:00",
            "Our rent goes from $2,150 to $2,320 in November. I make 6.4k a month after tax.",
            "That is 36% of your income. Many people stay below a third.",
            "Electricity is 95 dollars with ConEd, internet 60 with Fios. Could drop Hulu, that is 18.",
            "Then you save $216 a year. Asking Mr. Delgado for a two-year lease may help more.",
            "Good idea, I'll call him Thursday.",
        ),
        "Rent rises from 2150 to 2320 dollars in November, 36 % of the monthly income of $6,400. Dropping Hulu "
        "saves 216 dollars a year. The user will call Mr. Delgado on Thursday about a two-year lease.",
        _each("Internet costs $60 with Fios. | ConEd charges 95 dollars for electricity."),
        _each(
            "The rent rises to $2,480. | The landlord is called Mr. Fernandez. | The user cancels Netflix. | "
            "Internet is provided by Spectrum. | Rent takes 41% of the income."
        ),
    ),
    Conversation(
        "a research paper",
        _turns(
            "2026-01-15T10:00:00+00:00",
            "I'm reviewing a paper by Okafor and Lindqvist on sparse attention. They claim 1.8x speed on LongBench.",
            'Check the baseline. In table 4 they say "all runs use bf16", yet FlashAttention-2 ran in fp32.',
            "You're right. Also only 3 seeds, and the variance in Figure 7 is 12 percent.",
            "Then the claim is weak. I would recommend a major revision, and ask for five seeds on H100.",
            "Agreed, the review is due 31 January. I'll write to the editor, Prof. Haddad.",
        ),
        "The user reviews a paper of Okafor and Lindqvist about sparse attention. The claimed speed of 1.8x on "
        'LongBench is weak: FlashAttention-2 ran in fp32 although table 4 says "all runs use bf16", there were '
        "only three seeds, and the variance is 12%. A major revision is recommended; the review goes to Prof. "
        "Haddad by January 31.",
        _each("Five seeds on H100 will be asked for. | Figure 7 shows a variance of 12 %."),
        _each(
            'The paper is by Petrov. | They claim a speed-up of 2.4x. | The authors say "results are averaged over '
            'ten runs". | The experiments ran on A6000 cards. | The review is due on February 12.'
        ),
    ),
    Conversation(
        "a garden",
        _turns(
            "2026-04-11T16:20:00+01:00",
            "My allotment in Bristol is 40 square metres, heavy clay. I want to grow Charlotte potatoes and runner beans.",
            "Dig in compost, two barrows a bed. Plant the potatoes 30 cm apart by the end of April.",
            "Slugs ate everything last year. My neighbour Gwen swears by nematodes.",
            "They work above 5 degrees. Nemaslug covers 100 square metres for about £14; repeat after six weeks.",
        ),
        "The user has an allotment of 40 square metres on heavy clay in Bristol, for Charlotte potatoes and "
        "runner beans. Potatoes go in by the end of April, 30 cm apart. Against slugs Gwen suggests nematodes: "
        "Nemaslug, £14, repeated after 6 weeks, above 5 degrees.",
        _each("Gwen is the user's neighbour. | A bed needs two barrows of compost."),
        _each(
            "The allotment is in Swindon. | Potatoes are planted 45 cm apart. | Desiree potatoes were chosen. | "
            "Slugs are treated every nine weeks."
        ),
    ),
    Conversation(
        "a deployment",
        _turns(
            "2026-07-07T23:02:00+00:00",
            "Prod is down! checkout-api returns 503 since 22:47, k8s says CrashLoopBackOff.",
            "Look at `kubectl logs deploy/checkout-api --previous`. Any OOMKilled?",
            "Yes, OOMKilled at 512Mi. We deployed v2.14.0 at 22:40.",
            "Roll back: `kubectl rollout undo deploy/checkout-api`, then raise resources.limits.memory to 1Gi.",
            "Back up since 23:09 on v2.13.3. Cause: the new LRU cache in CatalogLoader has no maxsize. Filed OPS-2291.",
        ),
        "Checkout-api was down with 503 after v2.14.0 went out at 22:40: Kubernetes showed CrashLoopBackOff "
        "and OOMKilled at 512Mi. A rollback to v2.13.3 brought it back at 23:09. The cause was an LRU cache "
        "without maxsize in CatalogLoader, filed as OPS-2291.",
        _each("The memory limit should be 1Gi. | A rollback is done with `kubectl rollout undo`."),
        _each(
            "The issue was filed as OPS-2317. | They rolled back to v2.12.8. | The cache is in `PriceIndexer`. | "
            "They set max_entries in config/cache.yaml. | The outage was reported in Datadog."
        ),
    ),
    Conversation(
        "a family",
        _turns(
            "2026-11-20T18:00:00-08:00",
            "My daughter Noor turns 8 on December 5. She loves astronomy and her friend Wei comes from Portland.",
            "A star party! Jupiter is up by nine. Cardboard rockets for ten kids cost about $25.",
            "We are twelve kids. Grandma Salma bakes a Saturn cake. The projector of the school is free on Saturday.",
            "Then start at 4 pm with rockets and end with Jupiter.",
        ),
        "Noor, the user's daughter, turns eight on 5 December and loves astronomy. The party has 12 kids, "
        "among them Wei from Portland. Salma bakes a Saturn cake, the school's projector is free on Saturday, "
        "and the party begins at 16:00 with rockets and ends with Jupiter.",
        _each("Noor loves astronomy. | Cardboard rockets cost about 25 dollars for 10 kids."),
        _each(
            "Noor has a brother named Idris. | Wei comes from Seattle. | There will be 15 kids. | The party is on "
            "Sunday. | They will watch Venus."
        ),
    ),
    Conversation(
        "a preference",
        _turns(
            "2026-03-02T09:15:00+00:00",
            "From now on answer in short paragraphs, no bullet points. I write Rust and some Zig, on NixOS with Helix.",
            "Understood. Do you want anyhow or thiserror in examples?",
            "thiserror in libraries, anyhow in binaries. Edition 2024, MSRV 1.85. And never use unwrap() in examples.",
            "Fine. I will run clippy with -D warnings in mind.",
            "My crate is called tidewater, it lives in ~/code/tidewater, published on crates.io as tidewater-core.",
        ),
        "The user wants short paragraphs without bullet points, and writes Rust and some Zig on NixOS with "
        "Helix. Libraries use thiserror and binaries anyhow; examples never use unwrap(). The crate tidewater "
        "in ~/code/tidewater is published as tidewater-core on crates.io, with edition 2024 and MSRV 1.85.",
        _each("Clippy runs with -D warnings. | Prefers short paragraphs."),
        _each(
            "The crate lives in ~/src/tidewater. | The MSRV is 1.78. | The user edits in Neovim. | The crate is "
            "published as tidewater_utils."
        ),
    ),
    Conversation(
        "a sales call",
        _turns(
            "2026-10-06T11:00:00+02:00",
            "Call with Brightwell Foods: Ms. Ndiaye wants 350 seats, starting January. Their CFO, Per Holm, asks for 15%.",
            "List price is 48 euros a seat and month. With 15 % off that is 40.80, or €171,360 a year.",
            "Vendor form must go to procurement@brightwell.example by Friday. They compare us with Quillbase.",
            "Offer 10% on one year and 15% on three years. SSO through Okta is included.",
            "OK, three years it is. Send them the SOC 2 report, too.",
        ),
        "Ms. Ndiaye of Brightwell Foods wants 350 seats from January. At 48 euros a seat, 15 % off makes "
        "€40.80, or 171,360 euros a year, granted on a three-year contract as Per Holm asked. Okta SSO is "
        "included; the SOC 2 report follows, and the form goes to procurement@brightwell.example by Friday. "
        "Their alternative is Quillbase.",
        _each("Brightwell's CFO is Per Holm. | One year would get ten percent off."),
        _each(
            "They want 420 seats. | The form goes to legal@brightwell.example. | They compare the offer with "
            "Notiva. | The contract runs for five years. | The CFO is Anders Bergqvist."
        ),
    ),
)

JAPANESE = (
    Conversation(
        "旅行",
        _turns(
            "2026-05-03T10:00:00+09:00",
            "来月、家族で函館に行きます。6月12日から4日間、予算は一人8万円です。",
            "函館なら五稜郭と朝市がおすすめです。ホテルはラビスタが人気で、1泊22,000円ほどです。",
            "ラビスタにします。妻の美咲は海鮮が苦手なので、ジンギスカンの店も知りたいです。",
            "函館駅の近くに「羊々亭」があります。新幹線はやぶさ7号なら昼に着きます。",
        ),
        "家族で六月十二日から四日間、函館へ旅行する。予算は一人80,000円、宿はラビスタ(1泊2万2千円)。美咲さんは海鮮が苦手で、函館駅近くの「羊々亭」が候補。新幹線は、はやぶさ7号。",
        _each("妻の美咲さんは海鮮が苦手。 | 五稜郭と朝市を見る。"),
        _each(
            "宿はプリンスに決めた。 | 予算は一人9万円。 | 小樽駅の近くに泊まる。 | 同僚の高橋さんも来る。 | 7月3日に出発する。"
        ),
    ),
    Conversation(
        "会議",
        _turns(
            "2026-06-22T15:00:00+09:00",
            "田中さんと鈴木部長の会議で、在庫管理システムを10月に入れ替えることになりました。",
            "候補はどこですか。",
            "サクラソフトとマルイシの二社です。費用はサクラが1200万円、マルイシが950万円。利用者は320人。",
            "期間と保守費も比べましょう。保守は年に一割が目安です。",
            "サクラは6か月、マルイシは9か月かかるそうです。来週の水曜日に田中さんが決めます。",
        ),
        "会議で在庫管理システムの10月の入れ替えが決まった。候補はサクラソフト(1,200万円、六か月)とマルイシ(950万円、9か月)の2社。利用者は320人。田中さんが来週水曜日に決める。",
        _each("マルイシの費用は九百五十万円。 | 鈴木部長が会議に出た。"),
        _each(
            "佐藤さんが来週決める。 | 候補はオービットの製品。 | 費用は1500万円。 | 入れ替えは12月。 | 利用者は450人いる。"
        ),
    ),
    Conversation(
        "健康",
        _turns(
            "2026-01-08T07:30:00+09:00",
            "健康診断で血圧が142でした。毎朝6時に起きて30分歩くことにします。",
            "よいですね。塩分は一日6グラムまでにしましょう。",
            "先生は木村クリニックの木村先生です。3か月後にまた検査します。薬のアムロジピンは飲みたくないです。",
            "まず減塩と運動ですね。歩数はスマートウォッチで記録できます。",
        ),
        "健康診断で血圧が142だったため、毎朝六時に起きて30分歩く。塩分は1日6グラムまで。木村クリニックで三か月後に再検査。アムロジピンは飲みたくない。歩数はスマートウォッチで記録。",
        _each("主治医は木村先生。 | 塩分は一日六グラムまで。"),
        _each("血圧は158だった。 | 主治医は小林先生。 | カルシウムの薬を飲んでいる。 | 毎朝45分歩く。"),
    ),
    Conversation(
        "引っ越し",
        _turns(
            "2026-02-14T20:10:00+09:00",
            "3月28日に大宮から吉祥寺に引っ越します。家賃は11万5千円、2DKです。",
            "荷物はどのくらいですか。アート引越なら単身で6万円前後です。",
            "本が段ボール24箱あります。猫のモモもいるので、ペット可の部屋です。大家は石川さん。",
            "電気とガスは一週間前までに連絡しましょう。吉祥寺駅から徒歩何分ですか。",
            "徒歩9分です。",
        ),
        "三月二十八日に大宮から吉祥寺へ引っ越す。家賃は115,000円の2DK、吉祥寺駅から徒歩九分。本は24箱、猫のモモも一緒。大家は石川さん。",
        _each("電気とガスは1週間前までに連絡する。 | 猫の名前はモモ。"),
        _each("家賃は13万円。 | 荻窪駅から徒歩9分。 | 猫の名前はレオ。 | 本は40箱ある。 | 大家は村上さん。"),
    ),
    Conversation(
        "料理",
        _turns(
            "2026-12-23T17:45:00+09:00",
            "クリスマスに8人分のローストチキンを作りたい。オーブンは最高230度です。",
            "2キロの鶏なら、200度で90分です。ローズマリーとレモンを使いましょう。",
            "娘のひなたは乳製品アレルギーです。デザートは何がよいですか。",
            "豆乳のパンナコッタはいかがですか。前の日に作れます。買い物は明日が楽です。",
            "そうします。ケーキは渋谷駅のフクヤで24日に受け取ります。",
        ),
        "クリスマスに八人分のローストチキンを作る。2キロの鶏を200度で90分、ローズマリーとレモンを使う。ひなたさんは乳製品アレルギーのため、デザートは豆乳のパンナコッタ。渋谷駅のフクヤでケーキを12月24日に"
        "受け取る。",
        _each("オーブンは最高230度。 | 娘は乳製品アレルギー。"),
        _each("250度で焼く。 | デザートはティラミス。 | ケーキは池袋駅で受け取る。 | 12人分を作る。"),
    ),
    Conversation(
        "学習",
        _turns(
            "2026-04-05T22:00:00+09:00",
            "7月の日本語能力試験N2を受けます。単語は一日20語、今は全部で1800語です。",
            "N2には約6000語が必要です。『新完全マスター』の文法がよいでしょう。",
            "先生の山本さんは聴解が弱いと言います。ポッドキャストを聞いています。",
            "「ニホンゴラジオ」を一日二回聞き、内容を書き取ってください。",
        ),
        "7月に日本語能力試験N2を受ける。単語は毎日二十語で現在1,800語、目標は六千語。文法は『新完全マスター』。山本さんの助言で聴解を強め、「ニホンゴラジオ」を1日2回聞く。",
        _each("単語は今1800語。 | 先生は山本さん。"),
        _each("N1を受ける。 | 『総まとめ』を使う。 | 単語は3500語。 | 先生は中村さん。 | 「ヒアリング道場」を聞く。"),
    ),
)

MIXED = (
    Conversation(
        "日本語とPython",
        _turns(
            "2026-08-19T13:00:00+09:00",
            "FastAPIのアプリが遅いです。app/routers/report.py の build_report() が12秒かかります。",
            "N+1クエリですね。SQLAlchemyの selectinload を使い、`EXPLAIN ANALYZE` で確認してください。",
            "```\nINFO: GET /api/v2/report 200 0.84s\n```\n直りました。0.84秒です。吉田さんも確認しました。",
            "よかったです。pytest-benchmarkで見張りましょう。閾値は1.5秒で。",
        ),
        "FastAPIのアプリでapp/routers/report.pyのbuild_report()が12秒かかった。N+1クエリが原因で、SQLAlchemyのselectinloadにより0.84秒になっ"
        "た。吉田さんが確認。pytest-benchmarkで1.5秒を閾値に見張る。",
        _each("GET /api/v2/report は200を返す。 | `EXPLAIN ANALYZE` で確認した。"),
        _each(
            "原因はapp/routers/export.pyにあった。 | Djangoのアプリが遅い。 | joinedloadで直した。 | 3.2秒になった。 | `make_summary()` が遅かった。"
        ),
    ),
    Conversation(
        "日本語とログ",
        _turns(
            "2026-09-30T09:30:00+09:00",
            "nginxが502を返します。ログ: connect() failed (111: Connection refused) while connecting to upstream, "
            "upstream: http://127.0.0.1:8001/",
            "gunicornが落ちています。`systemctl status gunicorn-web` を見てください。",
            "Failed to locate unit。/etc/systemd/system/gunicorn.service が正しい名前でした。workersは4です。",
            "`sudo systemctl enable --now gunicorn` で自動起動にしましょう。ポート8001は合っています。",
            "復旧しました。森さんがRunbookに書きます。",
        ),
        "nginxが502を返した。upstreamの127.0.0.1:8001に接続できず(Connection refused)、gunicornが落ちていた。/etc/systemd/system/gun"
        "icorn.serviceを自動起動(enable --now)にして復旧。森さんがRunbookに書く。",
        _each("gunicornのworkersは4。 | ポートは8001。"),
        _each(
            "ポート8080に変えた。 | /etc/nginx/conf.d/app.confを直した。 | uwsgiが落ちていた。 | 林さんが書く。 | 504を返した。"
        ),
    ),
    Conversation(
        "Deutsch und Docker",
        _turns(
            "2026-05-12T10:00:00+02:00",
            "Der Build dauert 14 Minuten. Das Dockerfile kopiert node_modules mit, wir nutzen Node 22 und pnpm.",
            "Lege eine .dockerignore an und baue in zwei Stufen. `pnpm fetch` hält den Cache warm.",
            "Jetzt sind es 3,5 Minuten, das Image hat 180 MB statt 1,2 GB. Frau Petersen ist zufrieden.",
            "Gut. In .gitlab-ci.yml noch `--cache-from registry.firma.example/web:latest` ergänzen.",
            "Erledigt, Merge Request !87. Ab Montag bauen wir damit in Hamburg.",
        ),
        "Der Build mit Docker dauerte 14 Minuten, weil node_modules kopiert wurde. Mit einer .dockerignore, "
        "zwei Stufen und `pnpm fetch` sind es 3.5 Minuten; das Image schrumpfte von 1,2 GB auf 180 MB. Frau "
        "Petersen freut das Ergebnis. Die Änderung steht im Merge Request 87, und ab Montag wird in Hamburg so "
        "gebaut.",
        _each(
            "Das Team nutzt Node 22 und pnpm. | Der Zwischenspeicher wird mit --cache-from in .gitlab-ci.yml genutzt."
        ),
        _each(
            "Herr Lindner hat die Änderung geprüft. | Das Image hat 240 MB. | Ab Montag wird in Stuttgart gebaut. "
            "| Die Einstellung steht in docker-compose.yml. | Das Team nutzt Node 20."
        ),
    ),
    Conversation(
        "Deutsch und ein Verein",
        _turns(
            "2026-03-17T19:00:00+01:00",
            "Unser Sportverein in Kassel braucht eine Anmeldung im Netz, für 240 Mitglieder. Karin Vogt macht die Kasse.",
            "Dann eine kleine Anwendung mit Flask und SQLite. Die Tabelle members bekommt die Spalte paid_until.",
            "Der Beitrag ist 1.080 Euro im Jahr für alle Trikots zusammen, jeder zahlt 36 Euro.",
            "Die Erinnerung schickt ein Skript: tools/remind.py --month april. Start am 1. April um 18 Uhr.",
            "Gut, Karin und ich testen das am Freitag.",
        ),
        "Der Sportverein in Kassel bekommt eine Anmeldung für 240 Mitglieder: eine Anwendung mit Flask und "
        "SQLite. Karin Vogt führt die Kasse; die Vereinsmitglieder zahlen 36 Euro, die Trikots kosten 1080 "
        "Euro. Das Erinnerungsskript tools/remind.py startet am 1. April um 18:00. Karin und der Nutzer testen "
        "am Freitag.",
        _each("Die Spalte paid_until steht in der Tabelle members. | Jedes Mitglied zahlt 36 Euro."),
        _each(
            "Frau Albers führt die Kasse. | Der Verein hat 310 Mitglieder. | Das Skript heißt tools/notify.py. | "
            "Die Anwendung nutzt FastAPI. | Die Spalte heißt valid_until."
        ),
    ),
)

CONVERSATIONS = (*ENGLISH, *JAPANESE, *MIXED)
