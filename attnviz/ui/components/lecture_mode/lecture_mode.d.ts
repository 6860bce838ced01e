// What lecture mode keeps of itself.

interface LectureState {
  words: Words;
  stop(): void;
}
