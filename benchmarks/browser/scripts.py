"""JavaScript that the widget's benchmark runs in pages."""

TOGGLE = """async (element, id) => {
    const painted = () => new Promise(done => requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = done;
        after.port2.postMessage(0);
    }));
    const start = performance.now();
    await element.toggle(id);
    await painted();
    return performance.now() - start;
}"""
"""Toggles a module call; resolves to the milliseconds until it is painted."""

FRAME_RATE = """async (element, gesture) => {
    const stage = element.shadowRoot.querySelector(".mg-stage");
    const { left, top, width } = stage.getBoundingClientRect();
    const frame = () => new Promise(requestAnimationFrame);
    const at = (type, y, more) =>
        new MouseEvent(type, {
            clientX: left + width / 2, clientY: top + y, bubbles: true, buttons: 1, view: window, ...more });
    const wheel = deltaY => stage.dispatchEvent(new WheelEvent("wheel", {
        deltaY, ctrlKey: true, clientX: left + width / 2, clientY: top + 200, bubbles: true, cancelable: true }));
    if (gesture === "pan") stage.dispatchEvent(at("mousedown", 300));
    await frame();
    const start = performance.now();
    for (let i = 0; i < 90; i++) {
        if (gesture === "zoom") wheel(i % 60 < 30 ? 6 : -6);
        else window.dispatchEvent(at("mousemove", 300 - 12 * i));
        await frame();
    }
    const rate = 90_000 / (performance.now() - start);
    window.dispatchEvent(at("mouseup", 0));
    return rate;
}"""
"""Pans ("pan") or zooms ("zoom") over 90 frames; resolves to frames per second."""

LOAD_SCRIPT = """async () => {
    const script = document.createElement("script");
    script.src = "model-graph.js";
    const loaded = new Promise(done => { script.onload = done; });
    const start = performance.now();
    document.head.append(script);
    await loaded;
    return performance.now() - start;
}"""
"""Loads the script; resolves to the milliseconds until all diagrams are interactive, including reading from disk."""

NOTE_READY = """(picture, isReady) => {
    window.noted = {};
    const look = () => {
        const { noted } = window;
        const now = performance.now();
        if (document.querySelector(picture)) noted.picture ??= now;
        if (isReady()) noted.ready = now;
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
"""Stores in `window.noted` when a selector finds the page's picture, and when readers can use it, in ms."""

TOGGLE_NUMBER = f"""async number => {{
    const element = document.querySelector("model-graph");
    const [session] = await element.widget.tasks.load();
    const open = [...session.state.expanded];
    window.toggled ??= open.filter((_, i) => i % Math.max(1, Math.floor(open.length / 10)) === 0);
    return ({TOGGLE})(element, window.toggled[Math.floor(number / 2) % window.toggled.length]);
}}"""
"""Closes and opens one module after the other, all over the picture."""

TOGGLE_TORCHVISTA = """async number => {
    const buttons = document.querySelectorAll("[class^=collapse-button]");
    let last = performance.now();
    const watch = new MutationObserver(() => { last = performance.now(); });
    watch.observe(document.body, { subtree: true, childList: true, attributes: true });
    const start = performance.now();
    buttons[number % buttons.length].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    do await new Promise(done => setTimeout(done, 50)); while (performance.now() - last < 1000);
    watch.disconnect();
    return last - start;
}"""
"""Toggles a node of torchvista; resolves to the milliseconds until the document last changed, without painting."""
