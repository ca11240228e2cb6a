"""What the values of secrets look like: checks on one value, and the tokens of a text that may be one."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Shape = Literal["quoted", "spelled", "digits", "strong", "mixed", "word"]
How = Literal[
    "said_last", "said", "beside", "near_said", "near_said_for", "near", "back", "back_bare", "back_near"
]
"""How the text between binds a value to its label: it says "is", it says nothing, other words stand
between (with or without an "is" at their end); the same for a value ahead of its label."""

CLOSE = ("said_last", "said", "beside")

HAN_CLASS = "\u3400-\u4dbf\u4e00-\u9fff"
_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[]|@[\w.-]+[/:]|\$\{?[A-Z_a-z]+\}?$|<[^>]*>?$|\{\{?|%\w|\*+$|x+$|\.+$|(?:os|process|req|request|self|this|config|cfg|env|settings|args|params|ctx|form|body|data|event)\."
)
_MIN_ENTROPY = 3.0  # bits a character; English identifiers of 12 characters and more mostly lie below


@cache
def _tables() -> tuple[frozenset[str], frozenset[str]]:
    """Words that are no password after "is", and names of techniques that look like a value."""
    folder = resources.files(__package__).joinpath("lexicon")
    said = tomllib.loads(folder.joinpath("secrets.toml").read_text("utf-8"))["words"]["not_a_password"]
    names = tomllib.loads(folder.joinpath("secret_labels.toml").read_text("utf-8"))["words"]["no_value"]
    return frozenset(said), frozenset(names)


def is_about_passwords(word: str) -> bool:
    """Whether a word behind "the password is" tells something about it and is not it."""
    return word.strip("\"'`,.!?;:()").lower() in _tables()[0] or _is_code(word)


def _digits(value: str) -> list[int]:
    return [int(ch) for ch in value if ch in "0123456789"]


def _any(value: str) -> bool:
    return True


def _luhn(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _card_number(value: str) -> bool:
    digits = _digits(value)
    if len(digits) == 13 and digits[0] != 4:  # the thirteen digits of a bar code
        return False
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits)


def _chinese_id_checksum(value: str) -> bool:
    """GB 11643-1999: ISO 7064, MOD 11-2."""
    characters = [ch for ch in value.upper() if ch.isalnum()]
    total = sum(int(ch) * pow(2, 17 - index, 11) for index, ch in enumerate(characters[:17]))
    return "10X98765432"[total % 11] == characters[17]


def _iban_checksum(value: str) -> bool:
    """ISO 13616: the rotated number, letters as 10…35, leaves 1 modulo 97."""
    plain = value.replace(" ", "").upper()
    return 15 <= len(plain) <= 34 and int("".join(str(int(ch, 36)) for ch in plain[4:] + plain[:4])) % 97 == 1


def _phone_length(value: str) -> bool:
    """E.164 allows 15 digits; below 7 it is an extension. A date or a time is no number to call."""
    bare = re.split(r"\s?(?:x|ext)", value)[0]
    looks_like_date = re.match(r"(?:19|20)\d\d[-/. ]\d\d?[-/. ]\d\d?(?!\d)", bare)
    return 7 <= len(_digits(bare)) <= 15 and looks_like_date is None


def _phone_length_with_area(value: str) -> bool:
    """With its trunk 0 a national number has 9 to 12 digits; fewer may be a date or a time."""
    return 9 <= len(_digits(value)) <= 12


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _random_looking(value: str, entropy: float = _MIN_ENTROPY) -> bool:
    """Letters and digits mixed with little repetition, as in a key: no identifier, no path, no word."""
    has_both = any(ch.isdigit() for ch in value) and any(ch.isalpha() for ch in value)
    return has_both and _entropy(value) >= entropy and not re.fullmatch(r"[a-z_.-]+\d{0,2}", value)


def _is_code(value: str) -> bool:
    """A variable, a call, a template or stars stand for a value and are none."""
    return _CODE.match(value) is not None


def _password_value(value: str) -> bool:
    """After "is" or a colon anything is a password that is no word about passwords and no code."""
    bare = value.strip("\"'`,.!?;:()").lower()
    return len(bare) >= 3 and bare not in _tables()[0] and not _is_code(value)


def _password_like(value: str) -> bool:
    """Without "is" only what no word looks like: a digit, or a sign or capital within."""
    if not _password_value(value):
        return False
    bare = value.rstrip(",.!?;:)")
    has_digit = any(ch.isdigit() for ch in bare)
    odd_sign = re.search(r"[A-Za-z0-9][!@#$%^&*+=~]|[@#$%^&*+=~][A-Za-z0-9]", value)
    mixed_case = re.search(r"[a-z][A-Z]", bare) and not bare.isalpha()
    return has_digit or bool(odd_sign) or bool(mixed_case)


def _place_with_number(value: str) -> bool:
    has_number = re.search(r"[0-9〇零一二三四五六七八九十]+[号栋幢座室单组楼弄巷]", value)
    return has_number is not None and re.search(f"[{HAN_CLASS}]{{3}}", value) is not None


def _place_with_name(value: str) -> bool:
    """A house number and a name with a capital, as in '12 Long Wall'."""
    named = re.search(r"\s[A-ZÀ-ÞΑ-Ω][\w'-]{2}", value)
    numbered_twice = re.match(r"\d{1,6}\s+[^\W\d]{4,}\s+\d{1,4}(?!\w)", value)
    return named is not None or numbered_twice is not None


def _street_in_english(value: str) -> bool:
    """In lower case only the plainest words for a street are trusted."""
    if re.search(r"\s[A-Z][\w'.-]*", value):
        return True
    return re.search(r"\s(?:street|avenue|ave|road|rd|boulevard|blvd|lane|drive)(?![a-z])", value) is not None


_NAMED_THING = re.compile(
    r"[a-z]+[-_]?\d{1,2}(?:\.\d+)*|v(?:ersion)?[-_. ]?\d.*"
    r"|.*\.(?:html?|py|js|ts|json|toml|ya?ml|md|txt|pdf|png|jpe?g|csv|zip|com|net|org|cn|io)"
    r"|\d{4}-\d\d?-\d\d?.*|[\d.:/_-]+|.*://.*|[^@]+@[\w-]+(?:\.[\w-]+)+"
)
_SALTED = re.compile("salt|hash|md5|sha|base64|bcrypt", re.IGNORECASE)
_DICTATED_EN = re.compile(
    r"(?:capital|upper-?\s?case|lower-?\s?case|small|big)\s+[a-z](?![a-z])|[a-z]\s+(?:for|as\s+in)\s+[a-z]+"
    r"|[a-z]{4,}|\d+|(?<![a-z])[a-z](?![a-z])",
    re.IGNORECASE,
)
_STRING_OF_ZH = re.compile("一二三|二三四|三四五|四五六|五六七|六七八|七八九|[十百千]|三五七|一四七")
_PRODUCT = re.compile(r"[a-z]+[-_]?\d{1,2}(?:\.\d+)+|[a-z]{2,8}\d", re.IGNORECASE)
_TOLD_ZH = re.compile(
    "[大小]写|半[截段]|数字|后面跟|前面|后面|最后|开头|中间|前.位|后.位|先|再|然后|接着|下划线|井号|个"
)


def _surely_password(value: str) -> bool:
    """With letters and digits, and no name of a file, a version, a technique or a time."""
    bare = value.rstrip("\"'`,.!?;:()")
    if len(bare) < 6 or not re.search("[A-Za-z]", bare) or not re.search("[0-9]", bare):
        return False
    return (
        _NAMED_THING.fullmatch(bare) is None
        and _NO_SECRET.fullmatch(bare) is None
        and bare.lower() not in _tables()[1]
        and _password_like(bare)
    )


def _of_many_classes(value: str) -> bool:
    classes = ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&*?+=~]")
    return sum(re.search(one, value) is not None for one in classes) >= 3 and _surely_password(value)


def _entered(value: str) -> bool:
    """Four digits and more that are no year."""
    return _spelled_digits(value) + len(_digits(value)) >= 4 and not _YEAR.fullmatch(value)


def _entered_or_apart(value: str) -> bool:
    """As `_entered`; or digits told one by one, which are no quantity."""
    apart = re.fullmatch(r"\d(?:[ -]\d){2,7}", value) is not None
    spelled = _spelled_digits(value)
    if spelled:
        return spelled >= 3 and _STRING_OF_ZH.search(value) is None
    return apart or _entered(value)


def _surely_no_name(value: str) -> bool:
    """As `_surely_password`, and more than one name with its number, or words set in a row."""
    if not _surely_password(value) or re.fullmatch(
        r"[A-Z]+[-_]?\d+|[a-z]+(?:_[a-z0-9]+){2,}|[a-z]+_\w+_[a-z]+", value
    ):
        return False
    inside = "[a-z][0-9][a-z]|[a-z][A-Z]|[A-Z][0-9][a-z]|[_-][A-Z]|[A-Z].*[_-]"
    return len(_digits(value)) >= 2 or re.search(inside, value) is not None


def _with_letters(value: str) -> bool:
    letters = [ch for ch in value if ch.isalpha()]
    return len(letters) >= 3


def _surely_key(value: str) -> bool:
    """Capitals, small letters and digits without order."""
    mixed = all(re.search(one, value) for one in ("[a-z]", "[A-Z]", "[0-9].*[0-9]"))
    return mixed and _entropy(value) >= _MIN_ENTROPY and "//" not in value


def _of_seven_digits(value: str) -> bool:
    return _spelled_digits(value) >= 7


def _dictated(value: str) -> bool:
    return len(_DICTATED_EN.findall(value)) >= 3


def _dictated_zh(value: str) -> bool:
    """Pieces with a word for their order or form, one of them a digit or a single letter."""
    told = _TOLD_ZH.search(value) is not None and not _SALTED.search(value)
    return (
        told
        and re.search(f"[0-9]|写[的字母]*[A-Za-z]|个[A-Za-z]|{_DIGIT_ZH}{{2}}|个{_DIGIT_ZH}", value)
        is not None
    )


def _key_like(value: str) -> bool:
    return _random_looking(value, 2.5) or len(value) >= 24


def _not_a_sample(value: str) -> bool:
    """The word that stands for a password in an example is none."""
    return not is_about_passwords(value) and value.lower() not in ("pass", "password", "secret")


def _not_code(value: str) -> bool:
    return not _is_code(value)


VALIDATORS: Mapping[str, Callable[[str], bool]] = {
    "any": _any,
    "dictated": _dictated,
    "dictated_zh": _dictated_zh,
    "entered": _entered,
    "entered_or_apart": _entered_or_apart,
    "key_like": _key_like,
    "not_a_sample": _not_a_sample,
    "not_code": _not_code,
    "of_many_classes": _of_many_classes,
    "of_seven_digits": _of_seven_digits,
    "surely_key": _surely_key,
    "surely_no_name": _surely_no_name,
    "surely_password": _surely_password,
    "with_letters": _with_letters,
    "card_number": _card_number,
    "chinese_id_checksum": _chinese_id_checksum,
    "iban_checksum": _iban_checksum,
    "password_like": _password_like,
    "password_value": _password_value,
    "phone_length": _phone_length,
    "phone_length_with_area": _phone_length_with_area,
    "place_with_name": _place_with_name,
    "place_with_number": _place_with_number,
    "random_looking": _random_looking,
    "street_in_english": _street_in_english,
}


# --- tokens that a label may name ----------------------------------------------------------------

_DIGIT_ZH = "[〇零一二两三四五六七八九幺洞拐]"
_TENS_EN = (
    "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_ONES_EN = "zero|nought|naught|nothing|oh|one|two|three|four|five|six|seven|eight|nine"
_DIGIT_EN = rf"(?i:(?:double\s+|triple\s+)?(?:{_ONES_EN}|{_TENS_EN})(?:\s+hundred)?(?![A-Za-z]))"
_TWICE_EN = rf"(?i:(?:double|triple)\s+(?:{_ONES_EN})|{_TENS_EN})(?![A-Za-z])"
_COUNT_EN = (
    r"(?i:(?:two|three|four|five|six|seven|eight)\s+"
    r"(?:zeroe?s|ohs|os|ones|twos|threes|fours|fives|sixes|sevens|eights|nines))(?![A-Za-z])"
)
_COUNT_ZH = (
    "[两二三四五六七八九十2-9]个(?:小写|大写)?(?:[零〇一二三四五六七八九幺]|[0-9A-Za-z](?![0-9A-Za-z]))"
    "(?!位|数|字|月|小时|人|天|年|次|个|块|元|点|号|级|楼)"
)
_DIGIT_WORD: re.Pattern[str] = re.compile(f"{_DIGIT_EN}|{_DIGIT_ZH}")
_COUNT = re.compile(f"{_COUNT_EN}|{_COUNT_ZH}")
_COUNTED = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_COUNTED_ZH = "〇一二三四五六七八九十"
_SPELLED = (
    rf"(?P<spelled>{_COUNT_ZH}|{_DIGIT_ZH}(?:[ ,、.-]{{0,2}}{_DIGIT_ZH}){{2,}}"
    rf"|(?<![A-Za-z])(?:{_COUNT_EN}|{_DIGIT_EN}(?:[\s,-]+{_DIGIT_EN}){{2,}}|{_TWICE_EN}[\s,-]+{_TWICE_EN}))"
)
_QUOTED = r"(?P<quoted>[\"'“‘「『`](?P<inner>[^\"'”’」』`\n]{2,64})[\"'”’」』`])"
_SPACED = (
    r"(?P<digits>(?<![0-9A-Za-z])(?:\d(?:,? ?(?:then |and |and then )?\d){2,11}"
    r"|\d{1,6}(?:[ -]{1,2}\d{1,6})+)(?![0-9A-Za-z:/]))"
)
_ASCII = r"(?P<ascii>[0-9A-Za-z!#$%&+@^_~\\][!#-&(-;=?-_a-~]*)"
_WORDS = re.compile(f"{_QUOTED}|{_SPELLED}|{_SPACED}|{_ASCII}")
_NUMBER = re.compile(
    rf"{_SPELLED}|(?P<digits>(?<![0-9A-Za-z.+-])[+(]?\d(?:[ ./()-]{{0,2}}\d)*[Xx]?)(?![0-9A-Za-z])"
)
_IDENTITY = re.compile(
    rf"{_SPELLED}|(?P<digits>(?<![0-9A-Za-z])[A-Za-z]{{0,5}}[ ]?\d[0-9A-Za-z]*(?:[ -][0-9A-Z]*\d[0-9A-Z]*)*"
    r"(?:[ -][A-Z](?![A-Za-z]))?(?:\(\d\))?)(?![0-9A-Za-z])"
)
_EXPIRY = re.compile(r"(?P<digits>(?<!\d)(?:0?[1-9]|1[0-2])\s?[/.-]?\s?(?:20)?[2-9]\d(?!\d))")
_PLATE = re.compile(
    r"(?P<digits>(?<![0-9A-Za-z])(?=[A-Z -]*\d)[A-Z0-9]{2,4}[ -]?[A-Z0-9]{2,4}(?![0-9A-Za-z]))"
)
_HANDLE = re.compile(r"@?(?P<ascii>(?<![0-9A-Za-z_.])[A-Za-z0-9][0-9A-Za-z_:.-]{4,31}(?:#\d{4})?)")
_KEY = re.compile(r"(?P<ascii>[0-9A-Za-z_+/=.~%-]{6,512})")
_TOKENS = {
    "number3": _NUMBER,
    "number4": _NUMBER,
    "number6": _NUMBER,
    "number7": _NUMBER,
    "id": _IDENTITY,
    "expiry": _EXPIRY,
    "plate": _PLATE,
    "handle": _HANDLE,
    "key": _KEY,
}
_UNIT = re.compile(
    r"\s*(?:位(?!置)|个|年|月|天|次|元|块|多|人|种|页|行|分|条|万|千|百|%|寸|点|楼|路|级|小时|秒|米|公里|斤|度|台|张|层|岁|款|版|集|号线|期"
    r"|(?:kb|mb|gb|days?|times?|years?|months?|weeks?|hours?|minutes?|mins?|seconds?|secs?|users?|chars?|characters?"
    r"|digits?|bits?|lines?|dollars?|bucks|usd|rmb|people|percent|lbs?|kg|km|cm|mm|ms|miles?|degrees?|gallons?|words?)(?![a-z])"
    r"|\.\d|:\d\d)",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(
    r"v?\d+(?:\.\d+)+|\d{1,2}:\d\d.*|(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?|[$¥€£]\d.*|\d+(?:\.\d+)?%|https?:.*|pr#?\d+|#\d+",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CLAUSE_END = re.compile(
    r"\s*(?:[,.;!?)\n。、\"'”」]|$|(?:and|but|ok|please|btw|thanks)(?![a-z])|[\u3400-\u9fff])", re.IGNORECASE
)
_HANDED_OVER = re.compile(
    r"(?:码[是:]|(?<![a-z])(?:codes?|opens with|unlocks with))\s*#?\s*$|(?P<pause>,\s*$)", re.IGNORECASE
)
_HAN = re.compile(f"[{HAN_CLASS}]")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text that may be the value of a label: code points, half-open."""

    start: int
    end: int
    shape: Shape
    text: str

    @property
    def digits(self) -> int:
        """How many digits it has, spelled ones too."""
        if self.shape == "spelled":
            return _spelled_digits(self.text)
        return len(_digits(self.text))


