// Sets the theme before anything is painted; theme.js changes it later.
(() => {
  const chosen = localStorage.getItem("fiveways.theme");
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
