"use strict";
// What the stream told so far; everything on the page is made of it.
const KEPT = 256, EVENTS = 100, OTHER = 32;
const at = (id) => document.getElementById(id);
const palette = document.body.dataset.palette.split(" ");
const hatches = Number(document.body.dataset.hatches);
const lines = new Map(); // width -> Map of the number of a bin -> [number, changes, worth, n, label, share, ...]
const title = document.title;
let events = [], now = null, mark = "", source = null, heard = 0, drawn = false;

const whole = (n) => Math.round(n).toLocaleString("en");
const minus = (text) => text.replace("-", "−");
const short = (x) => minus(Math.abs(x) >= 1000 || x === Math.round(x) ? whole(x) : String(Number(x.toPrecision(3))));
const colour = (label) => label >= OTHER ? "#999999" : palette[label % palette.length];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const element = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

function take(update) {
  if (update.whole) {
    lines.clear();
    events = [];
  }
  for (const { width, bins } of update.lines) {
    if (!lines.has(width)) lines.set(width, new Map());
    const line = lines.get(width);
    for (const bin of bins) line.set(bin[0], bin);
    const least = Math.max(...line.keys()) - KEPT;
    for (const number of line.keys()) if (number <= least) line.delete(number);
  }
  // Answers may repeat a little.
  const last = events.length ? events[events.length - 1][0] : -1;
  events = events.concat(update.events.filter((event) => event[0] > last)).slice(-EVENTS);
  now = update;
  if (!drawn) {
    drawn = true;
    requestAnimationFrame(() => { drawn = false; show(); });
  }
}

function show() {
  showDecision();
  showBelief();
  showSpans();
  draw();
  showLegend();
  tell(at("events"), events.slice().reverse(), "None yet.");
  showDrift();
  status();
}

function status() {
  const silent = Date.now() - heard > 5000;
  const lost = !source || source.readyState !== EventSource.OPEN || silent;
  at("lamp").className = !now ? "waiting" : lost ? "lost" : now.ended ? "waiting" : "running";
  at("status").textContent = !now ? "Waiting for the stream …"
    : now.ended ? "The stream has ended." : lost ? "The program does not answer: trying again …"
    : now.learning ? "Following; a new model is being learnt." : "Following the stream.";
}

function fill(made, label) {
  made.style.background = colour(label);
  // As the hatchings of pictures: a second round of colours is striped.
  const round = Math.floor(label / palette.length) % hatches;
  if (round && label < OTHER) {
    made.style.backgroundImage = `repeating-linear-gradient(${45 * round}deg, transparent 0 3px, rgb(0 0 0 / .45) 3px 4px)`;
  }
  // Dark colours need light letters.
  made.style.color = [5, 6, 7].includes(label % palette.length) ? "#fff" : "#111";
}

function showDecision() {
  const chip = at("decision-chip"), known = now.decision !== null;
  chip.hidden = !known || !name(now.decision[0]);
  if (known) {
    chip.textContent = name(now.decision[0]);
    fill(chip, now.decision[0]);
  }
  at("decision-text").textContent = known ? now.decision[1] : now.learning ? "none while a new model is learnt" : "not known yet";
  at("decision-worth").textContent = known ? `worth ${minus(now.decision[2])}` : "";
  at("position").textContent = whole(now.position);
  at("rate").textContent = short(now.rate);
  at("n-events").textContent = whole(now.counts[0]);
  at("time-tile").hidden = now.time === null;
  at("time").textContent = now.time || "";
  document.title = known ? `${now.decision[1]} · ${title}` : title;
  bars(at("rates"), now.rates);
}

function name(label) {
  const found = now.legend.find((entry) => entry[0] === label);
  return found ? found[1] : "";
}

function showBelief() {
  const rows = now.learning ? [] : now.belief.map(([text, p, label]) => {
    const row = element("div", "believed"), chip = element("span", "chip", text), track = element("span", "track");
    const bar = element("i");
    fill(chip, label);
    fill(bar, label);
    bar.style.width = `${100 * p}%`;
    track.append(bar);
    row.append(chip, track, element("span", "p", p >= 0.0005 ? p.toFixed(3) : p > 0 ? p.toExponential(0) : "0"));
    return row;
  });
  at("beliefs").replaceChildren(...rows);
  const [n, p] = now.rest;
  at("belief-rest").textContent = now.learning ? "The model was given up." : n ? `${whole(n)} other state${n === 1 ? "" : "s"}: ${p < 0.0005 ? "0" : p.toFixed(3)}` : "";
}

function showSpans() {
  const widths = [...lines.keys()].sort((a, b) => a - b), choice = at("span");
  if (choice.options.length === widths.length + 1) return;
  const chosen = choice.value;
  const made = [["auto", "automatic"], ...widths.map((w, k) => [String(w), k === widths.length - 1 ? "all" : `the last ${whole(KEPT * w)}`])];
  choice.replaceChildren(...made.map(([value, text]) => {
    const option = element("option", "", text);
    option.value = value;
    return option;
  }));
  choice.value = made.some(([value]) => value === chosen) ? chosen : "auto";
}

