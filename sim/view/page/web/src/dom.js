// Elements from data. Text is always text, never markup: names in a report come from files of any origin.

const svgNamespace = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
}

/// h('p', {class: 'note'}, 'text', h('b', null, 'more')). Attributes "on..." are listeners.
export function h(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

/// The same inside an <svg>.
export function s(tag, attributes, ...children) {
    return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

function titled(heading, id, title, meaning, children) {
    return h('section', { id, 'aria-labelledby': `${id}-title` },
        h(heading, { id: `${id}-title` }, title),
        meaning ? h('p', { class: 'meaning' }, meaning) : null,
        ...children);
}

/// A section of the page: a heading, a sentence that explains it, and its content.
export function section(id, title, meaning, ...children) {
    return titled('h2', id, title, meaning, children);
}

/// The section with the name of the run that the page, or a half of it, shows.
export function mainSection(id, title, meaning, ...children) {
    return titled('h1', id, title, meaning, children);
}

/// Rows of text in a plain table; the first column names the row.
export function table(headings, rows, attributes) {
    return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': attributes?.label },
        h('table', { class: attributes?.class },
            h('thead', null, h('tr', null, headings.map((text) => h('th', { scope: 'col' }, text)))),
            h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, column) =>
                column === 0 ? h('th', { scope: 'row' }, cell) : h('td', null, cell)))))));
}

/// A large figure. `value` is the number as report.json has it.
export function card(name, shown, value, meaning) {
    return h('div', { class: 'card' },
        h('div', { class: 'name' }, name),
        h('div', { class: 'figure', 'data-figure': name, 'data-value': value }, shown),
        h('div', { class: 'meaning' }, meaning));
}

/// Buttons of which one is chosen; `choose` is called with its value.
export function choice(label, options, choose) {
    const buttons = options.map(({ value, name }, index) => h('button', {
        type: 'button',
        'aria-pressed': String(index === 0),
        onclick: (event) => {
            for (const button of buttons) button.setAttribute('aria-pressed', 'false');
            event.currentTarget.setAttribute('aria-pressed', 'true');
            choose(value);
        },
    }, name));
    return h('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
}
