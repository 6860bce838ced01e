// What the summary of a step is given and what it keeps.

interface StageTitle {
  number: number;
  place: number;
  title: string;
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
  steps: StepsFacts | Place;
}

interface SummaryState extends Fetching<StepsFacts> {
  titles?: string;
  /** Whether the stage of a link was gone to. */
  placed?: boolean;
}
