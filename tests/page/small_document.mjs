// As much of a browser's document as the page's sections need to be made.
class Element {
    constructor(tag) {
        this.tag = tag;
        this.attributes = {};
        this.children = [];
        this.style = {};
        this.options = {};
    }

    setAttribute(name, value) {
        this.attributes[name] = String(value);
    }

    addEventListener() {}

    append(...children) {
        this.children.push(...children);
    }

    before(...siblings) {
        this.siblings = siblings;
    }

    getContext() {
        return { createImageData: (width, height) => ({ data: new Uint8Array(4 * width * height) }), putImageData() {} };
    }

    get textContent() {
        return this.children.map((child) => (child instanceof Element ? child.textContent : String(child))).join('');
    }
}

globalThis.document = {
    createElement: (tag) => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
};

/// All elements below, itself first.
export function elementsIn(element) {
    return [element, ...element.children.filter((child) => child instanceof Element).flatMap(elementsIn)];
}

const inline = ['b', 'i', 'span', 'code', 'strong'];
const isInline = (child) => !(child instanceof Element) || inline.includes(child.tag);

/// The texts of an element: those of its blocks, each with the inline elements in it.
export function textsIn(element) {
    const own = element.children.filter(isInline);
    const text = own.map((child) => (child instanceof Element ? child.textContent : String(child))).join('').trim();
    const inside = element.children.filter((child) => !isInline(child)).flatMap(textsIn);
    return text === '' ? inside : [text, ...inside];
}
