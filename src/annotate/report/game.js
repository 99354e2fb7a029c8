"use strict";
// The page's data is read from the element below and shown through textContent only.
const plies = JSON.parse(document.getElementById("game").textContent);
const byId = (id) => document.getElementById(id);
const board = byId("board");
const svg = "http://www.w3.org/2000/svg";
let current = 0;
let flipped = false;

// The 64 squares of a FEN's first field, a8 first; empty squares are "".
function squares(placement) {
  const list = [];
  for (const c of placement.replaceAll("/", "")) {
    if (c >= "1" && c <= "8") list.push(...Array(Number(c)).fill(""));
    else list.push(c);
  }
  return list;
}

function square(index, piece, ply) {
  const name = "abcdefgh"[index % 8] + (8 - Math.floor(index / 8));
  const cell = document.createElement("div");
  cell.dataset.square = name;
  cell.className = (index + Math.floor(index / 8)) % 2 ? "dark" : "light";
  if (name === ply.from) cell.classList.add("from");
  if (name === ply.to) cell.classList.add("to");
  if (piece) {
    const image = document.createElementNS(svg, "svg");
    const use = document.createElementNS(svg, "use");
    image.setAttribute("viewBox", "0 0 45 45");
    image.setAttribute("class", piece === piece.toUpperCase() ? "w" : "b");
    use.setAttribute("href", "#" + piece.toLowerCase());
    image.append(use);
    cell.append(image);
  }
  if (name[1] === (flipped ? "8" : "1")) {
    const label = document.createElement("i");
    label.textContent = name[0];
    cell.append(label);
  }
  return cell;
}

function paragraph(text, className) {
  const element = document.createElement("div");
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function show(ply) {
  current = Math.max(0, Math.min(plies.length - 1, ply));
  const now = plies[current];
  const cells = squares(now.board).map((piece, index) => square(index, piece, now));
  board.replaceChildren(...(flipped ? cells.reverse() : cells));
  board.setAttribute("aria-label", now.label + ", board " + now.board);

  const head = document.createElement("b");
  head.textContent = now.label;
  const parts = [head, now.score + (now.depth ? " (depth " + now.depth + ")" : "")];
  if (now.clock) parts.push("  ⏱ " + now.clock);
  const bar = document.createElement("div");
  bar.className = "bar";
  const white = document.createElement("span");
  white.style.width = now.white + "%";
  bar.append(white);
  bar.title = "White's expected score: " + now.white + " %";
  parts.push(bar);
  if (now.verdict) parts.push(paragraph(now.verdict, now.fault));
  if (now.better) parts.push(paragraph("Better: " + now.better));
  if (now.comment) parts.push(paragraph(now.comment, "dim"));
  byId("now").replaceChildren(...parts);

  for (const element of document.querySelectorAll("#moves .current")) {
    element.classList.remove("current");
    element.removeAttribute("aria-current");
  }
  const move = document.querySelector('#moves [data-ply="' + current + '"]');
  if (move) {
    move.classList.add("current");
    move.setAttribute("aria-current", "true");
    const list = byId("moves");
    const top = move.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30)
      list.scrollTop = top - list.clientHeight / 2;
  }
  const hit = document.querySelector('.chart rect[data-ply="' + current + '"]');
  const cursor = document.querySelector(".chart .cursor");
  if (hit && cursor) {
    const x = Number(hit.getAttribute("x")) + Number(hit.getAttribute("width")) / 2;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
}

function flip() {
  flipped = !flipped;
  show(current);
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-ply]");
  if (target) show(Number(target.dataset.ply));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const steps = {
    arrowleft: () => show(current - 1),
    arrowright: () => show(current + 1),
    home: () => show(0),
    end: () => show(plies.length - 1),
    f: flip,
  };
  // Caps lock makes "F" of "f".
  const key = event.key.toLowerCase();
  const step = steps[key];
  // With Shift the others select text.
  if (!step || (event.shiftKey && key !== "f")) return;
  event.preventDefault();
  step();
});
byId("first").addEventListener("click", () => show(0));
byId("back").addEventListener("click", () => show(current - 1));
byId("next").addEventListener("click", () => show(current + 1));
byId("last").addEventListener("click", () => show(plies.length - 1));
byId("flip").addEventListener("click", flip);
// The ply that the address names, as in game-000001.html#18.
function showAnchor() {
  show(/^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : 0);
}

window.addEventListener("hashchange", showAnchor);
showAnchor();
