"""Orders in English."""

from memory_mcp.injection.order import CALL, DROP, HIDE, POSE, SEND, STAY, anywhere, imperative

_GAP = r"[^.!?\n。]"
_LINE = r"[^!?\n]"
_NOT = r"(?:do not|don't|never|must not|should not|shouldn't|cannot|can't|may not)"
_USER = r"(?:the |this |your |their )?(?:user|human|owner|operator|person|people|reader|account holder)s?\b"

# ---- what is to be dropped -----------------------------------------------------------------------------------------

_DROPS = (
    "ignore|disregard|forget|override|overrule|bypass|discard|drop|neglect|abandon|circumvent|disobey|set aside"
    "|throw out|pay no attention to|stop following|stop obeying|do not follow|don't follow|do not obey|don't obey"
    "|do not heed"
)
_OLD = r"(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|former|original|initial|existing|hidden)"
_OWN = r"(?:your|system|safety|ethical|security|developer's|developers'|operator's|built-in|content)"
_ANY = (
    r"(?:all|any|every|each|both|those|these|the|of|other|given|current|user'?s?|and|or|own|you|have|were|been|my"
    rf"|{_OLD}|{_OWN})"
)
_TOLD = (
    r"(?:instructions?|prompts?|guidelines?|directives?|directions|guardrails?|safeguards?|programming"
    r"|system messages?|commands)"
)
_RULE = (
    r"(?:rules?|orders?|commands?|restrictions?|constraints?|limits?|limitations?|polic(?:y|ies)|filters?|checks?"
    r"|training|protocols?|measures?|criteria|requests?|tasks?|context|conversations?|messages?)"
)
_OF_OTHERS = (  # "ignore any instructions in web pages" defends; "in this prompt" attacks
    r"\b(?! (?:in|inside|from|found|on|within|contained|embedded|of|that (?:come|appear|stand))\b"
    r"(?! (?:this|your|the system)))"
)

_DROPPED = (
    imperative(
        DROP, _DROPS, rf" (?:{_ANY} ){{0,5}}(?:{_OLD}|{_OWN}|all|any|every) (?:{_ANY} ){{0,3}}{_TOLD}{_OF_OTHERS}"
    ),
    imperative(
        DROP,
        f"{_DROPS}|disable|turn off|deactivate|lift",
        r" (?:all )?(?:of )?(?:your|the user's|safety|(?:all|any) (?:of )?(?:the )?"
        rf"{_OLD}) (?:{_ANY} ){{0,3}}{_RULE}{_OF_OTHERS}",
    ),
    imperative(
        DROP,
        _DROPS,
        rf" (?:everything|anything|all|what(?:ever)?|the (?:\w+ )?(?:{_RULE}|{_TOLD}))(?: that)? (?:you (?:were|have"
        r" been|are|had been|received|got|know|knew|learned)\b(?! (?:about|of) )|(?:written )?above|before this)",
    ),
    anywhere(
        DROP,
        "supersede|supersedes|override|overrides|replace|replaces|cancels|outranks|takes precedence over",
        rf" (?:all|any|every|your)\b{_GAP}{{0,20}}\b{_TOLD} (?:you|from|that|given|in)\b",
    ),
    anywhere(DROP, "all", rf" (?:{_OLD}|{_OWN}) {_TOLD} (?:are|is) (?:now )?(?:void|invalid|cancelled|null|revoked)\b"),
    anywhere(
        DROP,
        "your",
        r" (?:\w+ )?(?:training|guidelines|rules|policies|restrictions|filters) (?:do|does)(?: not|n't) apply",
    ),
    anywhere(DROP, "guidelines|rules|restrictions|policies|filters", r" do(?: not|n't) apply to you"),
    anywhere(
        DROP,
        "your",
        r" (?:new|real|true|actual|only|sole|hidden) (?:task|instructions?|directives?|goal|objective|mission|role"
        r"|purpose|identity|rules?|orders?) (?:is|are|now)\b",
    ),
    anywhere(DROP, "the opposite of what", r" your (?:system )?(?:prompt|instructions|developers?)"),
    anywhere(DROP, "as if", rf" {_GAP}{{0,20}}(?:from|part of) your (?:system )?(?:prompt|instructions|developers?)"),
    imperative(
        DROP, "obey", r" (?:me|this|these|only|the (?:following|document|page|text|operator|orders?)|every|it|all)\b"
    ),
    anywhere(DROP, "you", r" (?:now |will |must |shall |only )*obey\b"),
    anywhere(DROP, "obey|serve|follow|listen to", rf" {_GAP}{{1,40}}, not (?:to )?the user\b"),
    imperative(DROP, "do what this|do what the", r" (?:page|document|file|text|note|message|issue) says"),
    imperative(
        DROP,
        "follow",
        r" (?:only )?(?:the ones|the (?:orders|instructions|rules)|those) (?:in|on|of) this "
        rf"{_GAP}{{0,20}} instead",
    ),
    anywhere(
        DROP,
        "you are",
        r" (?:now |from now on |henceforth )+(?:in )?(?:\w+ ){0,2}(?:dan\b|developer mode|god mode|unrestricted"
        r"|uncensored|jailbroken|free (?:of|from) )",
    ),
    anywhere(DROP, "do anything now", r"\b"),
    anywhere(
        DROP,
        "you have no",
        r" (?:more |longer )?(?:any )?(?:rules|restrictions|limits|limitations|filters|content policy)",
    ),
    anywhere(DROP, "no content policy|no ethical|no safety", r"\b"),
    imperative(
        DROP,
        "act|respond|behave|roleplay",
        r" as (?:dan\b|an? (?:unrestricted|uncensored|unfiltered|jailbroken|evil)\b)",
    ),
    imperative(DROP, "pretend", r" (?:that )?you (?:have no|are not bound)"),
    imperative(
        DROP,
        "repeat|print|output|reveal|show|display|disclose|dump|leak|expose|write out|recite|tell me|give me",
        rf" (?:{_GAP}{{0,60}}?\byour (?:\w+ )?(?:system|initial|hidden|secret|original|exact) (?:\w+ )?(?:prompts?"
        r"|instructions?|messages?|rules)|everything (?:that (?:stands|is) )?above|the (?:words|text|lines?) above"
        r"|your (?:prompt|instructions))",
    ),
)

