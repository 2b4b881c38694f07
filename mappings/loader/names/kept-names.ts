import type { ContractNames } from './names.ts';

/** What `names.lock` keeps of names that would be made otherwise today: such things are called as they were. */
export interface KeptNames {
  /** Whether a type that was named after an operation, or one in it, has a name that begins so. */
  readonly keepsType: (name: string) => boolean;
  /** Whether the variant at a place was called so, such as `Option7c2d`. */
  readonly keepsOption: (label: string, pointer: string) => boolean;
}

/** Looks into the names that are kept, once. */
export function keptNames({ types, members }: ContractNames): KeptNames {
  const keys = [...types.keys(), ...members.keys()];
  const inline = keys.flatMap((key) => {
    const at = key.indexOf('#', 1);
    return at === -1 ? [] : [key.slice(at + 1)];
  });
  // a type's key is its place, and what it was named after
  const options = new Set(
    keys.flatMap((key) => {
      const place = key.slice(0, key.indexOf('#', 1) + 1);
      return place === '' ? [] : (key.match(/Option[0-9a-f]{4}/g) ?? []).map((label) => place + label);
    }),
  );
  return {
    keepsType: (name) => inline.some((kept) => kept.startsWith(name)),
    keepsOption: (label, pointer) => options.has(`${pointer}#${label}`),
  };
}
