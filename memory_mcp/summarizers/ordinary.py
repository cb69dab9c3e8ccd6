"""Words that name nobody: with which sentences of summaries begin, and Japanese ones in the signs that names have."""

from memory_mcp.tokens import STOP_WORDS


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


KATAKANA = _words(
    """
    ユーザー アシスタント データ データベース ファイル フォルダ テスト エラー コード サーバー クライアント システム
    プロジェクト チーム メンバー スケジュール ミーティング メール アプリ アプリケーション サービス リスト プラン
    タスク バグ バージョン アップデート リリース レビュー デプロイ インストール ログ メモリ メモ モデル パス
    パスワード パフォーマンス フォーマット プログラム プロセス ページ ポイント メッセージ テキスト タイトル タイプ
    スタート ステップ ストレス スピード サイズ サポート サイト サンプル シンプル セッション セット ソフト ソフトウェア
    ツール テーマ デザイン トラブル トピック ドキュメント ネットワーク ハードウェア バックアップ バランス パターン
    ビジネス フィードバック ブランチ ブラウザ プロンプト ベース ペース ボタン マニュアル ミス メイン メリット
    デメリット モード ルール レベル レポート ロジック オプション オンライン カテゴリ カレンダー キー キャッシュ
    グループ ケース コスト コメント コミット コンテンツ コンピューター アイデア アカウント アクセス アドバイス
    アレルギー イベント イメージ インターネット ウェブ オフィス ゴール パソコン プレゼン ホテル レストラン カフェ
    メニュー ペット クラス グラフ ガイド ゲーム チケット ニュース リスク リソース リクエスト レシピ ワークフロー
    キャンセル チェック クリア スムーズ ニーズ ターゲット デフォルト パラメータ ライブラリ フレームワーク
    """
)
"""Loan words of every day; in compounds, too. The others are names until the source holds them."""

