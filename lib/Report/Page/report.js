// Sorts, filters, and shows the text of marks. The page gives all information without it.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // Tables: every heading gets a button that sorts by its column.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim();
  };
  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  const unknown = (key) => Number.isNaN(key);
  const sortBy = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [keyOf(row, column), row]);
    rows.sort(([a], [b]) =>
      unknown(a) || unknown(b) ? unknown(a) - unknown(b) : direction * compare(a, b));
    body.append(...rows.map((pair) => pair[1]));
    [...table.tHead.rows[0].cells].forEach((cell, index) =>
      cell.setAttribute("aria-sort",
        index !== column ? "none" : direction === 1 ? "ascending" : "descending"));
  };
  for (const table of all("table.sortable"))
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = make("button", { type: "button" }, ...cell.childNodes);
      cell.append(button);
      cell.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const before = cell.getAttribute("aria-sort");
        // For most numbers, people look for the largest first.
        const falls = cell.classList.contains("number") && !cell.classList.contains("rising");
        const first = falls ? -1 : 1;
        sortBy(table, column, before === "none" ? first : before === "ascending" ? -1 : 1);
      });
    });

  // The filter of the table of kernels.
  const kernels = document.getElementById("kernels");
  if (kernels && kernels.tBodies[0].rows.length > 5) {
    const box = make("input", { type: "search", id: "filter", autocomplete: "off" });
    const tuned = make("input", { type: "checkbox", id: "only-tuned" });
    const count = make("output", { className: "count" });
    const rows = [...kernels.tBodies[0].rows];
    const apply = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const name = row.cells[0].textContent.toLowerCase();
        const fits = words.every((word) => name.includes(word)) &&
          (!tuned.checked || row.classList.contains("tuned"));
        row.hidden = !fits;
        shown += fits;
        const link = row.querySelector("a");
        if (link)
          document.getElementById(link.hash.slice(1)).hidden = !fits;
      }
      count.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} kernels`;
    };
    box.addEventListener("input", apply);
    tuned.addEventListener("change", apply);
    kernels.closest(".scroller").before(make("div", { className: "tools" },
      make("label", { htmlFor: "filter" }, "Filter by name"), box,
      make("label", {}, tuned, " tuned only"), count));
  }

  // Shows the text of a mark under the pointer or with the focus. Arrow keys go from mark to mark.
  let tip = null;
  const hide = () => {
    tip?.remove();
    tip = null;
  };
  const show = (mark) => {
    hide();
    const figure = mark.closest("figure");
    const parts = (mark.dataset.tip).split(/(?<=^[^:]*): |; /);
    tip = make("div", { className: "tooltip" });
    tip.setAttribute("aria-hidden", "true"); // The mark's own name has the same text.
    parts.forEach((part, index) =>
      tip.append(make(index === 0 ? "strong" : "div", { textContent: part })));
    figure.append(tip);
    const frame = figure.getBoundingClientRect();
    const place = (mark.querySelector(".hit, .tip") || mark).getBoundingClientRect();
    const x = place.left + place.width / 2 - frame.left - tip.offsetWidth / 2;
    const above = place.top - frame.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(0, Math.min(x, frame.width - tip.offsetWidth))}px`;
    tip.style.top = `${above + frame.top < 4 ? place.bottom - frame.top + 8 : above}px`;
  };
  for (const figure of all("figure")) {
    const marks = all(".mark", figure);
    const stops = marks.filter((mark) => mark.hasAttribute("tabindex"));
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.dataset.tip = title.textContent;
      if (mark.hasAttribute("tabindex"))
        mark.setAttribute("aria-label", title.textContent);
      title.remove(); // Otherwise the browser shows the title, too.
    }
    if (stops.length && !stops.some((mark) => mark.tabIndex === 0))
      stops[0].setAttribute("tabindex", "0");
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    figure.addEventListener("keydown", (event) => {
      const at = stops.indexOf(event.target);
      if (at === -1)
        return;
      let to = event.key in moves ? at + moves[event.key] : -1;
      if (event.key === "Home")
        to = 0;
      if (event.key === "End")
        to = stops.length - 1;
      if (!stops[to])
        return;
      event.preventDefault();
      stops[at].setAttribute("tabindex", "-1");
      stops[to].setAttribute("tabindex", "0");
      stops[to].focus();
    });
    figure.addEventListener("focusin", (event) => {
      const mark = event.target.closest(".mark");
      if (mark)
        show(mark);
    });
    figure.addEventListener("focusout", hide);
    figure.addEventListener("pointerover", (event) => {
      const mark = event.target.closest(".mark");
      if (mark)
        show(mark);
    });
    figure.addEventListener("pointerleave", hide);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape")
      hide();
  });

  // Unfolds everything for printing.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((details) => (details.open = true));
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((details) => (details.open = false));
    opened = [];
  });
})();
