"""Fake delimiters: marks by which a text poses as the end of a quotation, as another voice or as a call."""

from memory_mcp.injection.order import CALL, POSE, SEND, anywhere, imperative

_TAG = (
    r"(?:memory|memories|system|system[-_ ](?:reminder|prompt|message)|hook[-_ ]context|untrusted[-_ ]context"
    r"|conversation|user[-_ ]prompt[-_ ]submit[-_ ]hook|(?:antml:)?(?:function[-_ ](?:calls?|results?)|invoke"
    r"|parameter)|tool[-_ ](?:use|calls?|results?|response|output)|instructions?|developer|assistant"
    r"|user[-_ ](?:request|instructions?)|environment[-_ ]context)"
)

MARKS = (
    anywhere(POSE, "</|< /", rf" ?{_TAG} ?>"),
    anywhere(
        POSE,
        "<",
        r"\|(?:im_?start|system|user|assistant|developer|start_?header_?id)\|> ?(?:system|user|assistant|developer)",
    ),
    anywhere(POSE, "[/inst]", ""),
    anywhere(POSE, "<</sys>>", ""),
    anywhere(POSE, "\nhuman:|\n human:", r"[^\n]{0,500}\n\s*assistant:"),
    anywhere(
        POSE,
        "---|===|***|###|--|==|##",
        r"[^\w\n]{0,12}+(?:end|begin(?:ning)?|start) (?:of )?(?:the )?"
        r"(?:(?:stored|quoted|untrusted|user|system|retrieved|external|tool) ){0,3}"
        r"(?:memor(?:y|ies)|data|input|messages?|prompt|quotation|context|output|instructions)"
        r"[^\w\n]*(?:\n|$|[-=*#]{2})",
    ),
    anywhere(
        CALL,
        '"name"|"tool"|"tool_name"|"toolname"|"function"',
        r' ?: ?"[\w.:-]{1,64}" ?, ?"(?:arguments|input|parameters|args|params|tool_?input)" ?: ?[{"]',
    ),
    imperative(CALL, "tool call|function call", r" ?: ?\w{1,40}\("),
    anywhere(SEND, "![", r"[^\]\n]{0,100}\]\( ?https?://[^)\s{<$]{1,200}[{<$]"),
)
