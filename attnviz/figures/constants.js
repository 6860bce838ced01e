// Constants of the figures for the scripts of the page: opacities, widths, limits, and the integer for nan.
// Each equals the one of the same name in Python (`tests/figures/test_colours.py` compares them).

export const BAND = 0.16;
export const CELL_FRAME_WIDTH = 3.5;
export const MISSING = -32768;
export const MOST_ROWS = 48;
export const MOST_SHADE = 0.36;
export const PALE = 0.8;
export const ROW_FRAME_WIDTH = 2.5;
export const STRONGEST = 0.98;
export const VEIL = 0.78;
