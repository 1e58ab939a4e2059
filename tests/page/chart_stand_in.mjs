// Keeps what a chart is given.
import { h } from '../../sim/view/page/web/src/dom.js';

export function chart(given) {
    const element = h('div', { class: 'chart', 'aria-label': given.label });
    element.chart = given;
    element.redraw = () => {};
    return element;
}

export const tip = (title, lines) => ({ title, lines: lines.map(([name, value]) => [name, value]) });
export const rowTip = (tipOf) => ({ formatter: ([{ dataIndex }]) => tipOf(dataIndex) });
export const valueAxis = (colours, more) => ({ ...more });
export const nameAxis = (colours, names) => ({ names });
export const legend = () => ({});
export const rowZoom = () => [];
export const widthOf = (text) => 7 * text.length;
