// Light, dark, or as the browser wishes.

const kKey = "urnic-theme";
const kChoices = ["auto", "light", "dark"];

export function startTheme(button) {
  let choice = localStorage.getItem(kKey) ?? "auto";
  const show = () => {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    button.textContent = `Colours: ${choice}`;
  };
  button.addEventListener("click", () => {
    choice = kChoices[(kChoices.indexOf(choice) + 1) % kChoices.length];
    localStorage.setItem(kKey, choice);
    show();
  });
  show();
}
