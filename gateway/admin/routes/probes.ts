import type { AdminReply, AdminRoute } from '../route.ts';

/** Liveness, readiness and metrics. Orchestrators and Prometheus call them by any name of the host. */
export const probes: readonly AdminRoute[] = [
  probe('/healthz', 'Liveness.', () => plain(200, 'ok\n')),
  probe('/readyz', 'Readiness.', ({ isReady, unreadyReason }) => {
    const reason = isReady() ? unreadyReason?.() : 'not ready';
    return reason === undefined ? plain(200, 'ready\n') : plain(503, `${reason}\n`);
  }),
  {
    ...probe('/metrics', 'Metrics in the text format of Prometheus.', async ({ metrics }) => {
      const page = await metrics();
      if (page === undefined) return plain(503, 'not ready\n');
      return { status: 200, text: page, type: 'text/plain; version=0.0.4; charset=utf-8' };
    }),
    access: 'read',
  },
];

function probe(
  path: string,
  summary: string,
  answer: (state: Parameters<AdminRoute['answer']>[1]) => AdminReply | Promise<AdminReply>,
): AdminRoute {
  return {
    method: 'GET',
    path,
    summary,
    access: 'open',
    acceptsAnyHost: true,
    answer: (_request, state) => answer(state),
  };
}

function plain(status: number, text: string): AdminReply {
  return { status, text, type: 'text/plain; charset=utf-8' };
}
