// Numbers as people read them.

const kPrefixes = ["", "k", "M", "G", "T"];

/** 1234567 with "bit/s": "1.23 Mbit/s". */
export function scaled(value, unit) {
  let prefix = 0;
  while (Math.abs(value) >= 1000 && prefix < kPrefixes.length - 1) {
    value /= 1000;
    ++prefix;
  }
  const digits = value === 0 || Math.abs(value) >= 100 || Number.isInteger(value) && prefix === 0 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${kPrefixes[prefix]}${unit}`.trim();
}

export const count = (value) => Number(value).toLocaleString("en-GB").replaceAll(",", "\u202f");

export const percent = (share) => share === 0 ? "0 %" : `${(share * 100).toPrecision(share > 0 && share < 0.01 ? 2 : 3)} %`;

/** Microseconds: "250 µs", "1.5 ms", "2 s". */
export function duration(us) {
  if (us < 0) return "due";
  if (us === 0) return "0 µs";
  if (us < 1000) return `${us < 10 ? us.toFixed(1) : Math.round(us)} µs`;
  if (us < 1e6) return `${(us / 1000).toPrecision(3)} ms`;
  return `${(us / 1e6).toPrecision(3)} s`;
}

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  if (value < 1 << 20) return `${+(value / 1024).toFixed(1)} KiB`;
  return `${+(value / (1 << 20)).toFixed(1)} MiB`;
}

/** PSNs are 24 bits and wrap. */
export const psnDistance = (from, to) => (to - from) & 0xffffff;
export const psnSum = (psn, packets) => (psn + packets) & 0xffffff;
