import type { Outcome, Reason, Tif } from '../../contract/index.ts';
import type { BookSide } from './book.ts';

/** A request as it left the strategy: raw floats, dollars and shares, not yet believed. */
export interface Request {
  readonly number: number;
  readonly kind: 'order' | 'cancel' | 'cancel_all' | 'merge' | 'split';
  /** Index of the market; -1: unknown, or all markets for cancel_all. */
  readonly market: number;
  /** Null: not understood; for cancel_all, both. */
  readonly side: 'buy' | 'sell' | null;
  readonly outcome: Outcome | null;
  readonly tif: Tif | null;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  /** Null: a market order. */
  readonly limit: number | null;
  /** Shares, or dollars where `by_amount`. */
  readonly size: number;
  readonly by_amount: boolean;
  readonly expire_ms: number;
  /** The order that a cancel names. */
  readonly target: number;
  readonly tag: string;
}

export type OrderStatus = 'sent' | 'held' | 'resting' | 'filled' | 'cancelled' | 'expired' | 'rejected';

/** An order from its arrival on. */
export interface Order {
  readonly number: number;
  readonly id: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: 'buy' | 'sell';
  /** Where it stands in the canonical book. */
  readonly bookSide: BookSide;
  readonly price: number;
  /** In the terms of its outcome; null for a market order. */
  readonly limit: number | null;
  readonly tif: Tif;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly expire_ms: number;
  readonly tag: string;
  readonly submitted_ms: number;
  readonly arrived_ms: number;
  /** Shares asked for; for an order by amount, what it has and could still have at its limit. */
  size: number;
  remaining: number;
  filled: number;
  /** Dollars left to spend, micro; null for an order by size. */
  money: number | null;
  status: OrderStatus;
  reason: Reason;
  done_ms: number | null;
  release_ms: number;
  /** Others' shares that stand before it at its price. */
  ahead: number;
  /** Cash and shares that it holds. */
  reserved: number;
  locked: number;
}

export const isOpen = (order: Order): boolean => order.status === 'held' || order.status === 'resting';
