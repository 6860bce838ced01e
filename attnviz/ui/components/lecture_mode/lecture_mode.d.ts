// State of lecture mode.

interface LectureState extends ComponentState {
  data: { page: string; language: string; words: Words };
  /** Timer that hides the controls. */
  idle: number;
}