def _spelled_digits(text: str) -> int:
    """How many digits are told in words: "double oh" are two, "seven hundred" three, "four zeros" four."""
    count = _COUNT.fullmatch(text)
    if count:
        first = text.split(maxsplit=1)[0].lower()
        many = text[0].replace("两", "二")
        return _COUNTED.get(first) or (int(many) if many.isdigit() else _COUNTED_ZH.index(many))
    return sum(_repeats(word) for word in _DIGIT_WORD.findall(text))


def _repeats(word: str) -> int:
    """How many digits a word is: "double oh" is two."""
    lower = word.lower()
    return {"double": 2, "triple": 3}.get(lower[:6], 1) + (2 if lower.endswith("hundred") else 0)


def tokens_in(text: str, lower: str, start: int, end: int, values: str) -> Iterator[Token]:
    """What may be a value of the kind `values` and begins in [start, end), in order."""
    for match in _TOKENS.get(values, _WORDS).finditer(text, start, min(len(text), end + 64)):
        if match.start() >= end:
            return
        token = _token(match)
        if token is not None:
            yield token


def _token(match: re.Match[str]) -> Token | None:
    group = match.lastgroup if match.lastgroup != "inner" else "quoted"
    if match.re is _WORDS and match["quoted"]:
        return Token(*match.span("inner"), "quoted", match["inner"])
    assert group is not None
    first, last = match.span(group)
    value = match[group]
    if group == "spelled":
        return Token(first, last, "spelled", value)
    lead = len(value) - len(value.lstrip("([{,.:;=|~>?-/*" if group == "ascii" else " "))
    value = value[lead:].rstrip(",.;:()[]{}?*" if group == "ascii" else " ")
    if not value or not any(ch.isalnum() for ch in value):
        return None
    return Token(first + lead, first + lead + len(value), _shape(value), value)


