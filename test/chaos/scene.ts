import { afterAll, test } from 'vitest';
import { Ground } from './ground.ts';
import { calm, sound } from './sound.ts';
import { until } from './until.ts';

afterAll(() => calm.close());

/** At once: enough that nobody only waits, few enough that nobody's lease ends for want of a processor. */
const SCENES = 3;
let scenes = 0;

/** A case with servers of its own. Whatever happens in it, the ground is sound at its end. */
export function chaos(
  title: string,
  play: (ground: Ground, customer: string) => Promise<void>,
  folder?: string,
): void {
  test.concurrent(title, async () => {
    await until('there is room', () => scenes < SCENES, { most_ms: 300_000 });
    scenes += 1;
    const ground = await Ground.open(folder);
    try {
      await play(ground, await ground.customer('first', 1_000));
      await sound(ground);
    } finally {
      await ground.close();
      scenes -= 1;
    }
  }, 300_000);
}
