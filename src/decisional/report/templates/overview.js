"use strict";
// All of the data: unpacked, drawn by Bokeh, each time as much as the window shows.
(() => {
  const root = document.getElementById("overview");
  if (!root) return;
  const BINS = 500; // along a line
  const MANY = 150; // single values that still have dots
  const ROWS = 25; // events that are listed at once
  const HEAD = ["Where", "Before", "Worth before", "After", "Worth after"];
  const AROUND = 30; // places shown on each side of an event
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const tip = part("tip");
  const figure = part("figure");

  const inflated = async (id) => {
    const text = document.getElementById(id).textContent.trim();
    const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
  const unpack = (bytes) => {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    for (const [name, type, begin, size] of header.arrays) {
      header[name] = new TYPES[type](bytes.buffer, 4 + length + begin, size);
    }
    return header;
  };
  const summed = (steps, before = 0) => {
    const sums = new Float64Array(steps.length + 1);
    sums[0] = before;
    for (let k = 0; k < steps.length; k++) sums[k + 1] = sums[k] + steps[k];
    return sums;
  };

  // Words.
  const whole = (value) => value.toLocaleString("en");
  const number = (value, digits = 4) => {
    if (!Number.isFinite(value)) return "missing";
    if (value !== 0 && Math.abs(value) < 1e-6) return "≈ 0";
    const text = Math.abs(value) >= 1000 && Math.abs(value) < 1e15 ? value.toLocaleString("en", { maximumFractionDigits: 1 })
      : String(Number(value.toPrecision(digits)));
    return text.replace(/^-0$/, "0").replace(/-/g, "−");
  };
  const worthy = (value) => number(value, 3);
  const span = (low, high, write = number) => (write(low) === write(high) ? write(low) : `${write(low)} to ${write(high)}`);
  const DAY = 86400000;
  const date = (time) => new Date(time).toISOString().replace("T", " ").replace(/(:00)?\.000Z$/, "");
  const day = (time) => date(time).replace(/ 00:00$/, "");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const say = (lines, event) => {
    tip.replaceChildren(...lines.filter(([, text]) => text).map(([label, text]) => {
      const row = document.createElement("div");
      const name = document.createElement("b");
      name.textContent = label;
      row.append(name, ` ${text}`);
      return row;
    }));
    tip.hidden = false;
    const area = root.getBoundingClientRect(), stage = figure.getBoundingClientRect();
    const width = tip.offsetWidth, left = event.left + 16 + width > area.width ? event.left - width - 16 : event.left + 16;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${event.top - (area.top - stage.top) + 12}px`;
  };

  class View {
    constructor(data, model) {
      this.data = data;
      this.model = model;
      this.find = (name) => model.document.get_model_by_name(name);
      this.sources = new Map();
      for (const found of model.document._all_models.values()) {
        if (found.type === "ColumnDataSource") this.sources.set(found.name, found);
      }
      this.x = this.find("x");
      this.whole = [this.x.start, this.x.end];
      this.marked = -1;
      this.waiting = false;
    }
    later() {
      if (this.waiting) return;
      this.waiting = true;
      setTimeout(() => { this.waiting = false; this.draw(); }, 15);
    }
    name(state) { return this.data.names.length ? this.data.names[state] : String(state); }
    states(list) {
      const shown = list.slice(0, 6).map((state) => this.name(state));
      if (list.length > 6) shown.push(`${whole(list.length - 6)} more`);
      const group = this.data.grouped && list.length === 1 ? ` (${this.data.lanes[this.data.lane[list[0]]]})` : "";
      return shown.join(", ") + group;
    }
    decided(list) {
      const { decision, decisions, worth, relative } = this.data;
      if (!worth || !list.length) return [];
      const told = [...new Set(list.map((state) => decision[state]))].map((k) => decisions[k]);
      const rest = (told.length > 3 ? `; ${whole(told.length - 3)} more` : "") + (relative ? " above the darkest around" : "");
      const text = told.slice(0, 3).join("; ") + rest;
      const values = list.map((state) => worth[state]);
      return [["Predict", text], ["Worth", span(Math.min(...values), Math.max(...values), worthy)]];
    }
    window() { return [this.x.start, this.x.end]; }
    show(start, end) {
      const [low, high] = this.whole;
      const size = Math.min(end - start, high - low);
      const begin = Math.max(low, Math.min(start, high - size));
      this.x.setv({ start: begin, end: begin + size });
    }
    zoom(factor, u = 0.5) {
      const [start, end] = this.window();
      const size = Math.max((end - start) * factor, this.x.min_interval);
      const place = start + u * (end - start);
      this.show(place - u * size, place - u * size + size);
    }
    move(share) {
      const [start, end] = this.window();
      this.show(start + share * (end - start), end + share * (end - start));
    }
    reset() { this.show(...this.whole); }
    mark(state) {
      this.marked = state === this.marked ? -1 : state;
      document.querySelectorAll("[data-state]").forEach((chip) => {
        chip.setAttribute("aria-pressed", String(Number(chip.dataset.state) === this.marked));
      });
      this.draw();
      return this.marked;
    }
  }

  class Line extends View {
    constructor(data, model) {
      super(data, model);
      data.state_begin = summed(data.state_count);
      if (data.letter_count) data.letter_begin = summed(data.letter_count);
      this.n = data.state_count.length;
      data.high = data.high || data.low;
      // The date at which each block begins.
      if (data.date) data.at = summed(data.date, data.begin);
      // Hours are told of all dates or of none.
      this.dated = data.at && data.at.every((time) => time % DAY === 0) ? day : date;
      if (data.event_step) {
        data.event_at = summed(data.event_step).subarray(1);
        this.shown_events = Array.from(data.event_at.keys());
      }
      this.scales();
    }
    // Where position p is on the axis; dates inside a block are in between.
    place(p) {
      const { at, size } = this.data;
      if (!at) return p;
      const k = Math.max(0, Math.min(Math.floor((p + 0.5) / size), at.length - 1));
      const next = k + 1 < at.length ? at[k + 1] : at[k] + (at.length > 1 ? at[k] - at[k - 1] : 1);
      return at[k] + (p - k * size) / size * (next - at[k]);
    }
    position(x) {
      const { at, size, n } = this.data;
      if (!at) return Math.max(0, Math.min(n - 1, Math.round(x)));
      let low = 0, high = n - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.place(middle + 0.5) < x) low = middle + 1; else high = middle;
      }
      return low;
    }
    edge(p) { return this.place(p - 0.5); }
    scales() {
      const set = (name, values) => {
        const range = this.find(name);
        if (!range || !values) return;
        let low = Infinity, high = -Infinity;
        for (const part of values) for (const value of part) {
          if (value < low) low = value;
          if (value > high) high = value;
        }
        if (!(low <= high)) [low, high] = [0, 1];
        const room = (high - low) * 0.08 || Math.max(Math.abs(high), 1) * 0.1;
        range.setv({ start: low - room, end: high + room * (name === "worths-range" ? 3 : 1) });
      };
      set("values-range", this.data.low && [this.data.low, this.data.high]);
      set("worths-range", this.data.worth && [this.data.worth]);
    }
    // The blocks that are shown, and how many fall into one bin.
    bins() {
      const { size } = this.data;
      const [start, end] = this.window();
      const first = Math.max(0, Math.floor(this.position(start) / size) - 1);
      const last = Math.min(this.n, Math.floor(this.position(end) / size) + 2);
      const per = Math.max(1, Math.ceil((last - first) / BINS));
      return [Math.floor(first / per) * per, last, per];
    }
    bin(first, per) {
      const { size, n } = this.data;
      return [first * size, Math.min((first + per) * size, n) - 1];
    }
    draw() {
      const [first, last, per] = this.bins();
      this.per = per;
      this.rows("states", "state", first, last, per);
      if (this.data.letter_count) this.rows("letters", "letter", first, last, per);
      this.curve("values", first, last, per);
      this.curve("worths", first, last, per);
      this.ticks(first, last, per);
      this.tell(per);
    }
    rows(source, kind, first, last, per) {
      const found = this.sources.get(source);
      const data = this.data, begin = data[`${kind}_begin`], labels = data[`${kind}_label`];
      const row = kind === "state" ? data.lane : data.row;
      const n = kind === "state" ? data.lanes.length : Math.max(...row, 0) + 1;
      const columns = { left: [], right: [], bottom: [], top: [], colour: [], alpha: [] };
      const count = new Int32Array(n), marks = new Int32Array(n);
      const fill = colour("--fill"), strong = colour("--mark");
      for (let k = first; k < last; k += per) {
        count.fill(0);
        marks.fill(0);
        const stop = Math.min(k + per, last);
        for (let j = begin[k]; j < begin[stop]; j++) {
          count[row[labels[j]]]++;
          if (kind === "state" && labels[j] === this.marked) marks[row[labels[j]]]++;
        }
        const [from, to] = this.bin(k, stop - k);
        const left = this.edge(from), right = this.edge(to + 1);
        for (let r = 0; r < n; r++) {
          if (!count[r]) continue;
          const dim = kind === "state" && this.marked >= 0 && !marks[r];
          columns.left.push(left);
          columns.right.push(right);
          columns.bottom.push(r + 0.42);
          columns.top.push(r - 0.42);
          columns.colour.push(marks[r] ? strong : kind === "state" ? data.colours[r] : fill);
          // What is rare stays visible.
          columns.alpha.push(dim ? 0.15 : marks[r] ? 1 : 0.4 + 0.6 * Math.min(1, count[r] / (stop - k)));
        }
      }
      found.data = columns;
    }
    extent(source, k, stop) {
      const data = this.data;
      let low = Infinity, high = -Infinity;
      if (source === "values") {
        for (let j = k; j < stop; j++) {
          if (data.low[j] < low) low = data.low[j];
          if (data.high[j] > high) high = data.high[j];
        }
      } else {
        for (let j = data.state_begin[k]; j < data.state_begin[stop]; j++) {
          const worth = data.worth[data.state_label[j]];
          if (worth < low) low = worth;
          if (worth > high) high = worth;
        }
      }
      return low <= high ? [low, high] : [NaN, NaN];
    }
    // The mean worth; of blocks whose states are only known to occur there is none.
    mean(k, stop) {
      const data = this.data, from = data.state_begin[k], to = data.state_begin[stop];
      let sum = 0;
      for (let j = from; j < to; j++) sum += data.worth[data.state_label[j]];
      return data.size > 1 || from === to ? NaN : sum / (to - from);
    }
    curve(source, first, last, per) {
      const found = this.sources.get(source);
      if (!found) return;
      const data = this.data, range = this.find(`${source}-range`), thin = (range.end - range.start) * 0.006;
      const boxes = { left: [], right: [], bottom: [], top: [], colour: [] };
      const line = { x: [], y: [] }, dots = { x: [], y: [], colour: [] };
      const single = per * data.size === 1, dotted = single && last - first <= MANY && source === "values";
      const fill = colour("--fill"), track = colour("--band"), strong = colour("--mark");
      for (let k = first; k < last; k += per) {
        const stop = Math.min(k + per, last);
        const [low, high] = this.extent(source, k, stop);
        const [from, to] = this.bin(k, stop - k);
        if (single && source === "values") {
          line.x.push(this.place(from));
          line.y.push(low);
          if (dotted && Number.isFinite(low)) {
            const state = data.state_count[k] ? data.state_label[data.state_begin[k]] : -1;
            dots.x.push(this.place(from));
            dots.y.push(low);
            dots.colour.push(state < 0 ? "transparent" : state === this.marked ? strong : data.colours[data.lane[state]]);
          }
        } else if (Number.isFinite(low)) {
          if (source === "worths" && per > 1) {
            line.x.push(this.place((from + to) / 2));
            line.y.push(this.mean(k, stop));
          }
          boxes.left.push(this.edge(from));
          boxes.right.push(this.edge(to + 1));
          boxes.bottom.push(low - thin);
          boxes.top.push(high + thin);
          boxes.colour.push(source === "worths" && per > 1 ? track : fill);
        }
      }
      found.data = boxes;
      this.sources.get(`${source}-line`).data = line;
      this.sources.get(`${source}-dots`).data = dots;
    }
    // The number of the first event at position p or after it.
    event(p) {
      const at = this.data.event_at;
      let low = 0, high = at.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (at[middle] < p) low = middle + 1; else high = middle;
      }
      return low;
    }
    ticks(first, last, per) {
      const found = this.sources.get("events");
      if (!found) return;
      const range = this.find("worths-range"), size = range.end - range.start;
      const columns = { x: [], low: [], high: [] };
      for (let k = first; k < last; k += per) {
        const [from, to] = this.bin(k, Math.min(per, last - k));
        const next = this.event(from);
        if (next >= this.data.event_at.length || this.data.event_at[next] > to) continue;
        columns.x.push(this.edge(this.data.event_at[next]));
        columns.low.push(range.end - 0.12 * size);
        columns.high.push(range.end);
      }
      found.data = columns;
    }
    tell(per) {
      const { size, unit } = this.data;
      const together = per * size, blocks = size > 1 ? `; the page holds blocks of ${whole(size)} ${unit}s, and no single ones` : "";
      const now = together === 1 ? `Single ${unit}s are shown.`
        : `Aggregated: up to ${whole(together)} ${unit}s fall on one place${blocks}. Every state that occurs there is marked, paler where it is rarer.`;
      part("state").textContent = now;
    }
    when(from, to) {
      const { at, start } = this.data;
      let series = 0, begin = 0;
      for (let k = 0; k < start.length && start[k] <= from; k++) [series, begin] = [k + 1, start[k]];
      const place = from === to ? "Position" : "Positions";
      const text = span(from - begin, to - begin, whole);
      const lines = [[start.length ? `Series ${series + 1}, ${place.toLowerCase()}` : place, text]];
      if (at) lines.push([from === to ? "Date" : "Dates", span(this.place(from), this.place(to), this.dated)]);
      return lines;
    }
    hover(event) {
      const data = this.data, per = this.per;
      const block = Math.floor(this.position(event.x) / data.size), k = Math.floor(block / per) * per;
      const stop = Math.min(k + per, this.n), [from, to] = this.bin(k, stop - k);
      const lines = this.when(from, to);
      const among = (kind) => [...new Set(data[`${kind}_label`].subarray(data[`${kind}_begin`][k], data[`${kind}_begin`][stop]))];
      if (data.low) lines.push([from === to ? "Value" : "Values", span(...this.extent("values", k, stop))]);
      if (data.letter_count) {
        const letters = among("letter").map((code) => data.letters[code]);
        lines.push([letters.length > 1 ? "Symbols" : "Symbol", letters.slice(0, 8).join(", ") + (letters.length > 8 ? ", …" : "") || "missing"]);
      }
      const states = among("state").sort((a, b) => data.probability[a] - data.probability[b] || b - a);
      lines.push([states.length > 1 ? "States, rarest first" : "State", this.states(states) || "not known"], ...this.decided(states));
      if (data.event_at) {
        const events = this.event(to + 1) - this.event(from);
        if (events) lines.push([data.events > data.event_at.length ? "Listed events" : events > 1 ? "Events" : "Event", from === to ? "the decision changes" : whole(events)]);
      }
      say(lines, event);
    }
    go(position) {
      const around = Math.max(AROUND, this.data.size * 4);
      this.show(this.place(position - around), this.place(position + around));
    }
  }

  class Grid extends View {
    constructor(data, model) {
      super(data, model);
      this.y = this.find("y");
      this.tall = [this.y.end, this.y.start];
      this.source = this.sources.get("map");
      this.moment = Math.floor(data.blocks[0] / 2);
      this.which = 0;
      const rarity = Array.from(data.probability.keys()).sort((a, b) => data.probability[a] - data.probability[b]);
      // 0 is no state, which gives way to all others.
      this.rank = new Uint32Array(rarity.length + 1);
      this.rank[0] = rarity.length + 1;
      rarity.forEach((state, k) => { this.rank[state + 1] = k; });
      if (data.value) {
        this.low = Infinity;
        this.high = -Infinity;
        for (const value of data.value) {
          if (value < this.low) this.low = value;
          if (value > this.high) this.high = value;
        }
      }
    }
    show(start, end) {
      const ratio = (this.tall[1] - this.tall[0]) / (this.whole[1] - this.whole[0]);
      const middle = (this.y.start + this.y.end) / 2;
      super.show(start, end);
      const size = (this.x.end - this.x.start) * ratio;
      const top = Math.max(this.tall[0], Math.min(middle - size / 2, this.tall[1] - size));
      this.y.setv({ start: top + size, end: top });
    }
    shift(share) {
      const size = this.y.start - this.y.end;
      const top = Math.max(this.tall[0], Math.min(this.y.end + share * size, this.tall[1] - size));
      this.y.setv({ start: top + size, end: top });
    }
    // The cell that stands for those from (r, c) on, up to (below, right).
    cell(r, below, c, right) {
      const [, height, width] = this.data.blocks, base = this.moment * height * width;
      let best = base + r * width + c;
      for (let i = r; i < below; i++) for (let j = c; j < right; j++) {
        const k = base + i * width + j;
        if (this.rank[this.data.label[k]] < this.rank[this.data.label[best]]) best = k;
      }
      return best;
    }
    colours() {
      const table = this.data[`colour${this.which}`];
      const n = this.data.probability.length, strong = [214, 39, 40], shades = new Uint32Array(n + 1);
      const packed = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      const pale = (v) => Math.round(255 - (255 - v) * 0.25);
      if (!table) {
        return (k) => {
          const state = this.data.label[k] - 1;
          if (state >= 0 && state === this.marked) return packed(...strong);
          const value = this.data.value[k];
          const grey = Number.isFinite(value) ? Math.floor(255.99 * ((value - this.low) / (this.high - this.low || 1))) : 255;
          return packed(...Array(3).fill(this.marked >= 0 ? pale(grey) : grey));
        };
      }
      for (let state = -1; state < n; state++) {
        const at = 3 * (state < 0 ? n : state);
        const rgb = [table[at], table[at + 1], table[at + 2]];
        shades[state + 1] = packed(...(this.marked < 0 ? rgb : state === this.marked ? strong : rgb.map(pale)));
      }
      return (k) => shades[this.data.label[k]];
    }
    draw() {
      const { sides, blocks } = this.data;
      const image = this.source.data.image[0], [rows, columns] = image.shape;
      const left = this.x.start, wide = this.x.end - left, top = this.y.end, high = this.y.start - top;
      // The blocks under each pixel: all of them where there are several, so that none is lost.
      const cuts = (start, size, n, side, most) => Array.from({ length: n }, (_, k) => {
        const from = (start + size * k / n) / side, step = size / n / side;
        const first = Math.max(0, Math.min(Math.floor(from + 1e-9), most - 1));
        return [first, step > 1 + 1e-9 ? Math.min(most, Math.ceil(from + step - 1e-9)) : first + 1];
      });
      const across = cuts(left, wide, columns, sides[2], blocks[2]), down = cuts(top, high, rows, sides[1], blocks[1]);
      const shade = this.colours();
      for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
        image[r * columns + c] = shade(this.cell(...down[r], ...across[c]));
      }
      Object.assign(this.source.data, { x: [left], y: [top], dw: [wide], dh: [high] });
      this.source.change.emit();
      this.tell(Math.max(1, Math.ceil(wide / columns), Math.ceil(high / rows)));
    }
    tell(cells) {
      const { sides, unit, maps } = this.data, [name, meaning] = maps[this.which];
      const side = Math.max(cells, sides[1]);
      const held = sides[1] > 1 ? ` The page holds blocks of ${sides.filter((n) => n > 1).join(" × ")} ${unit}s.` : "";
      const how = side === 1 ? `Single ${unit}s are shown.`
        : `Aggregated: up to ${side} × ${side} ${unit}s fall on one place, which shows that of the rarest state.${held}`;
      part("state").textContent = `${name}, ${meaning}. ${how}`;
      const moment = part("moment-text");
      if (moment) moment.textContent = `${whole(this.moment * sides[0])} of ${whole(this.data.shape[0])}`;
    }
    hover(event) {
      const { sides, blocks, shape, label, value } = this.data;
      const r = Math.floor(event.y / sides[1]), c = Math.floor(event.x / sides[2]);
      if (r < 0 || c < 0 || r >= blocks[1] || c >= blocks[2]) { tip.hidden = true; return; }
      const k = this.cell(r, r + 1, c, c + 1), state = label[k] - 1;
      const places = (n, side, most) => span(n * side, Math.min((n + 1) * side, most) - 1, whole);
      const names = this.data.axes;
      const lines = [[names[0], places(r, sides[1], shape[1])], [names[1], places(c, sides[2], shape[2])]];
      if (shape[0] > 1) lines.unshift(["Moment", places(this.moment, sides[0], shape[0])]);
      if (value) lines.push(["Value", number(value[k])]);
      lines.push([sides[1] > 1 ? "Rarest state" : "State", state < 0 ? "not known" : this.states([state])], ...this.decided(state < 0 ? [] : [state]));
      say(lines, event);
    }
    choose(which) {
      this.which = which;
      this.draw();
    }
  }

  // Events as a table: filtered by words and kind, and by what is shown above.
  const listing = (view) => {
    const table = document.getElementById("event-table");
    const data = view.data;
    if (!table || !data.event_at) return;
    const inside = (name) => table.querySelector(`[data-part="${name}"]`);
    const words = (k, arrow = data.event_after) => {
      const state = arrow[k] - 1;
      return state < 0 ? ["", ""] : [data.decisions[data.decision[state]], worthy(data.worth[state])];
    };
    const kinds = new Map();
    data.event_at.forEach((_, k) => {
      const kind = `${words(k, data.event_before)[0]} → ${words(k)[0]}`;
      kinds.set(kind, (kinds.get(kind) || 0) + 1);
    });
    const select = inside("kind");
    [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 200).forEach(([kind, count]) => select.append(new Option(`${kind} (${whole(count)})`, kind)));
    let page = 0, chosen = [];
    const filter = () => {
      const text = inside("words").value.trim().toLowerCase(), kind = select.value;
      const only = inside("window").checked, [start, end] = view.window();
      const [low, high] = only ? [view.position(start), view.position(end)] : [-1, Infinity];
      chosen = [];
      for (let k = 0; k < data.event_at.length; k++) {
        const at = data.event_at[k];
        if (at < low || at > high) continue;
        const [after, worth] = words(k), [before] = words(k, data.event_before);
        if (kind && kind !== `${before} → ${after}`) continue;
        if (text && !`${view.when(at, at).map(([, told]) => told).join(" ")} ${before} ${after} ${worth}`.toLowerCase().includes(text)) continue;
        chosen.push(k);
      }
      page = 0;
      list();
    };
    const list = () => {
      const first = page * ROWS;
      inside("rows").replaceChildren(...chosen.slice(first, first + ROWS).map((k) => {
        const row = document.createElement("tr");
        const at = data.event_at[k];
        const go = document.createElement("button");
        go.type = "button";
        go.textContent = view.when(at, at).map(([name, text]) => (name.startsWith("Series") ? `${name} ${text}` : text)).join(" · ");
        go.addEventListener("click", () => { view.go(at); root.scrollIntoView({ block: "nearest" }); });
        const [before, worth_before] = words(k, data.event_before), [after, worth] = words(k);
        [go, before, worth_before, after, worth].forEach((content, column) => {
          const cell = document.createElement(column ? "td" : "th");
          if (column === 2 || column === 4) cell.className = "number";
          cell.dataset.label = HEAD[column];
          cell.append(content);
          row.append(cell);
        });
        return row;
      }));
      const last = Math.min(first + ROWS, chosen.length);
      inside("count").textContent = chosen.length ? `${whole(first + 1)} to ${whole(last)} of ${whole(chosen.length)} event${chosen.length === 1 ? "" : "s"}` : "No such event";
      inside("back").disabled = !page;
      inside("on").disabled = last >= chosen.length;
    };
    inside("back").addEventListener("click", () => { page--; list(); });
    inside("on").addEventListener("click", () => { page++; list(); });
    inside("words").addEventListener("input", filter);
    select.addEventListener("change", filter);
    inside("window").addEventListener("change", filter);
    let pause = 0;
    const moved = () => {
      if (!inside("window").checked) return;
      clearTimeout(pause);
      pause = setTimeout(filter, 150);
    };
    for (const edge of ["start", "end"]) view.x.properties[edge].change.connect(moved);
    table.hidden = false;
    filter();
  };

  // Axes have the colours of the page, light or dark.
  const dress = (view) => {
    const ink = colour("--soft"), faint = colour("--line"), paper = colour("--paper");
    for (const model of view.model.document._all_models.values()) {
      if (/Figure$|^Plot$/.test(model.type)) model.setv({ border_fill_color: paper, background_fill_color: paper });
      if (!/Axis$/.test(model.type)) continue;
      model.setv({
        major_label_text_color: ink, axis_label_text_color: ink, axis_line_color: faint,
        major_tick_line_color: faint, minor_tick_line_color: null, axis_label_text_font_style: "normal",
      });
    }
  };

  const control = (view) => {
    const actions = {
      in: () => view.zoom(1 / 2), out: () => view.zoom(2), reset: () => view.reset(),
      back: () => view.move(-0.5), on: () => view.move(0.5),
      up: () => view.shift && view.shift(-0.5), down: () => view.shift && view.shift(0.5),
    };
    root.querySelectorAll("[data-move]").forEach((button) => button.addEventListener("click", () => actions[button.dataset.move]()));
    const keys = { "+": "in", "=": "in", "-": "out", "0": "reset", ArrowLeft: "back", ArrowRight: "on" };
    if (view.shift) Object.assign(keys, { ArrowUp: "up", ArrowDown: "down" });
    figure.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      actions[keys[event.key]]();
      event.preventDefault();
    });
    part("controls").hidden = false;
    document.querySelectorAll("[data-state]").forEach((chip) => {
      chip.disabled = false;
      chip.title = "Show where this state occurs";
      chip.addEventListener("click", () => {
        if (view.mark(Number(chip.dataset.state)) >= 0 && !root.contains(chip)) root.scrollIntoView({ block: "nearest" });
      });
    });
    document.querySelectorAll("[data-map]").forEach((picture) => {
      picture.disabled = false;
      picture.addEventListener("click", () => {
        view.choose(Number(picture.dataset.map));
        root.scrollIntoView({ block: "nearest" });
      });
    });
    const moment = part("moment");
    if (moment) {
      moment.max = view.data.blocks[0] - 1;
      moment.value = view.moment;
      moment.addEventListener("input", () => { view.moment = Number(moment.value); view.later(); });
    }
  };

  const listen = (view) => {
    const plots = [...view.model.document._all_models.values()].filter((model) => /Figure$|^Plot$/.test(model.type));
    for (const plot of plots) {
      let area = null;
      figure.addEventListener("pointermove", (event) => { area = event; }, true);
      const told = (event) => {
        const box = root.getBoundingClientRect();
        if (area) view.hover({ x: event.x, y: event.y, left: area.clientX - box.left, top: area.clientY - figure.getBoundingClientRect().top });
      };
      plot.on_event("mousemove", told);
      plot.on_event("tap", told);
      plot.on_event("mouseleave", () => { tip.hidden = true; });
      plot.on_event("doubletap", (event) => {
        const [start, end] = view.window();
        view.zoom(1 / 2, (event.x - start) / (end - start));
      });
    }
    const ranges = [view.x, view.y].filter(Boolean);
    for (const range of ranges) for (const edge of ["start", "end"]) range.properties[edge].change.connect(() => view.later());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { dress(view); view.draw(); });
  };

  const begin = async () => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await inflated("overview-library"));
    document.head.append(script);
    window.Bokeh.logger.set_level("error");
    const data = unpack(await inflated("overview-data"));
    const views = await window.Bokeh.embed.embed_item(data.item, figure);
    const model = (views.roots || [...views])[0].model;
    const view = data.kind === "line" ? new Line(data, model) : new Grid(data, model);
    dress(view);
    control(view);
    listen(view);
    view.draw();
    listing(view);
    window.decisionalOverview = view;
    root.dataset.ready = "true";
  };
  begin().catch((error) => {
    part("state").textContent = `This browser cannot show the whole of the data (${error}); a newer one can.`;
    root.dataset.ready = "false";
  });
})();
