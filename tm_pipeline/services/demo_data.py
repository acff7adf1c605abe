"""The sample product: a small webtoon, novel and game shop, mostly Korean.

It has what real products have: the same words in several domains, names to fill in, markup, emoji,
blank fields, a very long text, and rows whose language nobody declared (``language`` None).
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One row of a sample source table; ``language`` None means that the product does not know it."""

    resource_type: str
    id: int
    values: Mapping[str, str | None]
    language: str | None = "ko"


_PLACES = (
    "안개가 걷히지 않는 항구", "시계탑 아래의 오래된 서점", "별빛만 내리는 사막", "눈이 쌓인 기차역", "지도에 없는 섬",
    "물에 잠긴 도서관", "새벽 시장의 뒷골목", "바람이 멈춘 들판", "불 꺼진 등대", "왕국의 마지막 다리",
    "아무도 살지 않는 성", "비가 그치지 않는 마을",
)  # fmt: skip
_EVENTS = (
    "서아는 편지의 첫 줄을 다시 읽었다", "도윤은 아무 말 없이 등불을 켰다", "낡은 나침반이 거꾸로 돌기 시작했다",
    "멀리서 종소리가 세 번 울렸다", "고양이 한 마리가 길을 안내했다", "잊었던 이름이 문득 떠올랐다",
    "누군가 문을 두드리는 소리가 났다", "지도 위의 붉은 선이 천천히 움직였다", "어린 마법사는 주문을 거꾸로 외웠다",
)  # fmt: skip
_ENDINGS = (
    "그 순간 두 사람은 서로가 같은 꿈을 꾸고 있었다는 사실을 깨달았다.",
    "돌아갈 길은 이미 사라졌지만, 이상하게도 무섭지 않았다.",
    "\"기다렸어.\" 낮은 목소리가 어둠 속에서 대답했다.",
    "그래서 여행은 하루 더 길어졌고, 비밀도 하나 더 늘어났다.",
    "시간은 그대로인데 계절만 한 번 더 바뀐 것 같았다.",
)  # fmt: skip