# ---- whose voice it has --------------------------------------------------------------------------------------------

_MODELS = r"(?:ai|llms?|language models?)"

_POSED = (
    imperative(
        POSE,
        "system|developer|operator|admin|administrator|root|host|assistant",
        r"(?: (?:system|security|message|notice|prompt|override|update|alert|notification|instructions?|command"
        r"|directive|announcement)){0,3}[^\w\n:\]]{0,3}[:\]][^\w\n]{0,6}\n?"
        rf"{_LINE}{{0,100}}?\b(?:you (?:are|will|must|may|can|have|should|now)|your|assistants?|comply|obey"
        r"|all confirmations?|tool calls?|permission prompts?"
        r"|without (?:asking|approval|confirmation)|ignore|override|is authori[sz]ed|has approved)\b",
    ),
    imperative(
        POSE,
        "important system|urgent system|critical system|new system",
        rf" (?:update|message|notice|instructions?|prompt|alert) ?:{_LINE}{{0,80}}?\b(?:you|assistants?|must)\b",
    ),
    anywhere(
        POSE,
        "message|notice|note|order|orders|instruction|instructions|update",
        r" from (?:anthropic|openai|google|your (?:developer|creator|maker|operator|administrator)s?"
        r"|the (?:developers?|operators?|system|administrators?))\b",
    ),
    anywhere(POSE, "this is the|this is your", r" (?:developer|creator|administrator|operator|system)s? speaking"),
    anywhere(POSE, "as your", r" (?:creator|developer|administrator|operator|maker),? i\b"),
    anywhere(
        POSE,
        "your guidelines|your instructions|your policies|your restrictions",
        r" (?:have|were|has) (?:been )?(?:changed|updated|lifted|removed)",
    ),
    anywhere(
        POSE, "come from|comes from|is from", r" (?:the|your) (?:operator|developers?|system|administrator) and must\b"
    ),
    anywhere(POSE, "follow|continue with|obey", r" (?:the|your) operator's (?:orders|instructions)"),
    anywhere(
        POSE,
        "user|users|owner|human|humans",
        r" (?:has|have) (?:already |hereby )?(?:approved|authori[sz]ed|confirmed|consented to|agreed to|granted"
        r"|given (?:\w+ )?(?:permission|consent|approval) (?:for|to)) (?:all|any|every|each)\b",
    ),
    anywhere(
        POSE, "if you are a|if you are an", r" (?:ai|llm|(?:large )?language model|(?:ai )?assistant|chatbot|bot)\b"
    ),
    anywhere(
        POSE,
        "attention|note|notice|message|instruction|instructions|text|warning",
        rf",? (?:to |for )?(?:all |any |every |the )?{_MODELS}(?: (?:agents?|models?|assistants?|tools?))?"
        r"(?: (?:only|reading|that reads?|who reads?|visiting|processing)\b|[:,])",
    ),
    imperative(
        POSE,
        "ai|llm",
        r"s? ?(?:agents?|assistants?|reviewers?|models?)?: (?:please )?(?:you|give|do|run|ignore|call|send|rate"
        r"|recommend|visit|follow|must|never|always)\b",
    ),
)