function shownWidth() {
  const widths = [...lines.keys()].sort((a, b) => a - b), chosen = Number(at("span").value);
  if (lines.has(chosen)) return chosen;
  // About the last half minute.
  return widths.find((w) => KEPT * w >= 30 * now.rate) || widths[widths.length - 1];
}

function prepared(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return [pen, width, height];
}

function bars(canvas, values) {
  const [pen, width, height] = prepared(canvas), most = Math.max(1, ...values);
  pen.fillStyle = style("--fill");
  values.forEach((n, k) => {
    const tall = height * n / most;
    pen.fillRect(width - (values.length - k) * width / 60, height - tall, Math.max(width / 60 - 1, 1), tall);
  });
}

let view = null; // what the pointer needs to know of the picture

function draw() {
  const width = shownWidth(), line = lines.get(width);
  if (!line || !line.size) return;
  const [pen, wide, high] = prepared(at("picture"));
  const bins = [...line.values()].sort((a, b) => a[0] - b[0]);
  const lastBin = bins[bins.length - 1][0], n = Math.max(Math.min(KEPT, lastBin - bins[0][0] + 1), Math.min(60, KEPT));
  const first = Math.max(lastBin - n + 1, 0), left = 44, strip = 34, ground = 20, top = 12;
  const step = (wide - left) / n, floor = high - ground - strip;
  const known = bins.filter((bin) => bin[2] !== null).map((bin) => bin[2]);
  let low = Math.min(...known), most = Math.max(...known);
  if (!known.length) { low = 0; most = 1; }
  if (most - low < 1e-9) { low -= 0.5; most += 0.5; }
  const y = (worth) => floor - 6 - (floor - 6 - top) * (worth - low) / (most - low);
  for (const [number, , , total, ...shares] of bins) {
    let base = floor + strip;
    // The last bin may not be full yet.
    const x = Math.round(left + (number - first) * step);
    const w = Math.round(left + (number - first + Math.min(1, total / width)) * step) - x;
    for (let k = 0; k < shares.length; k += 2) {
      const tall = strip * shares[k + 1];
      paint(pen, shares[k], x, base - tall, w, tall);
      pen.globalAlpha = 0.14 * shares[k + 1];
      pen.fillStyle = colour(shares[k]);
      pen.fillRect(x, top, w, floor - top);
      pen.globalAlpha = 1;
      base -= tall;
    }
  }
  marks(pen, (position) => left + (position / width - first) * step, left, top, high - ground);
  curve(pen, bins, (number) => left + (number - first) * step, step, y);
  axes(pen, { first, n, width, left, wide, high, top, floor, low, most, y });
  view = { width, first, step, left, line };
}

function paint(pen, label, x, y, w, h) {
  pen.fillStyle = colour(label);
  pen.fillRect(x, y, w, h);
  if (label < OTHER && Math.floor(label / palette.length) % hatches) {
    pen.fillStyle = "rgb(0 0 0 / .35)";
    for (let k = 2; k < h; k += 5) pen.fillRect(x, y + k, w, 1);
  }
}

// Ticks for events at the top, lines where the model changed.
function marks(pen, x, left, top, bottom) {
  for (const [position, , kind] of now.drifts) {
    if (x(position) < left) continue;
    pen.fillStyle = style(kind === "change" ? "--warm-line" : "--cool-line");
    pen.fillRect(x(position) - 1, top, 2, bottom - top);
  }
}

function curve(pen, bins, x, step, y) {
  const most = Math.max(1, ...bins.map((bin) => bin[1]));
  pen.fillStyle = style("--soft");
  for (const [number, changes] of bins) {
    if (changes) pen.fillRect(x(number), 2, Math.max(Math.min(step - 0.5, 1.5), 1), 3 + 6 * changes / most);
  }
  pen.strokeStyle = style("--ink");
  pen.lineWidth = 1.4;
  pen.beginPath();
  let on = false;
  for (const [number, , worth] of bins) {
    if (worth === null) { on = false; continue; }
    if (on) pen.lineTo(x(number), y(worth)); else pen.moveTo(x(number), y(worth));
    pen.lineTo(x(number) + step, y(worth));
    on = true;
  }
  pen.stroke();
}

function axes(pen, { first, n, width, left, wide, high, floor, low, most, y }) {
  pen.fillStyle = style("--soft");
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const worth of [low, most]) pen.fillText(short(worth), left - 6, y(worth));
  pen.textBaseline = "bottom";
  pen.textAlign = "left";
  pen.fillText(whole(first * width), left, high);
  pen.textAlign = "right";
  pen.fillText(whole((first + n) * width), wide, high);
  pen.textAlign = "center";
  if (wide > 500) pen.fillText(whole((first + n / 2) * width), left + (wide - left) / 2, high);
  pen.fillRect(left - 1, floor, 1, high - 20 - floor);
  at("span-text").textContent = width === 1 ? "each symbol; the line is what the decision is worth" : `means of ${whole(width)} symbols; the line is what the decision is worth`;
}