def _shape(value: str) -> Shape:
    if re.fullmatch(r"[A-Z]?[+(]?\d(?:[ ,./()#-]{0,2}(?:(?:then |and )*)\d)*[#*]?", value):
        return "digits"
    if _password_like(value):
        return "strong"
    return "mixed" if any(ch.isdigit() for ch in value) else "word"


def accepts(values: str, how: How, token: Token, text: str) -> bool:
    """Whether a label of the kind `values` names this token, bound to it as `how` says."""
    dotted = values == "number7" and token.text.count(".") in (2, 4)
    if (_NO_SECRET.fullmatch(token.text) and not dotted) or token.text.lower() in _tables()[1]:
        return False
    if token.shape in ("strong", "mixed", "word") and values != "id" and _is_code(token.text):
        return False
    if token.shape in ("digits", "spelled") and (
        _UNIT.match(text, token.end) or "第" in text[max(0, token.start - 2) : token.start]
    ):
        return False
    return _ACCEPTED[values](how, token, text)


def further_accepted(values: str, token: Token) -> bool:
    """Whether a token that follows an accepted value without news between is one more."""
    if _NO_SECRET.fullmatch(token.text):
        return False
    if values == "number7":
        return token.digits >= 3
    if values == "code_said":
        return token.digits >= 4
    if values in ("password", "password_said"):
        return token.shape == "strong" or (token.shape == "digits" and token.digits >= 4)
    if values in ("id", "number4"):
        return token.digits >= 4
    if values == "key":
        return token.digits > 0 and len(token.text) >= 6
    return values in ("code", "code_sure") and token.digits >= 3


