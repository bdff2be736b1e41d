import type { FolderStore } from '../store/folder.ts';
import { OBJECTS } from '../store/signed.ts';
import { Refusal } from './errors.ts';
import type { App } from './parts.ts';

/** What goes over a slow line may take as long as its link is good. */
const UPLOAD_MS = 300_000;

/** Serves the signed links of a folder. They are not for people, and no part of the document. */
export function objects(app: App, store: FolderStore): void {
  // Bodies go to the store as they come.
  app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('*', (_request, _payload, done) => done(null));
    inner.route({
      method: ['GET', 'HEAD', 'PUT'],
      url: `${OBJECTS}*`,
      schema: { hide: true } as object,
      config: { answer_ms: UPLOAD_MS },
      handler: async (request, reply) => {
        const link = store.verify(request.method, request.url);
        if (!link.ok) throw new Refusal(403, `this link is ${link.reason}: ask for a new one`);
        if (link.bytes !== null) {
          await store.receive(link.key, link.bytes, request.raw);
          return reply.code(200).send();
        }
        const served = await store.serve(link, request.headers.range);
        if (served === null) throw new Refusal(404, 'no such object');
        return reply
          .code(served.status)
          .headers(served.headers)
          .send(served.body ?? undefined);
      },
    });
  });
}
