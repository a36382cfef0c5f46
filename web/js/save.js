// Files that the page gives to the browser to save.

/** Makes the browser save parts, as of Blob, under a name. */
export function save(name, parts, type = "application/octet-stream") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
