/** Messages of `cases.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  cases: "Cases",
  allCases: "all",
  compareCases: "compare",
  compareHint: "Show the differences between two cases",
  onlyCase: "Show what {0} runs; the rest is dimmed",
  caseFailed: "{0} failed: {1}",
  caseMode: "Case: {0}",
  casesMode: "Compared: {0} and {1}",
  onlyIn: "only {0}: {1}",
  counted: "Boxes and edges; a closed box counts if something in it does",
  sizesDiffer: "sizes differ: {0}",
});
