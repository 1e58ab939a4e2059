// The charts of the page, drawn by ECharts; only the parts of ECharts that the sections use are bundled.
import { BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import {
    DataZoomComponent, GridComponent, LegendComponent, LegendScrollComponent, MarkLineComponent, ParallelComponent,
    TooltipComponent, VisualMapComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { h } from './dom.js';
import { toldApart } from './names.js';
import { ink } from './palette.js';
import { onThemeChange } from './theme.js';

echarts.use([BarChart, CustomChart, DataZoomComponent, GridComponent, HeatmapChart, LabelLayout, LegendComponent,
    LegendScrollComponent, LineChart, MarkLineComponent, ParallelChart, ParallelComponent, ScatterChart, SVGRenderer,
    TooltipComponent, VisualMapComponent]);

const waiting = [];
const drawn = new Set();

const resizes = new ResizeObserver((entries) => {
    for (const { target } of entries) echarts.getInstanceByDom(target)?.resize();
});

onThemeChange(() => {
    for (const element of drawn) element.redraw();
});

/// The options that all charts share; a chart's own options override them.
function common(colours) {
    return {
        animation: false,
        textStyle: { color: colours.text, fontFamily: getComputedStyle(document.body).fontFamily },
        tooltip: {
            confine: true,
            backgroundColor: colours.card,
            borderColor: colours.line,
            textStyle: { color: colours.text, fontSize: 13 },
        },
    };
}

/// The last tooltip that was opened by key, as text for screen readers, which cannot read the drawing.
const told = h('div', { class: 'unseen', id: 'told', 'aria-live': 'polite' });

/// A tooltip as one line.
function lineOf(tooltip) {
    return [...tooltip.children].map((line) => [...line.children].map(({ textContent }) => textContent)
        .filter(Boolean).join(' ') || line.textContent).join(', ');
}

/// Moves the window of rows of a chart that scrolls, so that one of them is inside.
function scrollTo(chart, row) {
    const { dataZoom, yAxis } = chart.getOption();
    if (dataZoom.length === 0 || yAxis[0].type !== 'category') return;
    const [{ startValue: first, endValue: last }] = dataZoom; // the slider of rowZoom()
    if (row >= first && row <= last) return;
    const start = row < first ? row : row - (last - first);
    chart.dispatchAction({ type: 'dataZoom', yAxisIndex: 0, startValue: start, endValue: start + last - first });
}

/// Left and right show the tooltips one after the other, Escape hides them, Enter picks the one that is shown.
function listenToKeys(element, chart, onPick) {
    let at = -1;
    let picked = null;
    element.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && onPick && picked !== null) onPick({ data: picked });
        if (event.key === 'Escape') {
            chart.dispatchAction({ type: 'hideTip' });
            told.textContent = '';
            at = -1;
            picked = null;
            return;
        }
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const lengths = chart.getOption().series.map(({ data, silent }) => (silent ? 0 : data.length));
        const triggersByAxis = chart.getOption().tooltip[0].trigger === 'axis';
        const count = triggersByAxis ? Math.max(...lengths) : lengths.reduce((sum, length) => sum + length, 0);
        if (count === 0) return;
        at = at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
        let seriesIndex = 0;
        let dataIndex = at;
        while (!triggersByAxis && dataIndex >= lengths[seriesIndex]) dataIndex -= lengths[seriesIndex++];
        scrollTo(chart, dataIndex);
        picked = chart.getOption().series[seriesIndex].data[dataIndex];
        element.isAsked = true;
        chart.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
    });
    element.addEventListener('pointermove', () => {
        element.isAsked = false;
    });
}

/// An element with a chart. It is drawn when it becomes part of the page, and again when the colours change or
/// the element's `redraw` is called. `option(colours, width)` returns the options for ECharts. `onPick` is called with
/// {data} of the mark that is clicked.
export function chart({ label, height, option, onPick }) {
    // With this role, screen readers leave the arrow keys to the chart.
    const element = h('div', { class: 'chart', tabindex: '0', role: 'application', 'aria-roledescription': 'chart',
        'aria-label': label });
    element.style.height = `${height}px`;
    waiting.push({ element, option, onPick });
    return element;
}

