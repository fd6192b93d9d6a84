/** The servers of these tests: VOUCH_URL is one of `vouch serve`, whose judge "broken" gives no readable answer. */
import { Vouch } from "vouching";

export const URL = process.env.VOUCH_URL;
if (!URL) throw new Error("VOUCH_URL is not set: start vouch serve, or run tests/integrations/test_ai_sdk.py");
export const vouch = new Vouch(URL);
export const broken = new Vouch(URL, { judge: "broken" });
export const nowhere = new Vouch("http://127.0.0.1:9");
export const BRIDGE = { id: "bridge.txt", text: "The bridge opened in 1973. It has two towers." };
