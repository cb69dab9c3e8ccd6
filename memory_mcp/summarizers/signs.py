"""Names in Chinese signs and hiragana, which no capital marks: by where they stand, and by what everybody knows."""

import re
from collections.abc import Iterator


def _any_of(listed: str) -> re.Pattern[str]:
    return re.compile("|".join(sorted(listed.split(), key=len, reverse=True)))


_EVERYDAY = _any_of(
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
    無事 客様 皆様 奥様 神様 模様 多様 他方 一方 両者 各社 御社 弊社 貴社 都市 市町村 市区町村 地区 最寄 最寄駅 部長
    課長 教授 医者
    """
)
"""Words that summaries need and that name nobody."""

_FAMILIAR = _any_of(
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
"""Places and names that come to mind first, and so to a model that makes something up: looked for everywhere."""

_RUN = re.compile("[一-鿿々]{2,}")
_ENDS_AS_A_NAME = re.compile("(?:[都府県市区町村駅様氏君]|先生|社長|部長|課長|教授)$")
_TITLE = re.compile("さん|くん|ちゃん")
_PARTICLE = re.compile("[はがもとにへの、]|から|まで|で(?![すしあ])")
"""What follows somebody who does something, or a place."""

_OF_NAMES = frozenset(
    "田山川村藤島野崎井岡谷橋松森沢澤浜津坂阪尾宮城岩杉菊桜梅竹霧緒盛稲桐榎堀滝窪塚須瀬峰峯嶋鶴亀熊鷹鳥虎龍柳柏桑楠栗萩葛笠芝"
    "郎彦輝翔翼蓮樹智菜奈沙里咲葵凛悠颯拓哉浩恵佳紗彩莉遥陽結望斗弥也之雄"
)
"""Signs that stand in names far more often than in other words."""

_IN_HIRAGANA = re.compile("([ぁ-ん]{2,4})(?=さん|ちゃん|くん)")
_NOBODY = re.compile("(?:みな|たく|おく|か?あか|おきゃく|[かば]あ|とう|[にじ]い|ねえ|お[ばじ]|むす[めこ])$")


def names(text: str, said: str) -> Iterator[tuple[int, int, bool]]:
    """Find what stands as a name, with its place and whether it was said. `said` is folded, without whitespace.

    What does not stand in `said` and is no everyday word is a name before a title, and before a particle if it holds a
    sign that names have.
    """
    for match in _RUN.finditer(text):
        run = match[0]
        familiar = _FAMILIAR.findall(run)
        news = _news(run, said) if _is_placed_as_a_name(text, match) else ""
        if familiar or news:
            yield match.start(), match.end(), not news and all(one in said for one in familiar)
    for match in _IN_HIRAGANA.finditer(text):
        if not _NOBODY.search(match[1]):
            endings = (match[1][start:] for start in range(len(match[1]) - 1))  # a particle may stand before the name
            yield match.start(), match.end(), any(one in said for one in endings if len(one) > 2 or one == match[1])


def _is_placed_as_a_name(text: str, run: re.Match[str]) -> bool:
    if _ENDS_AS_A_NAME.search(run[0]) or _TITLE.match(text, run.end()):
        return True
    return _PARTICLE.match(text, run.end()) is not None and not _OF_NAMES.isdisjoint(run[0])


def _news(run: str, said: str) -> str:
    """Give the part of a run, of two signs or more, that neither is an everyday word nor stands so in `said`."""
    known = {place for match in _EVERYDAY.finditer(run) for place in range(*match.span())}
    pairs = (start for start in range(len(run) - 1) if run[start : start + 2] in said)
    known |= {place for start in pairs for place in (start, start + 1)}
    new = "".join(" " if place in known else sign for place, sign in enumerate(run))
    return next((part for part in new.split() if len(part) > 1), "")
