/** Numbers of any size as short text. */
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** `10⁻³`. */
export function power(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)] ?? "").join("");
  return exponent === 0 ? "1" : exponent === 1 ? "10" : `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** Two significant digits: pages contain no more. */
export function short(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const isExtreme = size < 1e-3 || size >= 1e5;
  const text = isExtreme ? value.toExponential(1).replace(".0e", "e") : String(Number(value.toPrecision(2)));
  return text.replaceAll("-", "−");
}
