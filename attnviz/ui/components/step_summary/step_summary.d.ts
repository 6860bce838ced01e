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

interface SummaryRecord {
  stages: StageTitle[];
  steps: Record<string, StepFacts>;
  /** The stage gone to. */
  stage: number | null;
}

interface SummaryState extends Following {
  data: SummaryRecord;
  titles?: string;
}
