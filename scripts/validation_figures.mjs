// Draws the figures of docs/validation.md with ECharts, from what `sim validate TARGET --json FILE` wrote.
//
//   node validation_figures.mjs NODE_MODULES VALIDATION.json FOLDER
//
// Equal files give equal figures. All values are those of the tables, as they are printed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { colourOf, cycleClasses } from '../sim/view/page/web/src/palette.js';

const [modules, file, folder] = process.argv.slice(2);
const echarts = createRequire(path.join(path.resolve(modules), 'here.js'))('echarts');
const { tables, parameters, peak_tera_ops: peak } = JSON.parse(readFileSync(file, 'utf8'));

const gray = cycleClasses.at(-1).colour;
const [blue, orange, green, ochre, purple] = [0, 1, 2, 3, 4].map(colourOf);
const ink = { light: '#222222', dark: '#dddddd' };
const quiet = { light: '#555555', dark: '#aaaaaa' };
const grid = { light: '#d9d9d9', dark: '#3a3a3a' };
const paper = { light: '#ffffff', dark: '#161616' };

/// The cells of the n-th row with a label, without the label.
function row(table, label, n = 0) {
    const found = tables[table].rows.filter(([name]) => name.trim() === label)[n];
    if (!found) throw new Error(`table ${table} has no row "${label}" number ${n}`);
    return found.slice(1);
}
const columns = (table) => tables[table].columns.slice(1);
const workloads = columns('roofline');
const absolute = (values) => values.map(Math.abs);

/// A picture without ECharts' own classes, which only serve a pointer. It is drawn in light colours; the style sheet
/// exchanges each for its dark one on dark pages.
function picture(svg, title) {
    const colours = [ink, quiet, grid, paper, gray, blue, orange, green, ochre, purple,
        ...cycleClasses.map(({ colour }) => colour)];
    const rules = new Set();
    for (const { light, dark } of colours) {
        rules.add(`[fill="${light}"]{fill:${dark}}`);
        rules.add(`[stroke="${light}"]{stroke:${dark}}`);
    }
    const style = `<style>@media (prefers-color-scheme: dark){${[...rules].join('')}}</style>`;
    return svg
        .replace(/ class="zr[^"]*"/g, '')
        .replace(/<style ><!\[CDATA\[.*?<\/style>\n?/s, '')
        .replace(/^<svg([^>]*)>/, `<svg role="img"$1>\n<title>${title}</title>\n${style}`);
}

function axis(name, more) {
    return {
        type: 'value',
        name,
        nameLocation: 'middle',
        nameTextStyle: { color: ink.light, fontSize: 12 },
        axisLabel: { color: ink.light, fontSize: 12 },
        axisLine: { show: true, lineStyle: { color: quiet.light } },
        axisTick: { show: false },
        splitLine: { lineStyle: { color: grid.light } },
        ...more,
    };
}
const below = (name, more) => axis(name, { nameGap: 30, splitLine: { show: false }, ...more });
const categories = (name, data, more) => below(name, { type: 'category', data, ...more });
const beside = (name, more) => axis(name, { nameGap: 38, ...more });

const bars = (name, data, colour, more) =>
    ({ type: 'bar', silent: true, name, data, itemStyle: { color: colour.light }, barGap: '8%', ...more });
const line = (name, data, colour, more) => ({
    type: 'line', silent: true, clip: false, name, data, symbol: 'circle', symbolSize: 7,
    itemStyle: { color: colour.light }, lineStyle: { color: colour.light, width: 2 }, ...more,
});
/// A published curve and ours, of one colour and under one name in the legend.
const pair = (name, published, ours, colour) => [
    line(`${name} published`, published, colour, {
        symbol: 'none', lineStyle: { color: colour.light, width: 2, type: 'dashed' } }),
    line(name, ours, colour),
];

function draw(name, title, option) {
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 720, height: 400 });
    const legend = option.legend ?? option.series.map((series) => series.name);
    chart.setOption({
        animation: false,
        backgroundColor: paper.light,
        textStyle: { fontFamily: 'sans-serif' },
        title: { text: title, left: 'center', top: 6, textStyle: { color: ink.light, fontSize: 15 } },
        grid: { left: 64, right: 32, top: 70, bottom: 52, outerBoundsMode: 'none' },
        ...option,
        legend: { data: legend, top: 34, itemWidth: 20, itemGap: 30,
            selectedMode: false, textStyle: { color: ink.light, fontSize: 12 } },
    });
    const svg = picture(chart.renderToSVGString(), title);
    chart.dispose();
    writeFileSync(path.join(folder, `${name}.svg`), `${svg}\n`);
}

mkdirSync(folder, { recursive: true });

draw('total_cycles', 'Error of total cycles', {
    xAxis: categories('', workloads),
    yAxis: beside('%, absolute'),
    series: [
        bars('the authors\' model', absolute(row('total_cycles', 'error of theirs')).slice(0, 6), gray),
        bars('this simulator', absolute(row('total_cycles', 'error of our cycles')).slice(0, 6), blue),
    ],
});

const splits = tables.fits.rows.slice(0, 20);
draw('splits', 'Fitted to three workloads, compared with the other three', {
    xAxis: categories('split, in the order of the table', splits.map((_, i) => i + 1)),
    yAxis: beside('mean error of total cycles, %'),
    series: [
        bars('the three fitted to', splits.map((split) => split[4]), gray),
        bars('the other three', splits.map((split) => split[5]), blue),
    ],
});

