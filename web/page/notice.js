// One line at the page's edge that says what happened; gone after a while.

const element = document.getElementById("notice");
let timer;

/** Shows an Error or a text. */
export function tell(what) {
  element.textContent = what instanceof Error ? what.message : what;
  element.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { element.hidden = true; }, 6000);
}

/** Runs an action that may fail, and says so if it does. */
export async function attempt(action, success) {
  try {
    const result = await action();
    if (success) tell(success);
    return result;
  } catch (error) {
    tell(error);
    return undefined;
  }
}
