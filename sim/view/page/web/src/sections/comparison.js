// Compares several reports: figures, layers, and differences of their configurations. sim/view/page/side_by_side.h
// computes the figures; the reader chooses the report to which differences are shown.
import { chart, legend, nameAxis, rowTip, rowZoom, tip, valueAxis } from '../chart.js';
import { h, mainSection, table } from '../dom.js';
import { absent, bytes, difference, grouped, inferenceRate, percent, roughTimes, si } from '../format.js';
import { colourOf, fillOf } from '../palette.js';

/// Up to this number, reports are columns; more reports are rows.
const mostColumns = 4;

const isThere = (value) => value !== null && value !== undefined;

const shows = { count: grouped, bytes, share: percent, times: roughTimes, 'inf/s': inferenceRate };
const showOf = (format) => shows[format] ?? ((value) => si(value, format));

/// A figure of a report and, unless the report is the reference, its difference. Only figures of the same network are
/// called better or worse.
function cell({ values, format, better }, index, { networks, against }) {
    const [value, reference] = [values[index], values[against]];
    const shown = isThere(value) ? showOf(format)(value) : absent;
    const text = index === against ? absent : difference(value, reference);
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

const differenceTo = (values, index, against) =>
    (index === against ? '' : ` ${difference(values[index], values[against])}`);

/// Bars of a few reports, side by side for each layer.
function groupedLayers(compared) {
    const { names, layers } = compared;
    const shown = 16;
    return {
        height: 80 + Math.min(layers.length, shown) * (14 + 14 * names.length),
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 40, top: 34, bottom: 28 },
            legend: legend(colours, { type: 'scroll' }),
            tooltip: rowTip((row) => tip(layers[row].name, names.map((name, index) => [name,
                `${grouped(layers[row].cycles[index])}${differenceTo(layers[row].cycles, index, compared.against)}`,
                colourOf(index)]))),
            xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value) } }),
            yAxis: nameAxis(colours, layers.map(({ name }) => name), { axisLabel: { width: width < 600 ? 80 : 150 } }),
            dataZoom: rowZoom(colours, layers.length, shown),
            series: names.map((name, index) => ({
                type: 'bar',
                name,
                itemStyle: fillOf(colourOf(index), colours),
                data: layers.map(({ cycles }) => cycles[index]),
            })),
        }),
    };
}

/// The layers with most cycles, and the sum of the others.
function mainLayers(layers) {
    const most = 9; // with the others, as many as there are colours
    const total = ({ cycles }) => cycles.reduce((sum, value) => sum + value, 0);
    const sorted = [...layers].sort((one, other) => total(other) - total(one));
    const main = layers.filter((layer) => sorted.indexOf(layer) < most);
    const others = sorted.slice(most);
    if (others.length === 0) return main;
    const sum = layers[0].cycles.map((_, index) => others.reduce((all, { cycles }) => all + cycles[index], 0));
    return [...main, { name: `${others.length} others`, cycles: sum }];
}

/// A bar for each of many reports, divided into its layers.
function stackedLayers(compared) {
    const { names, layers } = compared;
    const main = mainLayers(layers);
    const sums = names.map((_, index) => layers.reduce((sum, { cycles }) => sum + cycles[index], 0));
    return {
        height: 90 + 26 * names.length,
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 40, top: 34, bottom: 28 },
            legend: legend(colours, { type: 'scroll' }),
            tooltip: rowTip((row) => tip(`${names[row]}: ${grouped(sums[row])}${differenceTo(sums, row, compared.against)}`,
                main.map(({ name, cycles }, place) => [name, grouped(cycles[row]), colourOf(place)]))),
            xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value) } }),
            yAxis: nameAxis(colours, names, { axisLabel: { width: width < 600 ? 80 : 150 } }),
            series: main.map(({ name, cycles }, place) => ({
                type: 'bar',
                name,
                stack: 'cycles',
                barMaxWidth: 18,
                itemStyle: fillOf(colourOf(place), colours),
                data: cycles,
            })),
        }),
    };
}

function layerChart(compared) {
    const drawn = compared.names.length <= mostColumns ? groupedLayers(compared) : stackedLayers(compared);
    return chart({ label: 'Cycles of each layer in each report', ...drawn });
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
    return mainSection('comparison', `${compared.names.length} reports side by side`,
        'Green is better and red is worse than the report that you choose; gray, neither can be said'
        + `${areDifferent ? ', as of a run of another network' : ''}.`,
        referenceChoice(compared, choose),
        h('h3', null, 'Figures'), figures,
        h('h3', null, compared.each_inference ? 'Cycles an inference by layer' : 'Cycles by layer'), layers,
        h('h3', null, 'Differences of the configurations'), configurationTable(compared));
}