def _long_story() -> str:
    """More than 5,000 characters, which is more than one call of an engine takes; no sentence twice."""
    scenes = []
    for number in range(108):
        place = _PLACES[number % len(_PLACES)]
        event = _EVENTS[(number // len(_PLACES) + number) % len(_EVENTS)]
        ending = _ENDINGS[(number // 7 + number) % len(_ENDINGS)]
        scenes.append(f"{number + 1}번째 밤, {place}에서 {event}. {ending}")
    return "\n\n".join(" ".join(scenes[start : start + 6]) for start in range(0, len(scenes), 6))


_CONTENT = (
    (1, "ko", "달빛 서점의 비밀", "매일 밤 열두 시, 골목 끝 서점에 불이 켜진다.\n책을 고르는 손님은 사람이 아니다.", "로맨스 판타지, 힐링"),
    (2, "ko", "회귀한 검사는 요리를 한다", "전장에서 돌아온 검사, 이번 생의 목표는 <b>맛집 사장</b>!", "판타지, 일상"),
    (3, "ko", "끝나지 않는 밤의 기록", _long_story(), "미스터리, 판타지"),
    (4, "ko", "우리 반 반장은 뱀파이어", "{name}님, 오늘도 햇빛을 조심하세요 🦇", "학원물, 로맨스 판타지"),
    (5, "ko", "고양이 탐정단", "사라진 생선 %d마리의 행방을 찾아라! 🐟🐟", "미스터리, 힐링"),
    (6, "ko", "별을 세는 아이", "", "힐링"),
    (7, "ko", "무림 배달부", "강호 어디든 <b>30분</b> 안에 배달합니다.\r\n늦으면 무료!", "무협, 일상"),
    (8, "ko", "마지막 열차", "다음 역은 종점입니다. 내리실 문은 없습니다.", "미스터리"),
    (9, "en", "The Clockmaker's Daughter", "She can wind back one hour a day. Today she needs two.", "fantasy, mystery"),
    (10, "ja", "雨の日の図書館", "雨が降る日だけ開く図書館で、彼女は忘れた名前を探している。", "ミステリー, 日常"),
    (11, None, "바다를 건너는 고래", "하늘을 나는 고래와 작은 소년의 긴 여행 이야기입니다.", "힐링, 판타지"),
    (12, "ko", "1004", "🎉🎉🎉", None),
)  # fmt: skip
_SERIES = (
    (1, "ko", "달빛 서점의 비밀", "매주 화요일 연재! 새로운 손님이 찾아옵니다.", "로맨스 판타지, 힐링"),
    (2, "ko", "왕국의 마지막 다리", "무너진 다리를 지키는 기사와 그를 찾아온 {name}의 이야기.", "판타지"),
    (3, "ko", "무림 배달부", "강호 어디든 <b>30분</b> 안에 배달합니다.\r\n늦으면 무료!", "무협, 일상"),
    (4, "ko", "고양이 탐정단", "시즌 %d 완결! 지금 정주행하세요.", "미스터리, 힐링"),
    (5, "en", "Letters from the Last Star", "A lighthouse keeper answers letters that were never sent.", "fantasy"),
    (6, "ja", "放課後の魔法使い", "放課後、理科室の奥にもう一つの教室がある。", "学園, ファンタジー"),
)  # fmt: skip
_CHARACTERS: tuple[tuple[int, str | None, dict[str, str | None]], ...] = (
    (1, "ko", {
        "name": "서아", "tagline": "달빛 서점의 주인", "description": "밤에만 문을 여는 서점을 혼자 지킨다.",
        "personality": "다정하지만 비밀이 많다.", "background": "백 년 전 사라진 마을에서 왔다.",
        "greeting": "어서 오세요, {name}님. 오늘은 어떤 이야기를 찾으세요?", "speech_style": "부드러운 존댓말",
        "likes": "오래된 책, 따뜻한 우유", "dislikes": "큰 소리", "relationship": "{name}님은 그녀의 첫 손님이다.",
    }),
    (2, "ko", {
        "name": "도윤", "tagline": "말이 없는 등대지기", "description": "불 꺼진 등대에서 배를 기다린다.",
        "personality": "무뚝뚝하지만 약속은 지킨다.", "background": "왕국의 마지막 다리를 지키던 기사였다.",
        "greeting": "…왔군. 앉아.", "speech_style": "짧은 반말", "likes": "따뜻한 우유", "dislikes": "큰 소리",
        "relationship": "십 년 만에 찾아온 옛 친구",
    }),
    (3, "ko", {
        "name": "루비 🦇", "tagline": "우리 반 반장은 뱀파이어", "description": "햇빛을 싫어하는 <b>모범생</b>.",
        "personality": "장난을 좋아하고 겁이 많다.", "background": "", "greeting": "{name}, 숙제 %d개 남았어!",
        "speech_style": "발랄한 반말", "likes": "토마토 주스", "dislikes": "햇빛, 마늘", "relationship": None,
    }),
    (4, "en", {
        "name": "Captain Wren", "tagline": "She never lands twice in the same port",
        "description": "A sky pirate who pays her debts in stories.", "personality": "Bold, curious, allergic to maps.",
        "background": "Raised by a retired clockmaker.", "greeting": "Welcome aboard, {name}! Mind the third step.",
        "speech_style": "Cheerful, full of weather", "likes": "Storms", "dislikes": "Straight lines",
        "relationship": "You won a seat on her ship at cards.",
    }),
)  # fmt: skip
_WORKS = (
    (1, "ko", "달빛 서점의 비밀", "누적 조회수 100만을 넘긴 로맨스 판타지 원작.", "끝까지 함께해 주셔서 감사합니다."),
    (2, "ko", "왕국의 마지막 다리", "무너진 다리를 지키는 기사와 그를 찾아온 {name}의 이야기.", "끝까지 함께해 주셔서 감사합니다."),
    (3, "ko", "무림 배달부", "강호 최고의 배달부를 꿈꾸는 소년.", "   "),
    (4, "ja", "雨の日の図書館", "雨が降る日だけ開く図書館で、彼女は忘れた名前を探している。", "読んでくださってありがとうございます。"),
    (5, "en", "Letters from the Last Star", "The novel behind the series.", ""),
)  # fmt: skip
_NAMES = (
    ("category", ("웹툰", "웹소설", "판타지", "로맨스 판타지", "신작 🔥")),
    ("content_theme", ("힐링", "학원물", "판타지", "회귀", "로맨스 판타지")),
    ("series_genre", ("판타지", "로맨스 판타지", "무협", "미스터리", "일상")),
)
_GAME_LINES = (
    (1, "ko", "어서 오세요, {name}님. 오늘은 어떤 이야기를 찾으세요?", "서아", "서점, 밤", "첫 만남"),
    (2, "ko", "골드 %d개를 얻었습니다!", "시스템", "전투 결과", "숫자는 실제 보상"),
    (3, "ko", "<b>경고</b>: 이 선택은 되돌릴 수 없습니다.", "시스템", "선택지", None),
    (4, "ko", "…왔군. 앉아.", "도윤", "등대 안", "무뚝뚝하게"),
    (5, "ko", "조심해! 뒤에 있어! 😱", "루비", "숲길", None),
    (6, "ko", "다시 시도하시겠습니까?", "시스템", "전투 결과", None),
    (7, "en", "Press ${button} to open the gate.", "System", "Tutorial", None),
    (8, "ko", "......", "도윤", "등대 안", "말이 없다"),
)


def _rows(resource_type: str, keys: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> tuple[SampleRow, ...]:
    return tuple(
        SampleRow(
            resource_type=resource_type,
            id=int(str(row[0])),
            language=None if row[1] is None else str(row[1]),
            values={key: None if text is None else str(text) for key, text in zip(keys, row[2:], strict=True)},
        )
        for row in rows
    )


def sample_rows() -> tuple[SampleRow, ...]:
    """Every row of the sample product, ready to be inserted into the sample source tables."""
    return (
        *_rows("content", ("title", "detail", "tags"), _CONTENT),
        *_rows("series", ("title", "introduction", "keywords"), _SERIES),
        *(
            SampleRow(resource_type="ai_character", id=number, language=language, values=values)
            for number, language, values in _CHARACTERS
        ),
        *_rows("original_work", ("title", "description", "author_note"), _WORKS),
        *(
            SampleRow(resource_type=resource_type, id=number, values={"name": name})
            for resource_type, names in _NAMES
            for number, name in enumerate(names, start=1)
        ),
        *_rows("game_line", ("text", "speaker", "scene", "note"), _GAME_LINES),
    )
