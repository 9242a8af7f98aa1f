// Comfort only: every page works without it.
"use strict";
// "/" leads to the search.
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey
        && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        const field = document.getElementById("q");
        if (field) { field.focus(); field.select(); }
    }
    if (event.key === "Escape") {
        for (const menu of document.querySelectorAll("details.menu[open]")) { menu.open = false; }
    }
});
// Ids are copied at a press.
for (const id of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) { break; }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = id.dataset.copy;
    button.setAttribute("aria-label", id.dataset.copy + ": " + id.textContent);
    button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(id.textContent);
        button.textContent = id.dataset.copied;
        setTimeout(() => { button.textContent = id.dataset.copy; }, 1500);
    });
    id.after(button);
}
// A filter that was chosen counts at once.
for (const form of document.querySelectorAll("form[data-auto]")) {
    for (const field of form.querySelectorAll("select, input[type=date]")) {
        field.addEventListener("change", () => form.requestSubmit());
    }
}
// A form is sent once.
for (const form of document.querySelectorAll("form[method=post]")) {
    form.addEventListener("submit", (event) => {
        if (form.dataset.sent) { event.preventDefault(); return; }
        form.dataset.sent = "yes";
    });
}
window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) { delete form.dataset.sent; }
});
// A table that is wider than its page shows where it goes on; one that is not needs no stop for the keyboard.
function measureTables() {
    for (const scroll of document.querySelectorAll(".scroll")) {
        const room = scroll.scrollWidth - scroll.clientWidth;
        scroll.classList.toggle("more", room > 1 && scroll.scrollLeft < room - 1);
        if (room > 1) { scroll.tabIndex = 0; } else { scroll.removeAttribute("tabindex"); }
    }
}
for (const scroll of document.querySelectorAll(".scroll")) {
    scroll.addEventListener("scroll", measureTables, { passive: true });
}
window.addEventListener("resize", measureTables);
measureTables();
// The values of a plot under the pointer, the finger, or the arrow keys.
for (const box of document.querySelectorAll(".plot-box")) {
    const slots = [...box.querySelectorAll(".plot-slot")];
    const now = box.parentElement.querySelector(".plot-now");
    if (!slots.length || !now) { continue; }
    let at = -1;
    const show = (place) => {
        at = place;
        slots.forEach((slot, number) => slot.classList.toggle("here", number === at));
        now.textContent = at < 0 ? "" : slots[at].querySelector("title").textContent;
    };
    slots.forEach((slot, number) => {
        slot.addEventListener("pointerenter", () => show(number));
        slot.addEventListener("pointerdown", () => show(number));
    });
    box.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") { show(-1); } });
    box.tabIndex = 0;
    box.addEventListener("focus", () => { if (at < 0) { show(slots.length - 1); } });
    box.addEventListener("blur", () => show(-1));
    box.addEventListener("keydown", (event) => {
        const last = slots.length - 1;
        const place = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
        if (place === undefined) { return; }
        event.preventDefault();
        show(Math.max(0, Math.min(last, place)));
    });
}
// Names that have what was typed in them.
for (const field of document.querySelectorAll("[data-suggest]")) {
    let waiting = 0;
    let asked = "";
    field.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(async () => {
            const text = field.value.trim();
            if (text.length < 2 || text === asked) { return; }
            asked = text;
            const answer = await fetch(field.dataset.suggest + "?q=" + encodeURIComponent(text));
            if (!answer.ok || text !== field.value.trim()) { return; }
            const options = (await answer.json()).map((name) => {
                const option = document.createElement("option");
                option.value = name;
                return option;
            });
            field.list.replaceChildren(...options);
        }, 200);
    });
}
