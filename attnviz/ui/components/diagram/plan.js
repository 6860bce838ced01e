// Where the parts of the diagram are, for the room there is: the sentence lies on a wide page, and stands on a telephone.

const STAND = 960; // pixels of width below which it stands
export const GUTTER = 176; // pixels at the left of a lying sentence, for the names of the rows
const EDGE = 14; // at the right, where the encoder begins to read backwards
const LARGEST = 180; // pixels of the widest column
const KEYS = 22; // for a row of its own that names the keys
export const CHANCE = 54; // before a probability, for what it is the probability of
const LEAST = 10; // of the narrowest: of a longer sentence the drawing is wider than its box

/**
 * The plan of a drawing of `width` pixels; `measure` tells the width of a text in letters of so many pixels.
 * @param {DiagramPayload} payload
 * @param {number} width
 * @param {(text: string, letters: number) => number} measure
 */
export const planned = (payload, width, measure) =>
  width < STAND ? standing(payload, width) : lying(payload, width, measure);

/**
 * How wide the columns are, as the sentence is written; or all alike, its words aslant, where it is too long for that.
 * @param {DiagramPayload} payload
 * @param {number} room
 * @param {(text: string, letters: number) => number} measure
 */
function columnsOf({ sources, joined }, room, measure) {
  for (const letters of [18, 16, 14, 13]) {
    const wide = sources.map((text, j) => Math.max(measure(text, letters) + (joined[j + 1] ? 6 : 16), 34));
    const sum = wide.reduce((total, one) => total + one, 0);
    if (sum > room) continue;
    const more = Math.min((room - sum) / sources.length, 64);
    return { letters, aslant: false, wide: wide.map((one) => Math.min(one + more, LARGEST)) };
  }
  const one = Math.max(room / sources.length, LEAST);
  return { letters: Math.min(13, one * 1.05), aslant: true, wide: sources.map(() => one) };
}

/**
 * Columns one after the other from `from` on.
 * @param {number[]} wide
 * @param {number} from
 */
function inTurnFrom(wide, from) {
  let here = from;
  return wide.map((room) => {
    here += room;
    return { middle: here - room / 2, room };
  });
}

/**
 * @param {DiagramPayload} payload
 * @param {number} given
 * @param {(text: string, letters: number) => number} measure
 * @returns {Plan}
 */
function lying(payload, given, measure) {
  const start = GUTTER + 36;
  const { letters, aslant, wide } = columnsOf(payload, given - start - EDGE, measure);
  const sum = wide.reduce((total, one) => total + one, 0);
  const width = Math.max(given, start + sum + EDGE);
  const first = start + Math.max(0, (width - EDGE - start - sum) / 2);
  const looks = payload.attention !== "none", least = Math.min(...wide);
  const top = aslant ? 46 : 0, named = payload.terms && looks ? KEYS : 0, low = top + named;
  /** @type {Rows} */
  const across = looks
    ? {
      words: top + 21,
      forward: [top + 44, top + 60],
      backward: [top + 72, top + 88],
      key: named && top + 133,
      query: low + 116,
      energy: [low + 126, low + 172],
      energyNumber: low + 187,
      weight: low + 209,
      ribbons: [low + 216, low + 324],
      context: [low + 325, low + 351],
    }
    : {
      words: top + 21,
      forward: [top + 44, top + 60],
      backward: [top + 84, top + 100],
      key: 0,
      query: 0,
      energy: [0, 0],
      energyNumber: 0,
      weight: 0,
      ribbons: [top + 62, top + 199],
      context: [top + 200, top + 226],
    };
  const decoder = besideAll(payload, width, across.context[1]);
  return {
    standing: false,
    width,
    height: decoder.titles[4][1] + 38,
    columns: inTurnFrom(wide, first),
    first,
    last: first + sum,
    cell: Math.max(Math.min(least - 14, 48), Math.min(least - 3, 16)),
    letters,
    aslant,
    dense: least < 26,
    across,
    flow: 116,
    decoder,
  };
}

/**
 * The decoder below a lying sentence: what goes in at the left, then the boxes, and the word at the right.
 * @param {DiagramPayload} payload
 * @param {number} width
 * @param {number} bottom of the context vector
 * @returns {DecoderPlan}
 */
function besideAll({ attention, terms }, width, bottom) {
  const left = GUTTER, room = Math.min(width, 1500) - left, top = bottom + 14;
  const boxes = top + 88;
  // Between the boxes there is at least room for what is written there, and what is left is shared out.
  const more = Math.max(0, room - 784);
  const after = left + 128 + 0.15 * more, readout = after + 204 + 0.29 * more, word = readout + 222 + 0.07 * more;
  return {
    before: { x: left, y: top, width: 104, height: 18 },
    previous: { x: left, y: top + 40, width: 104, height: 28 },
    after: { x: after, y: boxes, width: 132, height: 20 },
    readout: { x: readout, y: boxes, width: 132, height: 20 },
    word: { x: word, y: boxes - 8, width: 124, height: 36 },
    likely: [word + 136 + (terms ? CHANCE : 0), boxes + 7],
    foils: more > 150 ? [word + 136, boxes + 26] : [word + 72, boxes + 46],
    lanes: { state: top + 9, context: top + 32, word: top + 54 },
    queryFrom: [left + (attention === "none" ? 0 : 12), top],
    titles: { 4: [after, boxes + 44], 5: [readout, boxes + 44] },
  };
}

/**
 * @param {DiagramPayload} payload
 * @param {number} width
 * @returns {Plan}
 */
function standing(payload, width) {
  const { sources, attention, terms } = payload, looks = attention !== "none";
  const room = Math.max(13, Math.min(24, 460 / sources.length)), top = terms && looks ? 54 : 34;
  const wide = sources.map(() => room);
  const edge = width - 4, last = top + room * sources.length;
  /** @type {Rows} */
  const across = looks
    ? {
      words: 0,
      forward: [84, 114],
      backward: [120, 150],
      key: terms ? 45 : 0,
      query: 166,
      energy: [174, 208],
      energyNumber: 0,
      weight: 244,
      ribbons: [248, edge - 26],
      context: [edge - 25, edge - 3],
    }
    : {
      words: 0,
      forward: [84, 124],
      backward: [140, 180],
      key: 0,
      query: 0,
      energy: [0, 0],
      energyNumber: 0,
      weight: 0,
      ribbons: [126, edge - 26],
      context: [edge - 25, edge - 3],
    };
  const flow = Math.min(104, Math.max(room * sources.length, 60));
  const decoder = belowAll(width, Math.max(last, top + flow) + 26, Boolean(terms));
  return {
    standing: true,
    width,
    height: decoder.foils[1] + 10,
    columns: inTurnFrom(wide, top),
    first: top,
    last: Math.max(last, top + flow),
    cell: Math.min(room - 9, 14),
    letters: Math.min(14, room - 1),
    aslant: false,
    dense: room < 18,
    across,
    flow,
    decoder,
  };
}

/**
 * The decoder below a standing sentence: what goes in on top, then the boxes, and the word below them.
 * @param {number} width
 * @param {number} top
 * @param {boolean} named whether its terms need room
 * @returns {DecoderPlan}
 */
function belowAll(width, top, named) {
  const low = top + (named ? 8 : 0), boxes = low + 108, readout = width / 2 + 14;
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
    titles: { 4: [2, boxes + 42], 5: [readout, boxes + 102] },
  };
}
