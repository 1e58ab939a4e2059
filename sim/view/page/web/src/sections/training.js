// A training: what became of its steps, and how long all of them take.
import { chart, legend, tip, valueAxis } from '../chart.js';
import { card, h, section, table } from '../dom.js';
import { absent, grouped, isNumber, percent, si } from '../format.js';
import { colourOf } from '../palette.js';

const shown = (value) => (isNumber(value) ? value.toFixed(4) : absent);

/// The results of each step, such as the loss. JSON has no numbers that are not finite: they are null.
function stepChart({ columns, by_step: steps, first_step: first }) {
    if (columns.length === 0 || steps[columns[0]].length === 0) return null;
    return chart({
        label: `Each step: ${columns.join(', ')}`,
        height: 300,
        option: (colours) => ({
            grid: { left: 60, right: 20, top: 36, bottom: 40 },
            legend: legend(colours),
            tooltip: {
                trigger: 'axis',
                formatter: ([{ dataIndex }]) => tip(`step ${grouped(first + dataIndex + 1)}`, columns.map((column, index) =>
                    [column, shown(steps[column][dataIndex]), colourOf(index)])),
            },
            xAxis: valueAxis(colours, { min: first + 1, max: first + steps[columns[0]].length, name: 'step',
                nameLocation: 'middle', nameGap: 26 }),
            yAxis: valueAxis(colours, {}),
            series: columns.map((column, index) => ({
                type: 'line',
                name: column,
                symbol: 'none',
                lineStyle: { color: colourOf(index)[colours.scheme] },
                itemStyle: { color: colourOf(index)[colours.scheme] },
                data: steps[column].map((value, step) => [first + step + 1, value]),
            })),
        }),
    });
}

function epochTable({ columns, by_epoch: epochs, evaluated_on: examples }) {
    if (epochs.length === 0) return null;
    const evaluates = isNumber(epochs[0].evaluated);
    return [
        h('h3', null, 'By epoch'),
        table(['epoch', ...columns, ...evaluates ? ['evaluated'] : []],
            epochs.map(({ epoch, means, evaluated }) => [grouped(epoch), ...columns.map((column) => shown(means[column])),
                ...evaluates ? [percent(evaluated)] : []]),
            { class: 'numbers', label: 'Epochs' }),
        evaluates ? h('p', { class: 'meaning' },
            `Means over the steps of an epoch. Evaluated: right answers on ${grouped(examples)} examples that are not trained on.`)
            : null,
    ];
}

export function training(report) {
    const asked = report.training;
    if (!asked) return null;
    const { seconds, steps, epochs, batch, timed_steps: timed } = asked;
    const last = asked.by_epoch.at(-1);
    return section('training', 'Training',
        `${grouped(steps)} steps of ${grouped(batch)} examples each. The rest of this page is of the first ${grouped(timed)} steps, `
        + 'which were simulated without values: a step takes as many cycles whatever its values are.',
        h('div', { class: 'cards' },
            card('A step', si(asked.seconds_a_step, 's'), asked.seconds_a_step, `${grouped(asked.cycles_a_step)} cycles`),
            card('Examples', `${si(asked.examples_per_second)} /s`, asked.examples_per_second, `${grouped(batch)} in a step`),
            card('All steps', si(seconds, 's'), seconds, `${grouped(epochs)} epochs on the machine`),
            isNumber(last?.evaluated)
                ? card('Evaluated', percent(last.evaluated), last.evaluated, `after epoch ${grouped(last.epoch)}`) : null),
        stepChart(asked), epochTable(asked));
}
