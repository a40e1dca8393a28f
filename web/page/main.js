// Starts the page: which view is shown follows from the address behind "#".

import { ask, token } from "./server.js";
import { html } from "./elements.js";
import { startTheme } from "./theme.js";
import { tell } from "./notice.js";
import { DevicesPage } from "./devices_page.js";
import { FilePage } from "./file_page.js";

const content = document.getElementById("content");

function explain(text) {
  content.replaceChildren(html("p", { class: "notice" }, text));
}

async function start() {
  startTheme(document.getElementById("theme"));
  if (!token) {
    explain("The address lacks its token. Open the whole address that “urnic web” has printed.");
    return;
  }
  const source = await ask("api/source");
  const page = source.source === "file" ? new FilePage(content, source) : new DevicesPage(content);
  const follow = () => page.show(new URLSearchParams(location.hash.slice(1)));
  addEventListener("hashchange", follow);
  follow();
}

start().catch((error) => {
  explain(error.message);
  tell(error);
});
