/** The table of docs/embedding.md: modules, each with the values that it exports, sorted. */
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

/** A program that imports a module and prints the names of its values, sorted, as JSON. */
export function printNames(module: string): string {
  return `import * as all from '${module}'; console.log(JSON.stringify(Object.keys(all).toSorted()));`;
}
