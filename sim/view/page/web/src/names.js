// Names that are cut to fit.

/// A name with its middle cut out, as long as it fits, and its tail behind it.
function cutName(name, tail, fits) {
    if (fits(name + tail)) return name + tail;
    const letters = [...name];
    let least = 0; // letters that stay
    let most = letters.length;
    const cut = (kept) => `${letters.slice(0, Math.ceil(kept / 2)).join('')}…${
        letters.slice(letters.length - Math.floor(kept / 2)).join('')}${tail}`;
    while (least < most) {
        const kept = Math.ceil((least + most) / 2);
        if (fits(cut(kept))) least = kept;
        else most = kept - 1;
    }
    return cut(least);
}

/// Each name, cut in the middle where it does not fit. Names that differ never look the same: those that would end
/// with their number.
export function toldApart(names, fits) {
    const shown = names.map((name) => cutName(name, '', fits));
    const numbered = new Set();
    for (let changed = true; changed;) {
        changed = false;
        const alike = new Map();
        names.forEach((name, index) => alike.set(shown[index], (alike.get(shown[index]) ?? new Set()).add(name)));
        const same = names.flatMap((_name, index) => (!numbered.has(index) && alike.get(shown[index]).size > 1 ? [index] : []));
        for (const index of same) {
            shown[index] = cutName(names[index], `#${index + 1}`, fits);
            numbered.add(index);
            changed = true;
        }
    }
    return shown;
}
