// The style sheet and the script of every report. The script only draws the timeline: it reads the
// data beside the canvas, never markup, so that no text of the log can become code.

#include "traces/report/sections.h"

namespace hostir::traces::report {

const char* const kStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#5b6570;--line:#d9dee3;--card:#f6f8fa;--bad:#c62f2f;
--badbg:#fdecec;--good:#1f7a43;--goodbg:#eaf6ee;--k0:#4a7fc1;--k1:#d9822b;--k2:#98a3ae;--k3:#f6dcbd;--k4:#e5534b;--edge:#7a4fb5}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e8ec;--soft:#9aa5b0;--line:#323a43;--card:#1c2127;
--bad:#ff7b72;--badbg:#3a1d1f;--good:#5bc27d;--goodbg:#16301f;--k0:#5f97dd;--k1:#e79a4b;--k2:#6b7681;--k3:#5a4530;--k4:#e5534b;--edge:#b694ea}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
header,main,footer{max-width:1320px;margin:0 auto;padding:0 16px}header{padding-top:20px}
h1{font-size:22px;margin:0 0 8px;overflow-wrap:anywhere}h2{font-size:17px;margin:0 0 8px}
section{margin:18px 0;min-width:0}section p{margin:4px 0 8px;overflow-wrap:anywhere}ul{margin:6px 0;padding-left:20px}
li{overflow-wrap:anywhere}
dl{display:flex;flex-wrap:wrap;gap:4px 22px;margin:0}dl div{display:flex;gap:6px;min-width:0}dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere;min-width:0}
#verdict{border-left:4px solid var(--good);background:var(--goodbg);padding:12px 16px;border-radius:4px}
#verdict.bad{border-color:var(--bad);background:var(--badbg)}#verdict p{font-size:17px}#verdict ul{color:var(--soft)}
#verdict h2{font-size:13px;color:var(--good);margin:0}#verdict.bad h2{color:var(--bad)}
#verdict.open{border-color:var(--k1);background:var(--card)}#verdict.open h2{color:var(--k1)}
.scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:500}.text,th:first-child{text-align:left}
#collectives table{width:100%}#collectives th:nth-child(1),#collectives th:nth-child(3),#collectives th:nth-child(4),
#collectives th:nth-child(9),#waits th:nth-child(3){text-align:left}td.text{max-width:420px;overflow:hidden;
text-overflow:ellipsis}#waits td.text{white-space:normal;overflow-wrap:anywhere}
tr.partly td,tr.fault td{color:var(--bad)}tr.fault{background:var(--badbg)}
tr.fault td:first-child{box-shadow:inset 4px 0 var(--bad);padding-left:10px}
.marked{border-left:4px solid var(--bad);padding-left:10px}#verdict p.trial{font-size:15px;color:var(--soft)}
.note{color:var(--soft);font-size:13px}
.side{display:flex;flex-wrap:wrap;gap:16px 32px;align-items:center}.side .scroll{flex:1 1 260px;min-width:0}
svg.graph{width:300px;max-width:100%;height:auto}.edge{fill:none;stroke:var(--edge)}marker path{fill:var(--edge)}
.node circle{fill:var(--card);stroke:var(--soft);stroke-width:1.5}.node.awaited circle{stroke:var(--bad);fill:var(--badbg);
stroke-width:3}svg text{fill:var(--fg);font:600 14px system-ui,sans-serif;text-anchor:middle}
.tools{display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin-bottom:6px}button{font:inherit;min-width:40px;
padding:4px 12px;color:var(--fg);background:var(--card);border:1px solid var(--line);border-radius:4px;cursor:pointer}
.key{color:var(--soft);font-size:13px;margin-right:4px;white-space:nowrap}
.key i,td i{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 4px 0 0}td i{margin:0 6px 0 0}
i.k0{background:var(--k0)}i.k1{background:var(--k1)}i.k2{background:var(--k2)}
i.k3{background:var(--k3)}i.k4{background:var(--k4)}.peaks{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;
padding:0}.peaks i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}.all{fill:#c3cbd3;stroke:#7e8892}
#view{position:relative;border:1px solid var(--line);border-radius:4px;overflow:hidden}canvas{display:block;width:100%;
touch-action:pan-y;cursor:grab}#tip-box{position:absolute;pointer-events:none;background:var(--card);border:1px solid
var(--line);border-radius:4px;padding:4px 8px;font-size:13px;max-width:min(320px,80%);overflow-wrap:anywhere}
.figures{display:flex;flex-wrap:wrap;gap:18px}figure{margin:0;width:190px;font-size:13px;overflow-wrap:anywhere}
svg.layout{width:180px;height:auto;display:block}svg.layout text{font-size:12px;fill:#10151a}
svg.layout rect{stroke:var(--bg);stroke-width:1.5}figcaption{margin-top:4px}code{font:12px ui-monospace,monospace}
svg.memory{width:100%;height:140px;background:var(--card);border-radius:4px;display:block;margin-bottom:8px}
.curve{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}
.program{background:var(--card);padding:10px 0;border-radius:4px;overflow-x:auto;font:13px/1.45 ui-monospace,monospace;
margin:0}.program span{display:block;width:max-content;min-width:100%;padding-right:16px}
.program span::before{content:attr(data-n);display:inline-block;width:3.5em;margin-right:1em;text-align:right;
color:var(--soft)}.program .fault{background:var(--badbg);box-shadow:inset 4px 0 var(--bad)}
footer{color:var(--soft);font-size:13px;padding-bottom:24px}
.r0{fill:#7fb2e5;background:#7fb2e5;stroke:#4a8fd0}.r1{fill:#f2b36b;background:#f2b36b;stroke:#d98a2b}
.r2{fill:#8fd19e;background:#8fd19e;stroke:#3f9d5b}.r3{fill:#e59aa4;background:#e59aa4;stroke:#cc5a68}
.r4{fill:#b9a3e3;background:#b9a3e3;stroke:#8a68cf}.r5{fill:#c9b28f;background:#c9b28f;stroke:#9a7a48}
.r6{fill:#f0a8d0;background:#f0a8d0;stroke:#cf62a2}.r7{fill:#b5bcc4;background:#b5bcc4;stroke:#7e8892}
.r8{fill:#d4d36e;background:#d4d36e;stroke:#a09e2a}.r9{fill:#7fd3d6;background:#7fd3d6;stroke:#2f9fa4}
path.curve{fill:none;background:none}
)css";

const char* const kScript = R"js(
(() => {
  const holder = document.getElementById('timeline-data');
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const view = document.getElementById('view');
  const canvas = view.querySelector('canvas');
  const tip = document.getElementById('tip-box');
  const row = 20, head = 22;
  const left = () => Math.min(120, view.clientWidth * 0.28);
  let from = 0, to = data.end;
  const text = (ns) => ns < 1e3 ? ns + ' ns' : ns < 1e6 ? +(ns / 1e3).toPrecision(4) + ' us'
    : ns < 1e9 ? +(ns / 1e6).toPrecision(4) + ' ms' : +(ns / 1e9).toPrecision(4) + ' s';
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const width = () => view.clientWidth - left();
  const x = (ns) => left() + (ns - from) / (to - from) * width();
  function draw() {
    const ratio = window.devicePixelRatio || 1, w = view.clientWidth, h = head + data.tracks.length * row + 4;
    canvas.style.height = h + 'px';
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const c = canvas.getContext('2d');
    c.scale(ratio, ratio);
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    const soft = color('--soft'), line = color('--line'), fg = color('--fg');
    const kinds = [color('--k0'), color('--k1'), color('--k2')];
    const stalls = [color('--k3'), color('--k4')];
    const marks = Math.max(2, Math.floor(width() / 130));
    const raw = (to - from) / marks, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const unit = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw);
    for (let t = Math.ceil(from / unit) * unit; t <= to; t += unit) {
      c.fillStyle = line;
      c.fillRect(x(t), head - 4, 1, h);
      c.fillStyle = soft;
      c.fillText(text(Math.round(t)), Math.min(x(t) + 3, w - 56), head / 2);
    }
    data.tracks.forEach((track, i) => {
      const top = head + i * row;
      c.fillStyle = fg;
      c.fillText('rank ' + track.rank + ' ' + track.name, 6, top + row / 2, left() - 10);
      c.save();
      c.beginPath();
      c.rect(left(), top, width(), row);
      c.clip();
      for (let s = 0; s < track.w.length; s += 3) {
        const x0 = x(track.w[s]);
        c.fillStyle = stalls[track.w[s + 2]];
        c.fillRect(x0, top + 6, Math.max(1, x(track.w[s + 1]) - x0), row - 12);
      }
      for (let s = 0; s < track.s.length; s += 4) {
        if (track.s[s + 1] < from || track.s[s] > to) continue;
        const x0 = x(track.s[s]), wide = Math.max(1, x(track.s[s + 1]) - x0);
        const name = data.names[track.s[s + 2]];
        c.fillStyle = kinds[name[1]];
        c.fillRect(x0, top + 3, wide > 3 ? wide - 1 : wide, row - 6);
        if (wide > 60) {
          c.fillStyle = '#fff';
          c.save();
          c.beginPath();
          c.rect(x0, top, wide - 4, row);
          c.clip();
          c.fillText(name[0], Math.max(x0, left()) + 4, top + row / 2);
          c.restore();
        }
      }
      c.restore();
    });
  }
  function zoom(factor, at) {
    const span = Math.min(data.end, Math.max(10, (to - from) * factor));
    const part = (at - from) / (to - from);
    from = Math.max(0, Math.min(data.end - span, at - part * span));
    to = from + span;
    draw();
  }
  const ns = (px) => from + (px - left()) / width() * (to - from);
  view.previousElementSibling.addEventListener('click', (e) => {
    const factor = e.target.dataset.zoom;
    if (factor === undefined) return;
    if (factor === '0') { from = 0; to = data.end; draw(); } else zoom(+factor, (from + to) / 2);
  });
  canvas.addEventListener('wheel', (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && !e.altKey) {
      e.preventDefault();
      zoom(e.deltaY > 0 ? 1.25 : 0.8, ns(e.offsetX));
    }
  }, {passive: false});
  const fingers = new Map();
  canvas.addEventListener('pointerdown', (e) => {
    fingers.set(e.pointerId, e.offsetX);
    canvas.setPointerCapture(e.pointerId);
    show(e);
  });
  const lift = (e) => fingers.delete(e.pointerId);
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('pointermove', (e) => {
    if (fingers.has(e.pointerId)) {
      const before = [...fingers.values()], old = fingers.get(e.pointerId);
      fingers.set(e.pointerId, e.offsetX);
      const now = [...fingers.values()];
      if (now.length === 2) {
        const apart = Math.abs(before[0] - before[1]), wide = Math.abs(now[0] - now[1]);
        if (wide > 4) zoom(apart / wide, ns((now[0] + now[1]) / 2));
      } else {
        const shift = (old - e.offsetX) / width() * (to - from);
        const span = to - from;
        from = Math.max(0, Math.min(data.end - span, from + shift));
        to = from + span;
        draw();
      }
    }
    show(e);
  });
  function show(e) {
    const track = data.tracks[Math.floor((e.offsetY - head) / row)], at = ns(e.offsetX), slack = (to - from) / width();
    let found = -1;
    for (let s = 0; track && s < track.s.length; s += 4) {
      if (track.s[s] - slack <= at && at <= track.s[s + 1] + slack) found = s;
    }
    let stall = -1;
    for (let s = 0; track && found < 0 && s < track.w.length; s += 3) {
      if (track.w[s] - slack <= at && at <= track.w[s + 1] + slack) stall = s;
    }
    tip.hidden = found < 0 && stall < 0;
    if (tip.hidden) return;
    if (found < 0) {
      tip.textContent = (track.w[stall + 2] ? 'never finished, since ' : 'waits for members: ') + text(track.w[stall])
        + (track.w[stall + 2] ? '' : ' + ' + text(track.w[stall + 1] - track.w[stall]));
      place(e);
      return;
    }
    const [begin, end, name, count] = track.s.slice(found, found + 4);
    tip.textContent = (count > 1 ? count + ' events, longest: ' : '') + data.names[name][0] + ' ' + data.names[name][2]
      + ', rank ' + track.rank + ': ' + text(begin) + ' + ' + text(end - begin);
    place(e);
  }
  function place(e) {
    tip.style.left = Math.min(e.offsetX + 12, Math.max(0, view.clientWidth - tip.offsetWidth - 4)) + 'px';
    tip.style.top = Math.min(e.offsetY + 12, canvas.clientHeight - tip.offsetHeight) + 'px';
  }
  new ResizeObserver(draw).observe(view);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
})();
)js";

}  // namespace hostir::traces::report
