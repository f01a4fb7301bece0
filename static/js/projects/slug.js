// Proposes a short name from the name field, until somebody types one: `data-slug-from="id of the name field"`.
for (const slug of document.querySelectorAll("input[data-slug-from]")) {
  const name = document.getElementById(slug.dataset.slugFrom);
  let proposed = slug.value === "";
  const propose = () => {
    if (!proposed) return;
    const plain = name.value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    slug.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, slug.maxLength).replace(/-$/, "");
  };
  name.addEventListener("input", propose);
  // A typed name is kept; for an emptied field, proposing starts again.
  slug.addEventListener("input", () => (proposed = slug.value === ""));
}
