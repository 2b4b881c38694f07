import type { FormatName } from '../../contract/model.ts';

/** Formats of strings that are checked (JSON Schema Validation 2020-12, 7.3), each in linear time. */
const formats = {
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$/.test(text),
  ipv6: (text) => /^[0-9a-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`),
  hostname: (text) =>
    text.length <= 253 &&
    /^[a-z\d-]+(?:\.[a-z\d-]+)*$/i.test(text) &&
    text.split('.').every((label) => label.length <= 63 && !label.startsWith('-') && !label.endsWith('-')),
  email: (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => /^[a-z][a-z\d+.-]*:[!#-;=?-[\]_a-z~]*$/i.test(text),
  time: (text) =>
    /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.test(text),
  duration: (text) =>
    /^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/.test(text) &&
    !text.endsWith('P') &&
    !text.endsWith('T'),
} as const satisfies Readonly<Record<FormatName, (text: string) => boolean>>;

/** Returns true for the name of a format that is checked. Other formats are only annotations. */
export function isFormat(name: string): name is FormatName {
  return Object.hasOwn(formats, name);
}

/** Returns true if a text has the format. */
export function isOfFormat(name: FormatName, text: string): boolean {
  return formats[name](text);
}
