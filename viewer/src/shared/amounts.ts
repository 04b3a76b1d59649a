/** Amounts as text. `common/amounts.py` writes the same; `tests/amounts.json` tests both. */
import { strings } from "./strings.js";

/** The number of parameters in a box: `1.2B`. The same in every language, so that pictures are, too. */
export function formatCount(count: number): string {
  const [digits, unit] = scaled(count, ["", "K", "M", "B", "T"]);
  return `${digits}${unit}`;
}

/** A number of floating-point operations: `4.09 G`, or `4.09 GFLOPs` with this unit. */
export function formatFlops(count: number, unit = ""): string {
  const [digits, prefix] = scaled(count, ["", "k", "M", "G", "T", "P"]);
  return `${local(digits)} ${prefix}${unit}`.trimEnd();
}

/** An amount of memory: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const [digits, unit] = scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
  return `${local(digits)} ${unit}`;
}

/** A duration: `4.09 ms`. */
export function formatTime(nanoseconds: number): string {
  const [digits, unit] = scaled(nanoseconds, ["ns", "µs", "ms", "s"]);
  return `${local(digits)} ${unit}`;
}

/** `1019904` → `1,019,904`. */
export function exact(count: number): string {
  return count.toLocaleString(locale());
}

/** `12 %`, `0.4 %`, `< 0.1 %`. */
export function percent(share: number): string {
  const value = 100 * share;
  const digits = value < 9.95 ? 1 : 0;
  const written = (amount: number) => `${amount.toLocaleString(locale(), { maximumFractionDigits: digits })} %`;
  return value > 0 && value < 0.1 ? `< ${written(0.1)}` : written(value);
}

/** A share, to follow an amount. */
export function ofWhole(part: number, whole: number | null | undefined): string {
  return whole ? ` (${percent(part / whole)})` : "";
}

/** A number with three digits, in the site's language. */
export function formatNumber(value: number): string {
  return local(threeDigits(value));
}

function scaled(amount: number, units: readonly string[], step = 1000): [number, string] {
  let value = amount;
  let at = 0;
  // 999,500 is 1M, not 1000K
  while (value >= step - 0.5 && at + 1 < units.length) {
    value /= step;
    at += 1;
  }
  return [threeDigits(value), units[at] ?? ""];
}

function threeDigits(value: number): number {
  const factor = value < 9.995 ? 100 : value < 99.95 ? 10 : 1;
  return Math.round(value * factor) / factor;
}

/** A number in the site's language. */
export function localNumber(value: number, options: Intl.NumberFormatOptions): string {
  return value.toLocaleString(locale(), options);
}

function local(value: number): string {
  return localNumber(value, { useGrouping: false });
}

/** The language tag for numbers: the site's, or English if that is invalid. */
function locale(): string {
  try {
    return Intl.getCanonicalLocales(strings.numbers)[0] ?? "en";
  } catch {
    return "en";
  }
}
