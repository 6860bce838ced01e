// State of lecture mode.

interface LectureState {
  words: Words;
  stop(): void;
}
