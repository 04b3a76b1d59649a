/** Words of the picture that are no names of the model. */

/** In a site's language, by the table that element/strings.ts tells of; builds draw in English. */
export function word(key: string, english: string): string {
  const { modelDiagramsStrings } = globalThis as { modelDiagramsStrings?: Partial<Record<string, string>> };
  return modelDiagramsStrings?.[key] || english;
}
