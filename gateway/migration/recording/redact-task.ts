import { createHash } from 'node:crypto';
import { bufferOf } from '../../../mappings/bytes.ts';
import type { CompiledContract } from '../../../mappings/compile.ts';
import type { Operation } from '../../../mappings/contract/model.ts';
import {
  compileRedaction,
  type ExchangeRedaction,
  type RedactExchange,
} from '../../../mappings/redact/message.ts';
import { CallError } from '../../call/error.ts';
import { compileReaders, type Readers, readSoapCall } from '../../protocols/read-call.ts';
import { Fault } from '../../protocols/soap/faults.ts';
import { versionNamed } from '../../protocols/soap/versions.ts';
import { compileHide } from '../../telemetry/secrets.ts';
import { unpack } from '../unpack.ts';
import type { CopiedMessage, RecordTask, RedactedExchange } from './record-task.ts';
import type { RecordedBody } from './recorded-body.ts';

// Redaction of recorded exchanges, in the thread of comparisons (G57).

/** Redacts the exchanges of one contract. */
export class ExchangeRedactor {
  readonly #compiled: CompiledContract;
  #readers: Readers | undefined;
  #redact: RedactExchange | undefined;

  constructor(compiled: CompiledContract) {
    this.#compiled = compiled;
  }

  async redact(task: RecordTask): Promise<RedactedExchange> {
    const { contract, limits } = this.#compiled;
    const operation = contract.operations.find(({ name }) => name === task.operation);
    const { request, legacy, new: fresh, secrets } = task;
    if (operation === undefined)
      return {
        request: withoutBytes(request.body),
        requestJson: undefined,
        legacy: legacy && withoutBytes(legacy.body),
        new: fresh && withoutBytes(fresh.body),
      };
    const { path, mode, key } = task.redaction;
    this.#redact ??= compileRedaction(contract, path, mode, key && bufferOf(key), limits);
    const found = new Set(secrets);
    let hide: ((text: string) => string) | undefined;
    const redaction = this.#redact(
      operation,
      (text) => {
        hide ??= compileHide([...found]);
        return hide(text);
      },
      (credential) => {
        if (!found.has(credential)) hide = undefined;
        found.add(credential);
      },
    );
    const soap = (side: 'input' | 'output', message: CopiedMessage): Promise<RecordedBody> =>
      this.#body(message, (bytes) => redaction.soap(side, bytes, message.contentType));
    const requestBody = await soap('input', request);
    return {
      request: requestBody,
      requestJson:
        requestBody.bytes === undefined ? undefined : await this.#requestJson(task, operation, redaction),
      legacy: legacy && (await soap('output', legacy)),
      new:
        fresh && (await this.#body(fresh, (bytes) => redaction.json('output', bytes, fresh.status >= 400))),
    };
  }

  async #body(
    { body, coding }: CopiedMessage,
    redact: (bytes: Buffer) => Buffer | undefined,
  ): Promise<RecordedBody> {
    const { size, bytes } = body;
    if (bytes === undefined) return body;
    const unpacked = await this.#unpacked(bytes, coding);
    if (unpacked === 'size') return { size, sha256: createHash('sha256').update(bytes).digest('hex') };
    if (unpacked.length === 0) return { size, bytes: new Uint8Array(0) };
    const redacted = redact(bufferOf(unpacked));
    return redacted === undefined ? { size } : { size, bytes: new Uint8Array(redacted) };
  }

  /** Returns a body without its content coding; as it is if it does not match, and `size` above `recordBytes`. */
  async #unpacked(body: Uint8Array<ArrayBuffer>, coding: string | undefined): Promise<Uint8Array | 'size'> {
    const { limits } = this.#compiled;
    const unpacked = await unpack(body, coding, limits.recordBytes, limits);
    return unpacked === 'unreadable' ? body : unpacked;
  }

  /** Returns the redacted JSON of a request; undefined for one that the contract refuses. */
  async #requestJson(
    { requestHead, version, endpoint, request: { body, coding } }: RecordTask,
    operation: Operation,
    redaction: ExchangeRedaction,
  ): Promise<string | undefined> {
    const unpacked = await this.#unpacked(body.bytes ?? new Uint8Array(0), coding);
    const compiled = this.#compiled.operations.get(operation.name);
    if (unpacked === 'size' || compiled === undefined) return undefined;
    this.#readers ??= compileReaders(this.#compiled, Number.POSITIVE_INFINITY);
    try {
      const address = { version: versionNamed(version), endpoint };
      const { input } = readSoapCall(this.#readers, requestHead, address, bufferOf(unpacked));
      return redaction.json('input', Buffer.from(compiled.jsonOf(input)))?.toString('utf8');
    } catch (error) {
      if (error instanceof Fault || error instanceof CallError) return undefined;
      throw error;
    }
  }
}

function withoutBytes({ size, sha256 }: RecordedBody): RecordedBody {
  return sha256 === undefined ? { size } : { size, sha256 };
}
