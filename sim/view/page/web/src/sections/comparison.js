// Compares several reports: figures, layers, and differences of their configurations. sim/view/page/side_by_side.h
// computes the figures; the reader chooses the report to which differences are shown.
import { chart, legend, nameAxis, rowTip, rowZoom, tip, valueAxis } from '../chart.js';
import { h, mainSection, table } from '../dom.js';
import { absent, difference, grouped, shareDifference, showOf, si } from '../format.js';
import { colourOf, fillOf } from '../palette.js';

/// Up to this number, reports are columns; more reports are rows.
const mostColumns = 4;

const isThere = (value) => value !== null && value !== undefined;

const differenceOf = (format) => (format === 'share' ? shareDifference : difference);

const clockText = (mhz) => (isThere(mhz) ? `${mhz} MHz` : 'an unknown clock');

/// A figure of a report and, unless the report is the reference, its difference. Only figures of the same network are
/// called better or worse.
function cell({ values, format, better, of_clock: isOfClock }, index, { networks, against, clocks_mhz: clocks }) {
    const [value, reference] = [values[index], values[against]];
    const shown = isThere(value) ? showOf(format)(value) : absent;
    // Cycles of different clocks are no measure of each other.
    if (isOfClock) return isThere(value) ? `${shown} at ${clockText(clocks[index])}` : shown;
    const text = index === against ? absent : differenceOf(format)(value, reference);
    if (text === absent) return shown;
    const isJudged = better !== 0 && value !== reference && networks[index] === networks[against];
    const verdict = !isJudged ? 'quiet' : better * (value - reference) > 0 ? 'better' : 'worse';
    return [shown, ' ', h('span', { class: verdict }, text)];
}

/// A table with a row for each of `rows` or, if there are too many reports for columns, for each report. `cellOf(row,
/// report)` makes a cell.
function sidewaysTable(names, rows, nameOf, cellOf, attributes) {
    if (names.length <= mostColumns) {
        return table(['', ...names], rows.map((row) => [nameOf(row), ...names.map((_, index) => cellOf(row, index))]),
            attributes);
    }
    return table(['', ...rows.map(nameOf)], names.map((name, index) => [name, ...rows.map((row) => cellOf(row, index))]),
        { ...attributes, class: `${attributes.class} many` });
}

const isSame = ({ values }) => values.every((value) => isThere(value) && value === values[0]);

/// In a table of many reports, figures that are the same in all of them are not worth a column.
function figureTable(compared) {
    const { names, figures } = compared;
    const same = names.length > mostColumns ? figures.filter(isSame) : [];
    const shown = figures.filter((figure) => !same.includes(figure));
    const all = same.map(({ name, format, values }) => `${name} ${showOf(format)(values[0])}`).join(', ');
    return [
        sidewaysTable(names, shown, ({ name }) => name, (figure, index) => cell(figure, index, compared),
            { class: 'numbers', label: 'Figures' }),
        same.length > 0 ? h('p', { class: 'meaning' }, `The same in all: ${all}.`) : null];
}

const differenceTo = (values, index, against) => {
    const text = index === against ? absent : difference(values[index], values[against]);
    return text === absent ? '' : ` ${text}`;
};

/// How layers are compared: in cycles, and in time where the clocks differ. `valuesOf` and `show` are of those
/// numbers; `textOf` is a number of a report with its cycles.
function layerMeasure({ clocks_mhz: clocks = [] }) {
    if (clocks.length === 0) {
        return { unit: 'cycles', valuesOf: ({ cycles }) => cycles, show: grouped, axis: (value) => si(value), textOf: ({ cycles }, index) => grouped(cycles[index]) };
    }
    const show = (value) => si(value, 's');
    return { unit: 'seconds', valuesOf: ({ seconds }) => seconds, show, axis: show,
        textOf: ({ seconds, cycles }, index) => (isThere(cycles[index])
            ? `${show(seconds[index])}, ${grouped(cycles[index])} cycles at ${clockText(clocks[index])}` : absent) };
}

/// Bars of a few reports, side by side for each layer.
function groupedLayers(compared) {
    const { names, layers } = compared;
    const { valuesOf, axis, textOf } = layerMeasure(compared);
    const shown = 16;
    return {
        height: 80 + Math.min(layers.length, shown) * (14 + 14 * names.length),
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 40, top: 34, bottom: 28 },
            legend: legend(colours, { type: 'scroll' }),
            tooltip: rowTip((row) => tip(layers[row].name, names.map((name, index) => [name,
                `${textOf(layers[row], index)}${differenceTo(valuesOf(layers[row]), index, compared.against)}`,
                colourOf(index)]))),
            xAxis: valueAxis(colours, { axisLabel: { formatter: axis } }),
            yAxis: nameAxis(colours, layers.map(({ name }) => name), { axisLabel: { width: width < 600 ? 80 : 150 } }),
            dataZoom: rowZoom(colours, layers.length, shown),
            series: names.map((name, index) => ({
                type: 'bar',
                name,
                itemStyle: fillOf(colourOf(index), colours),
                data: layers.map((layer) => valuesOf(layer)[index]),
            })),
        }),
    };
}

