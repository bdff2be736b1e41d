import { CommandFlag, CommandKind, NO_MARKET, outcomeCodes, sideCodes, tifCodes } from './codes.mjs';
import { cut, StrategyError } from './errors.mjs';

const COMMAND_BYTES = 40;

/** A number from anything that is one; NaN from all else, so that a bad order is a rejected one. */
export function number(value) {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : Number.NaN;
}

/** The bytes of a command; fields that are left out are 0, the market is none. */
export function pack({
  number,
  target = 0,
  kind,
  side = 0,
  outcome = 0,
  tif = 0,
  flags = 0,
  market = NO_MARKET,
  size = 0,
  limit = 0,
  expire = 0,
  tag = null,
}) {
  const bytes = Buffer.alloc(COMMAND_BYTES + (tag?.length ?? 0));
  bytes.writeUInt32LE(number, 0);
  bytes.writeUInt32LE(target, 4);
  bytes[8] = kind;
  bytes[9] = side;
  bytes[10] = outcome;
  bytes[11] = tif;
  bytes[12] = flags;
  bytes[13] = tag?.length ?? 0;
  bytes.writeUInt16LE(market, 14);
  bytes.writeDoubleLE(size, 16);
  bytes.writeDoubleLE(limit, 24);
  bytes.writeDoubleLE(expire, 32);
  if (tag) bytes.set(tag, COMMAND_BYTES);
  return bytes;
}

const orderKeys = [
  'market',
  'outcome',
  'size',
  'amount',
  'limit',
  'tif',
  'postOnly',
  'reduceOnly',
  'expireAtMs',
  'tag',
];

/** Throws at an unknown key: with `limit` misspelt, an order would be a market order. */
export function checkOrder(side, wanted) {
  const unknown = Object.keys(wanted).find((key) => !orderKeys.includes(key));
  if (unknown === undefined) return;
  throw new StrategyError(
    `ctx.${side}: unknown key '${unknown}'; it takes one object of ${orderKeys.join(', ')}`,
  );
}

/** The command of an order as a strategy words it, and what is known of the order from now on. */
export function orderCommand(side, wanted, sent, index, tagBytes) {
  const { outcome, size, amount, limit, tif = 'gtc', postOnly, reduceOnly, expireAtMs, tag } = wanted;
  let flags = 0;
  if (postOnly) flags |= CommandFlag.post_only;
  if (reduceOnly) flags |= CommandFlag.reduce_only;
  if (limit != null) flags |= CommandFlag.limit;
  if (amount != null) flags |= CommandFlag.amount;
  const shares = size != null && amount != null ? Number.NaN : number(amount ?? size);
  const label = tag == null ? null : cut(String(tag), tagBytes, '');
  const packed = pack({
    number: sent,
    kind: CommandKind.order,
    side: sideCodes.get(side),
    outcome: outcomeCodes.get(outcome) ?? 0,
    tif: tifCodes.get(tif) ?? 0,
    flags,
    market: index,
    size: shares,
    limit: limit == null ? 0 : number(limit),
    expire: expireAtMs == null ? 0 : number(expireAtMs),
    tag: label,
  });
  const known = {
    outcome: outcomeCodes.has(outcome) ? outcome : null,
    side,
    limit: limit == null ? null : number(limit),
    size: amount == null ? shares : null,
    tag: label?.toString('utf8') ?? null,
  };
  return [packed, known];
}
