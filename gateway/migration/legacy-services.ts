import type { LegacyPlan } from '../process/legacy-plan.ts';
import type { LegacyService } from './legacy-service.ts';

/** Legacy services of a process, one for each address and connection settings. */
export class LegacyServices {
  readonly #known = new Map<string, LegacyService>();
  /** Removed services, and the timers that close them. */
  readonly #removed = new Map<LegacyService, NodeJS.Timeout>();

  /** Returns the service of a plan. Plans with the same connection settings have the same service. */
  at(plan: LegacyPlan, create: () => LegacyService): LegacyService {
    const key = keyOf(plan);
    const service = this.#known.get(key) ?? create();
    this.#known.set(key, service);
    return service;
  }

  /**
   * Removes the services of other plans. It closes each one after `totalMs`, because requests that arrived before may
   * still call it.
   */
  keepOnly(plans: readonly LegacyPlan[]): void {
    const keys = new Set(plans.map(keyOf));
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

function keyOf({ url, service, limits }: LegacyPlan): string {
  return JSON.stringify([url, service?.tls, service?.proxy, limits]);
}
