// Makes elements of HTML and SVG. Text goes in as text only, so nothing that a program is called can become markup.

const kSvg = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of HTML. Attributes that begin with "on" are listeners; null and false are left out. */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same of SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(kSvg, name), attributes, children);
}

/** Sets an element's text if it is another one: a screen reader speaks only of what changes. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A list of terms and values: pairs [term, text]; those whose text is null are left out. */
export function facts(pairs) {
  return html("dl", { class: "facts" },
    pairs.filter(([, text]) => text !== null).map(([term, text]) => [html("dt", {}, term), html("dd", {}, text)]));
}