/// The layers with most cycles or time, and the sum of the others.
function mainLayers(layers, valuesOf) {
    const most = 9; // with the others, as many as there are colours
    const total = (layer) => valuesOf(layer).reduce((sum, value) => sum + value, 0);
    const sorted = [...layers].sort((one, other) => total(other) - total(one));
    const main = layers.filter((layer) => sorted.indexOf(layer) < most).map((layer) => ({ name: layer.name, values: valuesOf(layer) }));
    const others = sorted.slice(most);
    if (others.length === 0) return main;
    const sum = valuesOf(layers[0]).map((_, index) => others.reduce((all, layer) => all + valuesOf(layer)[index], 0));
    return [...main, { name: `${others.length} others`, values: sum }];
}

/// A bar for each of many reports, divided into its layers.
function stackedLayers(compared) {
    const { names, layers } = compared;
    const { unit, valuesOf, show, axis } = layerMeasure(compared);
    const main = mainLayers(layers, valuesOf);
    const sums = names.map((_, index) => layers.reduce((sum, layer) => sum + valuesOf(layer)[index], 0));
    return {
        height: 90 + 26 * names.length,
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 40, top: 34, bottom: 28 },
            legend: legend(colours, { type: 'scroll' }),
            tooltip: rowTip((row) => tip(`${names[row]}: ${show(sums[row])}${differenceTo(sums, row, compared.against)}`,
                main.map(({ name, values }, place) => [name, show(values[row]), colourOf(place)]))),
            xAxis: valueAxis(colours, { axisLabel: { formatter: axis } }),
            yAxis: nameAxis(colours, names, { axisLabel: { width: width < 600 ? 80 : 150 } }),
            series: main.map(({ name, values }, place) => ({
                type: 'bar',
                name,
                stack: unit,
                barMaxWidth: 18,
                itemStyle: fillOf(colourOf(place), colours),
                data: values,
            })),
        }),
    };
}

function layerChart(compared) {
    const drawn = compared.names.length <= mostColumns ? groupedLayers(compared) : stackedLayers(compared);
    const what = layerMeasure(compared).unit === 'cycles' ? 'Cycles' : 'Time';
    return chart({ label: `${what} of each layer in each report`, ...drawn });
}

/// The keys whose values differ between the reports.
function configurationTable({ names, keys }) {
    if (keys.length === 0) return h('p', null, 'Their configurations are the same.');
    const show = (value) => (!isThere(value) ? 'not there' : value === '' ? absent : value);
    return sidewaysTable(names, keys, ({ key }) => key, ({ values }, index) => show(values[index]),
        { class: 'keys', label: 'Differing keys' });
}

function referenceChoice({ names, against }, choose) {
    return h('div', { class: 'row' },
        h('label', { for: 'against' }, 'Differences are to'),
        h('select', { id: 'against', oninput: (event) => choose(Number(event.currentTarget.value)) },
            names.map((name, index) => h('option', { value: index, selected: index === against }, name))));
}

/// Of two or more; `compared` as SideBySide has it.
export function comparison(compared) {
    const figures = h('div', null, figureTable(compared));
    const layers = layerChart(compared);
    const choose = (against) => {
        compared.against = against;
        figures.replaceChildren(h('div', null, figureTable(compared)));
    };
    const areDifferent = compared.networks.some((network) => network !== compared.networks[0]);
    const what = layerMeasure(compared).unit === 'cycles' ? 'Cycles' : 'Time';
    const clocks = what === 'Time' ? ' Their clocks differ: layers are compared in time.' : '';
    return mainSection('comparison', `${compared.names.length} reports side by side`,
        'Green is better and red is worse than the report that you choose; gray, neither can be said'
        + `${areDifferent ? ', as of a run of another network' : ''}. Differences of shares are in percentage points.${clocks}`,
        referenceChoice(compared, choose),
        h('h3', null, 'Figures'), figures,
        h('h3', null, `${what}${compared.each_inference ? `${what === 'Time' ? ' of' : ''} an inference` : ''} by layer`), layers,
        h('h3', null, 'Differences of the configurations'), configurationTable(compared));
}