const parts = ['1 array active', '4 weight stall', '5 weight shift', '6 non-matrix'];
const rowOfPart = (part) => tables.table_3.rows.findIndex(([label]) => label === part);
const whose = ['chip', 'ours'];
draw('table_3', 'Table 3: where the cycles go', {
    legend: parts.map((part) => part.slice(2)),
    xAxis: categories('', workloads, { axisLabel: { color: ink.light, margin: 24, fontSize: 12 } }),
    yAxis: beside('% of cycles', { max: 100 }),
    series: whose.flatMap((stack, second) => [
        // A bar of nothing, which carries the name of its column.
        bars(stack, workloads.map(() => 0), paper, {
            stack, label: { show: true, position: 'bottom', formatter: stack, color: ink.light, fontSize: 12 } }),
        ...parts.map((part, i) => bars(part.slice(2), tables.table_3.rows[rowOfPart(part) + second].slice(1, 7),
            cycleClasses[i].colour, { stack, barCategoryGap: '16%' })),
    ]),
});

const bytesPerSecond = parameters['weight_memory.bandwidth_gb_per_s'] * 1e9;
const teraOpsAtOne = 2 * bytesPerSecond / 1e12; // at one multiply-accumulate a weight byte
const points = (intensity, tops) => intensity.map((x, i) => [x, tops[i]]);
const published = points(row('roofline', 'MACs/byte published'), row('roofline', 'TOPS published'));
const ours = points(row('roofline', 'MACs/byte ours'), row('roofline', 'TOPS ours'));
const labelOf = {
    LSTM0: { position: 'bottom', offset: [-6, 2] }, CNN0: { position: 'bottom' }, CNN1: { position: 'top' },
};
draw('roofline', 'Roofline', {
    legend: ['roof', 'published', 'ours'],
    xAxis: below('multiply-accumulates a weight byte', { type: 'log', min: 10, max: 10000 }),
    yAxis: beside('10^12 operations a second', { type: 'log', min: 1, max: 100 }),
    series: [
        line('roof', [[1 / teraOpsAtOne, 1], [peak / teraOpsAtOne, peak], [10000, peak]], green, { symbol: 'none' }),
        // Lines between the points of one workload.
        ...workloads.map((name, i) => line(name, [published[i], ours[i]], gray, {
            symbol: 'none', lineStyle: { color: gray.light, width: 1 } })),
        { type: 'scatter', silent: true, name: 'published', data: published, symbolSize: 8,
            itemStyle: { color: gray.light, opacity: 1 } },
        { type: 'scatter', silent: true, name: 'ours', symbolSize: 8,
            itemStyle: { color: blue.light, opacity: 1 },
            data: ours.map((value, i) => ({ value, label: {
                show: true, position: 'right', formatter: workloads[i], color: ink.light, fontSize: 12,
                ...labelOf[workloads[i]] } })) },
    ],
});

for (const kind of ['total', 'incremental']) {
    const values = (mean, second) => {
        const first = tables.figure_9.rows.findIndex(([label]) => label === `${kind}, ${mean}, published`);
        return tables.figure_9.rows[first + second].slice(1);
    };
    const label = { show: true, position: 'top', color: ink.light, fontSize: 10, distance: 2 };
    draw(`figure_9_${kind}`, `Performance per watt, ${kind}`, {
        xAxis: categories('', columns('figure_9')),
        yAxis: beside('ratio of servers', { type: 'log', min: 1, max: kind === 'total' ? 100 : 1000 }),
        series: [
            bars('GM published', values('GM', 0), gray, { label, barCategoryGap: '12%' }),
            bars('GM ours', values('GM', 1), blue, { label }),
            bars('WM published', values('WM', 0), orange, { label }),
            bars('WM ours', values('WM', 1), green, { label }),
        ],
    });
}

const watts = ['TPU', 'TPU + host/2', 'GPU', 'GPU + host/4', 'CPU'];
const colours = [blue, orange, green, purple, ochre];
const load = (column) => tables.figure_10.rows.map((cells) => [Number(cells[0]), cells[column]]);
draw('figure_10', 'Figure 10: watts a die against load of CNN0 (dashed: published)', {
    legend: watts,
    xAxis: below('load, %', { max: 100 }),
    yAxis: beside('W'),
    series: watts.flatMap((name, i) => pair(name, load(2 * i + 1), load(2 * i + 2), colours[i])),
});

const scales = columns('figure_11').slice(0, 5);
const curves = ['memory', 'clock', 'clock+', 'matrix', 'matrix+'];
draw('figure_11', 'Figure 11: weighted mean of performance, LSTMs 8-bit (dashed: published)', {
    legend: curves,
    xAxis: categories('scale of the parameter', scales, { boundaryGap: false }),
    yAxis: beside('performance against scale 1', { type: 'log', logBase: 2, min: 0.25, max: 4 }),
    series: curves.flatMap((name, i) => pair(name, row('figure_11', `${name}, published`).slice(0, 5),
        row('figure_11', 'ours, LSTMs 8-bit', i).slice(0, 5), colours[i])),
});
