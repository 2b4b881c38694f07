import { readdirSync, readFileSync } from 'node:fs';

/** Texts of pages in one language. */
export interface Texts {
  /** Language tag, for example `en`. */
  readonly language: string;
  /** The language's name in that language. */
  readonly name: string;
  /**
   * Returns the text of a key, with `{name}` replaced by values. Falls back to English. Throws a RangeError for an
   * unknown key.
   */
  readonly say: (key: string, values?: Readonly<Record<string, string | number>>) => string;
  /** Returns all texts whose keys start with the prefix, for the pages' script. */
  readonly below: (prefix: string) => Readonly<Record<string, string>>;
}

const folder = new URL('../texts/', import.meta.url);

/**
 * Reads the languages. Each file `de.json` in console/texts/ is a language: a flat object of texts by key, whose key
 * `language` is the language's own name. English comes first.
 */
function readLanguages(): readonly Texts[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const read = (file: string): Readonly<Record<string, string>> =>
    JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  const english = read('en.json');
  return files
    .map((file) => textsOf(file.slice(0, -'.json'.length), { ...english, ...read(file) }))
    .toSorted((a, b) => Number(b.language === 'en') - Number(a.language === 'en'));
}

function textsOf(language: string, texts: Readonly<Record<string, string>>): Texts {
  return {
    language,
    name: texts.language ?? language,
    say: (key, values = {}) => {
      const text = texts[key];
      if (text === undefined) throw new RangeError(`texts: expected a text for ${key}, got none`);
      return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
    },
    below: (prefix) => Object.fromEntries(Object.entries(texts).filter(([key]) => key.startsWith(prefix))),
  };
}

let known: readonly Texts[] | undefined;

/** Returns all languages, English first. They are read from their files on first use. */
export function languages(): readonly Texts[] {
  known ??= readLanguages();
  return known;
}

/**
 * Returns the language for a visitor: the one that a link chose, else the best match of Accept-Language (RFC 9110,
 * 12.5.4), else English.
 *
 * @param accepted the header's value; only the first 32 ranges are used
 */
export function languageFor(chosen: string | null, accepted: string | undefined): Texts {
  const all = languages();
  const [english] = all;
  if (english === undefined) throw new RangeError('texts: expected English, got no language');
  const named = all.find(({ language }) => language === chosen);
  if (named !== undefined) return named;
  const ranges = (accepted ?? '')
    .split(',', 32)
    .map((range) => {
      const [name = '', ...parameters] = range.trim().toLowerCase().split(';');
      const weight = parameters.find((parameter) => parameter.trim().startsWith('q='));
      return { name, quality: weight === undefined ? 1 : Number(weight.trim().slice(2)) || 0 };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  for (const { name } of ranges) {
    const found = all.find(({ language }) => name === language || name.startsWith(`${language}-`));
    if (found !== undefined) return found;
  }
  return english;
}
