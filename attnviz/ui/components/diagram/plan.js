// Computes the layout of the diagram for a width: the sentence is horizontal on a wide page, horizontal with short names of
// the rows and without symbols where there is less room, and vertical on a telephone.

const NAMED_FROM = 960; // pixels of width from which the rows of a horizontal sentence have names
const COMPACT_FROM = 530; // pixels of width from which a sentence without terms is horizontal
const RIGHT_EDGE = 14; // pixels at the right, where the backward direction of the encoder begins
const WIDEST_COLUMN = 180; // pixels of the widest column
const KEY_ROW = 22; // pixels of the row that names the keys
export const PROBABILITY_WIDTH = 54; // pixels for the symbol before a probability
export const TAPS = [0.24, 0.5, 0.76]; // shares of a box's width at which it takes in state, context and word
const NARROWEST_COLUMN = 10; // pixels of the narrowest column: for a longer sentence the drawing is wider than its box

/** The rows of attention, in a plan without them. */
const NO_ATTENTION = { key: 0, query: 0, energy: [0, 0], energyNumber: 0, weight: 0 };

/** The forms of a horizontal sentence: with names of the rows at its left, with short names, and thin, above the picture that
 * has its energies and weights (figures/attention_figure.py). In pixels: the width of the names, what follows them, and the
 * places of the rows; those of attention and of the mixture are below the row that names the keys, and a model without
 * attention has other ones. */
const FORMS = {
  wide: {
    gutter: 176,
    indent: 36,
    encoder: { words: 21, forward: [44, 60], backward: [72, 88] },
    attention: { query: 116, energy: [126, 172], energyNumber: 187, weight: 209 },
    mixture: { ribbons: [216, 324], context: [325, 351] },
    none: { backward: [84, 100], ribbons: [62, 199], context: [200, 226] },
  },
  compact: {
    gutter: 100,
    indent: 20,
    encoder: { words: 17, forward: [28, 40], backward: [46, 58] },
    attention: { query: 74, energy: [80, 108], energyNumber: 120, weight: 138 },
    mixture: { ribbons: [144, 186], context: [187, 205] },
    none: { backward: [60, 72], ribbons: [42, 142], context: [143, 163] },
  },
  thin: {
    gutter: 92,
    indent: 0,
    encoder: { words: 17, forward: [26, 36], backward: [40, 50] },
    attention: { query: 61, energy: [64, 64] },
    mixture: { ribbons: [64, 98], context: [99, 115] },
    none: {},
  },
};

/** Rows that are further down. */
const lowered = (/** @type {Record<string, number | number[]>} */ rows, /** @type {number} */ by) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, at]) => [name, Array.isArray(at) ? at.map((y) => y + by) : at + by]),
  );

/** The plan of a drawing of `width` pixels; `measure` returns the width of a text at a font size. A `thin` one ends
 * below the context vector, and its columns have the places of those of the picture below it.
 * @param {Outline} payload @param {number} width @param {Measure} measure @param {boolean} [thin] */
export const planFor = (payload, width, measure, thin = false) =>
  thin || width >= NAMED_FROM || (width >= COMPACT_FROM && !payload.terms)
    ? horizontalPlan(payload, width, measure, thin)
    : verticalPlan(payload, width);

/** The widths of the columns by their words, or `equal` ones; equal, with slanted words, if these do not fit.
 * @param {Outline} payload @param {number} available @param {Measure} measure @param {boolean} equal */
function columnsOf({ sources, joined }, available, measure, equal) {
  const one = Math.max(available / sources.length, NARROWEST_COLUMN), same = sources.map(() => one);
  for (const letters of [18, 16, 14, 13, 12]) {
    const words = sources.map((text) => measure(text, letters));
    const widths = words.map((word, j) => Math.max(word + (joined[j + 1] ? 6 : 16), 34));
    const more = Math.min((available - sumOf(widths)) / sources.length, 64);
    if (equal ? words.some((word) => word > one - 4) : more < 0) continue;
    const own = widths.map((width) => Math.min(width + more, WIDEST_COLUMN));
    return { letters, slanted: false, widths: equal ? same : own };
  }
  return { letters: Math.min(13, one * 1.05), slanted: true, widths: same };
}

