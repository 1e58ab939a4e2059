// The cores of a machine with several, side by side; those that are alike are one bar and one line.
import { chart, legend, nameAxis, rowTip, tip, valueAxis } from '../chart.js';
import { section, table } from '../dom.js';
import { counted, grouped, percent, ratio, si } from '../format.js';
import { fillOf, lengthOf, mainUnitOf, sumOf } from '../palette.js';

/// "chip0.core0 and 3 others".
const shortName = ({ names }) => (names.length === 1 ? names[0] : `${names[0]} and ${counted(names.length - 1, 'other')}`);

function coreChart(main, cores) {
    return chart({
        label: 'Cycles of each core by class',
        height: 76 + 30 * cores.length,
        option: (colours, width) => ({
            grid: { left: 170, right: 24, top: width < 600 ? 70 : 34, bottom: 24 },
            legend: legend(colours),
            tooltip: rowTip((row) => {
                const unit = main.of(cores[row].units);
                const all = sumOf(main, unit);
                return tip(cores[row].names.join(', '), main.classes.map(({ key, name, colour }) =>
                    [name, `${grouped(unit[key])} · ${percent(ratio(unit[key], all))}`, colour]));
            }),
            xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value) } }),
            yAxis: nameAxis(colours, cores.map(shortName), { axisLabel: { width: 160 } }),
            series: main.parts.map(({ name, colour, cycles }) => ({
                type: 'bar',
                name,
                stack: 'cycles',
                barWidth: 22,
                itemStyle: fillOf(colour, colours),
                data: cores.map(({ units }) => lengthOf(cycles(main.of(units)))),
            })),
        }),
    });
}

export function cores(report) {
    const all = (report.parts ?? []).filter(({ cycles }) => cycles !== null);
    if (all.length === 0) return null;
    const main = mainUnitOf(report);
    const rows = all.map(({ names, cycles, units }) => [names.join(', '), grouped(cycles),
        ...main.classes.map(({ key }) => percent(ratio(main.of(units)[key], sumOf(main, main.of(units)))))]);
    return section('cores', 'Cores', `${counted(report.cores, 'core')} run one program, each on its part of every batch. `
        + 'Cores that are alike in every counter have one line. The run ends with the last of them.',
    coreChart(main, all),
    table(['cores', 'cycles', ...main.classes.map(({ name }) => name)], rows, { class: 'numbers', label: 'Cores' }));
}
