/** Follows growing recordings: the server sends them again, reduced, whenever a file has grown. */
import { words } from "../../shared/recording_strings.js";
import { fill } from "../../shared/strings.js";
import type { Widget } from "../widget.js";
import type { Recording } from "./data.js";
import type { Watching } from "./watching.js";

export function follow(widget: Widget, watching: Watching, url: string): void {
  watching.bar.note = words.waiting;
  widget.whileConnected((signal) => {
    // reconnects by itself, and reports the last event to the server
    const source = new EventSource(url);
    signal.addEventListener("abort", () => source.close());
    source.addEventListener("recording", ({ data }: MessageEvent<string>) => {
      watching.update(JSON.parse(data) as Recording[]);
      watching.bar.note = words.live;
    });
    source.addEventListener("problem", ({ data }: MessageEvent<string>) => {
      watching.bar.note = fill(words.ended, JSON.parse(data) as string);
    });
    source.addEventListener("error", () => {
      watching.bar.note = words.lost;
    });
  });
}
