"use strict";
// Pictures can be zoomed and moved by changing what part of them is shown.
document.querySelectorAll("figure.zoom").forEach((figure) => {
  const stage = figure.querySelector(".stage");
  const svg = stage.querySelector("svg");
  const whole = svg.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  let box = whole.slice();
  const show = () => {
    box[2] = Math.min(box[2], whole[2]);
    box[3] = Math.min(box[3], whole[3]);
    for (const k of [0, 1]) {
      box[k] = Math.max(whole[k], Math.min(box[k], whole[k] + whole[k + 2] - box[k + 2]));
    }
    svg.setAttribute("viewBox", box.map((v) => v.toFixed(3)).join(" "));
    stage.classList.toggle("zoomed", box[2] < whole[2] - 1e-6);
  };
  const zoom = (factor, u = 0.5, v = 0.5) => {
    const scale = Math.max(1 / 16, Math.min(1, (box[2] / whole[2]) * factor)) * whole[2] / box[2];
    box = [box[0] + u * box[2] * (1 - scale), box[1] + v * box[3] * (1 - scale), box[2] * scale, box[3] * scale];
    show();
  };
  const move = (dx, dy) => {
    box[0] += dx * box[2];
    box[1] += dy * box[3];
    show();
  };
  const actions = {
    in: () => zoom(1 / 1.4),
    out: () => zoom(1.4),
    reset: () => { box = whole.slice(); show(); },
  };
  figure.querySelector(".controls").hidden = false;
  figure.querySelectorAll("button").forEach((button) => {
    button.addEventListener("click", () => actions[button.dataset.zoom]());
  });
  const keys = {
    "+": actions.in, "=": actions.in, "-": actions.out, "0": actions.reset,
    ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
  };
  stage.addEventListener("keydown", (event) => {
    const arrow = event.key.startsWith("Arrow");
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrow && !stage.classList.contains("zoomed")) return; // the page scrolls as usual
    keys[event.key]();
    event.preventDefault();
  });
  const place = (event) => {
    const area = svg.getBoundingClientRect();
    return [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
  };
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...place(event));
  }, { passive: false });
  stage.addEventListener("dblclick", (event) => zoom(1 / 1.6, ...place(event)));
  let last = null;
  stage.addEventListener("pointerdown", (event) => {
    if (!stage.classList.contains("zoomed") || event.button) return;
    last = place(event);
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!last) return;
    const now = place(event);
    move(last[0] - now[0], last[1] - now[1]);
    last = now;
  });
  const stop = () => { last = null; };
  stage.addEventListener("pointerup", stop);
  stage.addEventListener("pointercancel", stop);
});
