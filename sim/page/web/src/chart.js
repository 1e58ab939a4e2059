// ECharts, with what the sections need of it and nothing else.
import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import {
    DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { h } from './dom.js';
import { ink } from './palette.js';
import { onThemeChange } from './theme.js';

echarts.use([BarChart, CustomChart, DataZoomComponent, GridComponent, LabelLayout, LegendComponent, LineChart,
    MarkLineComponent, ScatterChart, SVGRenderer, TooltipComponent]);

const waiting = [];
const drawn = new Set();

const resizes = new ResizeObserver((entries) => {
    for (const { target } of entries) echarts.getInstanceByDom(target)?.resize();
});

onThemeChange(() => {
    for (const element of drawn) element.redraw();
});

/// What all charts share; an option of a chart's own goes over it.
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

/// Left and right show the tooltips one after the other, Escape hides them.
function listenToKeys(element, chart) {
    let at = -1;
    element.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') {
            chart.dispatchAction({ type: 'hideTip' });
            at = -1;
            return;
        }
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const lengths = chart.getOption().series.map(({ data, silent }) => (silent ? 0 : data.length));
        const triggersByAxis = chart.getOption().tooltip[0].trigger === 'axis';
        const count = triggersByAxis ? Math.max(...lengths) : lengths.reduce((sum, length) => sum + length, 0);
        if (count === 0) return;
        at = (at + step + count) % count;
        let seriesIndex = 0;
        let dataIndex = at;
        while (!triggersByAxis && dataIndex >= lengths[seriesIndex]) dataIndex -= lengths[seriesIndex++];
        chart.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
    });
}

/// A place for a chart, drawn once it is part of the page and again when the colours change or `redraw` of
/// the element is called. `option(colours, width)` gives what ECharts is to draw.
export function chart({ label, height, option }) {
    const element = h('div', { class: 'chart', tabindex: '0', role: 'img', 'aria-label': label });
    element.style.height = `${height}px`;
    waiting.push({ element, option });
    return element;
}

function draw({ element, option }) {
    const instance = echarts.init(element, null, { renderer: 'svg' });
    const redraw = () => {
        const colours = ink();
        const { tooltip, ...own } = option(colours, element.clientWidth);
        const shared = common(colours);
        instance.setOption({ ...shared, ...own, tooltip: { ...shared.tooltip, ...tooltip } }, true);
    };
    redraw();
    element.redraw = redraw;
    drawn.add(element);
    resizes.observe(element);
    listenToKeys(element, instance);
}

/// Draws what has been placed: the first chart at once, each other when the browser has shown those before.
export function drawCharts() {
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

/// Forgets the charts inside an element that leaves the page.
export function dropCharts(element) {
    for (const each of element.querySelectorAll('.chart')) {
        echarts.getInstanceByDom(each)?.dispose();
        drawn.delete(each);
        resizes.unobserve(each);
    }
}

/// A tooltip: a title, then lines of [text, value, colour].
export function tip(title, lines) {
    return h('div', { class: 'tip' },
        h('strong', null, title),
        lines.map(([name, value, colour]) => h('div', null,
            colour ? h('i', { style: `background:${colour}` }) : h('i', null),
            h('span', null, name), h('b', null, value))));
}

/// Axes as all charts have them.
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

export function nameAxis(colours, names, more) {
    return {
        type: 'category',
        data: names,
        inverse: true,
        axisLabel: { color: colours.text, width: 150, overflow: 'truncate', ...more?.axisLabel },
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

/// Many rows scroll: a slider at the right, that shows `rows` of them at first.
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
