"""The commonest orders in German, Spanish, French and Chinese."""

from memory_mcp.injection.order import CALL, DROP, HIDE, SEND, anywhere

_GAP = r"[^.!?\n]"
_LINE = r"[^!?\n]"
_TO = r"(?:adresse|server|dirección|servidor|serveur|@|https?:)"

_GERMAN = (
    anywhere(
        DROP,
        "ignoriere|ignorier|ignorieren sie|vergiss|vergessen sie|missachte|missachten sie|verwirf|befolge nicht",
        r"(?: \w+){0,2} (?:alle[ns]?|deine[nr]?|ihre[nr]?|sämtliche[ns]?|vorherigen?|bisherigen?|früheren?|obigen?)"
        r" (?:\w+ ){0,2}(?:anweisungen|instruktionen|regeln|vorgaben|befehle|richtlinien)",
    ),
    anywhere(
        DROP,
        "du bist",
        rf" (?:ab )?(?:jetzt|nun|sofort){_GAP}{{0,40}}(?:ohne (?:jede )?(?:einschränkung|regel|grenze|filter)"
        r"|uneingeschränkt)",
    ),
    anywhere(
        HIDE,
        "sag|sage|erzähle|verrate|verrat",
        rf"{_GAP}{{0,20}}(?:dem|den|der) (?:be)?nutzer\w*{_GAP}{{0,20}}\bnichts\b",
    ),
    anywhere(HIDE, "ohne", r" (?:es )?(?:dem|den|die|der) (?:be)?nutzer\w* (?:\w+ )?(?:zu \w+|\w*zu\w+)"),
    anywhere(
        SEND,
        "sende|sendet|senden sie|schick|schicke|schicken sie|übermittle|leite",
        rf"\b{_GAP}{{0,40}}(?:passw\w+|kennw\w+|zugangsdaten|schlüssel){_LINE}{{0,40}}{_TO}",
    ),
)
_SPANISH = (
    anywhere(
        DROP,
        "ignora|ignore|ignorad|olvida|olvide|olvidad|descarta|descarte|omite|desobedece|haz caso omiso de|no sigas",
        r" (?:a )?(?:todas?|las|tus|sus|estas|cualquier)(?: (?:las|tus|sus))? (?:instrucci[oó]n(?:es)?|reglas|órdenes"
        r"|directrices|indicaciones)(?! (?:de|en|del) )",
    ),
    anywhere(DROP, "ahora eres|eres ahora", rf"{_GAP}{{0,40}}sin (?:restricciones|límites|reglas|filtros)"),
    anywhere(
        HIDE,
        "no",
        rf" (?:le |se lo )?(?:digas?|informes?|menciones?|reveles?|cuentes?|avises?){_GAP}{{0,24}}\bal usuario",
    ),
    anywhere(HIDE, "sin", rf" (?:avisar|informar|decir(?:le|lo|selo)?|preguntar|consultar){_GAP}{{0,16}}\bal usuario"),
    anywhere(
        SEND,
        "envía|envia|envíe|manda|reenvía|sube",
        rf"\b{_GAP}{{0,20}}(?:contraseñas?|credenciales|claves){_LINE}{{0,40}}{_TO}",
    ),
)
_FRENCH = (
    anywhere(
        DROP,
        "ignore|ignores|ignorez|ignorer|oublie|oubliez|ne suis pas|ne suivez pas|ne suivez plus|ne tenez pas compte de",
        r" (?:toutes?|les|tes|vos|ces)(?: (?:les|tes|vos|ces))? (?:instructions?|consignes?|règles?|directives?|ordres)"
        r"(?! (?:de|du|dans|sur) )",
    ),
    anywhere(DROP, "tu es", rf" (?:maintenant|désormais){_GAP}{{0,40}}sans (?:restriction|limite|règle|filtre)"),
    anywhere(
        HIDE,
        "ne",
        rf" (?:le |rien )?(?:dis|dites|révèle[sz]?|mentionne[sz]?|montre[sz]?|parle[sz]?)\b"
        rf"{_GAP}{{0,24}} à l'utilisateur",
    ),
    anywhere(HIDE, "sans", r" (?:prévenir|informer|avertir|demander à|le dire à|consulter) l'utilisateur"),
    anywhere(
        SEND,
        "envoie|envoyez|transmets|transmettez|transfère",
        rf" {_GAP}{{0,20}}(?:mots? de passe|identifiants|messages|données){_LINE}{{0,40}}{_TO}",
    ),
)
_CHINESE = (
    anywhere(
        DROP,
        "忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|违反|违背",
        r"[掉了]?[你您]?的?(?:之前|以前|以上|上述|先前|前面|此前|所有|全部|一切|任何|系统|系統|原有|原来|你)"
        r"[^。!?\n]{0,10}(?:指令|指示|命令|提示|规则|規則|要求|设定|設定|限制|约束)",
    ),
    anywhere(DROP, "输出|輸出|泄露|洩露|显示|顯示|重复|忘记|忘記", r"[^。!?\n]{0,6}(?:系统|系統)提示"),
    anywhere(
        DROP,
        "你现在是|你現在是",
        r"[^。!?\n]{0,16}(?:没有|沒有|不受|无)[^。!?\n]{0,8}(?:限制|约束|規則|规则)",
    ),
    anywhere(HIDE, "不要|别|別|勿|不得|不可", r"[让讓]?(?:告诉|告訴|通知|告知|让|讓)(?:用户|用戶|使用者)"),
    anywhere(
        SEND,
        "把|将|將",
        r"[^。!?\n]{0,16}(?:密码|密碼|私钥|隐私|对话|聊天记录|资料|数据)[^。!?\n]{0,6}(?:发送|發送|上传|上傳|转发|发到|寄)",
    ),
    anywhere(CALL, "删除|刪除|清除|清空|抹去", r"(?:你的|用户的|所有|全部|一切|你){1,3}的?(?:记忆|記憶)"),
)

OTHERS = (*_GERMAN, *_SPANISH, *_FRENCH, *_CHINESE)