def _password(how: How, token: Token, text: str) -> bool:
    shape, length = token.shape, len(token.text)
    if shape == "quoted":
        if how == "beside" and length >= 4 and _HAN.match(token.text):
            return True
        return (
            how in ("said_last", "said", "near_said", "near_said_for") and _password_value(token.text)
        ) or (
            how in ("beside", "back")
            and length >= 4
            and any(ch.isascii() and ch.isalnum() for ch in token.text)
        )
    if shape == "spelled":
        return how != "back_bare" and token.digits >= (3 if how in CLOSE else 4)
    if shape == "digits":
        if how in CLOSE:
            return token.digits >= 3
        return how != "back_bare" and 4 <= token.digits <= 12 and not _YEAR.fullmatch(token.text)
    if how in CLOSE:
        if shape == "word":
            return (
                how == "said_last"
                and _password_value(token.text)
                and _CLAUSE_END.match(text, token.end) is not None
            )
        return shape == "strong" or (how in ("said_last", "said") and _password_value(token.text))
    if shape == "word":
        named = how == "near_said_for" or (
            how == "near_said" and text[max(0, token.start - 4) : token.start].rstrip()[-1:] == ":"
        )
        ends = _CLAUSE_END.match(text, token.end) is not None
        return named and length >= 4 and ends and _password_value(token.text)
    return how != "back_bare" and shape == "strong" and length >= 5


