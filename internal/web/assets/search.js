// Search as you type. Without this script the form is an ordinary GET; on a static site the script is the search.
"use strict";
(() => {
  const form = document.querySelector("form.search");
  if (!form) return;
  const input = form.querySelector("input");
  const list = form.querySelector(".suggestions");
  const limit = 8;
  let timer = 0;
  let asked = "";

  const item = (c) => {
    const li = document.createElement("li");
    const a = document.createElement("a");
    a.href = c.url;
    a.textContent = c.label;
    const code = document.createElement("code");
    code.textContent = c.key;
    li.append(a, " ", code);
    return li;
  };
  const show = (candidates) => {
    list.replaceChildren();
    if (candidates.length === 0) {
      if (input.value.trim()) list.textContent = "Nothing fits these words yet.";
      return;
    }
    const ul = document.createElement("ul");
    ul.append(...candidates.map(item));
    list.append(ul);
  };

  const askServer = async (q) => {
    const answer = await fetch(`${form.dataset.resolve}?q=${encodeURIComponent(q)}&limit=${limit}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) return [];
    const { candidates } = await answer.json();
    return candidates.map((c) => ({ key: c.key, label: c.label, url: `/f/${c.key}` }));
  };

  let index;
  const askIndex = async (q) => {
    index ??= fetch(form.dataset.index).then((r) => r.json()).then((d) => d.facts);
    const words = q.toLowerCase().split(/[^\p{L}\p{N}.]+/u).filter(Boolean);
    return (await index)
      .filter((f) => words.every((w) => `${f.label} ${f.key}`.toLowerCase().includes(w)))
      .slice(0, limit)
      .map((f) => ({ key: f.key, label: f.label, url: `/f/${f.key}.html` }));
  };

  const update = async () => {
    const q = input.value.trim();
    if (q === asked) return;
    asked = q;
    if (!q) return show([]);
    try {
      const found = await (form.dataset.index ? askIndex(q) : askServer(q));
      if (q === asked) show(found);
    } catch {
      list.textContent = "Search is not reachable at the moment.";
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  });
  if (form.dataset.index) {
    form.hidden = false;
    form.addEventListener("submit", (e) => { e.preventDefault(); update(); });
  }
})();