KANJI = _words(
    """
    会議 予算 計画 目的 次回 課題 問題 原因 結果 内容 方法 方針 対応 対策 確認 決定 予定 検討 相談 希望 予約 変更 作業
    開発 設計 実装 修正 調査 報告 連絡 質問 回答 提案 依頼 説明 理由 状況 現在 今後 将来 最近 最初 最後 今回 前回 今日
    明日 昨日 今週 来週 先週 今月 来月 先月 今年 来年 去年 毎日 毎週 毎月 毎年 午前 午後 時間 期間 期限 日程 場所 本人
    自分 自身 相手 家族 両親 父親 母親 夫婦 子供 息子 兄弟 姉妹 友人 知人 同僚 上司 部下 社員 社長 担当 担当者 責任者
    関係者 参加者 利用者 使用者 会社 自社 他社 部署 部門 組織 仕事 業務 職場 学校 大学 病院 医師 先生 学生 生徒 自宅
    住所 電話 番号 名前 年齢 趣味 旅行 休暇 食事 朝食 昼食 夕食 料理 野菜 果物 健康 運動 睡眠 体調 病気 症状 治療 天気
    気温 費用 料金 価格 金額 合計 支払 購入 注文 契約 手続 書類 資料 文書 情報 記録 保存 削除 追加 更新 登録 設定 接続
    通信 処理 実行 開始 終了 完了 成功 失敗 停止 再開 継続 中止 延期 必要 重要 重視 優先 可能 不可 不明 未定 未決 未完
    保留 残り 一部 全部 全体 全員 各自 双方 両方 片方 複数 多数 少数 以上 以下 以内 以外 以前 以後 前後 程度 場合 条件
    要件 仕様 機能 性能 品質 安全 注意 警告 障害 不具合 復旧 改善 解決 解消 達成 目標 成果 評価 判断 意見 意向 感想
    嗜好 苦手 得意 興味 関心 経験 知識 能力 技術 環境 本番 検証 試験 試行 実験 分析 比較 選択 候補 代替 利点 欠点 長所
    短所 理解 同意 合意 了承 承認 却下 拒否 許可 禁止 指示 命令 要求 要望 約束 準備 用意 手配 調整 共有 公開 非公開
    送信 受信 返信 返答 訪問 出張 出発 到着 移動 引越 結婚 出産 誕生日 記念日 卒業 入学 入社 退職 転職 面接 採用 教育
    研修 勉強 学習 練習 読書 音楽 映画 写真 動画 画像 文章 言語 英語 日本語 日本 海外 国内 地域 近所 駅前 部屋 台所
    建物 工事 修理 交換 掃除 洗濯 買物 電車 新幹線 自動車 自転車 飛行機 空港 会話 発言 話題 議題 議論 要約 概要 詳細
    結論 背景 経緯 顧客 製品 商品 販売 売上 利益 市場 広告 競合 投資 資金 税金 保険 年金 給与 報酬 人数 人員 増加 減少
    上昇 低下 維持 管理 運用 監視 通知 自動 手動 通常 標準 特別 特定 一般 個人 公式 正式 正確 適切 適用 有効 無効 有料
    無料 制限 上限 下限 最大 最小 最低 最高 最適 最終 平均 割合 単位 種類 形式 構造 構成 要素 項目 一覧 順番 順序 段階
    手順 工程 進捗 進行 推奨 参考 参照 関連 関係 影響 効果 効率 負荷 負担 容量 速度 遅延 待機 起動 再起動 移行 導入
    採択 統合 分割 合併 作成 編集 入力 出力 表示 検索 取得 提供 提出 配布 配送 配達 収集 整理 分類 集計 計算 測定 推定
    予測 想定 期待 心配 不安 満足 不満 感謝 謝罪 挨拶 紹介 案内 招待 参加 欠席 出席 開催 主催 実施 活動 行動 対象 対話
    交渉 協力 支援 援助 助言 指導 監督 方向 位置 周辺 中心 左右 上下 内部 外部 表面 裏側 半分 大事 大切 簡単 複雑 困難
    容易 便利 不便 快適 同様 同時 別途 個別 直接 間接 現地 現状 現場 当日 翌日 翌週 翌月 前日 週末 平日 休日 祝日 年末
    年始 夕方 深夜 早朝 毎朝 毎晩 今朝 今晩 昨夜 何度 何回 意思 気持 印象 理想 現実 事実 真実 秘密 公表 発表 発売 発注
    発送 発生 発見 発展 使用 利用 活用 応用 適応 反応 反映 反対 賛成 賛否 両立 独立 自立 生活 人生 人間 社会 世界 文化
    歴史 伝統 習慣 規則 法律 権利 義務 責任 役割 立場 態度 姿勢 一緒 一度 一番 十分 今度 途中 以降 当面 早急 至急 順調
    無事
    """
)
"""Words of every day in Chinese signs, as summaries need them."""

FAMILIAR = _words(
    """
    東京 大阪 京都 札幌 仙台 横浜 川崎 千葉 埼玉 名古屋 神戸 広島 福岡 北九州 新潟 静岡 浜松 岡山 熊本 鹿児島 沖縄
    那覇 長崎 大分 宮崎 佐賀 高知 松山 愛媛 香川 高松 徳島 山口 島根 鳥取 和歌山 奈良 滋賀 三重 愛知 岐阜 長野 山梨
    福井 石川 金沢 富山 神奈川 群馬 栃木 茨城 福島 山形 秋田 宮城 岩手 青森 北海道 函館 兵庫 渋谷 新宿 池袋 品川 上野
    銀座 六本木 秋葉原 梅田 難波 鎌倉 箱根 軽井沢 北京 上海 香港 台北 台湾 韓国 中国 米国 英国 佐藤 鈴木 高橋 田中
    伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 松本 井上 木村 斎藤 清水 山崎 池田 橋本 阿部 森田 前田 小川 岡田
    長谷川 藤田 村上 近藤 後藤 石井 坂本 遠藤 青木 藤井 西村 福田 太田 三浦 藤原 岡本 松田 中川 中野 原田 小野 田村
    竹内 金子 和田 中山 石田 上田 森本 柴田 酒井 工藤 横山 宮本 内田 高木 安藤 谷口 大野 丸山 今井 武田 花子 太郎 一郎
    次郎 健太 翔太 美咲 陽子 恵子 裕子 直樹 大輔
    """
)
"""Places and names that come to mind first, and so to a model that makes something up."""