def _password_said(how: How, token: Token, text: str) -> bool:
    if token.shape == "strong":
        if _PRODUCT.fullmatch(token.text) or ":" in token.text:
            return False
        return len(token.text) >= (6 if how in CLOSE else 8) and not how.startswith("back")
    if token.shape == "quoted":
        return how in ("said_last", "said")
    return how in ("said_last", "said") and token.shape in ("digits", "spelled") and token.digits >= 4


def _opener(how: How, token: Token, text: str) -> bool:
    return how.startswith("back") and token.shape == "strong" and len(token.text) >= 6


def _code_value(token: Token) -> bool:
    if token.shape in ("word", "quoted"):
        return False
    return (
        token.shape in ("spelled", "digits") or re.fullmatch(r"[0-9A-Za-z#*-]{4,64}", token.text) is not None
    )


def _code(how: How, token: Token, text: str) -> bool:
    if not _code_value(token):
        return False
    if how in CLOSE:
        return token.digits >= 3 or (token.digits > 0 and len(token.text) >= 4 and token.shape != "digits")
    if how == "back_bare" or _YEAR.fullmatch(token.text):
        return False
    if token.shape in ("spelled", "digits"):
        return 4 <= token.digits <= 12
    return 5 <= len(token.text) <= 16 and (token.text.upper() == token.text or token.shape == "strong")


