import { type Certificate, parseCertificate } from '../../security/certificate.ts';
import { rsaBits, rsaRange } from '../../security/key-size.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import type { Report } from '../document/error.ts';
import { shown } from '../document/node.ts';

/** Reads files that an overlay names, and collects their paths. */
export class NamedFiles {
  readonly paths: string[] = [];
  readonly #readBytes: ReadBytes;
  readonly #report: Report;

  constructor(readBytes: ReadBytes, report: Report) {
    this.#readBytes = readBytes;
    this.#report = report;
  }

  /**
   * Returns the DER values in the files of a key. Files without such values are reported.
   *
   * @param label label of PEM blocks, such as `CERTIFICATE`
   * @param content the values for an error message, such as `certificates`
   */
  read(
    at: string,
    label: string,
    content: string,
    given: string | readonly string[] | undefined,
  ): readonly Buffer[] {
    const names = given === undefined ? [] : typeof given === 'string' ? [given] : given;
    return names.flatMap((name, index) => {
      const pointer = typeof given === 'string' ? at : `${at}/${index}`;
      const bytes = this.bytes(pointer, name);
      if (bytes === undefined) return [];
      const values = valuesIn(bytes, label);
      if (values.length === 0) this.#report(pointer, `expected ${content} in PEM or DER, got ${shown(name)}`);
      return values;
    });
  }

  /** Returns the X.509 certificates in the files of a key. Certificates that no signature may use are reported. */
  certificates(at: string, given: string | readonly string[] | undefined): readonly Certificate[] {
    return this.read(at, 'CERTIFICATE', 'certificates', given).flatMap((bytes) => {
      const certificate = parseCertificate(bytes);
      if (certificate === undefined) {
        this.#report(at, 'expected X.509 certificates, got other content');
        return [];
      }
      const bits = rsaBits(certificate.publicKey);
      const { least, most } = rsaRange;
      if (bits !== undefined && (bits < least || bits > most))
        this.#report(at, `expected RSA keys of ${least} to ${most} bits, got ${bits} bits`);
      return [certificate];
    });
  }

  /** Returns the bytes of a file. An unreadable file is reported. */
  bytes(at: string, name: string, isSecret = false): Buffer | undefined {
    const { path, bytes, hasOtherReaders } = this.#readBytes(name);
    this.paths.push(path);
    if (typeof bytes === 'string') {
      this.#report(at, `expected a readable file, got ${bytes}: ${shown(name)}`);
      return undefined;
    }
    if (isSecret && hasOtherReaders === true)
      this.#report(at, `expected a file that only its owner can read (chmod 600), got ${shown(name)}`);
    return bytes;
  }
}

/** Returns the DER values in a file: the blocks of a PEM text with a label, or the whole file. */
function valuesIn(bytes: Buffer, label: string): readonly Buffer[] {
  if (bytes[0] === 0x30) return [bytes];
  return bytes
    .toString('latin1')
    .split('-----BEGIN ')
    .filter((block) => block.startsWith(`${label}-----`))
    .map((block) => Buffer.from(block.slice(label.length + 5).split('-----')[0] ?? '', 'base64'));
}
