// A study: its points in charts and a table, and the chosen point at the bottom.
import { drawCharts } from '../chart.js';
import { h } from '../dom.js';
import { themeSwitch } from '../theme.js';
import { definitions } from './definitions.js';
import { heatMap } from './heat_map.js';
import { lines } from './lines.js';
import { commandOf, numberText, settingsText, studyOf } from './model.js';
import { overview } from './overview.js';
import { parallel } from './parallel.js';
import { pointsWithReports } from './point_reports.js';
import { points } from './points.js';
import { scatter } from './scatter.js';
import { sensitivity } from './sensitivity.js';

/// The bar with the point that was clicked last.
function pickedBar(study) {
    const reports = pointsWithReports();
    const bar = h('aside', { id: 'picked', hidden: true, 'aria-live': 'polite' });
    const show = (row) => {
        bar.hidden = false;
        const command = commandOf(study, row);
        bar.replaceChildren(h('div', { class: 'picked' },
            h('strong', null, `point ${row.number}`), h('span', null, settingsText(row)),
            h('span', { class: 'quiet' }, study.metrics.filter(({ name }) => row.metrics[name] !== null)
                .map(({ name, unit }) => `${name} ${numberText(row.metrics[name], unit)}`).join(' · ')),
            h('code', null, command),
            h('span', { class: 'row' },
                h('button', { type: 'button', onclick: () => navigator.clipboard.writeText(command) }, 'Copy the command'),
                reports.has(row.number)
                    ? h('a', { href: `#point-${row.number}`, target: '_blank', rel: 'noopener', class: 'button' }, 'Its report')
                    : h('span', { class: 'quiet' }, `sim sweep ... --report ${row.number} writes its report`))));
    };
    return { bar, show };
}

export function showStudy(page, data) {
    const study = studyOf(data);
    document.title = `${study.study}: Systole study`;
    const { bar, show } = pickedBar(study);
    const made = [overview(study, show)];
    if (study.rows.length > 0) {
        made.push(scatter(study, show), heatMap(study, show), lines(study, show), sensitivity(study),
            parallel(study, show), points(study, show));
    }
    made.push(definitions(study));
    const sections = made.filter((each) => each !== null);
    const links = h('nav', { 'aria-label': 'Sections' }, sections.map((each) =>
        h('a', { href: `#${each.id}` }, each.querySelector('h1, h2').textContent)));
    page.append(
        h('header', null, h('div', { class: 'top' }, h('span', { class: 'brand' }, 'Systole'), links, themeSwitch())),
        h('main', null, sections),
        h('footer', null,
            h('p', null, 'Made by Systole, a cycle-accurate simulator of the Tensor Processing Unit, by sim sweep; '
                + 'docs/studies.md explains it. A click on a point, or Enter on its tooltip, shows it at the bottom.'),
            h('details', null, h('summary', null, 'Licences of the software in this page'),
                h('pre', null, document.getElementById('notices').textContent))),
        bar);
    drawCharts();
}
