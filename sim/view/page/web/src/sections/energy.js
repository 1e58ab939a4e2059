// The energy of the run: by unit, by layer, and over time if the run recorded it.
import { chart, legend, nameAxis, rowTip, rowZoom, tip, valueAxis } from '../chart.js';
import { choice, h, section } from '../dom.js';
import { grouped, percent, ratio, si, wordsOf } from '../format.js';
import { consumerColour, fillOf } from '../palette.js';

function unitChart({ by_unit: units, joules }, words) {
    const names = Object.keys(units).filter((name) => units[name] > 0).sort((a, b) => units[b] - units[a]);
    return chart({
        label: 'Energy by unit',
        height: 50 + 28 * names.length,
        option: (colours) => ({
            grid: { left: 120, right: 70, top: 8, bottom: 28 },
            tooltip: rowTip((row) => {
                const name = names[row];
                return tip(words(name), [['in the run', si(units[name], 'J'), consumerColour(name)],
                    ['of all', percent(ratio(units[name], joules))]]);
            }),
            xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value, 'J') } }),
            yAxis: nameAxis(colours, names.map(words), { axisLabel: { width: 110 } }),
            series: [{
                type: 'bar',
                barMaxWidth: 18,
                label: {
                    show: true,
                    position: 'right',
                    color: colours.quiet,
                    formatter: ({ value }) => percent(ratio(value, joules)),
                },
                data: names.map((name) => ({ value: units[name], itemStyle: fillOf(consumerColour(name), colours) })),
            }],
        }),
    });
}

function layerChart(layers, words) {
    const known = layers.filter(({ energy }) => energy);
    if (known.length === 0) return null;
    const units = Object.keys(known[0].energy.by_unit)
        .filter((unit) => known.some(({ energy }) => energy.by_unit[unit] > 0));
    const shown = 20;
    let withStatic = true;
    const element = chart({
        label: 'Energy of each layer by unit',
        height: 90 + 24 * Math.min(known.length, shown),
        option: (colours, width) => {
            const used = units.filter((unit) => withStatic || unit !== 'chip_static' && unit !== 'board');
            return {
                grid: { left: width < 600 ? 90 : 160, right: 40, top: width < 600 ? 112 : width < 1000 ? 62 : 36, bottom: 28 },
                legend: legend(colours),
                tooltip: rowTip((row) => {
                    const { name, energy } = known[row];
                    return tip(`${name}: ${si(energy.joules, 'J')}`, units.map((unit) => [words(unit),
                        `${si(energy.by_unit[unit], 'J')} · ${percent(ratio(energy.by_unit[unit], energy.joules))}`,
                        consumerColour(unit)]));
                }),
                xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value, 'J') } }),
                yAxis: nameAxis(colours, known.map(({ name }) => name), { axisLabel: { width: width < 600 ? 80 : 150 } }),
                dataZoom: rowZoom(colours, known.length, shown),
                series: used.map((unit) => ({
                    type: 'bar',
                    name: words(unit),
                    stack: 'energy',
                    barMaxWidth: 16,
                    itemStyle: fillOf(consumerColour(unit), colours),
                    data: known.map(({ energy }) => energy.by_unit[unit]),
                })),
            };
        },
    });
    const buttons = choice('What to show', [{ value: true, name: 'all' }, { value: false, name: 'without static' }],
        (value) => {
            withStatic = value;
            element.redraw();
        });
    return h('div', null, h('div', { class: 'row' }, h('h3', null, 'By layer'), buttons), element);
}

function powerChart(power, cycles, words) {
    if (!power) return null;
    const units = Object.keys(power.watts).filter((unit) => power.watts[unit].some((watts) => watts > 0));
    const at = (index) => index * power.window_cycles;
    /// The last window ends with the run.
    const points = (watts) => [...watts.map((value, index) => [at(index), value]), [cycles, watts.at(-1)]];
    return [h('h3', null, 'Power over time'), chart({
        label: 'Power over time by unit',
        height: 300,
        option: (colours, width) => ({
            grid: { left: 60, right: 20, top: width < 600 ? 90 : width < 1000 ? 62 : 36, bottom: 40 },
            legend: legend(colours),
            tooltip: {
                trigger: 'axis',
                formatter: ([{ dataIndex }]) => {
                    const window = Math.min(dataIndex, power.watts[units[0]].length - 1);
                    return tip(`from cycle ${grouped(at(window))}`, units.map((unit) =>
                        [words(unit), si(power.watts[unit][window], 'W'), consumerColour(unit)]));
                },
            },
            xAxis: valueAxis(colours, { max: cycles, name: 'cycle', nameLocation: 'middle', nameGap: 26,
                axisLabel: { formatter: (value) => si(value) } }),
            yAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value, 'W') } }),
            series: units.map((unit) => ({
                type: 'line',
                name: words(unit),
                stack: 'power',
                step: 'end',
                symbol: 'none',
                lineStyle: { width: 0 },
                areaStyle: { color: consumerColour(unit)[colours.scheme], opacity: 1 },
                itemStyle: fillOf(consumerColour(unit), colours),
                data: points(power.watts[unit]),
            })),
        }),
    })];
}

export function energy(report) {
    const { energy: used } = report;
    if (used.joules === null) {
        return used.notes?.length ? section('energy', 'Energy', `No energy: ${used.notes.join('; ')}.`) : null;
    }
    const words = wordsOf(report);
    const basis = used.die_watts === undefined
        ? `From the chip's published watts, ${used.static_watts === null ? 'of the busy chip alone' : 'idle and busy'}.`
        : 'Each event of a unit has its energy; the static share is the energy of an idle chip, or of its board.';
    return section('energy', 'Energy', `${si(used.joules, 'J')} in the run, ${si(used.watts, 'W')} on average. ${basis}`,
        (used.notes ?? []).map((note) => h('p', { class: 'meaning' }, `Note: ${note}.`)),
        h('h3', null, 'By unit'), unitChart(used, words), layerChart(report.layers, words),
        powerChart(used.power_over_time, report.cycles, words));
}
