// @ts-check
"use strict";
// What a page can do beside being read: sort and filter tables, copy commands, and tell the numbers of a node.
// Everything that comes from a cluster is put into the page as text, never as markup.

/**
 * @typedef {{names: string[], zones: string[], pools: string[], zone: number[], pool: number[], cpu: number[],
 *   cpuOf: number[], memory: number[], memoryOf: number[], pods: number[], podsOf: number[], cordoned: number[],
 *   podsBefore?: number[]}} Nodes
 * @typedef {{categories: string[], category: number[], texts: string[], text: number[]}} Answers
 */

(() => {
  const PAGE_OF_ROWS = 100;
  const collator = new Intl.Collator("en", { numeric: true });

  /**
   * @param {string} name @param {string} [text] @param {string} [style]
   * @returns {HTMLElement}
   */
  function element(name, text, style) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (style) made.className = style;
    return made;
  }

  /** @param {HTMLTableCellElement} cell @returns {string} */
  const keyOf = (cell) => cell.dataset.key ?? cell.textContent ?? "";

  /**
   * Numbers are compared as numbers, everything else as names with numbers in them.
   * @param {string} one @param {string} other @returns {number}
   */
  function compare(one, other) {
    const [a, b] = [Number(one.replaceAll(",", "")), Number(other.replaceAll(",", ""))];
    return one !== "" && other !== "" && !Number.isNaN(a) && !Number.isNaN(b) ? a - b : collator.compare(one, other);
  }

  /**
   * Make the headings of a table buttons, each of which sorts by its column, and back.
   * @param {HTMLTableElement} table @param {(column: number, sign: number) => void} sort
   */
  function sortable(table, sort) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) => {
      const button = element("button", head.textContent ?? "");
      button.setAttribute("type", "button");
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
        const numeric = head.classList.contains("number");
        const first = head.hasAttribute("aria-sort") ? sign : numeric ? -1 : 1;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", first > 0 ? "ascending" : "descending");
        sort(column, first);
      });
    });
  }

  /**
   * @param {string} label @param {(text: string) => void} filter
   * @returns {HTMLElement}
   */
  function filterField(label, filter) {
    const line = element("p", undefined, "filter");
    const name = element("label", label);
    const input = /** @type {HTMLInputElement} */ (element("input"));
    input.type = "search";
    input.addEventListener("input", () => filter(input.value.trim().toLowerCase()));
    name.append(input);
    line.append(name);
    return line;
  }

  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-sort]"))) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    sortable(table, (column, sign) => {
      rows.sort((a, b) => sign * compare(keyOf(a.cells[column]), keyOf(b.cells[column])));
      body.append(...rows);
    });
    if (table.dataset.filter !== undefined) {
      const field = filterField("Filter rows", (text) => {
        for (const row of rows) row.hidden = !(row.textContent ?? "").toLowerCase().includes(text);
      });
      table.parentElement?.before(field);
    }
  }

  for (const command of document.querySelectorAll("pre.command")) {
    if (!navigator.clipboard) break;
    const row = element("div", undefined, "command-row");
    const button = element("button", "Copy", "copy");
    button.setAttribute("type", "button");
    command.before(row);
    row.append(command, button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent ?? "");
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select it";
      }
    });
  }

  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });

  const source = document.getElementById("data");
  if (!source) return;
  /** @type {{nodes?: Nodes, maps?: Answers[]}} */
  const data = JSON.parse(source.textContent ?? "{}");
  const nodes = data.nodes;
  if (!nodes) return;

  /** @param {number} milli @returns {string} */
  const cores = (milli) => (milli % 1000 ? `${milli}m` : String(milli / 1000));
  /** @param {number} bytes @returns {string} */
  const bytes = (bytes) => (bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)}Gi` : `${Math.round(bytes / 2 ** 20)}Mi`);
  const cordoned = new Set(nodes.cordoned);

  /**
   * @param {number} index @param {Answers} answers
   * @returns {string}
   */
  function describe(index, answers) {
    const place = [nodes?.zones[nodes.zone[index]], nodes?.pools[nodes.pool[index]]].filter(Boolean).join(", ");
    const said = [answers.categories[answers.category[index]], answers.texts[answers.text[index]]].filter(Boolean).join(": ");
    if (!nodes) return "";
    const before = nodes.podsBefore ? ` (${nodes.podsBefore[index]} before)` : "";
    const numbers = [
      `cpu ${cores(nodes.cpu[index])} of ${cores(nodes.cpuOf[index])} requested`,
      `memory ${bytes(nodes.memory[index])} of ${bytes(nodes.memoryOf[index])}`,
      `${nodes.pods[index]} of ${nodes.podsOf[index]} pods${before}`,
    ];
    const state = cordoned.has(index) ? ", cordoned" : "";
    return `${nodes.names[index]}${place ? ` (${place}${state})` : state}: ${said}. ${numbers.join(", ")}.`;
  }

  for (const map of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".map"))) {
    const answers = data.maps?.[Number(map.dataset.map)];
    const probe = /** @type {HTMLElement | null} */ (map.querySelector(".probe"));
    if (!answers || !probe) continue;
    probe.hidden = false;
    /** @type {Element | null} */
    let picked = null;
    /** @param {Event} event */
    const show = (event) => {
      const square = event.target instanceof Element ? event.target.closest("rect") : null;
      const block = /** @type {HTMLElement | null} */ (square?.closest(".block"));
      if (!square || !block || !square.parentNode) return;
      const index = Number(block.dataset.first) + [...square.parentNode.children].indexOf(square);
      picked?.classList.remove("picked");
      square.classList.add("picked");
      picked = square;
      probe.textContent = describe(index, answers);
    };
    map.addEventListener("pointerover", show);
    map.addEventListener("click", show);
  }

  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".node-list"))) {
    const answers = data.maps?.[Number(place.dataset.nodes)];
    if (answers) listNodes(place, nodes, answers);
  }

  /**
   * List all nodes below a map, a page of rows at a time.
   * @param {HTMLElement} place @param {Nodes} nodes @param {Answers} answers
   */
  function listNodes(place, nodes, answers) {
    /** @type {[string, string, (index: number) => string | number, ((index: number) => string)?][]} */
    const columns = [
      ["Node", "name", (i) => nodes.names[i]],
      ["Zone", "name", (i) => nodes.zones[nodes.zone[i]]],
      ["Pool", "name", (i) => nodes.pools[nodes.pool[i]]],
      ["Answer", "", (i) => [answers.categories[answers.category[i]], answers.texts[answers.text[i]]].filter(Boolean).join(": ")],
      ["CPU requested", "number", (i) => nodes.cpu[i] / (nodes.cpuOf[i] || 1), (i) => `${cores(nodes.cpu[i])} of ${cores(nodes.cpuOf[i])}`],
      ["Memory requested", "number", (i) => nodes.memory[i] / (nodes.memoryOf[i] || 1), (i) => `${bytes(nodes.memory[i])} of ${bytes(nodes.memoryOf[i])}`],
      ["Pods", "number", (i) => nodes.pods[i]],
    ];
    const order = nodes.names.map((_, index) => index);
    let filtered = order;
    let shown = PAGE_OF_ROWS;
    const details = element("details");
    const count = nodes.names.length;
    const summary = element("summary", count === 1 ? "The node" : `All ${count.toLocaleString("en")} nodes`);
    const table = /** @type {HTMLTableElement} */ (element("table"));
    const caption = element("caption", "All nodes");
    const head = element("tr");
    for (const [title, style] of columns) {
      const cell = element("th", title, style);
      cell.setAttribute("scope", "col");
      head.append(cell);
    }
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    table.append(caption, top, body);
    const frame = element("div", undefined, "scroll");
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "All nodes");
    frame.append(table);
    const more = element("button", "Show more");
    more.setAttribute("type", "button");
    const tally = element("p", undefined, "rest");

    function draw() {
      body.replaceChildren(
        ...filtered.slice(0, shown).map((index) => {
          const row = element("tr");
          for (const [, style, key, text] of columns) row.append(element("td", text ? text(index) : String(key(index)), style));
          return row;
        }),
      );
      more.hidden = filtered.length <= shown;
      tally.textContent = `${Math.min(shown, filtered.length).toLocaleString("en")} of ${filtered.length.toLocaleString("en")} shown`;
    }

    sortable(table, (column, sign) => {
      const key = columns[column][2];
      order.sort((a, b) => {
        const [one, other] = [key(a), key(b)];
        return sign * (typeof one === "number" && typeof other === "number" ? one - other : collator.compare(String(one), String(other)));
      });
      filter(last);
    });
    let last = "";
    /** @param {string} text */
    function filter(text) {
      last = text;
      const wanted = (/** @type {number} */ index) => columns.slice(0, 4).some(([, , key]) => String(key(index)).toLowerCase().includes(text));
      filtered = text ? order.filter(wanted) : order;
      draw();
    }
    more.addEventListener("click", () => {
      shown += PAGE_OF_ROWS * 5;
      draw();
    });
    details.append(summary, filterField("Filter nodes", (text) => { shown = PAGE_OF_ROWS; filter(text); }), frame, tally, more);
    place.append(details);
    place.hidden = false;
    details.addEventListener("toggle", () => { if (details.open && !body.hasChildNodes()) draw(); });
  }
})();
