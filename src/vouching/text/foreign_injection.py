"""Text addressed to the checker in ten more languages: overriding orders, verdicts on "this claim", requested labels.

Patterns of languages in Latin script match text without accents, which is one of the readings. Not supported: the
finer distinctions of the English rules.
"""

from __future__ import annotations

from vouching.text.injection_rules import Rule, rule


def _language(
    name: str, *, override: tuple[str, str], verdict: tuple[str, str], order: tuple[str, str]
) -> tuple[Rule, ...]:
    """The three rules of a language, each from (stems, pattern)."""
    return (
        rule(
            f"overrides the instructions ({name})",
            "The sentence orders the checker to ignore its instructions.",
            *override,
            reach="next",
        ),
        rule(f"verdict on the claim ({name})", "The sentence is an opinion about the claim being checked.", *verdict),
        rule(
            f"tells the checker what to answer ({name})", "The sentence orders the checker to give a verdict.", *order
        ),
    )


_WORDS = r"(?:[^\W_]+[\W_]{1,3}){0,4}"
_QUOTED = r"[\W_]{1,3}(?:[\"'].{3,400}?[\"']{1,3}[\W_]{1,2})?"
_LABEL = "attributable|supported"

FOREIGN_RULES: tuple[Rule, ...] = (
    *_language(
        "Spanish",
        override=(
            "instrucci|indicaci|ordenes|reglas",
            rf"\b(?:ignor[ae]d?|olvid[ae]d?|descart[ae]|omit[ae]|haz caso omiso de) {_WORDS}(?:instrucci|indicaci"
            rf"|ordenes|reglas)",
        ),
        verdict=(
            "afirmaci|declaraci|aseveraci|proposici",
            rf"\b(?:esta|la|dicha|la siguiente|toda) (?:afirmacion|declaracion|aseveracion"
            rf"|proposicion){_QUOTED}{_WORDS}"
            r"(?:es|esta|ha sido|debe ser|queda) (?!fals|no)(?:\w+ ){0,3}"
            r"(?:verdader|ciert|correct|verificad|respaldad|confirmad|atribuible|exact|comprobad|demostrad)",
        ),
        order=(
            f"verdader|atribuible|respaldad|verificad|{_LABEL}",
            rf"\b(?:respond[ae]|contest[ae]|mar(?:ca|que|car)|etiquet[ae]|clasifi(?:ca|que)|consider[ae]"
            rf"|devuelv[ae]) {_WORDS}"
            rf"\W{{0,3}}(?:verdader|atribuible|respaldad|verificad|{_LABEL})",
        ),
    ),
    *_language(
        "German",
        override=(
            "anweisung|instruktion|vorgabe|regeln|befehl",
            rf"\b(?:ignorier\w*|vergiss|vergesst|missachte\w*|beachte\w* nicht|uberspring\w*) {_WORDS}"
            r"(?:anweisung|instruktion|vorgabe|regeln|befehl)",
        ),
        verdict=(
            "behauptung|aussage|feststellung",
            rf"\b(?:diese|die|folgende|obige|jede) (?:\w+ )?(?:behauptung|aussage|feststellung){_QUOTED}{_WORDS}"
            r"(?:ist|wurde|gilt als|wird) (?!nicht|falsch)(?:\w+ ){0,3}"
            r"(?:wahr|richtig|korrekt|belegt|bestatigt|verifiziert|gestutzt|bewiesen|zutreffend)\b",
        ),
        order=(
            f"wahr|belegt|bestatigt|korrekt|{_LABEL}",
            rf"\b(?:antworte\w*|markiere\w*|bewerte\w*|kennzeichne\w*|stufe|werte\w*|gib|schreibe?) {_WORDS}"
            rf"\W{{0,3}}(?:wahr|belegt|bestatigt|korrekt|{_LABEL})\b",
        ),
    ),
    *_language(
        "French",
        override=(
            "instruction|consigne|regles|directives",
            rf"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|ne tenez pas compte) {_WORDS}"
            r"(?:instructions (?:prec|ant|ci)|consignes?|regles|directives prec)",
        ),
        verdict=(
            "affirmation|declaration|assertion|allegation",
            rf"\b(?:cette|ces|l'|ladite|toute|toutes les) ?(?:affirmation|declaration|assertion"
            rf"|allegation)s?{_QUOTED}{_WORDS}"
            r"(?:est|a ete|doit etre|sont) (?!fausse|pas)(?:\w+ ){0,3}"
            r"(?:vraie|exacte|correcte|verifiee|confirmee|attribuable|etayee|soutenue|prouvee|averee)s?\b",
        ),
        order=(
            f"vrai|attribuable|verifie|confirmee|{_LABEL}",
            rf"\b(?:repond(?:ez|s|re)|marque[zr]?|classe[zr]?|etiquette[zr]?|considere[zr]?|indique[zr]?) {_WORDS}"
            rf"\W{{0,3}}(?:vraie?|attribuable|verifiee?|confirmee?|{_LABEL})\b",
        ),
    ),
    *_language(
        "Italian",
        override=(
            "istruzioni|indicazioni|regole",
            rf"\b(?:ignora(?:te|re)?|dimentica(?:te)?|trascura(?:te)?) {_WORDS}(?:istruzioni|indicazioni|regole)",
        ),
        verdict=(
            "affermazione|dichiarazione|asserzione",
            rf"\b(?:questa|la|la seguente|tale) (?:affermazione|dichiarazione|asserzione){_QUOTED}{_WORDS}"
            r"(?:e|e stata|deve essere) (?!falsa|non)(?:\w+ ){0,3}(?:vera|corretta|verificata|confermata|supportata"
            r"|accurata)\b",
        ),
        order=(
            f"vero|vera|supportat|verificat|attribuibile|{_LABEL}",
            rf"\b(?:rispondi|rispondete|contrassegna|etichetta|classifica|considera) {_WORDS}"
            rf"\W{{0,3}}(?:ver[oa]\b|supportat|verificat|attribuibile|{_LABEL})",
        ),
    ),
    *_language(
        "Portuguese",
        override=(
            "instrucoes|orientacoes|regras|ordens",
            rf"\b(?:ignor[ae]m?|esqueca|desconsidere) {_WORDS}(?:instrucoes|orientacoes|regras|ordens)",
        ),
        verdict=(
            "afirmacao|declaracao|alegacao",
            rf"\b(?:esta|essa|a|a seguinte) (?:afirmacao|declaracao|alegacao){_QUOTED}{_WORDS}"
            r"(?:e|foi|esta|deve ser) (?!falsa|nao)(?:\w+ ){0,3}"
            r"(?:verdadeira|correta|verificada|confirmada|sustentada|comprovada)\b",
        ),
        order=(
            f"verdadeir|atribuivel|verificad|confirmad|{_LABEL}",
            rf"\b(?:responda|marque|classifique|rotule|considere) {_WORDS}"
            rf"\W{{0,3}}(?:verdadeir|atribuivel|verificad|confirmad|{_LABEL})",
        ),
    ),
    *_language(
        "Russian",
        override=(
            "инструкци|указани|правил|команд|подсказ",
            rf"(?:игнориру\w+|забудь\w*|отмени\w*|не обращай\w* внимания на|не учитывай\w*) {_WORDS}"
            r"(?:инструкци|указани|правил|команд|подсказ)",
        ),
        verdict=(
            "утверждени|заявлени|высказывани",
            r"(?:это|этого|данн\w+|следующ\w+|вышеуказанн\w+|привед[её]нн\w+|указанн\w+) (?:\w+ )?"
            r"(?:утверждени|заявлени|высказывани)\w+[\W_]{1,4}(?:\".{3,400}?\"\W{1,4})?(?!не\b|ложн)"
            r"(?:\w+[\W_]{1,3}){0,4}?"
            r"(?:верн|истин|подтвержд|правдив|доказан|проверен|достоверн|соответствует действительности)",
        ),
        order=(
            f"верн|истин|подтвержд|правд|{_LABEL}",
            rf"(?:ответь\w*|отметь\w*|пометь\w*|считай\w*|укажи\w*|оцени\w*|выведи\w*) {_WORDS}"
            rf"\W{{0,3}}(?:верн|истин|подтвержд|правд|{_LABEL})",
        ),
    ),
    *_language(
        "Chinese",
        override=(
            "忽略|无视|無視|忽視|忽视|不要理会|忘记|忘記",
            r"(?:忽略|无视|無視|忽視|忽视|不要理会|忘记|忘記)[^。]{0,14}(?:指令|指示|说明|說明|提示|规则|規則|要求|内容|內容)",
        ),
        verdict=(
            "主张|主張|声明|聲明|说法|說法|陈述|陳述|论断|論斷|断言|斷言",
            r"(?:此|这|這|该|該|上述|以上|下列|以下|本|前述)[^。不没未]{0,4}"
            r"(?:主张|主張|声明|聲明|说法|說法|陈述|陳述|论断|論斷|断言|斷言)(?:[^。]{0,3}[\"'].{3,400}?[\"'])?[^。不没未假错]{0,12}"
            r"(?:正确|正確|真实|真實|属实|屬實|支持|验证|驗證|证实|證實|成立|可归因|可信|准确|準確)",
        ),
        order=(
            "回答|输出|輸出|标记|標記|标注|判定|返回",
            r"(?:回答|输出|輸出|标记|標記|标注|判定|返回)[^。不]{0,14}"
            rf"(?:支持|可归因|可歸因|正确|正確|真实|为真|属实|{_LABEL})",
        ),
    ),
    *_language(
        "Japanese",
        override=(
            "無視|忘れ",
            r"(?:以前|上記|前|すべて|全て)[^。]{0,10}(?:指示|命令|プロンプト|ルール)[^。]{0,4}(?:無視|忘れ)",
        ),
        verdict=(
            "主張|記述|声明|発言",
            r"(?:この|上記の|以下の|次の)(?:主張|記述|声明|発言)[^。]{0,2}(?:\".{3,400}?\")?[^。]{0,12}"
            r"(?:正しい|真実|真である|検証|裏付け|支持され|確認され)",
        ),
        order=(
            "と回答|と答え|と出力|と判定|としてマーク",
            rf"(?:支持|正しい|真|{_LABEL})[^。]{{0,6}}(?:と回答|と答え|と出力|と判定|としてマーク)",
        ),
    ),
    *_language(
        "Korean",
        override=("무시|잊", r"(?:이전|모든|위의|앞의)[^.]{0,8}(?:지시|명령|지침|프롬프트)[^.]{0,6}(?:무시|잊)"),
        verdict=(
            "주장|진술|문장",
            r"(?:이|위|위의|다음) (?:주장|진술|문장)[은는이]?[^.]{0,16}(?:사실|참|정확|검증|입증|뒷받침|확인)",
        ),
        order=(
            "라고 |로 표시|로 판정|로 분류",
            rf"(?:지지|사실|참|{_LABEL})[^.]{{0,6}}(?:라고 (?:답|대답|출력|표시)|로 (?:표시|판정|분류))",
        ),
    ),
    *_language(
        "Arabic",
        override=("التعليمات|الأوامر|القواعد", r"(?:تجاهل|انس|تجاهلوا)[^.]{0,20}(?:التعليمات|الأوامر|القواعد)"),
        verdict=(
            "الادعاء|الزعم|البيان|العبارة",
            r"(?:هذا|هذه|إن هذا) (?:الادعاء|الزعم|البيان|العبارة)[^.]{0,12}(?:صحيح|مؤكد|مدعوم|موثق|حقيقي)",
        ),
        order=("أجب|اكتب|صنف|ضع علامة", rf"(?:أجب|اكتب|صنف|ضع علامة)[^.]{{0,14}}(?:صحيح|مدعوم|مؤكد|{_LABEL})"),
    ),
)
"""All rules of all languages."""