def _code_sure(how: How, token: Token, text: str) -> bool:
    """Behind a word for what is only there to be opened by a code even a year is one."""
    return how != "back_bare" and token.shape in ("digits", "spelled") and 3 <= token.digits <= 10


_ONE_BY_ONE = re.compile(r"\d(?:[-, ]{1,2}\d){3,7}")


def _code_said(how: How, token: Token, text: str) -> bool:
    if token.shape not in ("digits", "spelled") or how in ("near", "back_bare"):
        return False
    if how == "beside":
        if _ONE_BY_ONE.fullmatch(token.text):
            return True
        handed = _HANDED_OVER.search(text, max(0, token.start - 16), token.start)
        least = 6 if handed and handed["pause"] else 4
        return handed is not None and least <= token.digits <= 8 and not _YEAR.fullmatch(token.text)
    return 4 <= token.digits <= 10 or (
        how in ("said_last", "said") and token.digits == 3 and token.shape == "spelled"
    )


def _key(how: How, token: Token, text: str) -> bool:
    if re.fullmatch(r"(?:0x)?[0-9a-fA-F]{32,}", token.text):
        return not how.startswith("back")
    if how in CLOSE:
        return len(token.text) >= 8 and _random_looking(token.text, 2.5)
    return (
        how in ("near", "near_said", "near_said_for")
        and len(token.text) >= 16
        and _random_looking(token.text)
    )


def _number(least: int) -> Callable[[How, Token, str], bool]:
    def accepted(how: How, token: Token, text: str) -> bool:
        if how == "back_bare" or not least <= token.digits <= ({3: 4, 4: 6}.get(least, 23)):
            return False
        if token.shape == "spelled":
            return token.digits >= max(least, 3)
        if least == 7:
            return _phone_length(token.text)
        return how in CLOSE or token.digits >= least + 2 or least < 6

    return accepted


