// Saves what is seen: a picture as SVG or PNG, packets as pcapng.

const kStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor"];

/** Offers `blob` as a file. */
export function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Outside of the page there is no style sheet: what it says becomes attributes.
function standalone(picture) {
  const copy = picture.cloneNode(true);
  const [originals, copies] = [[picture, ...picture.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  originals.forEach((original, place) => {
    const style = getComputedStyle(original);
    for (const name of kStyles) copies[place].setAttribute(name, style.getPropertyValue(name));
    copies[place].removeAttribute("class");
  });
  for (const unseen of copy.querySelectorAll('[stroke="rgba(0, 0, 0, 0)"][fill="none"]')) unseen.remove();
  const { width, height } = picture.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--surface").trim());
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export function saveSvg(picture, name) {
  saveBlob(new Blob([standalone(picture).text], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function savePng(picture, name) {
  const { text, width, height } = standalone(picture);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    const scale = 2;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    saveBlob(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), `${name}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}