const sumOf = (/** @type {number[]} */ numbers) => numbers.reduce((sum, one) => sum + one, 0);

/** Positions of adjacent columns, beginning at `from`. */
function adjacentColumns(/** @type {number[]} */ widths, /** @type {number} */ from) {
  let here = from;
  return widths.map((width) => {
    here += width;
    return { middle: here - width / 2, width };
  });
}

/** @param {Outline} payload @param {number} available @param {Measure} measure @param {boolean} thin @returns {Plan} */
function horizontalPlan(payload, available, measure, thin) {
  const compact = thin || available < NAMED_FROM, form = FORMS[thin ? "thin" : compact ? "compact" : "wide"];
  const { gutter } = form, start = gutter + form.indent;
  const { letters, slanted, widths } = columnsOf(payload, available - start - RIGHT_EDGE, measure, thin);
  const sum = sumOf(widths);
  const width = Math.max(available, start + sum + RIGHT_EDGE);
  const first = start + Math.max(0, (width - RIGHT_EDGE - start - sum) / 2);
  const attends = payload.attention !== "none", least = Math.min(...widths), top = slanted ? 46 : 0;
  const named = payload.terms && attends && !compact ? KEY_ROW : 0; // the height of the row that names the keys
  const across = /** @type {Rows} */ ({
    ...NO_ATTENTION,
    ...lowered(form.encoder, top),
    ...(attends ? lowered({ ...form.attention, ...form.mixture }, top + named) : lowered(form.none, top)),
    key: named && top + 133,
  });
  const decoder = compact
    ? compactDecoder(width, across.context[1], attends)
    : decoderBelowHorizontal(payload, width, across.context[1]);
  const [y] = across.context;
  return {
    vertical: false,
    compact,
    gutter,
    width,
    height: thin ? across.context[1] + 8 : decoder.titles[4][1] + (compact ? 19 : 38),
    columns: adjacentColumns(widths, first),
    first,
    last: first + sum,
    cell: Math.max(Math.min(least - 14, 48), Math.min(least - 3, 16)),
    letters,
    slanted,
    dense: least < 26,
    across,
    flow: compact ? 84 : 116,
    // In a thin plan, the state whose query meets the keys is left of the context vector.
    decoder: thin ? { ...decoder, before: { x: 28, y, width: 56, height: 16 }, queryFrom: [56, y] } : decoder,
  };
}

/** The decoder below a horizontal sentence with short names; its boxes share the width.
 * @param {number} width @param {number} bottom of the context vector @param {boolean} attends @returns {DecoderPlan} */
function compactDecoder(width, bottom, attends) {
  const left = FORMS.compact.gutter, top = bottom + 12, boxes = top + 58;
  // The boxes and the texts between them need 526 pixels, or 40 less with narrow boxes; the rest is distributed.
  const box = width - left < 526 ? 68 : 88, more = width - left - 350 - 2 * box;
  const after = left + 98 + 0.25 * more,
    readout = after + 68 + box + 0.4 * more,
    word = readout + 52 + box + 0.35 * more;
  return {
    before: { x: left, y: top, width: 64, height: 16 },
    previous: { x: left, y: top + 26, width: 64, height: 24 },
    after: { x: after, y: boxes, width: box, height: 18 },
    readout: { x: readout, y: boxes, width: box, height: 18 },
    word: { x: word, y: boxes - 8, width: 84, height: 34 },
    likely: [word + 90, boxes + 15],
    foils: [width - 2, boxes - 44],
    lanes: { state: top + 8, context: top + 22, word: top + 36 },
    queryFrom: [left + (attends ? 10 : 0), top],
    titles: { 4: [after - 28, boxes + 38], 5: [readout - 28, boxes + 38] },
  };
}

