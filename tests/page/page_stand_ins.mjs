// Lets Node load the page's sections without a browser: what draws and what makes tables is replaced by objects that
// keep what they are given. Loaded by `register` of node:module.
const stands = {
    'tabulator-tables': './table_stand_in.mjs',
    '../chart.js': './chart_stand_in.mjs',
};

export function resolve(specifier, context, next) {
    const stand = stands[specifier];
    return stand ? { url: new URL(stand, import.meta.url).href, shortCircuit: true } : next(specifier, context);
}
