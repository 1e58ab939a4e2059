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

/// How many letters all names, given as arrays of these, have in common at their begin and at their end.
function commonEnds([first, ...others]) {
    const shortest = Math.min(...[first, ...others].map(({ length }) => length));
    const isCommon = (place) => others.every((name) => name.at(place) === first.at(place));
    let head = 0;
    while (head < shortest && isCommon(head)) head += 1;
    let tail = 0;
    while (tail < shortest - head && isCommon(-1 - tail)) tail += 1;
    return { head, tail };
}

/// A name without its common ends; the tail stays, and as much of the head, where there is room. null if what differs
/// is too wide.
function withoutCommonEnds(letters, { head, tail }, fits) {
    const part = (begin, end) => `${begin > 0 ? '…' : ''}${letters.slice(begin, end).join('')}${end < letters.length ? '…' : ''}`;
    const end = fits(part(head, letters.length)) ? letters.length : letters.length - tail;
    if (!fits(part(head, end))) return null;
    let begin = head;
    while (begin > 0 && fits(part(begin - 1, end))) begin -= 1;
    return part(begin, end);
}

/// The names by what is shown of them.
function alikeOf(names, shown) {
    const alike = new Map();
    names.forEach((name, index) => alike.set(shown[index], (alike.get(shown[index]) ?? new Set()).add(name)));
    return alike;
}

/// Each name, cut in the middle where it does not fit. Names that differ never look the same: those that would show
/// where they differ, or end with their number.
export function toldApart(names, fits) {
    const shown = names.map((name) => cutName(name, '', fits));
    const different = new Map();
    for (const group of alikeOf(names, shown).values()) {
        if (group.size === 1) continue;
        const common = commonEnds([...group].map((name) => [...name]));
        for (const name of group) different.set(name, withoutCommonEnds([...name], common, fits));
    }
    names.forEach((name, index) => { shown[index] = different.get(name) ?? shown[index]; });
    const numbered = new Set();
    for (let changed = true; changed;) {
        changed = false;
        const alike = alikeOf(names, shown);
        const same = names.flatMap((_name, index) => (!numbered.has(index) && alike.get(shown[index]).size > 1 ? [index] : []));
        for (const index of same) {
            shown[index] = cutName(names[index], `#${index + 1}`, fits);
            numbered.add(index);
            changed = true;
        }
    }
    return shown;
}

/// The names of layers for text beside other text: TFLite's converter makes some of several hundred letters. By the
/// whole name.
export function shortNames(layers) {
    const most = 44;
    const names = layers.map(({ name }) => name);
    const shown = toldApart(names, (name) => [...name].length <= most);
    return new Map(names.map((name, index) => [name, shown[index]]));
}
