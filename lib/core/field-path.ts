/**
 * The keys of a field's path: `[]` stands for each element of a list, `*` for each member of a map
 * (`settings.managedComputersAllowedEmails[]`, `report.*.rationale`).
 */
export function keysOf(path: string): string[] {
  return path.split('.').flatMap((part) => {
    const name = part.replace(/(?:\[\])+$/, '')
    return [name, ...Array<string>((part.length - name.length) / 2).fill('[]')].filter((key) => key !== '')
  })
}