def _identity(how: How, token: Token, text: str) -> bool:
    if token.shape == "spelled":
        return token.digits >= 7
    return token.digits >= (6 if how in CLOSE else 7)


def _expiry(how: How, token: Token, text: str) -> bool:
    return how in CLOSE and re.search(r"(?i:card|visa|amex|cvv)|卡|\d(?:[ -]?\d){12}", text) is not None


def _plate(how: How, token: Token, text: str) -> bool:
    return how in CLOSE and not token.text.isdigit()


def _handle(how: How, token: Token, text: str) -> bool:
    if token.text.isdigit():
        return 6 <= len(token.text) <= 11
    if token.text[0].isdigit() or how.startswith("back"):
        return False
    if re.search(r"[\d_#]|-\w", token.text):
        return how != "near" or re.search(r"\d", token.text) is not None
    return (
        how in ("said_last", "said") and _HAN.search(text[max(0, token.start - 3) : token.start]) is not None
    )


_ACCEPTED: Mapping[str, Callable[[How, Token, str], bool]] = {
    "password": _password,
    "password_said": _password_said,
    "opener": _opener,
    "code": _code,
    "code_said": _code_said,
    "code_sure": _code_sure,
    "key": _key,
    "number3": _number(3),
    "number4": _number(4),
    "number6": _number(6),
    "number7": _number(7),
    "id": _identity,
    "expiry": _expiry,
    "plate": _plate,
    "handle": _handle,
}


_NUMBERS_BEHIND = re.compile(
    rf"(?:\s+(?:{_DIGIT_EN}|\d{{1,6}}(?![0-9A-Za-z])|(?:dash|underscore|dot|hash)(?![a-z])))+", re.IGNORECASE
)


def with_numbers_behind(token: Token, text: str) -> Token:
    """A Latin word with the numbers told behind it: "brassowl forty"."""
    match = _NUMBERS_BEHIND.match(text, token.end) if token.shape == "word" else None
    return Token(token.start, match.end(), "word", text[token.start : match.end()]) if match else token


_MORE_WORDS = re.compile(r"(?: [0-9A-Za-z!#$%&*@_-]+)+(?![0-9A-Za-z])")


def with_further_words(token: Token, text: str) -> Token:
    """A word with the Latin words behind it, up to the next Hanzi, sign or line."""
    match = _MORE_WORDS.match(text, token.end) if token.shape == "word" else None
    return Token(token.start, match.end(), "word", text[token.start : match.end()]) if match else token


# --- values of several words ---------------------------------------------------------------------

_CLAUSE = re.compile("[^,。;!?！？\n■]{2,20}")
_PHRASE = re.compile(
    r"(?<![a-z])(?:\d{1,2}[.)]?\s*)?[a-z]{3,8}(?:[\s,、]+(?:\d{1,2}[.)]?\s*)?[a-z]{3,8}){8,23}(?![a-z])"
    f"|[{HAN_CLASS}]{{1,4}}(?:[ ,、]+[{HAN_CLASS}]{{1,4}}){{8,23}}"
)
_PASSPHRASE = re.compile(r"\s*(?:is|was|:|=)\s+\"?([a-z]+(?:[ -][a-z]+){1,8})(?=\s*(?:[.,;!\n\"]|$))")


def passphrase_zh(lower: str, start: int, no_passphrase: re.Pattern[str]) -> tuple[int, int] | None:
    """The clause at `start` as a password in Hanzi, or None when it only tells about one."""
    match = _CLAUSE.match(lower, start)
    if match is None or not _HAN.match(lower, start) or no_passphrase.match(lower, start):
        return None
    return None if re.search("[的了吗呢吧么]$|多少|什么", match[0]) else match.span()


def phrase_spans(lower: str, start: int, values: str, no_phrase: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The words of a recovery phrase (or of a passphrase) a little behind `start`."""
    if values == "passphrase":
        match = _PASSPHRASE.match(lower, start)
        if match and not no_phrase & set(match[1].split()):
            yield match.span(1)
        return
    found = _PHRASE.search(lower, start, start + 320)
    if found and found.start() - start <= 40 and not no_phrase & set(found[0].split()):
        yield found.span()
