/** A service of a process. */
export interface Closable {
  readonly limits: { readonly totalMs: number };
  readonly close: () => Promise<void>;
}

/** Services of a process, one for each address and connection settings, which the key describes. */
export class ServicesByKey<Service extends Closable> {
  readonly #known = new Map<string, Service>();
  /** Removed services, and the timers that close them. */
  readonly #removed = new Map<Service, NodeJS.Timeout>();

  /** Returns the service with a key. It is created at its first use. */
  at(key: string, create: () => Service): Service {
    const service = this.#known.get(key) ?? create();
    this.#known.set(key, service);
    return service;
  }

  all(): Iterable<Service> {
    return this.#known.values();
  }

  /**
   * Removes the services with other keys. It closes each one after `totalMs`, because requests that arrived before may
   * still call it.
   */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const [key, service] of this.#known) {
      if (keys.has(key)) continue;
      this.#known.delete(key);
      const close = async (): Promise<void> => {
        this.#removed.delete(service);
        await service.close();
      };
      this.#removed.set(service, setTimeout(close, service.limits.totalMs).unref());
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#removed.values()) clearTimeout(timer);
    for (const service of [...this.#known.values(), ...this.#removed.keys()]) await service.close();
  }
}
