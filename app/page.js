// Once a page, however often its script runs: what a click does that Streamlit has nothing for.
if (!window.wattwise) {
  window.wattwise = true;
  document.addEventListener("click", async (event) => {
    const copy = event.target.closest(".ww-copy");
    if (copy) {
      const area = Object.assign(document.createElement("textarea"), { value: copy.dataset.text });
      try {
        await navigator.clipboard.writeText(area.value);
      } catch {
        // Under http:// and another name than localhost there is no clipboard but this one.
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
      return;
    }
    const mark = event.target.closest("a.ww-mark");
    const quote = mark && document.getElementById(mark.hash.slice(1));
    if (!quote) return;
    event.preventDefault();
    for (let card = quote.closest("details"); card; card = card.parentElement.closest("details")) card.open = true;
    quote.scrollIntoView({ block: "nearest" });
    document.querySelectorAll(".ww-looked-at").forEach((other) => other.classList.remove("ww-looked-at"));
    quote.classList.add("ww-looked-at");
  });
}
