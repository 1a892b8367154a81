"""Pictures as SVG: where a value lies on the ranks, and what they did when."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from ._session import Layout

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")
_FONT = 'font-family="sans-serif" font-size="11"'


class Picture(str):
    """An SVG text; notebooks draw it."""

    def _repr_svg_(self) -> str:
        return str(self)


def _svg(width: float, height: float, parts: Sequence[str]) -> Picture:
    return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
                   f'viewBox="0 0 {width:.0f} {height:.0f}" {_FONT}>' + "".join(parts) + "</svg>")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#444">{html.escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    return (f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.5):.2f}" height="{height:.2f}" fill="{colour}" '
            f'stroke="white"><title>{html.escape(title)}</title></rect>')


def _shown_dimensions(boxes: Sequence[Any], dims: int) -> list[int]:
    """At most two dimensions: those that are cut, then the last ones."""
    cut = [d for d in range(dims) if len({box[d] for box in boxes}) > 1]
    for d in reversed(range(dims)):
        if len(cut) < 2 and d not in cut:
            cut.append(d)
    return sorted(cut[:2])


def layout_picture(layout: "Layout") -> Picture:
    """The global tensor, each rank's part in a colour; ranks with the same part share it."""
    boxes = list(layout.boxes.values())
    dims = len(boxes[0])
    extents = [max(box[d][1] for box in boxes) for d in range(dims)]
    shown = _shown_dimensions(boxes, dims)
    rows, columns = ([None] * (2 - len(shown)) + shown)[:2]
    scale_x = 240 / max(extents[columns] if columns is not None else 1, 1)
    scale_y = 120 / max(extents[rows] if rows is not None else 1, 1)
    span = lambda box, d: (0, 1) if d is None else box[d]
    holders: dict[Any, list[int]] = {}
    for rank, box in layout.boxes.items():
        holders.setdefault(box, []).append(rank)
    parts = [_text(8, 16, f"%{layout.value} : {layout.type}  {layout.pytorch or ''}")]
    for number, (box, ranks) in enumerate(holders.items()):
        (left, right), (top, bottom) = span(box, columns), span(box, rows)
        if left == right or top == bottom:
            continue
        x, y = 8 + left * scale_x, 28 + top * scale_y
        width, height = (right - left) * scale_x, (bottom - top) * scale_y
        who = ", ".join(map(str, ranks))
        where = "[" + ", ".join(f"{lo}:{hi}" for lo, hi in box) + "]"
        parts.append(_box(x, y, width, height, _COLOURS[number % len(_COLOURS)], f"rank {who} {where}"))
        parts.append(f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" text-anchor="middle" fill="white">'
                     f"{who}</text>")
    empty = [str(rank) for rank, box in layout.boxes.items() if any(lo == hi for lo, hi in box)]
    if empty:
        parts.append(_text(8, 164, "nothing on rank " + ", ".join(empty)))
    width = max(256.0, 16 + 6.2 * max(len(f"%{layout.value} : {layout.type}  {layout.pytorch or ''}"), 1))
    return _svg(width, 172 if empty else 156, parts)


def timeline_picture(events: Sequence[dict[str, Any]]) -> Picture:
    """A lane per rank and stream, time to the right; `events` are rows of `v_timeline` with their `op_class`."""
    lanes = sorted({(event["rank"], event["track"]) for event in events}, key=lambda lane: (lane[0], lane[1] != "host"))
    if not lanes:
        return _svg(256, 24, [_text(8, 16, "nothing has run")])
    begin = min(event["begin_ns"] for event in events)
    end = max(event["end_ns"] for event in events)
    scale = 720 / max(end - begin, 1)
    row = {lane: 8 + 18 * index for index, lane in enumerate(lanes)}
    parts = [_text(96, row[lane] + 12, f"{lane[0]} {lane[1]}", "end") for lane in lanes]
    for event in events:
        host = event["track"] == "host"
        colour = _COLOURS[1] if event["op_class"] == "communication" else ("#bbb" if host else _COLOURS[0])
        took = event["end_ns"] - event["begin_ns"]
        parts.append(_box(100 + (event["begin_ns"] - begin) * scale, row[(event["rank"], event["track"])],
                          took * scale, 15, colour, f"{event['address']} {event['text'] or event['op']}: {took} ns"))
    bottom = 8 + 18 * len(lanes)
    parts.append(_text(100, bottom + 14, f"{begin} ns"))
    parts.append(_text(820, bottom + 14, f"{end} ns", "end"))
    return _svg(828, bottom + 22, parts)
