// State of lecture mode.

interface LectureState {
  words: Words;
  /** Timer that hides the controls. */
  idle: number;
  stop(): void;
}
