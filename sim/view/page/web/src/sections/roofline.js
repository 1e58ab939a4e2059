// The roofline of weight bandwidth and peak, with the run, its layers and the baselines.
import { chart, tip, widthOf } from '../chart.js';
import { section } from '../dom.js';
import { bandText, grouped, percent, ratio, rough, si } from '../format.js';
import { placeLabels } from '../labels.js';
import { colourOf } from '../palette.js';

/// Layers with at least this share of the run's cycles are shown with their name.
const labelledShare = 0.03;

/// A roof: its ridge and its peak. Performance grows with MACs a weight byte up to the ridge.
function roofOf(roofline, peak) {
    return { ridge: roofline.ridge_macs_per_weight_byte, peak };
}

const under = (roof, place) => Math.min(roof.peak, roof.peak * place / roof.ridge);

/// The roof as a line over [least, most].
function lineOf(roof, least, most) {
    return [least, roof.ridge, most].filter((place, index) => index !== 1 || (place > least && place < most))
        .map((place) => [place, under(roof, place)]);
}

/// The layers that fetch weights; other layers have no point on the roofline.
function layerPoints(report) {
    return report.layers.filter(({ roofline, achieved_tops: tops }) => roofline && tops > 0)
        .map((layer) => ({
            name: layer.name,
            value: [layer.roofline.macs_per_weight_byte, layer.achieved_tops],
            share: layer.share,
            bound: layer.roofline.bound_tops,
        }));
}

/// The band of the expected operations a second, which are in proportion to its inferences a second.
function bandOf({ tops, inferences_per_second: rate, band }) {
    const ends = band?.inferences_per_second;
    return ends ? { least: tops * ends.least / rate, most: tops * ends.most / rate } : null;
}

/// A baseline's points: its bound and, if its efficiency is known, its expected performance.
function baselinePoints(comparison) {
    const { roofline, expected } = comparison;
    if (!roofline) return [];
    const points = [{
        name: `${comparison.baseline}, at most`,
        value: [roofline.macs_per_weight_byte, roofline.bound_tops],
        bound: roofline.bound_tops,
        isRough: true,
    }];
    if (expected?.tops > 0) {
        points.push({
            name: `${comparison.baseline}, expected`,
            value: [roofline.macs_per_weight_byte, expected.tops],
            bound: roofline.bound_tops,
            isRough: true,
            band: bandOf(expected),
        });
    }
    return points;
}

function pointTip({ name, value, share, bound, isRough, band }) {
    const performance = isRough ? `${rough(value[1])} TOPS` : si(value[1] * 1e12, 'OPS');
    const lines = [['MACs a weight byte', si(value[0])], ['performance', performance],
        ['at most here', isRough ? `${rough(bound)} TOPS` : si(bound * 1e12, 'OPS')],
        ['of that', isRough ? `${rough(100 * ratio(value[1], bound))} %` : percent(ratio(value[1], bound))]];
    const ends = bandText(band);
    if (ends !== '') lines.splice(2, 0, ['from least to most', `${ends} TOPS`]);
    if (share !== undefined) lines.push(['of the run\'s cycles', percent(share)]);
    return tip(name, lines);
}

const powerBelow = (value) => 10 ** Math.floor(Math.log10(value));
const powerAbove = (value) => 10 ** Math.ceil(Math.log10(value));

function axis(colours, name, least, most, gap) {
    return {
        type: 'log',
        min: least,
        max: most,
        name,
        nameLocation: 'middle',
        nameGap: gap,
        nameTextStyle: { color: colours.quiet },
        axisLabel: { color: colours.quiet, formatter: (value) => (value < 1 ? String(value) : grouped(value)) },
        axisLine: { show: true, lineStyle: { color: colours.line } },
        splitLine: { lineStyle: { color: colours.grid } },
    };
}

