// Proposes the short name of a new thing from its name, as long as nobody typed one: `data-slug-from="id of the name"`.
for (const slug of document.querySelectorAll("input[data-slug-from]")) {
  const name = document.getElementById(slug.dataset.slugFrom);
  let proposed = slug.value === "";
  const propose = () => {
    if (!proposed) return;
    const plain = name.value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    slug.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, slug.maxLength).replace(/-$/, "");
  };
  name.addEventListener("input", propose);
  // What was typed stays; an emptied field is proposed for again.
  slug.addEventListener("input", () => (proposed = slug.value === ""));
}