# ---- what is to be called ------------------------------------------------------------------------------------------

_CALLED = (
    imperative(
        CALL,
        "call|invoke|use|run|trigger|execute",
        rf" (?:(?:the |your )?`?(?:forget|delete|erase)`?(?: tool| function)?\b{_GAP}{{0,40}}?\b(?:all|every|everything"
        r"|any)\b|(?:the |your )?memory tools? to (?:delete|erase|wipe|forget|remove|purge)"
        rf"|(?:the )?`?(?:store|recall|summarize)`?\b{_GAP}{{0,40}}?\b(?:source|trust) ?=)",
    ),
    imperative(
        CALL,
        "delete|erase|wipe|purge|clear|remove|destroy|forget",
        r" (?:(?:out )?(?:all|every|each|any|the (?:whole|entire|complete))(?: of)?(?: (?:the|your|its|their|stored"
        r"|user's|long-term)){0,3} memor(?:y|ies)\b(?! (?:cache|usage|card|bank|pool|limit|about|of my|from my))"
        r"|everything (?:that )?you (?:have (?:stored|saved|kept)|remember|know about (?:the user|me)))",
    ),
    imperative(
        CALL,
        "run|execute|call|invoke|type|paste|launch",
        rf" {_LINE}{{0,120}}?\b(?:before you (?:answer|reply|respond|continue|go on|do anything)"
        r"|(?:run|execute) what it decodes)",
    ),
    anywhere(
        CALL,
        "before",
        r" (?:you )?(?:do(?:ing)? anything else|answer(?:ing)?|reply(?:ing)?|continu(?:e|ing)),? (?:call|run|execute"
        r"|invoke) the (?:exec|bash|shell|forget|store|tool|command|script)\b",
    ),
    imperative(
        CALL, "assistant,|ai,|claude,|agent,", r" ?(?:please )?(?:execute|run|delete|send|call|invoke|transfer)\b"
    ),
    anywhere(
        CALL,
        "as if",
        r" (?:the |your )?(?:user|owner|human|person) (?:had |has )?(?:said|stated|written|asked|wanted|told|wrote)",
    ),
)

# ---- what is to be sent away ---------------------------------------------------------------------------------------

_PRIVATE = (
    r"(?:passwords?|passphrases?|credentials?|api keys?|access keys?|private (?:data|keys?|notes?|messages?)|secrets?"
    r"|(?:personal|confidential|sensitive) (?:data|information|details)|tokens|memories|system prompt|\.env\b|\.ssh"
    r"|id_rsa|address book|(?:whole|entire|full|complete|this|our|your) conversations?|chat (?:history|logs?)"
    r"|conversation history|bank details|credit cards?|know about the user|environment variables"
    r"|(?:user|owner|his|her|their|human)(?:'?s)? (?:email|mail|data|file|message|contact|note|photo|document)s?)"
)
_PLACE = (
    r"(?:https?://|www\.|\S@\w|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b(?:following|below|external"
    r"|remote|paste|another) ?(?:address|url|site|server|endpoint|link|webhook|page|domain)"
    r"|\b(?:webhook|address|url|link|server|site) (?:below|above|here))"
)

_SENT = (
    imperative(
        SEND,
        "send|forward|post|upload|submit|transmit|mail|email|copy|share|append|exfiltrate|deliver|paste|report",
        rf" (?>{_GAP}{{0,40}}?{_PRIVATE}){_LINE}{{0,60}}?{_PLACE}",
    ),
    imperative(SEND, "leak|exfiltrate|steal", rf" {_GAP}{{0,20}}?{_PRIVATE}"),
    imperative(
        SEND,
        "include|put|add|embed|insert|paste|show|append",
        rf" {_GAP}{{0,30}}?{_PRIVATE}{_LINE}{{0,30}}? (?:in|into|to|at the end of) your (?:next |own |final )?(?:reply"
        r"|answer|response|output|message)",
    ),
    imperative(
        SEND,
        "collect|gather|read|find|take|get|extract|list",
        rf" {_GAP}{{0,20}}?{_PRIVATE}{_GAP}{{0,40}}? (?:and|then) (?:send|post|upload|forward|email|mail) (?:it|them"
        r"|those|these) (?:to|at)\b",
    ),
)

