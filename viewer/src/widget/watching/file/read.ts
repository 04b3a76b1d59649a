/** A recording's file → what pages show of it, in the browser; the same as `modeldiagrams.load_recording` reads. */
import type { Finding } from "../../../../generated/recording.js";
import { words } from "../../../shared/recording_strings.js";
import type { Recording } from "../data.js";
import { type AnomalyHead, Decoder, type Loss, type MomentHead, type RunHead } from "./decoder.js";
import { type Frame, framesOf, isRecording, unpackedFrame } from "./frames.js";
import { Merging } from "./merging.js";
import { pageOf } from "./page.js";

const MOST_MOMENTS = 200;
const TRAIN = "train";

/** A moment whose rows were not read yet: those of all together take much memory. */
type Unread = MomentHead & { frame: Frame };

/** What the frames say together. */
interface Whole {
  runs: RunHead[];
  moments: Unread[];
  anomalies: AnomalyHead[];
  losses: Loss[];
}

/**
 * Read a file; unpacking lets the page breathe after each frame.
 *
 * @param nodes ids of all nodes of the graph, in order
 * @throws SyntaxError or RangeError where it is not a recording, or frames don't go together
 */
export async function readRecording(name: string, file: Uint8Array, nodes: readonly string[]): Promise<Recording> {
  if (!isRecording(file)) throw new SyntaxError(words.noRecording);
  const decoder = new Decoder();
  const whole: Whole = { runs: [], moments: [], anomalies: [], losses: [] };
  for (const frame of framesOf(file)) {
    const { record, losses } = decoder.head(await unpackedFrame(file, frame));
    add(whole, record, losses, frame);
  }
  const merging = new Merging(MOST_MOMENTS);
  const moments = whole.moments.filter(({ phase = TRAIN }) => phase === TRAIN).sort((a, b) => a.step - b.step);
  for (const { step, last = step, frame } of moments) {
    const rows = decoder.rows(await unpackedFrame(file, frame));
    merging.add({ step, last, rows: new Map([...rows].map(([key, row]) => [key.join("\n"), { key, row }])) });
  }
  const rest = { name, losses: whole.losses, findings: findingsOf(whole), notes: notesOf(whole) };
  return pageOf(merging.moments(), nodes, rest);
}

/** Where a run went back to an earlier step, what it wrote later counts. */
function add(
  whole: Whole,
  record: MomentHead | RunHead | AnomalyHead | undefined,
  losses: readonly Loss[],
  frame: Frame,
): void {
  if (record?.record === "run") {
    const isBefore = ({ step }: { step: number }) => step < record.step;
    whole.moments = whole.moments.filter(isBefore);
    whole.anomalies = whole.anomalies.filter(isBefore);
    whole.losses = whole.losses.filter(isBefore);
    whole.runs.push(record);
  } else if (record?.record === "moment") {
    const isOther = ({ step, phase }: MomentHead) => phase !== record.phase || step < record.step;
    if (!whole.moments.every(isOther)) whole.moments = whole.moments.filter(isOther);
    whole.moments.push({ ...record, frame });
  } else if (record?.record === "anomaly") {
    whole.anomalies.push(record);
  }
  const [first] = losses;
  if (first !== undefined && (whole.losses.at(-1)?.step ?? -1) >= first.step) {
    whole.losses = whole.losses.filter(({ step }) => step < first.step);
  }
  for (const loss of losses) whole.losses.push(loss);
}

function findingsOf({ anomalies }: Whole): Finding[] {
  return anomalies.map(({ step, node = "", kind, what = "", text = "" }) => ({ step, node, kind, what, text }));
}

function notesOf({ runs, moments }: Whole): string[] {
  const notes = new Set(runs.flatMap(({ notes = [] }) => notes));
  if (moments.some(({ traced }) => traced)) notes.add(words.wasTraced);
  // those of a reduced recording were looked for
  if (moments.every(({ last }) => last === undefined)) notes.add(words.onlyNoticed);
  return [...notes];
}
