"""Words that are no names, and the forms by which names and ordinary words are told apart."""

import re

from memory_mcp.tokens import STOP_WORDS


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


GERMAN = _words(
    "der die das den dem des ein eine einen einem einer und oder ist sind war wird werden wurde hat haben nicht kein "
    "ich wir sie er es mit auf für von vom zu zum zur bei im am aus nach als auch sich dass wenn nur noch soll will"
)
ORDINARY = STOP_WORDS | GERMAN | _words(
    "may let yes see run read check make start stop call write keep several most "
    "both since although though however instead still never always one many much another every everyone "
    "everything someone something nothing today tomorrow yesterday tonight next last first second third finally later "
    "later afterwards currently initially overall meanwhile additionally therefore thus hence besides despite due per "
    "against among across along around beyond toward towards via within without upon unless whether either neither "
    "rather otherwise currently already else yet also like likely "
    "user users assistant assistants ai person people they'll step steps decision decisions outcome result results "
    "lesson lessons summary note notes key topic topics goal goals plan plans problem cause root fix issue question "
    "questions action actions item items open point points fact facts preference preferences status context background "
    "details remaining total work task tasks todo ok mr mrs ms dr prof am pm vs etc eg ie "
    "added agreed asked asks bought booked built changed chose confirmed created decided discussed explored found "
    "fixed gave got helped kept learned likes lives made moved needs paid planned prefers put ran read recommended "
    "removed "
    "replaced said says sent set showed solved suggested switched took told tried turned use used uses using wants "
    "went works wrote looks owns enjoys plays speaks studies visits knows hopes tries budget cost costs price "
    "le la les un une des il elle ils elles et est pour dans avec sur el los las una y en con por para lo gli per che "
    "os as uma no na de het een "
    "nutzer nutzerin benutzer assistent assistentin anwender diese dieser dieses danach dabei dafür dadurch damit "
    "daher deshalb außerdem zuerst schließlich künftig ab bis um man sein seine ihr ihre alle ursache ergebnis "
    "entscheidung nächste schritte schritt offen problem lösung ziel frage fragen"
)  # fmt: skip
"""Function words, and what summaries call their parts and parties."""

ORDINARY_KANA = _words(
    "ユーザー アシスタント メンバー プロジェクト チーム データ テスト エラー バグ コード ファイル システム サーバー "
    "サービス アプリ リスト プラン スケジュール タスク テーマ ポイント ケース レベル タイプ ルール トラブル アドバイス "
    "コスト メモ メール ミーティング リリース バージョン ログ オプション ステップ"
)
ORDINARY_STEM = re.compile(
    r"(?:昨日|今日|明日|先日|先週|今週|来週|先月|今月|来月|去年|今年|来年|毎日|毎週|担当|同僚|上司)+|"
    "[皆客奥娘子父母兄姉妹弟嫁孫各同当本他自御]|息子|家族|主人|隣|業者|患者|店員|医者|大家|最寄|株式|旅行|先方|担任|主治医|"
    "[一二三四五六七八九十百千数何]+"
)
OPENING_FORM = re.compile(r"\w{3,}(?:ed|ing|ly)")
OPENING_NOUN = re.compile(r"\w{3,}(?:tion|sion|ness|ship|able|ible)s?|\w{4,}ments?|\w{6,}[ae]nces?")
VERB_FORM = re.compile(r"(?:is|are|was|were|has|had|have|will|would|can|could|should|and|'s|’s|\w+ed|\w+[^s\W]s)\b")
DETERMINED = re.compile(
    r"\s+(?:\x00|(?:the|a|an|to|that|this|these|all|it|its|his|her|their|my|our|how|why|whether)\b)"
)
GERMAN_TITLE = re.compile(r"\b(?:Herrn?|Frau|Dr\.|Prof\.|Firma|Kolleg(?:e|en|in)|Chef(?:in)?)\s+$")
GERMAN_PLACE = re.compile(r"\b(?:in|nach|bei|von|aus|mit|an|durch|für)\s+$", re.IGNORECASE)
GERMAN_NAMED = re.compile(r"(?<![.!?:\w] )(?<!\n)\b[A-ZÄÖÜ]\w+\s+$")
GERMAN_NOUN = re.compile(
    r"\w+(?:ung|heit|keit|schaft|tion|tät|nis|ment|ling|ing|tum|e|en|er|n|el)s?|betrieb|bedarf|bezug|kraft|hand|erfolg"
    r"|zeit|ende|anfang|art|sicht|form|recht|hilfe|druck|grund|zugriff|test|start|plan|stand|weg|tag|monat|jahr"
)
