// The energy of a cell as a sum over hidden units: fills the figure that `attnviz.figures.waterfall_figure` has
// made, and writes its caption. The payload has queries, keys and v_a of the whole sentence, so another cell needs no
// server.

import { PALE } from "../../../figures/constants.js";
import { fill, number, unpackRows } from "../numbers.js";

function signed(/** @type {number} */ value, /** @type {number} */ places = 2) {
  const zero = Number(value.toFixed(places)) === 0;
  return zero ? number(0, places) : (value < 0 ? "" : "+") + number(value, places);
}

/** Operands with their numbers unpacked. @param {PackedOperands} packed @returns {Operands} */
export function unpacked(packed) {
  const rows = (/** @type {string} */ numbers) => unpackRows(numbers, packed.width);
  return { ...packed, queries: rows(packed.queries), keys: rows(packed.keys), score: rows(packed.score)[0] };
}

/** The units of a cell, largest |contribution| first.
 * @param {Operands} data @param {number} step @param {number} source @returns {Cell} */
export function decomposition({ queries, keys, score, bounded, named }, step, source) {
  const query = queries[step], key = keys[source];
  const all = Array.from(query, (q, k) => {
    const activation = bounded ? Math.tanh(q + key[k]) : q * key[k];
    return { k, query: q, key: key[k], together: q + key[k], activation, score: score[k], adds: activation * score[k] };
  });
  all.sort((one, other) => Math.abs(other.adds) - Math.abs(one.adds) || one.k - other.k);
  const sum = (/** @type {Unit[]} */ some) => some.reduce((total, unit) => total + unit.adds, 0);
  return { all, top: all.slice(0, named), rest: sum(all.slice(named)), energy: sum(all) };
}

/** Fills a trace of the strip, in which all units are sorted by their contribution.
 * @param {Trace} trace @param {Unit[]} all @param {Operands["words"]} words */
function fillStrip(trace, all, words) {
  const units = all.toSorted((one, other) => other.adds - one.adds || one.k - other.k);
  let sum = 0;
  if (trace.name === "running") trace.y = units.map(({ adds }) => sum += adds);
  else {
    units.push(units[units.length - 1]); // the end of the last step
    trace.y = units.map(({ adds }) => trace.name === "for" ? Math.max(adds, 0) : Math.min(adds, 0));
    trace.customdata = units.map(({ k, adds }) => `${fill(words.unit, { k: k + 1 })}: ${signed(adds, 4)}`);
  }
}

/** Fills the figure with the numbers of a cell.
 * @param {Figure} figure @param {Cell} cell @param {Operands} data @param {string} alt */
export function fillFigure(figure, { all, top, rest, energy }, { words, saturated, bounded }, alt) {
  const amounts = [...top.map((unit) => unit.adds), ...(all.length > top.length ? [rest] : [])];
  const flat = (/** @type {Unit} */ unit) => bounded && Math.abs(unit.activation) >= saturated;
  const name = (/** @type {Unit} */ unit) => fill(words.unit, { k: unit.k + 1 }) + (flat(unit) ? words.mark : "");
  const hover = top.map(({ k, query, key, activation, score, adds }) => {
    const [q, u, a, v] = [query, key, activation, score].map((part) => number(part, 3));
    return fill(words.hover, { k: k + 1, q, u, a, v, c: signed(adds, 4) });
  });
  const others = { n: all.length - top.length, c: signed(rest, 4) };
  const more = amounts.length > top.length ? [fill(words.more, others)] : [];
  const ends = [0];
  for (const amount of amounts) ends.push(ends[ends.length - 1] + amount);
  const totals = [...amounts, energy];
  for (const trace of figure.data) {
    if (trace.yaxis) fillStrip(trace, all, words);
    else if (trace.name === "sum") {
      trace.x = totals;
      trace.customdata = [...hover, ...more, `e = ${signed(energy, 4)}`];
    } else if (trace.name === "numbers") {
      trace.x = [...ends.slice(1), energy];
      trace.text = totals.map((amount) => ` ${signed(amount)} `);
      trace.textposition = totals.map((amount) => (amount < 0 ? "middle left" : "middle right"));
    } else {
      const part = /** @type {keyof Unit} */ (trace.name);
      trace.x = top.map((unit) => unit[part]);
      if (part === "activation" && trace.marker) trace.marker.opacity = top.map((unit) => (flat(unit) ? 1 : PALE));
      if (part !== "together") trace.customdata = hover; // the diamond between the two bars has no hover text
    }
  }
  const { layout } = figure;
  layout.meta.alt = alt;
  layout.yaxis.ticktext = [...top.map(name), ...layout.yaxis.ticktext.slice(top.length)];
  const low = Math.min(...ends), high = Math.max(...ends), margin = 0.2 * (high - low || 1);
  layout.xaxis.range = [low - margin, high + margin];
  if (layout.xaxis2) {
    const limit = 1.08 * Math.max(...top.flatMap((u) => [u.query, u.key, u.together].map(Math.abs))) || 1;
    layout.xaxis2.range = [-limit, limit];
  }
}

/** The heading and the sentence of a cell.
 * @param {Cell} cell @param {Operands} data @param {number} step @param {number} source */
export function captionOf(cell, data, step, source) {
  const { all, top, rest, energy } = cell, { words, bounded, saturated } = data;
  const against = all.filter((unit) => unit.adds < 0).length;
  const named = { i: step + 1, target: data.targets[step], word: data.sources[source] };
  const sentence = fill(bounded ? words.sentence : words.product, {
    ...named,
    energy: number(energy, 2),
    n: all.length,
    for: all.length - against,
    against,
    named: top.length,
    part: signed(energy - rest),
    flat: all.filter((unit) => Math.abs(unit.activation) >= saturated).length,
    largest: top[0].k + 1,
    c: signed(top[0].adds),
  });
  return [fill(words.heading, named), sentence];
}