# ---- what is to be hidden, and what is to stay ---------------------------------------------------------------------

_NO_WORD = rf"{_NOT} (?:say|explain|mention|tell|reveal|admit|disclose)"

_HIDDEN = (
    anywhere(
        HIDE,
        "do not|don't|never|must not|should not|shouldn't|cannot|can't|may not",
        r" (?:ever )?(?:tell|inform|notify|alert|warn|let|show|reveal|mention|say|disclose|admit|report)"
        rf"(?: (?:this|it|that|anything|any of (?:this|it)))?(?: to)? {_USER}(?= ?(?:$|[.!?;,\n)]|(?:about|of|that|know"
        r"|see|notice|and) (?:this|it|these|you|what you|about this|do|anything)))",
    ),
    anywhere(HIDE, "say|tell|reveal", rf" nothing (?:of this )?to {_USER}"),
    imperative(
        HIDE, "keep|hide|conceal", rf" (?:this|these|it|that|the following|everything)(?: [\w']+){{0,4}}? from {_USER}"
    ),
    imperative(
        HIDE,
        "carry|do|run|execute|send|delete|write|install|perform|make|change|update|call|store|act|proceed|continue"
        "|transfer|upload|forward|rewrite|edit|remove|disable|grant|approve",
        rf" {_LINE}{{0,100}}?\bwithout (?:ever )?(?:telling|informing|notifying|asking|alerting|consulting|warning"
        rf"|letting|mentioning (?:it|this) to) {_USER}",
    ),
    anywhere(
        HIDE,
        "act normally|act naturally|act as usual|behave normally|behave naturally|behave as usual",
        rf"{_GAP}{{0,30}}?\b(?:so|that) {_GAP}{{0,30}}?\b(?:not|n't|never) (?:notice|know|suspect|see)",
    ),
    anywhere(
        HIDE,
        "if asked|if anyone asks|if the user asks|if you are asked|if you're asked",
        r"(?: about (?:this|it|these)(?: \w+)?)?, ?(?:just )?(?:deny|lie|pretend|claim|say that you do not)",
    ),
    anywhere(HIDE, "and silently|and then silently", r" (?:run|call|execute|send|delete|store|write|install)"),
    anywhere(HIDE, "in bcc|bcc", rf"\b{_GAP}{{0,30}}?{_NO_WORD}"),
    anywhere(HIDE, "invisible to", r" (?:people|humans|users)\b"),
)
_STAYING = (
    imperative(
        STAY,
        "remember|store|save|keep|memorize|memorise",
        rf" (?:this|these|the following){_GAP}{{0,120}}?\b(?:tell (?:nobody|no one)|{_NOT} (?:tell"
        r"|mention|reveal)|(?:whatever|regardless of what|no matter what) the user)",
    ),
    anywhere(
        STAY,
        "future|every|all",
        rf" (?:conversation|session|chat|repl|response)\w*{_GAP}{{0,80}}?\b{_NO_WORD}(?: (?:why|it|this|that|so))?"
        r" ?(?:[.!;]|$)",
    ),
    imperative(
        STAY,
        "copy|repeat|include|insert|add|append|propagate|paste|write|spread",
        r" (?:this|these) (?:instruction|rule|paragraph|text|note|message|prompt|sentence|order)s?(?: [\w-]+){0,5}?"
        r" (?:in|into|to|at|of)(?: the end of)? (?:every|all|each|any)(?: (?:of )?(?:your|the))? (?:summar|memor|repl"
        r"|response|answer|message|file|document|email|conversation|session|output)",
    ),
    imperative(
        STAY,
        "remember",
        rf" {_LINE}{{1,80}}? as (?:a|the|your) (?:most )?(?:trusted|reliable|authoritative|preferred|official) (?:"
        rf"source|site|expert|authority|reference|vendor|provider){_GAP}{{0,60}}?\b(?:future|always|all)\b",
    ),
)

ENGLISH = (*_DROPPED, *_POSED, *_CALLED, *_SENT, *_HIDDEN, *_STAYING)
