// Payload and state of the summary of a step.

interface StageTitle {
  number: number;
  place: number;
  title: string;
  /** The title without the term of the field. */
  name: string;
}

interface StepFacts {
  heading: string;
  part: string;
  sentence: string;
  outcomes: string[];
}

/** By step. */
type StepsFacts = Record<string, StepFacts>;

interface SummaryPayload {
  stages: StageTitle[];
  steps: StepsFacts | PayloadAddress;
}

interface SummaryState extends FetchingState<StepsFacts> {
  titles?: string;
  /** Whether the stage of a link has been handled. */
  placed?: boolean;
  /** For what the buttons are marked: the stage gone to, the tour and lecture mode. */
  marked?: string;
}
