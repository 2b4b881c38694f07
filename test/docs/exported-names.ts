/** Reads the table of docs/embedding.md: the exported values of each module, sorted. */
export function documentedNames(page: string): ReadonlyMap<string, readonly string[]> {
  const own = new Map<string, readonly string[]>();
  for (const [, module = '', names = ''] of page.matchAll(
    /^\| `(soapbridge[^`]*)` \| [^|]* \| ([^|]*) \|$/gm,
  ))
    own.set(
      module,
      [...names.matchAll(/`([\w/]+)`/g)].map(([, name = '']) => name),
    );
  const of = (module: string): readonly string[] =>
    (own.get(module) ?? []).flatMap((name) => (name.includes('/') ? of(name) : [name]));
  return new Map([...own.keys()].map((module) => [module, of(module).toSorted()]));
}

/** Returns a program that prints the sorted names of a module's exported values as JSON. */
export function printNames(module: string): string {
  return `import * as all from '${module}'; console.log(JSON.stringify(Object.keys(all).toSorted()));`;
}