/** The decoder below a horizontal sentence: inputs at the left, then the boxes, and the word at the right.
 * @param {Outline} payload @param {number} width @param {number} bottom of the context vector @returns {DecoderPlan} */
function decoderBelowHorizontal({ attention, terms }, width, bottom) {
  const left = FORMS.wide.gutter, space = Math.min(width, 1500) - left, top = bottom + 14;
  const boxes = top + 88;
  // The texts between the boxes need 784 pixels; the rest of the width is distributed.
  const more = Math.max(0, space - 784);
  const after = left + 128 + 0.15 * more, readout = after + 204 + 0.29 * more, word = readout + 222 + 0.07 * more;
  return {
    before: { x: left, y: top, width: 104, height: 18 },
    previous: { x: left, y: top + 40, width: 104, height: 28 },
    after: { x: after, y: boxes, width: 132, height: 20 },
    readout: { x: readout, y: boxes, width: 132, height: 20 },
    word: { x: word, y: boxes - 8, width: 124, height: 36 },
    likely: [word + 136 + (terms ? PROBABILITY_WIDTH : 0), boxes + 7],
    foils: more > 360 ? [word + 136, boxes + 26] : [width - 2, boxes - 44], // two probabilities need 270 pixels
    lanes: { state: top + 9, context: top + 32, word: top + 54 },
    queryFrom: [left + (attention === "none" ? 0 : 12), top],
    titles: { 4: [after, boxes + 44], 5: [readout, boxes + 44] },
  };
}

/** @param {Outline} payload @param {number} width @returns {Plan} */
function verticalPlan(payload, width) {
  const { sources, terms } = payload, attends = payload.attention !== "none";
  const size = Math.max(13, Math.min(24, 460 / sources.length)), top = terms && attends ? 54 : 34;
  const widths = sources.map(() => size);
  const edge = width - 4, last = top + size * sources.length;
  const attention = { key: terms ? 45 : 0, query: 166, energy: [174, 208], weight: 244 };
  const across = /** @type {Rows} */ ({
    words: 0,
    ...NO_ATTENTION,
    ...(attends ? attention : {}),
    forward: attends ? [84, 114] : [84, 124],
    backward: attends ? [120, 150] : [140, 180],
    ribbons: [attends ? 248 : 126, edge - 26],
    context: [edge - 25, edge - 3],
  });
  const flow = Math.min(104, Math.max(size * sources.length, 60));
  const decoder = decoderBelowVertical(width, Math.max(last, top + flow) + 26, Boolean(terms));
  return {
    vertical: true,
    compact: false,
    gutter: 0,
    width,
    height: decoder.foils[1] + 10,
    columns: adjacentColumns(widths, top),
    first: top,
    last: Math.max(last, top + flow),
    cell: Math.min(size - 9, 14),
    letters: Math.min(14, size - 1),
    slanted: false,
    dense: size < 18,
    across,
    flow,
    decoder,
  };
}

/** The decoder below a vertical sentence: inputs at the top, then the boxes, and the word below them.
 * @param {number} width @param {number} top @param {boolean} named whether it has the terms of the equations
 * @returns {DecoderPlan} */
function decoderBelowVertical(width, top, named) {
  const low = top + (named ? 8 : 0), boxes = low + 108;
  const readout = Math.min(width / 2 + 14, width - 170); // on a telephone, symbols at its right need more
  return {
    before: { x: 138, y: top, width: 80, height: 18 },
    previous: { x: 31, y: top - 5, width: 72, height: 28 },
    after: { x: 32, y: boxes, width: 112, height: 20 },
    readout: { x: readout + 30, y: boxes, width: 112, height: 20 },
    word: { x: readout + 30, y: boxes + 48, width: 84, height: 34 },
    likely: [readout + 122, boxes + 70],
    foils: [Math.min(width - 2, readout + 218), boxes + 122],
    lanes: { state: low + 40, context: low + 54, word: low + 68 },
    queryFrom: [166, top],
    titles: { 4: [2, boxes + 42], 5: [Math.min(readout, width - 172), boxes + 102] },
  };
}
