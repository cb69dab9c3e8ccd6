"""Which language a conversation is in, though it quotes code, logs and names of another."""

import pytest

from memory_mcp.summarizers.language import contradicts, language, spoken_in

TEXTS = {
    "English": "We decided to move the server to the new rack, and it is not done yet.",
    "German": "Wir haben den Fehler gefunden, und ich habe die neue Fassung noch nicht veröffentlicht.",
    "French": "Nous avons trouvé le problème dans la base de données et je vais le corriger avec vous.",
    "Spanish": "La migración de la base de datos en el servidor de pruebas no está terminada, lo hago mañana.",
    "Portuguese": "A migração da base de dados no servidor de testes não está pronta, eu faço amanhã com o Rui.",
    "Italian": "Abbiamo trovato il problema nella base di dati e non lo abbiamo ancora risolto con il server.",
    "Dutch": "Wij hebben het probleem in de database gevonden en het is nog niet opgelost voor de klant.",
    "Japanese": "サーバーの移行はまだ終わっていません。明日 deploy します。",
    "Chinese": "服务器迁移还没有完成，明天继续。",
    "Korean": "서버 이전이 아직 끝나지 않았습니다.",
    "Russian": "Перенос сервера ещё не закончен, продолжим завтра.",
}


@pytest.mark.parametrize(("name", "text"), TEXTS.items())
def test_a_sentence_or_two_tell_the_language(name: str, text: str):
    """B43."""
    assert language(text) == name


@pytest.mark.parametrize("text", ["", "Thanks!", "42", "git push --force", "```\nthe log is of the server\n```"])
def test_what_is_too_little_tells_none(text: str):
    assert language(text) == ""


def test_quoted_code_and_logs_do_not_count():
    """B43."""
    log = "ConnectionError: the connection to the server was refused"
    turns = [f"接続できません。\n```\n{log}\n{log}\n```", "`retry` を増やしても同じです。", "了解", log]
    assert spoken_in(turns) == "Japanese"
    assert spoken_in(["Das Log sagt: connection refused. Ich habe den Server neu gestartet.", "ok"]) == "German"


def test_a_word_of_another_language_does_not_change_it():
    assert (
        spoken_in(["How do I address my new boss 佐々木 in an email to the whole of the team?", "北斗電機"])
        == "English"
    )


def test_a_text_contradicts_only_where_its_language_is_known():
    assert contradicts(TEXTS["English"], "Japanese")
    assert contradicts(TEXTS["German"], "English")
    assert contradicts("Done.", "Japanese")
    assert not contradicts("Done.", "English")
    assert not contradicts(TEXTS["German"], "")
