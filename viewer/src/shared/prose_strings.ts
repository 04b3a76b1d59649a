/** Messages of `prose.js`. */
const ENGLISH = {
  tour: "Steps of the tour",
  previousStep: "Previous step (P)",
  nextStep: "Next step (N)",
  stepOf: "Step {0} of {1}",
};

const translated = globalThis.modelDiagramsStrings as Partial<typeof ENGLISH> | undefined;

export const words: Readonly<typeof ENGLISH> = { ...ENGLISH, ...translated };
