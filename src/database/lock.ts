import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * Makes this process the only one that uses `folder`, which is made if it is not there. Returns what ends that. Throws
 * an Error when another one uses it, or is just about to.
 *
 * Everyone listens on a socket of their own in the folder, and then looks whether another one answers: so of two that
 * come at once, at least one sees the other. Sockets answer for as long as their process lives and no longer, also
 * across containers that share the folder.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const handle = await open(folder);
  // The address of a socket is at most some hundred bytes long; this one is always short.
  const base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
  const own = `${randomBytes(6).toString('hex')}.lock`;
  const server = await listen(join(base, own));
  const unlock = async () => {
    await new Promise((resolve) => server.close(resolve));
    await handle.close();
  };
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.lock') || name === own) continue;
    if (await answers(join(base, name))) {
      await unlock();
      throw new Error(
        `${folder} is in use by another process. It can be used by one at a time: stop the other one, or set DATABASE_URL to a Postgres server, which serves many.`,
      );
    }
    await rm(join(folder, name), { force: true });
  }
  return unlock;
}

function listen(address: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(address, () => resolve(server));
  });
}

/** Anything but a clear no counts as a yes. */
function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}