_ORDINARY = _words(
    """
    accept access account achieve acknowledge act action active actual add additional address adjust admit adopt
    advice advise afternoon agenda agree aim alert allergic alternative although ambitious analysis analyze announce
    annual answer anyone anything apparent appear apply appoint appreciate approach approve approximate architect area
    arrange arrive article ask aspect assign assist assistant assume attach attempt attend attention audience audit
    author automatic available average avoid aware back background backup bad balance base basic batch bear become
    bedroom begin behavior behaviour believe benefit best better birthday block blog board book both bottom branch
    break breakfast brief bring brother budget bug build business busy buy cache calculate calendar call cancel
    capacity car care case cash cat cause caution certain chair change channel chapter charge chat cheap check chief
    child choice choose city claim clarify class clean clear client clock close cloud clue coach code coffee collect
    college combine come comment commit committee common communicate community company compare complain complete
    complex compress compute concern conclude conclusion condition conduct confident configure configuration confirm
    conflict connect consequence consider consist constraint construct consult consume contact contain content contest
    context continue contract contrary contribute control convenient conversation convert copy core correct cost
    counsel count country couple course cover coverage create credit critical current custom customer cut daily dance
    dark dashboard data database date daughter day deadline deal debate debug decide decision decline decrease
    dedicate deep default defer define degree delay delete deliver delivery demand department depend deploy describe
    design desire despite destination detail determine develop device diagnose diet differ difference difficult dinner
    direct disable disagree discard discount discover discuss discussion disk display distance divide doctor document
    dog domain door double doubt download draft drink drive driver drop due duration duty eager early earn ease east
    easy eat edge edit education effect efficient effort eight either element eliminate else email emphasize employ
    employee empty enable encounter encourage encrypt end endpoint engine engineer enjoy ensure enter entire entry
    environment equal equipment error escalate especially essential establish estimate evaluate evening event eventual
    every everyone everything evidence exact examine example exceed excellent except exchange exclude execute exercise
    exist expect expense expensive experience experiment expire explain explanation explore export express extend
    extension extensive extra extract face fact fail failure fall false family far fast father favorite favourite
    feature fee feed feedback feel few field fifteen fifty figure file fill final finally finance financial find fine
    finish fire first fish fit five fix flag flat flexible flight floor flow fly focus folder follow food force
    forecast foreign forget form formal format former forward four free frequent fresh friend front full function fund
    further future game garden gather general generate gentle get gift girl give given global go goal good grade
    gradual graph great green ground group grow growth guarantee guess guest guide guideline habit half hand handle
    happen happy hard hardware have head health hear heat heavy help hence hesitate hide high higher highlight hire
    hit hold holiday home host hotel hour house however huge hundred hurt husband idea ideal identify identity ignore
    illness image immediate impact implement import important impossible improve include income increase indeed
    independent index indicate individual industry inform information initial input inquire insert inside insist
    inspect install instance instead instruct insurance integrate intend intent interest interface internal
    international interview introduce invest investigate invite involve issue item job join joint journey judge jump
    just keep key kick kid kind kitchen know knowledge label lack language large last late later latest latter launch
    law lead leader learn least leave left legal length less lesson let letter level library license life light like
    limit line link list listen literal little live load local location lock log logic long longer look loop lose loss
    lot low lower lunch machine mail main maintain major make man manage manager manual many margin market married
    mass master match material matter maximum maybe meal mean meaning measure media medical medicine meet member
    memory mention merge message method metric middle migrate mind minimum minor minute miss missing mistake mix mode
    model modern modify module moment money monitor month monthly moreover morning most mother motivate mount move
    much multiple music mutual name narrow native natural nature near necessary need negative negotiate neighbor
    neighbour neither nervous network never nevertheless new news next nice night nine nobody none nor normal north
    note nothing notice notify number numerous object objective obtain obvious occasion occur offer office official
    often old once one ongoing online open operate operation opinion opportunity oppose opt optimal optimize option
    order ordinary organize origin original other otherwise outage outcome outline output outside outstanding overall
    overlap overnight override owner pack package page pain pair panel paper parallel parameter parent part
    participate particular partner party pass past patch patient pattern pause pay people per percent perfect perform
    performance perhaps period permission permit person personal phase phone photo pick picture piece pipeline place
    plan plant platform play please plus point policy poor popular port position positive possible post postpone
    potential power practical practice precise prefer preference prepare preparation presence present press pressure
    pretty prevent previous price primary principle print prior priority private probable problem procedure proceed
    process produce product production profile profit program programme progress project promise promote prompt proof
    proper property propose proposal protect prototype prove provide public publish pull purchase purpose push put
    quality quarter query question queue quick quiet quit quote rain raise range rank rapid rare rate rather ratio raw
    reach react read ready real reason reboot rebuild recall receive recent recipe recommend record recover recovery
    recruit recur red reduce refactor refer reference refine reflect refund refuse regard region register regular
    reject relate release relevant reliable relocate rely remain remember remind remove rename renew rent repair
    repeat replace reply report repository represent request require requirement research reserve reset resolve
    resource respond response responsibility rest restart restaurant restore restrict result resume retire retry
    return reuse reveal revert review revise revisit rewrite right risk road role roll rollback roof room root rotate
    rough round route routine rule run safe salary sale same sample satisfied save savings say scale scan schedule
    schema school scope score screen script search season second secret section secure security see seek seem select
    self sell send senior sense sentence separate sequence series serious serve server service session set setting
    settle setup seven several severe shall share sharp shift ship shoot shop short should show shut sibling side sign
    signal significant similar simple simplify since single sister site situation six size skill skip sleep slight
    slot slow small smooth social software solar solution solve some somebody someone something sometimes son soon
    sorry sort sound source south space speak special specific specify speed spend split spot spouse spring stable
    staff stage standard start state statement station status stay steady step stick still stock stop storage store
    story strategy street stress strict string strong structure student study style subject submit subsequent succeed
    success such sudden suffer suggest suit suitable sum summarize summary summer supper supply support suppose sure
    surprise survey suspect suspend sweet switch symptom sync system table tag take talk target task tax teach teacher
    team tech technical technique technology tell temperature temporary ten tend term test text thank theme theory
    thing think third thirty thousand thread three threshold throughout throughput thus ticket tie time timeline
    timeout tip title today together token tolerate tomorrow tonight tool top topic total touch toward track trade
    traffic train transfer transform transition translate transport travel treat trend trial trigger trip trouble true
    trust truth try tune turn twelve twenty twice two type typical ultimate unable uncertain unclear undecided undergo
    understand unfortunate unique unit unknown unless unlike unresolved until update upgrade upload upper upset urgent
    usage use useful user usual utility vacation valid validate value variable variation various vast vegan vegetarian
    verify version vet via view violate virtual visit visual volume wait wake walk wall want warm warn wash watch
    water way weak weather web website wedding week weekend weekly weigh weight welcome well west whatever wheel
    whenever whereas wherever whether whole wide wife wind window winter wish within without woman wonder wood word
    work worker workflow workshop world worry worse worth write wrong year yellow yes yesterday yet young zero zone
    began bought brought built came chose chosen did done driven felt found gave gone got grew had heard held kept
    knew known led lost made meant met paid ran said sang sat saw seen sent sold spent spoke stood taken taught
    thought told took tried understood went won wrote written children men women
    """
)
_BEGINNERS = _ORDINARY | STOP_WORDS - {"will"}
_ENDINGS = (
    ("s", 3), ("es", 3), ("ed", 3), ("d", 3), ("ing", 3), ("ly", 4), ("ment", 4), ("ments", 4), ("al", 4), ("ally", 4),
    ("ion", 4), ("ions", 4), ("ation", 4), ("ations", 4), ("able", 4), ("ness", 4), ("ity", 4), ("ies", 3), ("ied", 3),
)  # fmt: skip
"""What words take on, and how many letters must stand before it."""


def is_ordinary(word: str) -> bool:
    """Whether an English word, in small letters, can begin a sentence without naming anybody or anything.

    Words that are first names as well (Mark, Will, Grant) are taken for names.
    """
    return word in _BEGINNERS or any(
        stem in _ORDINARY
        for ending, least in _ENDINGS
        if word.endswith(ending) and len(word) >= least + len(ending)
        for stem in _stems(word.removesuffix(ending))
    )


def _stems(rest: str) -> tuple[str, ...]:
    single = rest[:-1] if rest[-1:] == rest[-2:-1] else rest
    return rest, rest + "e", rest + "y", single
