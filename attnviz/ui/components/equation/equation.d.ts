// Payload and state of an equation.

interface EquationPayload {
  /** Where KaTeX is, below the page. */
  katex: string;
  /** LaTeX and a sentence, with a ⟦place⟧ for each text that differs. */
  latex: string;
  note: string;
  /** The steps of the texts, in their order. */
  steps: number[];
  ofStep: Record<string, string[]>;
  ofSource: Record<string, string[]>;
  /** By step and source piece. */
  ofCell: Record<string, string[][]>;
}

interface EquationState extends FetchingState<EquationPayload> {
  latex?: string;
}

interface Window {
  katex?: KatexLibrary;
}

/** The part of KaTeX that is used. */
interface KatexLibrary {
  render(
    latex: string,
    node: HTMLElement,
    options: { displayMode: boolean; throwOnError: boolean; output?: "mathml" | "htmlAndMathml" },
  ): void;
}
