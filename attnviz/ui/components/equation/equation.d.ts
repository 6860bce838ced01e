// What an equation is given and what it keeps.

interface EquationPayload {
  /** Where KaTeX is, below the page. */
  katex: string;
  /** LaTeX and a sentence, with a ⟦place⟧ for each text that differs. */
  latex: string;
  note: string;
  /** The steps that the texts are of, in their order. */
  steps: number[];
  ofStep: Record<string, string[]>;
  ofSource: Record<string, string[]>;
  /** By step and source piece. */
  ofCell: Record<string, string[][]>;
}

interface EquationState extends Fetching<EquationPayload> {
  latex?: string;
}

interface Window {
  katex?: KatexLibrary;
}

/** As much of KaTeX as we use. */
interface KatexLibrary {
  render(
    latex: string,
    node: HTMLElement,
    options: { displayMode: boolean; throwOnError: boolean; output?: "mathml" },
  ): void;
}