function draw({ element, option, onPick }) {
    const instance = echarts.init(element, null, { renderer: 'svg' });
    element.firstElementChild.setAttribute('aria-hidden', 'true'); // the drawing; its tooltips are elements beside it
    const redraw = () => {
        const colours = ink();
        const { tooltip, ...own } = option(colours, element.clientWidth);
        const shared = common(colours);
        const formatter = (...data) => {
            const made = tooltip.formatter(...data);
            if (element.isAsked) told.textContent = lineOf(made);
            return made;
        };
        instance.setOption({ ...shared, ...own, tooltip: { ...shared.tooltip, ...tooltip, formatter } }, true);
    };
    redraw();
    element.redraw = redraw;
    drawn.add(element);
    resizes.observe(element);
    listenToKeys(element, instance, onPick);
    if (onPick) instance.on('click', onPick);
}

/// Draws the charts of the page: the first at once, each other one after the browser has shown those before it.
export function drawCharts() {
    if (!told.isConnected) document.body.append(told);
    const next = () => {
        const place = waiting.shift();
        if (!place) {
            document.documentElement.dataset.drawn = 'all';
            return;
        }
        if (place.element.isConnected) draw(place);
        if (drawn.size === 1) performance.mark('first chart');
        setTimeout(next);
    };
    next();
}

/// Disposes of the charts inside an element that is removed from the page.
export function dropCharts(element) {
    for (const each of element.querySelectorAll('.chart')) {
        echarts.getInstanceByDom(each)?.dispose();
        drawn.delete(each);
        resizes.unobserve(each);
    }
}

/// A tooltip: a title, then lines of [text, value, colour of the palette].
export function tip(title, lines) {
    const { scheme } = ink();
    const swatch = (colour) => `background:${colour[scheme]};border:1px solid ${colour.edge?.[scheme] ?? colour[scheme]}`;
    return h('div', { class: 'tip' },
        h('strong', null, title),
        lines.map(([name, value, colour]) => h('div', null,
            h('i', colour ? { style: swatch(colour) } : null),
            h('span', null, name), h('b', null, value))));
}

/// The tooltip of a bar chart with a row for each name; `tipOf` makes it from the row's index.
export function rowTip(tipOf) {
    return { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: ([{ dataIndex }]) => tipOf(dataIndex) };
}

/// The axes of all charts.
export function valueAxis(colours, more) {
    return {
        type: 'value',
        axisLabel: { color: colours.quiet, hideOverlap: true, ...more?.axisLabel },
        axisLine: { lineStyle: { color: colours.line } },
        nameTextStyle: { color: colours.quiet },
        splitLine: { lineStyle: { color: colours.grid } },
        ...Object.fromEntries(Object.entries(more ?? {}).filter(([key]) => key !== 'axisLabel')),
    };
}

let measuring = null;

/// The width of a text of 12 pixels in a chart.
export function widthOf(text) {
    measuring ??= document.createElement('canvas').getContext('2d');
    measuring.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return measuring.measureText(text).width;
}

/// The axis of a bar chart. Long names are cut in the middle; names that differ never look the same.
export function nameAxis(colours, names, more) {
    const width = more?.axisLabel?.width ?? 150;
    const shown = toldApart(names.map(String), (text) => widthOf(text) <= width);
    const shownOf = new Map(names.map((name, index) => [String(name), shown[index]]));
    return {
        type: 'category',
        data: names,
        inverse: true,
        axisLabel: { color: colours.text, width, overflow: 'truncate', formatter: (name) => shownOf.get(name) ?? name, ...more?.axisLabel },
        axisLine: { lineStyle: { color: colours.line } },
        axisTick: { show: false },
    };
}

export function legend(colours, more) {
    return {
        type: 'plain',
        top: 0,
        left: 0,
        itemWidth: 14,
        itemHeight: 12,
        textStyle: { color: colours.text },
        inactiveColor: colours.line,
        ...more,
    };
}

/// A slider at the right for charts with many rows; it shows `rows` of them at first.
export function rowZoom(colours, count, rows) {
    if (count <= rows) return [];
    return [
        {
            type: 'slider',
            yAxisIndex: 0,
            right: 4,
            width: 16,
            startValue: 0,
            endValue: rows - 1,
            showDetail: false,
            brushSelect: false,
            borderColor: colours.line,
            fillerColor: 'rgba(120,140,170,0.25)',
        },
        { type: 'inside', yAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false, moveOnMouseMove: true },
    ];
}