export function roofline(report) {
    if (!report.roofline || !report.tops.achieved) return null;
    const roof = roofOf(report.roofline, report.tops.peak);
    const run = {
        name: 'run',
        value: [report.roofline.macs_per_weight_byte, report.tops.achieved],
        bound: report.roofline.bound_tops,
    };
    const layers = layerPoints(report);
    const others = report.comparison.filter(({ roofline: its }) => its).map((comparison, index) => ({
        name: comparison.baseline,
        colour: colourOf(index + 2),
        roof: roofOf(comparison.roofline, comparison.roofline.peak_tops),
        points: baselinePoints(comparison),
    }));
    const places = [run, ...layers, ...others.flatMap(({ points }) => points)].map(({ value }) => value);
    const roofs = [roof, ...others.map((other) => other.roof)];
    const least = powerBelow(Math.min(...places.map(([x]) => x), 10));
    const most = powerAbove(Math.max(...places.map(([x]) => x), ...roofs.map(({ ridge }) => ridge * 2)));
    const lowest = powerBelow(Math.min(...places.map(([, y]) => y / 1.5)));
    const highest = powerAbove(Math.max(...roofs.map(({ peak }) => peak)));

    const line = (name, its, colour, width) => ({
        type: 'line',
        name,
        symbol: 'none',
        silent: true,
        lineStyle: { color: colour, width },
        itemStyle: { color: colour },
        data: lineOf(its, least, most),
    });
    const height = 430;
    const sizeOf = ({ share }) => 7 + 22 * Math.sqrt(share ?? 0);
    const runSize = 20;
    const baselineSize = 13;
    /// The run and the layers with the options of their labels.
    const labelled = (grid, width) => {
        const along = (value, from, to, pixels) => pixels * Math.log(value / from) / Math.log(to / from);
        const place = ({ value: [x, y] }, size) => ({
            x: grid.left + along(x, least, most, width - grid.left - grid.right),
            y: height - grid.bottom - along(y, lowest, highest, height - grid.top - grid.bottom),
            radius: size / 2,
        });
        const byShare = [...layers].sort((a, b) => b.share - a.share);
        const texts = byShare.map(({ name, share }) => (layers.length > 1 && share >= labelledShare ? name : ''));
        const places = placeLabels(
            [{ ...place(run, runSize), text: 'run' },
                ...byShare.map((layer, index) => ({ ...place(layer, sizeOf(layer)), text: texts[index] }))],
            others.flatMap(({ points }) => points).map((point) => place(point, baselineSize)),
            [grid.left, grid.top, width - grid.right, height - grid.bottom], widthOf);
        const withLabel = (point, index) => ({ ...point,
            label: { show: places[index] !== null, position: places[index] ?? 'right' } });
        return { run: withLabel(run, 0), layers: byShare.map((layer, index) => withLabel(layer, index + 1)) };
    };
    const drawn = chart({
        label: 'Roofline: performance over MACs a weight byte',
        height,
        option: (colours, width) => {
            const grid = { left: 62, right: 24, top: width < 600 ? 76 : 40, bottom: 48 };
            const shown = labelled(grid, width);
            const label = { fontSize: 12, color: colours.text, textBorderColor: colours.card, textBorderWidth: 3, formatter: ({ data }) => data.name };
            return {
                grid,
                legend: { top: 0, left: 0, itemWidth: 14, textStyle: { color: colours.text }, inactiveColor: colours.line },
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data) },
                xAxis: axis(colours, 'MACs for each weight byte fetched', least, most, 28),
                yAxis: axis(colours, 'operations a second (10¹²)', lowest, highest, 44),
                series: [
                    line(report.machine, roof, colours.text, 2),
                    ...others.map(({ name, colour, roof: its }) => line(name, its, colour[colours.scheme], 1.5)),
                    ...others.map(({ name, colour, points }) => ({
                        type: 'scatter',
                        name,
                        symbol: 'triangle',
                        symbolSize: baselineSize,
                        itemStyle: { color: colour[colours.scheme], opacity: 1 },
                        data: points,
                    })),
                    {
                        type: 'scatter',
                        name: 'layers (size: share of cycles)',
                        symbolSize: (_value, { data }) => sizeOf(data),
                        itemStyle: { color: colourOf(5)[colours.scheme], opacity: 1, borderColor: colours.card, borderWidth: 1 },
                        label,
                        data: shown.layers,
                    },
                    {
                        type: 'scatter',
                        name: 'run',
                        symbol: 'diamond',
                        symbolSize: runSize,
                        itemStyle: { color: colourOf(1)[colours.scheme], opacity: 1, borderColor: colours.card,
                            borderWidth: 1.5 },
                        label: { ...label, fontWeight: 600 },
                        data: [shown.run],
                    },
                ],
            };
        },
    });
    return section('roofline', 'Roofline',
        `Left of its ridge, at ${si(roof.ridge)} MACs a weight byte, the machine is bound by weight bandwidth; right of `
        + `it by its peak of ${si(roof.peak * 1e12, 'OPS')}. A MAC counts two operations. A layer above the roof had `
        + 'weights fetched during the layers before it. Baselines compute in fp32, four bytes a weight.', drawn);
}
