// Starts the page that the data asks for. window.heed is its state, for tests and for the curious.
import { LookApp } from "./look.js";
import { startTheme } from "./shell.js";
import { SimilarityApp } from "./similarity.js";

startTheme();
const json = JSON.parse(document.getElementById("data").textContent);
const app = json.kind === "similarity" ? new SimilarityApp(json) : new LookApp(json);
window.heed = { app, state: app.state, ready: performance.now() };