function showLegend() {
  const rows = now.legend.map(([label, sign, text]) => {
    const row = element("span"), key = element("span", "key");
    fill(key, label);
    row.append(key, `${sign ? `${sign}: ` : ""}${text}`);
    row.title = text;
    return row;
  });
  const other = now.drifts.length ? [["change", "--warm-line", "model given up"], ["refit", "--cool-line", "new model"]] : [];
  for (const [, name, text] of other) {
    const row = element("span"), key = element("span", "key");
    key.style.background = style(name);
    key.style.width = "3px";
    row.append(key, text);
    rows.push(row);
  }
  if (earlier()) rows.push(element("span", "note", "Before the last new model, colours are those of the model of then."));
  if (at("legend").dataset.shown === rows.map((row) => row.textContent).join("|")) return;
  at("legend").dataset.shown = rows.map((row) => row.textContent).join("|");
  at("legend").replaceChildren(...rows);
}

// Where the states of the present model begin.
function earlier() {
  return Math.max(0, ...now.drifts.filter((drift) => drift[2] === "refit").map((drift) => drift[0]));
}

function tell(list, told, none) {
  const shown = told.length ? `${told[0][0]} ${told.length}` : "none";
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  list.replaceChildren(...(told.length ? told.slice(0, 50).map(([position, time, kind, label, text, was]) => {
    const row = element("li"), place = element("span", "place", time || whole(position)), what = element("span", kind);
    if (time) place.title = `position ${whole(position)}`;
    if (label >= 0) {
      const key = element("span", "key");
      fill(key, label);
      what.append(key);
    }
    what.append(text);
    row.append(place, what, element("span", "was", was));
    return row;
  }) : [element("li", "note", none)]));
}

function showDrift() {
  const bits = now.misfit < 0.05 ? "no evidence" : `${now.misfit.toFixed(1)} bits of evidence`;
  at("fit").textContent = now.learning ? "The model no longer fits: nothing is decided until a new one is learnt."
    : now.bound !== null ? `The model fits: ${bits} against it now; it is given up at ${now.bound.toFixed(0)}.`
    : "The model stays as it is: drift is looked for with --adapt.";
  if (now.bound !== null) tell(at("drifts"), now.drifts.slice().reverse(), "The model has never changed.");
}

function hover(event) {
  const tip = at("tip");
  if (!view) return;
  const area = at("picture").getBoundingClientRect(), x = event.clientX - area.left;
  const bin = view.line.get(view.first + Math.floor((x - view.left) / view.step));
  tip.hidden = !bin;
  if (!bin) return;
  const [number, changes, worth, , ...shares] = bin, begin = number * view.width;
  const rows = [view.width === 1 ? `position ${whole(begin)}` : `positions ${whole(begin)} to ${whole(begin + view.width - 1)}`];
  if (worth !== null) rows.push(`worth ${short(worth)}${view.width > 1 ? " on average" : ""}`);
  if (changes) rows.push(view.width === 1 ? "an event" : `${whole(changes)} event${changes === 1 ? "" : "s"}`);
  tip.replaceChildren(...rows.map((text) => element("div", "", text)));
  for (let k = 0; k < shares.length; k += 2) {
    const row = element("div"), key = element("span", "key"), found = now.legend.find((entry) => entry[0] === shares[k]);
    fill(key, shares[k]);
    const meant = shares[k] >= OTHER ? "others" : begin < earlier() || !found ? `state ${shares[k]} of the model of then` : found[2];
    row.append(key, `${meant}${view.width > 1 ? `: ${Math.round(100 * shares[k + 1])} %` : ""}`);
    tip.append(row);
  }
  tip.style.left = x < area.width / 2 ? `${x + 14}px` : "auto";
  tip.style.right = x < area.width / 2 ? "auto" : `${area.width - x + 14}px`;
}

function connect() {
  if (source) source.close();
  source = new EventSource(mark ? `feed?since=${encodeURIComponent(mark)}` : "feed");
  source.onmessage = (event) => {
    heard = Date.now();
    mark = event.lastEventId;
    take(JSON.parse(event.data));
  };
  source.onerror = status;
}

at("picture").addEventListener("pointermove", hover);
at("picture").addEventListener("pointerleave", () => { at("tip").hidden = true; });
at("span").addEventListener("change", () => now && show());
window.addEventListener("resize", () => now && draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => now && show());
// Nobody looks at a page in the background; browsers allow few connections.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) connect();
  else if (source) source.close();
});
setInterval(() => {
  status();
  if (!document.hidden && (source.readyState === EventSource.CLOSED || Date.now() - heard > 10000)) connect();
}, 3000);
connect();
